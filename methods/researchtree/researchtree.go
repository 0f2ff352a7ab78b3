// Package researchtree is Research Tree: an agent that answers questions of
// several hops by reading articles at three resolutions and keeping what it finds
// in a tree. Each turn the model chooses one action as JSON; the method carries it
// out and shows what came of it. An action that gives nothing is answered with
// what was tried and what is left.
//
// Source: seed 003. Differs: an answer ends the work (in the original it did not,
// and every run took all its steps and returned nothing); at the step limit one
// answer is demanded from the tree, and flagged; an action that the history shows
// is refused the second time, with what it gave and what is left to do; after
// several refusals in a row the next turn goes without the refused actions, then
// the answer is demanded; a finding can be corrected, and keeps what was struck
// out; a section can be read only of an article that was inspected, and comes in
// pages; node ids are stable.
package researchtree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// Method is Research Tree. It has no state.
type Method struct{}

var (
	_ methods.Method    = Method{}
	_ methods.Describer = Method{}
)

// New returns the method.
func New() Method { return Method{} }

// options are the method's options, see [methods.OptionsOf].
type options struct {
	Steps       int `json:"steps" default:"30" min:"1" doc:"actions before the answer is demanded"`
	History     int `json:"history" default:"15" min:"1" doc:"actions that the prompt shows, the latest"`
	Observation int `json:"observation" default:"1200" min:"1" doc:"bytes of an observation that the prompt shows; longer sections come in pages of about this size"`
	TreeView    int `json:"tree_view" default:"4000" min:"1" doc:"bytes of the tree's skeleton"`
	Refusals    int `json:"refusals" default:"3" min:"1" doc:"refused actions in a row after which the next turn goes without them; after twice as many the answer is demanded"`
	Retries     int `json:"retries" default:"2" min:"0" doc:"how often the model is asked again after an unusable reply"`
	MaxTokens   int `json:"max_tokens" default:"0" min:"0" doc:"output limit of one call; 0 for the provider's own"`
}

// Describe implements [methods.Describer].
func (Method) Describe() methods.Description {
	return methods.Description{
		Name: "research-tree", Version: "3", PromptVersion: promptVersion,
		Summary: "searches, inspects and reads sections, and keeps findings in a tree",
		Answers: []methods.AnswerKind{methods.Text, methods.Number, methods.Choice, methods.Set},
		Options: methods.OptionsOf(options{}), Tools: []string{"search", "inspect", "read_section"},
	}
}

// solver answers one question.
type solver struct {
	trial.Trial
	opts     options
	tree     Tree
	tasks    []task
	past     []step
	refused  []string   // the tools of the latest actions in a row that had no result
	hits     []hit      // of the last search
	articles []*article // those inspected, in order
}

type task struct {
	text string
	done bool
}

// Solve implements [methods.Method]. The outcome is OverBudget with the demanded
// answer at the limit of steps, and at the limit of calls or tokens without one;
// Unparsed if the replies were unusable to the end.
func (Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t, err := newSolver(p, h)
	if err != nil {
		return methods.Answer{}, fmt.Errorf("research-tree: %w", err)
	}
	a, err := t.solve(ctx)
	h.Emit(methods.GraphEvent("tree", t.tree.graph()))
	if err == nil {
		return a, nil
	}
	return trial.Ended(ctx, "research-tree", err, methods.Unparsed)
}

func newSolver(p methods.Problem, h methods.Host) (*solver, error) {
	t := &solver{tree: Tree{Question: p.Query}}
	d := (Method{}).Describe()
	if !d.Supports(p.Answer.Kind) {
		return nil, fmt.Errorf("cannot answer a problem of kind %q", p.Answer.Kind)
	}
	var err error
	if t.Trial, err = trial.Start(p, h, &t.opts, &t.opts.MaxTokens); err != nil {
		return nil, err
	}
	if lacks := d.Lacks(p.Tools); len(lacks) > 0 {
		return nil, fmt.Errorf("the problem has no tool %q: Research Tree needs %s", lacks[0], strings.Join(d.Tools, ", "))
	}
	return t, nil
}

// form says what an answer is, for prompts.
func (t *solver) form() string {
	switch t.Answer.Kind {
	case methods.Number:
		return "a number"
	case methods.Choice:
		return "one of " + strings.Join(t.Answer.Labels, ", ")
	case methods.Set:
		return "a list of short texts"
	}
	return "a short text"
}

// solve takes turns until there is an answer, or no step is left, or nothing but
// refusals came of the latest.
func (t *solver) solve(ctx context.Context) (methods.Answer, error) {
	for n := 1; n <= t.opts.Steps; n++ {
		offered := t.offered()
		var act action
		var err error
		if len(offered) > 0 {
			act, err = t.choose(ctx, n, offered)
		}
		if len(offered) == 0 || t.stuck() && errors.Is(err, reply.ErrInvalid) {
			return t.demand(ctx, fmt.Sprintf("%d actions in a row were refused", len(t.refused)))
		}
		if err != nil {
			return methods.Answer{}, err
		}
		if act.Tool == "answer" {
			a, fault := t.answered(act)
			if fault == "" {
				t.emit(n, methods.PhaseEnd, "answer %s", a.Value)
				return a, nil
			}
			t.observe(n, act, refusal("%s", fault))
			continue
		}
		seen, err := t.do(ctx, act, n)
		if err != nil {
			return methods.Answer{}, err
		}
		t.observe(n, act, seen)
	}
	return t.demand(ctx, fmt.Sprintf("%d steps were taken", t.opts.Steps))
}

// answered makes the answer of an action; a fault is why there is none.
func (t *solver) answered(act action) (methods.Answer, string) {
	for _, id := range act.Args.Evidence {
		switch i := t.tree.find(id); {
		case i < 0:
			return methods.Answer{}, fmt.Sprintf("evidence %q is not a node; there are %s", id, strings.Join(t.tree.ids(), ", "))
		case t.tree.nodes[i].Content == "":
			return methods.Answer{}, fmt.Sprintf("evidence %q is struck out: correct it, or name another", id)
		}
	}
	a, err := t.value(act.Args.Answer)
	if err != nil {
		return methods.Answer{}, err.Error()
	}
	a.Evidence = t.evidence(act.Args.Evidence)
	return a, ""
}

// evidence are the named nodes, with all that they stand below. What was struck
// out of a node is told; a node that was struck out is not evidence.
func (t *solver) evidence(ids []string) []methods.Evidence {
	named := map[string]bool{}
	for _, id := range ids {
		for i := t.tree.find(id); i >= 0; i = t.tree.find(t.tree.nodes[i].Parent) {
			named[t.tree.nodes[i].ID] = true
		}
	}
	var list []methods.Evidence
	for _, n := range t.tree.nodes {
		if named[n.ID] && n.Content != "" {
			list = append(list, methods.Evidence{Source: n.Source, Text: n.Topic + ": " + reply.OneLine(n.Content, 300) + n.struckOut()})
		}
	}
	return list
}

// demand asks for the answer when no turn is left, for the given reason.
func (t *solver) demand(ctx context.Context, why string) (methods.Answer, error) {
	req := t.Request("answer", methods.Ask(forcedPrompt(t.Query, t.form(), "No turns are left: "+why+".", t.state()))...)
	fault := func(raw json.RawMessage) error { // an answer that can be read does not come here
		var body arguments
		if err := json.Unmarshal(raw, &body); err != nil || body.Answer == nil {
			return cmp.Or(err, errors.New(`want an object with "answer" and "evidence"`))
		}
		_, err := reply.ReadValue(body.Answer, t.Answer)
		return cmp.Or(err, errors.New("give one answer"))
	}
	r, text, err := reply.Either(ctx, t.Host, req, fault, t.Answer, true, reply.Options{Retries: t.opts.Retries})
	if err != nil {
		return methods.Answer{}, err
	}
	a := r.Answer
	var body arguments
	if raw, _, err := reply.Extract(text, nil); err == nil && json.Unmarshal(raw, &body) == nil {
		a.Evidence = t.evidence(body.Evidence)
	}
	return a.As(methods.OverBudget, "demanded: "+why), nil
}

func (t *solver) emit(n int, kind methods.EventKind, format string, args ...any) {
	t.Emit(fmt.Sprintf("turn/%d", n), kind, 2, nil, format, args...)
}
