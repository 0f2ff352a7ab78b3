package anot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/anot/internal/lwt"
	"noema/methods/reply"
)

// errNoProgram says that phase 2 ended without a valid LWT.
var errNoProgram = errors.New("no valid LWT")

// program is phase 2: it turns the strategy into a plan that can run.
func (t *solver) program(ctx context.Context, s *Strategy) (*lwt.Plan, error) {
	t.Emit("P2", methods.PhaseStart, 1, nil, "build the LWT (%s)", t.opts.Builder)
	var plan *lwt.Plan
	var err error
	if t.opts.Builder == "compiled" {
		plan, err = t.compiled(s)
	} else {
		plan, err = t.react(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	t.report(s, plan)
	return plan, nil
}

// report emits the plan and what it leaves out; s may be nil.
func (t *solver) report(s *Strategy, plan *lwt.Plan) {
	for _, c := range s.uncovered(plan) {
		t.Emit("P2", methods.Dropped, 1, map[string]any{"condition": c.Number}, "%s", c.without())
	}
	t.reportUnlisted(plan)
	p := lwt.Program{}
	for _, step := range plan.Steps {
		p.Steps = append(p.Steps, step.Step)
	}
	t.Emit("P2", methods.Plan, 2, map[string]any{"lwt": strings.ToValidUTF8(p.String(), "\ufffd"), "layers": layerIDs(plan)},
		"%d steps in %d layers", len(plan.Steps), len(plan.Layers))
	t.Emit("P2", methods.PhaseEnd, 1, nil, "LWT has %d steps", len(plan.Steps))
}

func layerIDs(plan *lwt.Plan) [][]string {
	layers := make([][]string, len(plan.Layers))
	for i, layer := range plan.Layers {
		for _, step := range layer {
			layers[i] = append(layers[i], plan.Steps[step].ID)
		}
	}
	return layers
}

// reportUnlisted emits an event for each step that leaves out items.
func (t *solver) reportUnlisted(plan *lwt.Plan) {
	for i, s := range plan.Steps {
		if missing := plan.Unlisted(i, t.n); len(missing) > 0 {
			t.Emit("P2", methods.Dropped, 1, map[string]any{"step": s.ID, "items": missing},
				"step %s leaves out %d of %d items", s.ID, len(missing), t.n)
		}
	}
}

// react lets the model build the LWT with tools, turn by turn.
func (t *solver) react(ctx context.Context, s *Strategy) (*lwt.Plan, error) {
	e := &editor{solver: t, strategy: s}
	prompt := phase2Prompt(t.Query, s, t.n, t.k, t.data.Names())
	if t.labels != nil {
		prompt = phase2LabelPrompt(t, s)
	}
	talk := methods.Ask(prompt)
	for i := 1; i <= t.opts.Iterations; i++ {
		path := fmt.Sprintf("P2/i%d", i)
		c, err := t.Host.Complete(ctx, t.Request(path, talk...))
		if err != nil {
			return nil, fmt.Errorf("ask %s: %w", path, err)
		}
		text := strings.ToValidUTF8(c.Text, "\ufffd")
		observations := e.run(path, text)
		if e.plan != nil {
			t.Emit(path, methods.StepResult, 2, nil, "done after %d turns", i)
			return e.plan, nil
		}
		if c.Finish == methods.FinishLength {
			observations += "Your reply was cut off at the token limit: write fewer calls at a time.\n"
		}
		if strings.TrimSpace(text) == "" {
			text = "(empty reply)" // providers refuse empty turns
		}
		talk = append(talk[:len(talk):len(talk)],
			methods.Message{Role: methods.Assistant, Content: text},
			methods.Message{Role: methods.User, Content: observations})
	}
	return t.atLimit(e)
}

// atLimit takes the LWT as it is when the turns are used up, if it is valid.
func (t *solver) atLimit(e *editor) (*lwt.Plan, error) {
	plan, err := lwt.Compile(&e.program, t.data.Names())
	if err != nil {
		return nil, fmt.Errorf("phase 2 after %d turns: %w: %w", t.opts.Iterations, errNoProgram, err)
	}
	t.Emit("P2", methods.Fallback, 1, nil, "take the LWT as it is after %d turns without done()", t.opts.Iterations)
	return plan, nil
}

// compiled writes the LWT without a model.
func (t *solver) compiled(s *Strategy) (*lwt.Plan, error) {
	p := t.compile(s)
	plan, err := lwt.Compile(p, t.data.Names())
	if err != nil {
		return nil, fmt.Errorf("compile the strategy: %w: %w", errNoProgram, err)
	}
	return plan, nil
}

// readResult cuts what a read shows and says so.
func (t *solver) readResult(path, where, text string) string {
	short, cut := reply.Head(text, t.opts.ReadChars)
	if !cut {
		return text
	}
	t.Emit(path, methods.Truncated, 1, nil, "read %s shows %d of %d bytes (head)", reply.OneLine(where, 80), len(short), len(text))
	return fmt.Sprintf("%s (cut: the first %d of %d bytes)", short, len(short), len(text))
}
