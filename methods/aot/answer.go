package aot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// answer turns the final atom's value into an answer of the kind that is
// wanted, with the results of the other atoms as evidence.
func (t *solver) answer(s State) methods.Answer {
	var v any
	if err := decode(s.Answer, &v); err != nil {
		return trial.Without(methods.Unparsed, fmt.Errorf("the final atom gives no JSON: %w", err))
	}
	a := t.valueOf(v)
	if err := t.Answer.Check(a); err != nil {
		return trial.Without(methods.Unparsed, err)
	}
	for _, atom := range s.Atoms {
		a.Evidence = append(a.Evidence, methods.Evidence{Source: atomPath(atom.ID), Text: reply.OneLine(string(atom.Result), 300)})
	}
	return a
}

func (t *solver) valueOf(v any) methods.Answer {
	switch t.Answer.Kind {
	case methods.Number, methods.Choice:
		r, err := reply.ReadValue(encode(v), t.Answer)
		if err != nil {
			return trial.Without(methods.Unparsed, fmt.Errorf("the final atom: %w", err))
		}
		r.Report(t.Host, runPhase)
		return r.Answer
	case methods.Set:
		return t.set(v)
	case methods.Fields:
		return t.fields(v)
	case methods.Ranking:
		return t.ranking(v)
	}
	return methods.TextAnswer(textOf(v))
}

// set is the members as texts; numbers among them are written as they stand.
func (t *solver) set(v any) methods.Answer {
	list, ok := v.([]any)
	if !ok {
		return trial.Without(methods.Unparsed, fmt.Errorf("the final atom gives %.100q, which is not a list", textOf(v)))
	}
	members, others := make([]string, len(list)), 0
	for i, m := range list {
		members[i] = textOf(m)
		if _, isText := m.(string); !isText {
			others++
		}
	}
	if others > 0 {
		t.Emit(runPhase, methods.Repair, 1, nil, "%d of the %d members are not texts: written as texts", others, len(list))
	}
	return methods.SetAnswer(members)
}

// fields is an object with all the fields and no others.
func (t *solver) fields(v any) methods.Answer {
	fields, _ := v.(map[string]any)
	for _, name := range t.Answer.Names {
		if fields[name] == nil {
			return trial.Without(methods.Unparsed, fmt.Errorf("the final atom gives no value for the field %q", name))
		}
	}
	verdict, asked := fields[methods.Verdict]
	if asked && len(t.Answer.Labels) > 0 && !slices.Contains(t.Answer.Labels, textOf(verdict)) {
		return trial.Without(methods.Unparsed, fmt.Errorf("the final atom gives the verdict %.80q: want one of %s", textOf(verdict), strings.Join(t.Answer.Labels, ", ")))
	}
	out := maps.Clone(fields)
	maps.DeleteFunc(out, func(name string, _ any) bool { return !slices.Contains(t.Answer.Names, name) })
	return methods.Answer{Value: encode(out), Outcome: methods.Answered}
}
