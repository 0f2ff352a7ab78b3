package engineplanner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
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
}

type span struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// UnmarshalJSON reads a span; what is no object, as some models write for
// "none", is an empty one.
func (s *span) UnmarshalJSON(raw []byte) error {
	type plain span
	var p plain
	if json.Unmarshal(raw, &p) == nil {
		*s = span(p)
	}
	return nil
}

// evaluate asks for the facts. If the reply cannot be used it returns the basic
// search for what looks like a value in the query, and the fault.
func (t *solver) evaluate(ctx context.Context) (e evaluation, fault string, err error) {
	t.Emit(phaseEvaluate, methods.PhaseStart, 1, nil, "evaluate: %s", t.Query)
	req := t.Request(phaseEvaluate, methods.Ask(evaluationPrompt(t.Query, t.domain))...)
	req.Schema = t.schema()
	check := func(raw json.RawMessage) (err error) {
		e, err = t.read(raw)
		return err
	}
	_, _, err = reply.JSON(ctx, t.Host, req, check, reply.Options{Retries: t.opts.Retries})
	switch {
	case err == nil:
		t.Emit(phaseEvaluate, methods.Plan, 1, nil, "%s: value %q, entities %v, severities %v, time %q to %q",
			e.QueryType, e.SearchValue, e.EntityTypes, e.Filters.Severity, e.Filters.Time.Start, e.Filters.Time.End)
		return e, "", nil
	case errors.Is(err, reply.ErrInvalid) && ctx.Err() == nil:
		e = evaluation{QueryType: t.domain.Fallback, SearchValue: likelyValue(t.Query), NeedsDisplay: true}
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
	if _, ok := t.domain.Workflows[e.QueryType]; !ok {
		return e, fmt.Errorf("query_type %q is none of %s", e.QueryType, strings.Join(slices.Sorted(maps.Keys(t.domain.Workflows)), ", "))
	}
	for i, word := range e.EntityTypes {
		name, ok := t.domain.EntityOf(word)
		if !ok {
			return e, fmt.Errorf("entity type %q is none of %s", word, strings.Join(slices.Sorted(maps.Keys(t.domain.Entities)), ", "))
		}
		e.EntityTypes[i] = name
	}
	for i, word := range e.Filters.Severity {
		at := slices.IndexFunc(t.domain.Severities, func(s string) bool { return strings.EqualFold(s, word) })
		if at < 0 && len(t.domain.Severities) > 0 {
			return e, fmt.Errorf("severity %q is none of %s", word, strings.Join(t.domain.Severities, ", "))
		}
		if at >= 0 {
			e.Filters.Severity[i] = t.domain.Severities[at]
		}
	}
	return e, t.lacking(e)
}

// schema is the JSON Schema of an evaluation.
func (t *solver) schema() *methods.Schema {
	text := map[string]any{"type": "string"}
	texts := func(most int) map[string]any { // a small model would list texts without end
		return map[string]any{"type": "array", "items": text, "maxItems": max(1, most)}
	}
	object := func(properties map[string]any) map[string]any {
		return map[string]any{
			"type": "object", "properties": properties, "required": slices.Sorted(maps.Keys(properties)), "additionalProperties": false,
		}
	}
	raw, err := json.Marshal(object(map[string]any{
		"query_type":    map[string]any{"type": "string", "enum": slices.Sorted(maps.Keys(t.domain.Workflows))},
		"search_value":  text,
		"entity_types":  texts(len(t.domain.Entities)),
		"filters":       object(map[string]any{"severity": texts(len(t.domain.Severities)), "time": object(map[string]any{"start": text, "end": text})}),
		"needs_count":   map[string]any{"type": "boolean"},
		"needs_display": map[string]any{"type": "boolean"},
	}))
	if err != nil { // maps of strings always encode
		panic(err)
	}
	return &methods.Schema{Name: "evaluation", JSON: raw}
}

// identifier is a word that looks like the name of a device: it has a digit.
var identifier = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9:._-]*[0-9][A-Za-z0-9:._-]*`)

// likelyValue is the longest word of a query that looks like a name.
func likelyValue(query string) string {
	best := ""
	for _, word := range identifier.FindAllString(query, -1) {
		if word = strings.TrimRight(word, ".:-_"); len(word) > len(best) {
			best = word
		}
	}
	return best
}
