// Package score turns answers into numbers that can be trusted: a [Scorer]
// compares one trial's answer with the target, and a [Metric] is a mean over samples with its confidence
// interval and its warnings.
//
// Two rules hold everywhere. What is undefined is absent (or null in JSON),
// never 0. And a fallback is not a result: an answer whose outcome is not
// [methods.Answered] scores 0 on everything that measures correctness, however
// lucky its value is; what that value would have earned is kept apart in
// [Score.Given].
package score

import (
	"bytes"
	"encoding/json"
	"fmt"

	"noema/methods"
)

// Score is what one trial earned.
type Score struct {
	// Values holds the measures by name. An absent name is undefined.
	Values map[string]float64 `json:"values"`
	// Given holds what the value would have earned if its outcome were
	// Answered. It is nil unless there is a value and another outcome.
	Given map[string]float64 `json:"given,omitempty"`
}

// Get returns the value of that name, and false if it is undefined.
func (s Score) Get(name string) (float64, bool) {
	v, ok := s.Values[name]
	return v, ok
}

// Scorer compares an answer with the target of its sample. A task may bring
// its own; [For] has one for every answer kind.
type Scorer interface {
	// Score returns an error if the target is not one that spec allows, or if
	// the answer does not pass spec.Check. An answer without a value is a miss,
	// not an error.
	Score(spec methods.AnswerSpec, answer methods.Answer, target json.RawMessage) (Score, error)
}

// For returns the scorer of spec's answer kind. An unknown kind gives a scorer
// that refuses every answer.
func For(spec methods.AnswerSpec) Scorer { return kindScorer(spec.Kind) }

// Chance returns what guessing earns on a sample in expectation, by the names
// that [For]'s scorer uses. For a ranking the guess is a uniformly random order
// cut at K; for a choice it is a uniformly random label. Kinds without a
// natural guess (number, text, set, fields) have no chance level: their map is
// empty.
func Chance(spec methods.AnswerSpec, target json.RawMessage) (map[string]float64, error) {
	g, err := newGrader(spec, target)
	if err != nil {
		return nil, err
	}
	if by, ok := g.(guessed); ok {
		return by.chance(), nil
	}
	return map[string]float64{}, nil
}

// grader knows the target of one sample.
type grader interface {
	// grade measures an answer that has a value and passed the spec's check.
	grade(a methods.Answer) (map[string]float64, error)
}

// guessed is a grader of a kind where guessing has a meaning.
type guessed interface {
	// chance is what guessing earns.
	chance() map[string]float64
}

// newGrader reads the target, so that a broken one is found whatever the answer.
func newGrader(spec methods.AnswerSpec, target json.RawMessage) (grader, error) {
	switch spec.Kind {
	case methods.Ranking:
		return newRanking(spec, target)
	case methods.Choice:
		return newChoice(spec, target)
	case methods.Number:
		return newNumber(target)
	case methods.Text:
		return newText(target)
	case methods.Set:
		return newSet(target)
	case methods.Fields:
		if len(spec.Labels) > 0 {
			return newVerdict(spec, target)
		}
		return newFields(spec, target)
	}
	return nil, fmt.Errorf("score: no scorer for answer kind %q", spec.Kind)
}

// kindScorer is the scorer of one answer kind.
type kindScorer methods.AnswerKind

var _ Scorer = kindScorer("")

func (k kindScorer) Score(spec methods.AnswerSpec, answer methods.Answer, target json.RawMessage) (Score, error) {
	if spec.Kind != methods.AnswerKind(k) {
		return Score{}, fmt.Errorf("score: the scorer is for answers of kind %q, but the problem asks for %q", k, spec.Kind)
	}
	g, err := newGrader(spec, target)
	if err != nil {
		return Score{}, err
	}
	if err := spec.Check(answer); err != nil {
		return Score{}, fmt.Errorf("score: %w", err)
	}
	miss := zero(spec)
	if v, ok := g.(verdict); ok && len(v.primitives.want) == 0 {
		delete(miss, PrimitiveAccuracy)
	}
	if !hasValue(answer) {
		return Score{Values: miss}, nil
	}
	values, err := g.grade(answer)
	if err != nil {
		return Score{}, fmt.Errorf("score: %w", err)
	}
	if answer.Outcome != methods.Answered {
		return Score{Values: miss, Given: values}, nil
	}
	return Score{Values: values}, nil
}

// hasValue reports whether a says anything. JSON's null does not: decoding it
// as a number would give 0, and as a text the empty one.
func hasValue(a methods.Answer) bool {
	v := bytes.TrimSpace(a.Value)
	return len(v) > 0 && !bytes.Equal(v, []byte("null"))
}

// parseTarget decodes a target. A null is not a target.
func parseTarget[T any](kind methods.AnswerKind, target json.RawMessage) (v T, err error) {
	if !hasValue(methods.Answer{Value: target}) {
		return v, fmt.Errorf("score: %s target is missing", kind)
	}
	if err := json.Unmarshal(target, &v); err != nil {
		return v, fmt.Errorf("score: %s target %.80s must be %s", kind, target, targetForm(kind))
	}
	return v, nil
}

// targetForm says what JSON the target of a kind of answer is.
func targetForm(kind methods.AnswerKind) string {
	switch kind {
	case methods.Ranking:
		return "a list of item numbers"
	case methods.Number:
		return "a number"
	case methods.Text:
		return "a text or a list of accepted texts"
	case methods.Set:
		return "a list of texts"
	case methods.Fields:
		return "an object"
	}
	return "a text"
}

// oneIf is the value of a yes-or-no measure.
func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
