package anot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"noema/methods"
	"noema/methods/anot/lwt"
	"noema/methods/reply"
)

// stepResult is what came of a step.
type stepResult struct {
	output string // empty if the step failed
	failed error  // why it failed; the steps that use it still run
	fatal  error  // why nothing that needs it can run
}

// execute is phase 3: it runs the plan and reads the ranking.
func (t *trial) execute(ctx context.Context, plan *lwt.Plan) (methods.Answer, error) {
	t.emit("P3", methods.PhaseStart, 1, nil, "run %d steps in %d layers", len(plan.Steps), len(plan.Layers))
	results := t.run(ctx, plan)
	t.host.Emit(methods.GraphEvent("P3", graph(plan, results)))
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
	t.emit("P3", methods.PhaseEnd, 1, nil, "ranking %s (%s)", a.Value, a.Outcome)
	return a, nil
}

// graph is the LWT with what each step said.
func graph(plan *lwt.Plan, results []stepResult) methods.Graph {
	g := methods.Graph{Kind: "lwt"}
	for i, s := range plan.Steps {
		n := methods.Node{ID: s.ID, Layer: s.Layer, Text: s.Prompt, Value: results[i].output, State: "done", Path: "P3/" + s.ID}
		if results[i].failed != nil || results[i].fatal != nil {
			n.State = "failed"
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

// run starts every step at once; each waits for the steps that it needs. A
// step that cannot run does not stop those that do not need it, so that the
// set of calls does not depend on which one was faster.
func (t *trial) run(ctx context.Context, plan *lwt.Plan) []stepResult {
	results := make([]stepResult, len(plan.Steps))
	done := make([]chan struct{}, len(plan.Steps))
	for i := range done {
		done[i] = make(chan struct{})
	}
	index := make(map[string]int, len(plan.Steps))
	for i, s := range plan.Steps {
		index[s.ID] = i
	}
	output := func(id string) string { return results[index[id]].output }
	var all sync.WaitGroup
	for i, s := range plan.Steps {
		all.Go(func() {
			defer close(done[i])
			for _, need := range s.Needs {
				<-done[need]
				if fatal := results[need].fatal; fatal != nil {
					results[i] = stepResult{fatal: fatal}
					return
				}
			}
			results[i] = t.step(ctx, plan, i, output)
		})
	}
	all.Wait()
	return results
}

// step fills the prompt of one step and asks.
func (t *trial) step(ctx context.Context, plan *lwt.Plan, i int, output func(string) string) stepResult {
	s := plan.Steps[i]
	path := "P3/" + s.ID
	prompt, missing := plan.Fill(i, t.data, output)
	t.emit(path, methods.StepStart, 2, map[string]int{"layer": s.Layer, "prompt_bytes": len(prompt)}, "step %s in layer %d", s.ID, s.Layer)
	for _, ref := range missing {
		ref = strings.ToValidUTF8(ref, "\ufffd")
		t.emit(path, methods.MissingPath, 2, map[string]string{"path": ref}, "%s leads nowhere", reply.OneLine(ref, 200))
	}
	c, err := t.host.Complete(ctx, t.request(path, methods.Ask(prompt)...))
	if err != nil {
		err = fmt.Errorf("ask %s: %w", path, err)
		if ctx.Err() != nil || errors.Is(err, methods.ErrBudget) || errors.Is(err, methods.ErrMiss) {
			return stepResult{fatal: err}
		}
		t.emit(path, methods.StepError, 1, nil, "%s", reply.OneLine(err.Error(), 300))
		return stepResult{failed: err}
	}
	if c.Finish == methods.FinishLength {
		t.emit(path, methods.Truncated, 1, nil, "the output was cut off at the token limit")
	}
	text := strings.ToValidUTF8(c.Text, "\ufffd")
	t.emit(path, methods.StepResult, 2, map[string]string{"output": text}, "%s", reply.OneLine(text, 200))
	return stepResult{output: text}
}

// conclude reads the ranking from the output of the final step.
func (t *trial) conclude(plan *lwt.Plan, results []stepResult) methods.Answer {
	final := results[plan.Sink()]
	if final.failed != nil {
		return methods.Answer{}
	}
	r := reply.Ranking(final.output, t.n)
	if len(r.Dropped) > 0 {
		t.emit("P3", methods.Dropped, 1, r.Dropped, "%d numbers of the ranking are repeated or not within 1..%d", len(r.Dropped), t.n)
	}
	if len(r.Items) == 0 {
		return t.fallback(methods.Defaulted, "the final output names no item: "+reply.OneLine(final.output, 200))
	}
	if r.FromLine {
		t.emit("P3", methods.Repair, 1, nil, "read the ranking from the last line, there is no list")
	}
	if len(r.Items) > t.k {
		t.emit("P3", methods.Dropped, 2, nil, "%d items beyond the best %d", len(r.Items)-t.k, t.k)
		r.Items = r.Items[:t.k]
	}
	a := methods.RankingAnswer(r.Items)
	for i, s := range plan.Steps {
		if i != plan.Sink() {
			a.Evidence = append(a.Evidence, methods.Evidence{Source: "P3/" + s.ID, Text: reply.OneLine(results[i].output, 300)})
		}
	}
	return a
}
