// Package deliberate holds methods of the literature that spend more calls on one
// question than a chain of thought, each as its paper has it, with what differs in its
// doc comment:
//
//	tot                a tree of steps, searched breadth or depth first
//	got                parts, solved apart and merged; a graph of thoughts
//	mcts               a tree of steps, searched by Monte Carlo
//	self-refine        a draft, its critique, a better draft
//	reflexion          attempts, with lessons from those before
//	debate             several that read each other's replies
//	mixture-of-agents  layers of replies, each from all of the layer before
//	best-of-n          several drafts, of which a verifier takes one
//	escalate           cheap attempts first, more effort where a check fails
//	budget-forcing     a thought that is held up, or cut off
//	pal                a program, which a machine runs
//
// They answer every kind of question, and all but pal call no tools. What they are made of is in
// package phases. What judges is the model that answers, or the one that the option judged_by names.
package deliberate

import (
	"context"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

// Method is one of the methods. It has no state: one value serves any number of trials.
type Method struct {
	name, summary string
	tools         []string                      // as in Description
	options       func() (any, *phases.Options) // new ones for a trial: a pointer to a struct, and to its common part
	answer        func(context.Context, *phases.Trial, any) (reply.Reading, error)
}

var (
	_ methods.Method    = Method{}
	_ methods.Describer = Method{}
)

// of is a method with options of its own, in which [phases.Options] are embedded.
func of[O any, P interface {
	*O
	Common() *phases.Options
}](name, summary string, answer func(context.Context, *phases.Trial, P) (reply.Reading, error)) Method {
	return Method{
		name: name, summary: summary,
		options: func() (any, *phases.Options) { o := P(new(O)); return o, o.Common() },
		answer:  func(ctx context.Context, t *phases.Trial, o any) (reply.Reading, error) { return answer(ctx, t, o.(P)) },
	}
}

// All returns every method by name.
func All() map[string]methods.Method {
	all := map[string]methods.Method{}
	for _, m := range []Method{
		TreeOfThoughts(), GraphOfThoughts(), MonteCarlo(), SelfRefine(), Reflexion(),
		Debate(), MixtureOfAgents(), BestOfN(), Escalate(), BudgetForcing(), ProgramAided(),
	} {
		all[m.name] = m
	}
	return all
}

// version is that of the algorithms, promptVersion that of the prompts here and in
// package phases.
const version, promptVersion = "1", phases.Version + ".1"

// Describe implements [methods.Describer].
func (m Method) Describe() methods.Description {
	d := methods.Description{Name: m.name, Version: version, PromptVersion: promptVersion, Summary: m.summary, Tools: m.tools}
	o, _ := m.options()
	for _, f := range methods.FieldsOf(o) {
		d.Options = append(d.Options, f.Option)
	}
	return d
}

// Solve implements [methods.Method]; see [phases.Trial.End] for how it ends without an
// answer.
func (m Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	o, common := m.options()
	t, err := phases.Start(p, h, o, common)
	if err != nil {
		return t.End(ctx, m.name, reply.Reading{}, err)
	}
	r, err := m.answer(ctx, t, o)
	return t.End(ctx, m.name, r, err)
}

// majority joins the answers of drafts.
func majority(t *phases.Trial, drafts []phases.Draft) (reply.Reading, error) {
	a, err := phases.Majority(phases.Answers(drafts), t.Answer)
	return reply.Reading{Answer: a}, err
}
