package generalanot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/generalanot/pyexpr"
)

// Computed is what came of one compute step.
type Computed struct {
	Name    string
	Formula string
	Text    string // the value as Python writes it; empty if Err is set
	Err     error  // why the value is undefined: with the step, the column and the cause
	Sources []int  // the reviews whose extractions the value rests on, directly or through other steps

	value pyexpr.Value
}

// Result is what COMPUTE gives.
type Result struct {
	Steps   []Computed                 // in the order of execution
	Fields  map[string]json.RawMessage // the output fields that are defined
	Lost    []string                   // the output fields that are not, with the cause, in the order of the seed
	Invalid []int                      // reviews that review_validity left out
	Missed  []string                   // lookups that took their default
}

// Step finds what came of a step.
func (r Result) Step(name string) (Computed, bool) {
	i := slices.IndexFunc(r.Steps, func(c Computed) bool { return c.Name == name })
	if i < 0 {
		return Computed{}, false
	}
	return r.Steps[i], true
}

// Compute runs the compute DAG over extractions; it asks no model. Reviews
// without an extraction are not part of it. A step that fails is undefined,
// and so is what uses it; all others are computed. The error is the context's,
// or says that the extractions do not fit the reviews.
func (p *Program) Compute(ctx context.Context, c *Context, extractions []Extraction) (Result, error) {
	return p.compute(ctx, c, extractions, pyexpr.Limits{}, true)
}

// compute is Compute within limits of each formula. Without trace the results
// lack their sources, whose search costs an evaluation for each extraction.
func (p *Program) compute(ctx context.Context, c *Context, extractions []Extraction, l pyexpr.Limits, trace bool) (Result, error) {
	r := Result{Fields: map[string]json.RawMessage{}}
	rows, numbers, err := p.rows(c, extractions, &r)
	if err != nil {
		return r, fmt.Errorf("compute: %w", err)
	}
	inputs, err := p.environment(c, rows, numbers, &r)
	if err != nil {
		return r, fmt.Errorf("compute: %w", err)
	}
	env := inputs.values
	origin := newTracer(inputs)
	for _, s := range p.steps {
		out := p.step(ctx, s, env, l)
		if ctx.Err() != nil {
			return r, fmt.Errorf("compute: %w", ctx.Err())
		}
		if out.Err == nil {
			env[s.Name] = out.value
		}
		if out.Err == nil && trace {
			out.Sources = origin.sources(ctx, s, out)
		}
		r.Steps = append(r.Steps, out)
	}
	p.outputs(&r)
	return r, nil
}

// rows are the extractions as formulas see them, in the order of the reviews,
// with the numbers of their reviews.
func (p *Program) rows(c *Context, extractions []Extraction, r *Result) ([]map[string]any, []int, error) {
	sorted := slices.SortedFunc(slices.Values(extractions), func(a, b Extraction) int { return a.Review - b.Review })
	rows, numbers := []map[string]any{}, []int{}
	for i, e := range sorted {
		if e.Review < 1 || e.Review > len(c.Reviews) {
			return nil, nil, fmt.Errorf("extraction of review %d: the context has only %d reviews", e.Review, len(c.Reviews))
		}
		if i > 0 && sorted[i-1].Review == e.Review {
			return nil, nil, fmt.Errorf("review %d has two extractions", e.Review)
		}
		if v := p.Seed.ReviewValidity; v != nil {
			if label, _ := e.Fields[v.Field].(string); !slices.Contains(v.Keep, label) {
				r.Invalid = append(r.Invalid, e.Review)
				continue
			}
		}
		row := c.Reviews[e.Review-1].values()
		for _, f := range p.Seed.ExtractionFields {
			if value, ok := e.Fields[f.Name]; ok {
				row[f.Name] = value
			}
		}
		rows, numbers = append(rows, row), append(numbers, e.Review)
	}
	return rows, numbers, nil
}

func (p *Program) step(ctx context.Context, s step, env map[string]pyexpr.Value, l pyexpr.Limits) Computed {
	out := Computed{Name: s.Name, Formula: s.Formula}
	for _, u := range s.uses {
		if used := p.Seed.ComputeDAG[u].Name; env[used] == nil {
			out.Err = fmt.Errorf("step %s: it uses %s, which is undefined", s.Name, used)
			return out
		}
	}
	v, err := s.expr.Eval(ctx, env, l)
	if err == nil {
		err = isData(v)
	}
	if err == nil {
		out.value = v
		out.Text, err = pyexpr.Repr(v)
	}
	if err != nil {
		out.Err = fmt.Errorf("step %s: %w", s.Name, err)
	}
	return out
}

func (p *Program) outputs(r *Result) {
	for _, name := range p.Seed.OutputFields {
		c, _ := r.Step(name)
		err := c.Err
		var raw json.RawMessage
		if err == nil {
			raw, err = p.field(c)
		}
		if err != nil {
			r.Lost = append(r.Lost, err.Error())
			continue
		}
		r.Fields[name] = raw
	}
}

// field is an output field as JSON. The verdict must be one of the labels, and
// what a ranking orders by a number.
func (p *Program) field(c Computed) (json.RawMessage, error) {
	if p.spec.Kind == methods.Ranking && (c.Name == scoreField || c.Name == tieField) {
		if _, err := finite(c.value); err != nil {
			return nil, fmt.Errorf("step %s: %w", c.Name, err)
		}
	}
	raw, err := toJSON(c.value)
	if err != nil {
		return nil, fmt.Errorf("step %s: its value %.60s cannot be written as JSON: %w", c.Name, c.Text, err)
	}
	if c.Name != verdictField || len(p.spec.Labels) == 0 {
		return raw, nil
	}
	for _, label := range p.spec.Labels {
		if bytes.Equal(raw, plainJSON(label)) {
			return raw, nil
		}
	}
	return nil, fmt.Errorf("step %s: %.60s is not among the verdicts %s", c.Name, raw, strings.Join(p.spec.Labels, ", "))
}
