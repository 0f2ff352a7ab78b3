package generalanot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

func (t *trial) compute(ctx context.Context, p *Program, found []Extraction) (Result, error) {
	t.emit(phaseCompute, methods.PhaseStart, 1, nil, "compute %d steps over %d extractions", len(p.steps), len(found))
	r, err := p.Compute(ctx, t.contexts[0], found)
	if err != nil {
		return r, err
	}
	if len(r.Invalid) > 0 {
		t.emit(phaseCompute, methods.Dropped, 1, map[string]any{"reviews": r.Invalid}, "%d extractions are not valid by the seed's review_validity", len(r.Invalid))
	}
	for _, name := range r.Missed {
		t.emit(phaseCompute+"/"+name, methods.Fallback, 1, nil, "lookup %s takes its default: the table has no such key", name)
	}
	for _, c := range r.Steps {
		path := phaseCompute + "/" + c.Name
		if c.Err != nil {
			t.emit(path, methods.StepError, 1, nil, "%v", c.Err)
			continue
		}
		t.emit(path, methods.StepResult, 2, map[string]any{"value": reply.OneLine(c.Text, 1000), "reviews": c.Sources}, "%s = %s", c.Name, c.Text)
	}
	t.Host.Emit(methods.GraphEvent(phaseCompute, p.graph(r, len(found), 0)))
	return r, nil
}

// graph is the compute DAG with its values and where they come from; of a
// ranking, with those of one item.
func (p *Program) graph(r Result, extractions, item int) methods.Graph {
	const input = "extractions"
	g := methods.Graph{Kind: "compute", Nodes: []methods.Node{{
		ID: input, Label: fmt.Sprintf("%d extractions", extractions), Kind: "input", State: "done", Path: phaseExtract,
	}}}
	path := phaseCompute
	if item > 0 {
		path += fmt.Sprintf("/i%d", item)
		g.Nodes = append(g.Nodes, methods.Node{ID: itemInput, Label: fmt.Sprintf("item %d", item), Kind: "input", State: "done", Path: path})
	}
	for _, s := range p.steps {
		n := methods.Node{ID: "step " + s.Name, Label: s.Name, Kind: "formula", Layer: 1, Text: s.Formula, State: "undefined", Path: path + "/" + s.Name}
		if slices.Contains(p.Seed.OutputFields, s.Name) {
			n.Kind = "output"
		}
		if c, ok := r.Step(s.Name); ok && c.Err == nil {
			n.State, n.Value = "done", c.Text
			if len(s.uses) == 0 && len(c.Sources) > 0 || item > 0 && s.reads {
				g.Edges = append(g.Edges, methods.Edge{From: input, To: n.ID})
			}
		}
		if item > 0 {
			n.Path = path
			if slices.Contains(s.expr.Names(), itemInput) {
				g.Edges = append(g.Edges, methods.Edge{From: itemInput, To: n.ID})
			}
		}
		g.Nodes = append(g.Nodes, n)
		for _, u := range s.uses {
			g.Edges = append(g.Edges, methods.Edge{From: "step " + p.Seed.ComputeDAG[u].Name, To: n.ID})
		}
	}
	return g
}

func (t *trial) conclude(p *Program, found extracted, r Result, asked int) methods.Answer {
	a := methods.Answer{Outcome: methods.Answered}
	switch verdict := r.Fields[verdictField]; {
	case t.Answer.Kind == methods.Choice:
		a.Value = verdict
	case len(r.Fields) > 0:
		a.Value = plainJSON(r.Fields)
	}
	a.Evidence = append(p.evidence(r, found.list), t.agreed(p.Seed, found.list)...)
	switch {
	case len(r.Lost) > 0:
		reasons := r.Lost
		if found.lost > 0 {
			reasons = append([]string{found.reason(asked)}, reasons...)
		}
		a = a.As(methods.Failed, reply.OneLine(strings.Join(reasons, "; "), maxReason))
	case found.lost > t.opts.MaxFailed:
		a = a.As(found.outcome(), found.reason(asked))
	}
	t.emit(phaseCompute, methods.PhaseEnd, 1, nil, "%d of %d output fields (%s)", len(r.Fields), len(p.Seed.OutputFields), a.Outcome)
	return a
}

// maxNamed bounds the reviews that the evidence of one field names.
const maxNamed = 50

// evidence tells for each output field its value, its formula and the reviews
// it rests on, and then for each of those reviews what was extracted from it.
func (p *Program) evidence(r Result, found []Extraction) []methods.Evidence {
	var list []methods.Evidence
	named := map[int]bool{}
	for _, name := range p.Seed.OutputFields {
		c, ok := r.Step(name)
		if !ok || c.Err != nil {
			continue
		}
		var from []string
		for i, n := range c.Sources {
			if i == maxNamed {
				from = append(from, fmt.Sprintf("and %d more", len(c.Sources)-maxNamed))
				break
			}
			named[n] = true
			from = append(from, fmt.Sprintf("r%d", n))
		}
		text := fmt.Sprintf("%s = %s", c.Text, c.Formula)
		if len(from) > 0 {
			text += " from " + strings.Join(from, " ")
		}
		list = append(list, methods.Evidence{Source: phaseCompute + "/" + name, Text: reply.OneLine(text, maxReason)})
	}
	for _, e := range found {
		if named[e.Review] {
			list = append(list, methods.Evidence{Source: fmt.Sprintf("%s/r%d", phaseExtract, e.Review), Text: reply.OneLine(e.text(p.Seed.ExtractionFields), 300)})
		}
	}
	return list
}

// Absent lists the lookups of a seed whose field the problem lacks, in a ranking every item
// of it: they would always take their default.
func Absent(s *FormulaSeed, p methods.Problem) ([]Fault, error) {
	t, err := newTrial(p, nil)
	if err == nil {
		err = t.read()
	}
	if err != nil {
		return nil, err
	}
	var faults []Fault
	for i, l := range s.Lookups {
		if !slices.ContainsFunc(t.contexts, func(c *Context) bool { _, has := c.field(l.Field); return has }) {
			faults = append(faults, Fault{index("lookups", i) + ".field", fmt.Sprintf("the sample has no %q, neither a value nor a list, so that %s would always take its default: name a field of the sample", l.Field, l.Name)})
		}
	}
	return faults, nil
}

// Execute carries out a seed that a person has made or edited: it solves the
// problem with the seed instead of the compiled one. All faults of the
// seed are in the error.
func Execute(ctx context.Context, s *FormulaSeed, p methods.Problem, h methods.Host) (methods.Answer, error) {
	if s == nil {
		return methods.Answer{}, errors.New("execute formula seed: no seed given")
	}
	var opts options
	if err := methods.DecodeOptions(p, &opts); err != nil {
		return methods.Answer{}, fmt.Errorf("execute formula seed: %w", err)
	}
	raw, err := Marshal(s)
	if err != nil {
		return methods.Answer{}, err
	}
	opts.Seed = string(raw)
	p.Options = plainJSON(opts)
	return New().Solve(ctx, p, h)
}
