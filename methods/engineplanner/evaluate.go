package engineplanner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
	"noema/methods/workflow"
)

// evaluation is what the model says of a query.
type evaluation struct {
	QueryType   string   `json:"query_type"`
	SearchValue string   `json:"search_value"`
	EntityTypes []string `json:"entity_types"`
	Filters     struct {
		Severity []string `json:"severity"`
		Time     span     `json:"time"`
	} `json:"filters"`
	NeedsCount   bool `json:"needs_count"`
	NeedsDisplay bool `json:"needs_display"`

	unread bool // the query was not understood, and names nothing to search for
}

type span struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// UnmarshalJSON reads a span: an object, or a list of its two ends, as seed 004's
// prompt writes it. Anything else, as some models write for "none", is an empty one.
func (s *span) UnmarshalJSON(raw []byte) error {
	type plain span
	var p plain
	var ends []string
	switch {
	case json.Unmarshal(raw, &p) == nil:
		*s = span(p)
	case json.Unmarshal(raw, &ends) == nil && len(ends) > 0:
		s.Start = ends[0]
		if len(ends) > 1 {
			s.End = ends[1]
		}
	}
	return nil
}

// evaluate asks for the facts. If the reply cannot be used it returns the basic
// search for what looks like a value in the query, and the fault.
func (t *solver) evaluate(ctx context.Context) (e evaluation, fault string, err error) {
	t.Emit(phaseEvaluate, methods.PhaseStart, 1, nil, "evaluate: %s", t.Query)
	req := t.Request(phaseEvaluate, methods.Ask(evaluationPrompt(t.Query, t.domain))...)
	req.Schema = t.schema()
	// The schema asks for every key, which servers can then enforce. A reply may leave
	// keys out, as seed 004's own example does: they are facts that the query leaves open.
	_, _, err = reply.Text(ctx, t.Host, req, func(text string) error {
		_, rung, err := reply.Extract(text, func(raw json.RawMessage) (err error) {
			e, err = t.read(raw)
			return err
		})
		if err == nil && rung != reply.Strict {
			t.Emit(phaseEvaluate, methods.Repair, 1, nil, "read the reply from %s", rung)
		}
		return err
	}, reply.Options{Retries: t.opts.Retries})
	switch {
	case err == nil:
		t.Emit(phaseEvaluate, methods.Plan, 1, nil, "%s: value %q, entities %v, severities %v, time %q to %q",
			e.QueryType, e.SearchValue, e.EntityTypes, e.Filters.Severity, e.Filters.Time.Start, e.Filters.Time.End)
		return e, "", nil
	case errors.Is(err, reply.ErrInvalid) && ctx.Err() == nil:
		e = evaluation{QueryType: t.domain.Fallback, SearchValue: likelyValue(t.Query, t.domain.Entities), NeedsDisplay: true}
		e.unread = e.SearchValue == ""
		t.Emit(phaseEvaluate, methods.Fallback, 1, nil, "basic search for %q: %v", e.SearchValue, err)
		return e, reply.OneLine(err.Error(), 300), nil
	}
	return e, "", err
}

// read checks an evaluation: a known type, entities by name or alias, known
// severities, and the facts that the type's workflow cannot do without.
func (t *solver) read(raw json.RawMessage) (evaluation, error) {
	var e evaluation
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, err
	}
	for i, word := range e.EntityTypes {
		name, ok := t.domain.EntityOf(word)
		if !ok {
			return e, fmt.Errorf("entity type %q is not one of %s", word, strings.Join(slices.Sorted(maps.Keys(t.domain.Entities)), ", "))
		}
		e.EntityTypes[i] = name
	}
	for i, word := range e.Filters.Severity {
		at := slices.IndexFunc(t.domain.Severities, func(s string) bool { return strings.EqualFold(s, word) })
		if at < 0 && len(t.domain.Severities) > 0 {
			return e, fmt.Errorf("severity %q is not one of %s", word, strings.Join(t.domain.Severities, ", "))
		}
		if at >= 0 {
			e.Filters.Severity[i] = t.domain.Severities[at]
		}
	}
	return t.typed(e)
}

// typed is an evaluation with a workflow's own name as its type. A type that is an
// alias of several workflows, such as "count", means the one that the evaluation's
// facts suffice for and that uses the most of them.
func (t *solver) typed(e evaluation) (evaluation, error) {
	if _, ok := t.domain.Workflows[e.QueryType]; ok {
		return e, t.lacking(e)
	}
	candidates := t.domain.WorkflowsOf(e.QueryType)
	if len(candidates) == 0 {
		return e, fmt.Errorf("query_type %q is not one of %s", e.QueryType, strings.Join(slices.Sorted(maps.Keys(t.domain.Workflows)), ", "))
	}
	best, most, lacking := e, -1, error(nil)
	for _, name := range candidates {
		e.QueryType = name
		if err := t.lacking(e); err != nil {
			lacking = cmp.Or(lacking, err)
		} else if n := t.used(e); n > most {
			best, most = e, n
		}
	}
	if most < 0 {
		return e, lacking
	}
	return best, nil
}

// used is how many of an evaluation's facts its workflow takes in.
func (t *solver) used(e evaluation) (n int) {
	known := facts(e)
	for _, s := range t.domain.Workflows[e.QueryType].Steps {
		for _, value := range s.Params {
			if ref, ok := workflow.Reference(value); ok && known[ref] != nil {
				delete(known, ref)
				n++
			}
		}
	}
	return n
}

// schema is the JSON Schema of an evaluation.
func (t *solver) schema() *methods.Schema {
	text := map[string]any{"type": "string"}
	texts := func(most int) map[string]any { // a small model would list texts without end
		return map[string]any{"type": "array", "items": text, "maxItems": max(1, most)}
	}
	return &methods.Schema{Name: "evaluation", JSON: phases.Encode(phases.Object(map[string]any{
		"query_type":    map[string]any{"type": "string", "enum": slices.Sorted(maps.Keys(t.domain.Workflows))},
		"search_value":  text,
		"entity_types":  texts(len(t.domain.Entities)),
		"filters":       phases.Object(map[string]any{"severity": texts(len(t.domain.Severities)), "time": phases.Object(map[string]any{"start": text, "end": text})}),
		"needs_count":   map[string]any{"type": "boolean"},
		"needs_display": map[string]any{"type": "boolean"},
	}))}
}
