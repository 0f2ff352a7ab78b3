package sim

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task/policy"
)

// planPolicy plans for a policy: the reviews with its keywords, their fields as a
// model reads them, and the policy's terms computed from these.
func planPolicy(p prompt, n noise) (string, bool) {
	query, _ := p.question()
	rules, ok := policy.FindPolicy(query)
	if !ok || !hasTools(p, "find_reviews", "count_reviews") {
		return "", false
	}
	keywords := rules.Keywords()
	rules = misreadFormulas(misreadPolicy(rules, n), write, n)
	input := map[string]any{"full": true}
	if len(keywords) > 0 {
		input["words"] = keywords
	}
	a := assessor{draft: newDraft(), values: map[string]any{}}
	fields := map[string][]string{}
	for _, f := range rules.Fields {
		for _, v := range f.Values {
			fields[f.Name] = append(fields[f.Name], v.Name)
		}
	}
	a.reviews = a.tool("find_reviews", input)
	if len(fields) > 0 {
		question := strings.TrimSuffix(extractionPrompt(rules), "{review_text}")
		a.reviews = a.decide("read_each", map[string]any{"list": a.reviews, "path": "text", "question": question, "fields": fields})
	}
	for _, t := range rules.Terms {
		value, ok := a.term(t.Formula)
		if !ok {
			return "", false
		}
		a.values[t.Name] = value
	}
	v := rules.Verdict
	a.values[policy.VerdictName] = a.decide("grade", map[string]any{"value": a.values[v.Term], "bounds": v.Cuts[:], "values": v.Labels[:]})
	answer := map[string]any{}
	for _, name := range fieldsAsked(p, rules) {
		answer[name] = a.values[name]
	}
	return a.draft.plan(answer), true
}

// assessor writes the atoms of a policy.
type assessor struct {
	*draft
	reviews ref
	values  map[string]any // of the terms so far
}

// term is the atom that gives the value of a formula.
func (a assessor) term(f policy.Formula) (any, bool) {
	switch f := f.(type) {
	case policy.Count:
		return a.size(a.where(f.Where)), true
	case policy.Average:
		list := a.where(f.Where)
		return a.cents(a.total(list, "stars"), a.size(list)), true
	case policy.Latest:
		years := a.decide("field", map[string]any{"of": a.where(f.Where), "path": "year"})
		return a.decide("max", map[string]any{"values": a.decide("union", map[string]any{"lists": []any{[]int{0}, years}})}), true
	case policy.Votes:
		list := a.where(f.Where)
		few := a.filter(list, "useful", "<=", f.Cap)
		return a.sum(a.total(few, "useful"), a.times(float64(f.Cap), a.size(a.filter(list, "useful", ">", f.Cap)))), true
	case policy.ByYear:
		return a.byYear(f), true
	case policy.Linear:
		return a.linear(f), true
	case policy.Product:
		return a.decide("product", map[string]any{"values": a.named(f.Names)}), true
	case policy.Ratio:
		return a.cents(a.values[f.Over], a.values[f.Under]), true
	case policy.Steps:
		bounds, values := []any{}, []any{decimalOf(f.Else)}
		for _, r := range slices.Backward(f.Rungs) {
			bounds, values = append(bounds, decimalOf(r.AtLeast)), append(values, decimalOf(r.Value))
		}
		return a.decide("grade", map[string]any{"value": a.values[f.Of], "bounds": bounds, "values": values}), true
	}
	return nil, false
}

// where is the list of the reviews that pass all tests and bounds.
func (a assessor) where(w policy.Where) ref {
	list := a.reviews
	for _, t := range w.Tests {
		list = a.passing(list, t)
	}
	if w.AtMost > 0 {
		list = a.filter(list, "stars", "<=", w.AtMost)
	}
	if w.Since > 0 {
		list = a.filter(list, "year", ">=", w.Since)
	}
	return list
}

// passing is the reviews of a list with one of the test's values, or with none.
func (a assessor) passing(list ref, t policy.Test) ref {
	if t.Not {
		for _, v := range t.Values {
			list = a.filter(list, t.Field, "!=", v)
		}
		return list
	}
	if len(t.Values) == 1 {
		return a.filter(list, t.Field, "=", t.Values[0])
	}
	var lists []ref
	for _, v := range t.Values {
		lists = append(lists, a.filter(list, t.Field, "=", v))
	}
	return a.decide("union", map[string]any{"lists": lists})
}

func (a assessor) filter(list ref, path, op string, value any) ref {
	return a.decide("filter", map[string]any{"list": list, "path": path, "op": op, "value": value})
}

func (a assessor) size(list ref) ref { return a.decide("count", map[string]any{"list": list}) }

func (a assessor) total(list ref, path string) ref {
	return a.decide("total", map[string]any{"list": list, "path": path})
}

func (a assessor) sum(values ...any) ref { return a.decide("sum", map[string]any{"values": values}) }

func (a assessor) times(weight float64, value any) any {
	if weight == 1 {
		return value
	}
	return a.decide("product", map[string]any{"values": []any{decimalOf(weight), value}})
}

// cents is a quotient with two decimals, 0 where the divisor is.
func (a assessor) cents(over, under any) ref {
	q := a.decide("quotient", map[string]any{"a": over, "b": under, "otherwise": 0})
	return a.decide("round", map[string]any{"x": q, "places": 2})
}

func (a assessor) named(names []string) []any {
	values := make([]any, len(names))
	for i, name := range names {
		values[i] = a.values[name]
	}
	return values
}

func (a assessor) byYear(f policy.ByYear) any {
	rest := a.where(f.Where)
	var parts []any
	for _, age := range f.Ages {
		parts = append(parts, a.times(age.Weight, a.size(a.filter(rest, "year", ">=", age.Since))))
		rest = a.filter(rest, "year", "<", age.Since)
	}
	return a.sum(append(parts, a.times(f.Older, a.size(rest)))...)
}

func (a assessor) linear(f policy.Linear) any {
	var parts []any
	for _, p := range f.Parts {
		parts = append(parts, a.times(p.Weight, a.values[p.Name]))
	}
	var value any = a.sum(parts...)
	if f.High != nil {
		value = a.decide("min", map[string]any{"values": []any{decimalOf(*f.High), value}})
	}
	if f.Low != nil {
		value = a.decide("max", map[string]any{"values": []any{decimalOf(*f.Low), value}})
	}
	return value
}

// decimalOf writes a number of a policy without an exponent.
func decimalOf(x float64) json.RawMessage {
	return json.RawMessage(strconv.FormatFloat(x, 'f', -1, 64))
}
