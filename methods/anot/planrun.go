package anot

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/anot/internal/lwt"
	"noema/methods/plans"
)

// PlanOf implements [plans.Tracer].
func (Method) PlanOf(events []methods.Event) (plans.File, error) {
	p := &Plan{Kind: PlanKind, Version: planVersion}
	for _, e := range events {
		var data struct{ LWT, Strategy string }
		if e.Kind != methods.Plan || json.Unmarshal(e.Data, &data) != nil {
			continue
		}
		if data.Strategy != "" {
			p.Strategy = strings.Split(strings.TrimRight(data.Strategy, "\n"), "\n")
		}
		if data.LWT != "" {
			program, err := lwt.Parse(data.LWT)
			if err != nil {
				return nil, fmt.Errorf("read the trial's LWT: %w", err)
			}
			p.program, p.LWT = program, strings.Split(strings.TrimRight(program.Text(), "\n"), "\n")
		}
	}
	if p.program == nil {
		return nil, nil
	}
	return p, nil
}

// Graph is the LWT as a graph. Of one with faults it has what is known.
func (p *Plan) Graph() methods.Graph {
	plan, err := lwt.Compile(p.program, p.program.Unknown())
	if err == nil {
		return graph(plan, nil)
	}
	g := methods.Graph{Kind: "lwt"}
	needs := p.program.Needs()
	for i, s := range p.program.Steps {
		g.Nodes = append(g.Nodes, methods.Node{ID: s.ID, Text: s.Prompt})
		for _, need := range needs[i] {
			g.Edges = append(g.Edges, methods.Edge{From: need, To: s.ID})
		}
	}
	return g
}

// Run implements [plans.File]: phase 3 alone, its steps answered by h. Options of
// the problem other than lwt stay; those of the plan's trial are the default.
func (p *Plan) Run(ctx context.Context, problem methods.Problem, h methods.Host, _ *plans.Kept) (methods.Answer, error) {
	options := map[string]json.RawMessage{}
	if p.From != nil && len(p.From.Options) > 0 {
		if err := json.Unmarshal(p.From.Options, &options); err != nil {
			return methods.Answer{}, fmt.Errorf("read the plan's options: %w", err)
		}
	}
	raw := methods.Must(json.Marshal(p)) // of texts, and options that were just read
	options["lwt"] = methods.Must(json.Marshal(string(raw)))
	problem.Options = methods.Must(json.Marshal(options))
	return New().Solve(ctx, problem, h)
}

// given is the plan of the option lwt; nil if there is none.
func (t *solver) given() (*lwt.Plan, error) {
	if strings.TrimSpace(t.opts.LWT) == "" {
		return nil, nil
	}
	p, err := ReadPlan([]byte(t.opts.LWT))
	if err != nil {
		return nil, fmt.Errorf("option lwt: %w", err)
	}
	faults, plan := p.check(t.n, t.labels != nil, t.data.Names())
	if len(faults) > 0 {
		lines := make([]string, len(faults))
		for i, f := range faults {
			lines[i] = f.Error()
		}
		return nil, fmt.Errorf("option lwt: %s", strings.Join(lines, "; "))
	}
	t.Emit("P2", methods.PhaseStart, 1, nil, "take the LWT that is given")
	s := p.strategy(t.n, t.labels != nil)
	if plan == nil { // there is a strategy alone, without faults
		if plan, err = t.compiled(s); err != nil {
			return nil, fmt.Errorf("option lwt: %w", err)
		}
	}
	t.report(s, plan)
	return plan, nil
}
