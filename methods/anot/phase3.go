package anot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/anot/internal/lwt"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// stepResult is what came of a step.
type stepResult struct {
	output string // empty if the step failed
	failed error  // why it failed; the steps that use it still run
	fatal  error  // why nothing that needs it can run
}

// execute is phase 3: it runs the plan and reads the ranking.
func (t *solver) execute(ctx context.Context, plan *lwt.Plan) (methods.Answer, error) {
	t.Emit("P3", methods.PhaseStart, 1, nil, "run %d steps in %d layers", len(plan.Steps), len(plan.Layers))
	results := t.run(ctx, plan)
	t.Host.Emit(methods.GraphEvent("P3", graph(plan, results)))
	var failed []string
	for i, r := range results {
		if r.fatal != nil {
			return methods.Answer{}, r.fatal
		}
		if r.failed != nil {
			failed = append(failed, fmt.Sprintf("step %s failed: %v", plan.Steps[i].ID, r.failed))
		}
	}
	a := t.conclude(plan, results)
	if len(failed) > 0 {
		a = a.As(methods.Failed, reply.OneLine(strings.Join(failed, "; "), 1000))
	}
	t.Emit("P3", methods.PhaseEnd, 1, nil, "%s %s (%s)", t.Answer.Kind, a.Value, a.Outcome)
	return a, nil
}

// graph is the LWT with what each step said; results may be nil.
func graph(plan *lwt.Plan, results []stepResult) methods.Graph {
	g := methods.Graph{Kind: "lwt"}
	for i, s := range plan.Steps {
		n := methods.Node{ID: s.ID, Layer: s.Layer, Text: s.Prompt, Path: "P3/" + s.ID}
		if results != nil {
			n.Value, n.State = results[i].output, "done"
			if results[i].failed != nil || results[i].fatal != nil {
				n.State = "failed"
			}
		}
		if i == plan.Sink() {
			n.Kind = "final"
		}
		g.Nodes = append(g.Nodes, n)
		for _, need := range s.Needs {
			g.Edges = append(g.Edges, methods.Edge{From: plan.Steps[need].ID, To: s.ID})
		}
	}
	return g
}

// run runs the steps. A step that cannot run does not stop those that do not
// need it.
func (t *solver) run(ctx context.Context, plan *lwt.Plan) []stepResult {
	results := make([]stepResult, len(plan.Steps))
	needs := make([][]int, len(plan.Steps))
	index := make(map[string]int, len(plan.Steps))
	for i, s := range plan.Steps {
		index[s.ID], needs[i] = i, s.Needs
	}
	output := func(id string) string { return results[index[id]].output }
	trial.Steps(needs, func(i int) {
		for _, need := range needs[i] {
			if fatal := results[need].fatal; fatal != nil {
				results[i].fatal = fatal
				return
			}
		}
		results[i] = t.step(ctx, plan, i, output)
	})
	return results
}

// step fills the prompt of one step and asks.
func (t *solver) step(ctx context.Context, plan *lwt.Plan, i int, output func(string) string) stepResult {
	s := plan.Steps[i]
	path := "P3/" + s.ID
	prompt, missing := plan.Fill(i, t.data, output)
	t.Emit(path, methods.StepStart, 2, map[string]int{"layer": s.Layer, "prompt_bytes": len(prompt)}, "step %s in layer %d", s.ID, s.Layer)
	for _, ref := range missing {
		ref = strings.ToValidUTF8(ref, "\ufffd")
		t.Emit(path, methods.MissingPath, 2, map[string]string{"path": ref}, "%s leads nowhere", reply.OneLine(ref, 200))
	}
	c, err := t.Host.Complete(ctx, t.Request(path, methods.Ask(prompt)...))
	if err != nil {
		err = fmt.Errorf("ask %s: %w", path, err)
		if ctx.Err() != nil || errors.Is(err, methods.ErrBudget) || errors.Is(err, methods.ErrMiss) {
			return stepResult{fatal: err}
		}
		t.Emit(path, methods.StepError, 1, nil, "%s", reply.OneLine(err.Error(), 300))
		return stepResult{failed: err}
	}
	if c.Finish == methods.FinishLength {
		t.Emit(path, methods.Truncated, 1, nil, "the output was cut off at the token limit")
	}
	text := strings.ToValidUTF8(c.Text, "\ufffd")
	t.Emit(path, methods.StepResult, 2, map[string]string{"output": text}, "%s", reply.OneLine(text, 200))
	return stepResult{output: text}
}

// conclude reads the answer from the output of the final step.
func (t *solver) conclude(plan *lwt.Plan, results []stepResult) methods.Answer {
	final := results[plan.Sink()]
	if final.failed != nil {
		return methods.Answer{}
	}
	if t.labels != nil {
		return t.resting(t.labelled(final.output), plan, results)
	}
	r := reply.Ranking(final.output, t.n)
	if len(r.Dropped) > 0 {
		t.Emit("P3", methods.Dropped, 1, r.Dropped, "%d numbers of the ranking are repeated or not within 1..%d", len(r.Dropped), t.n)
	}
	if len(r.Items) == 0 {
		return t.fallback(methods.Defaulted, "the final output names no item: "+reply.OneLine(final.output, 200))
	}
	if r.FromLine {
		t.Emit("P3", methods.Repair, 1, nil, "read the ranking from the last line, there is no list")
	}
	if len(r.Items) > t.k {
		t.Emit("P3", methods.Dropped, 2, nil, "%d items beyond the best %d", len(r.Items)-t.k, t.k)
		r.Items = r.Items[:t.k]
	}
	return t.resting(methods.RankingAnswer(r.Items), plan, results)
}

// resting is a with the outputs of the steps that it rests on.
func (t *solver) resting(a methods.Answer, plan *lwt.Plan, results []stepResult) methods.Answer {
	for i, s := range plan.Steps {
		if i != plan.Sink() {
			a.Evidence = append(a.Evidence, methods.Evidence{Source: "P3/" + s.ID, Text: reply.OneLine(results[i].output, 300)})
		}
	}
	return a
}
