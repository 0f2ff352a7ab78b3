package aot

import (
	"encoding/json"
	"fmt"

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
	var a methods.Answer
	switch t.Answer.Kind {
	case methods.Number:
		a = t.number(v)
	case methods.Choice:
		a = methods.ChoiceAnswer(textOf(v))
	default:
		a = methods.TextAnswer(textOf(v))
	}
	if err := t.Answer.Check(a); err != nil {
		return trial.Without(methods.Unparsed, err)
	}
	for _, atom := range s.Atoms {
		a.Evidence = append(a.Evidence, methods.Evidence{Source: atomPath(atom.ID), Text: reply.OneLine(string(atom.Result), 300)})
	}
	return a
}

// number is an exact decimal; a text that ends on a number passes for it.
func (t *solver) number(v any) methods.Answer {
	n, ok := v.(json.Number)
	if !ok {
		if n, ok = reply.Number(textOf(v)); !ok {
			return trial.Without(methods.Unparsed, fmt.Errorf("the final atom gives %.100q, which is no number", textOf(v)))
		}
		t.Emit(runPhase, methods.Repair, 1, nil, "read the number %s from %s", n, reply.OneLine(textOf(v), 100))
	}
	a, err := trial.Exact(n)
	if err != nil {
		return trial.Without(methods.Unparsed, err)
	}
	return a
}
