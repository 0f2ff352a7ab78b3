package lab

import (
	"encoding/json"
	"fmt"
	"reflect"

	"noema/kernel/task"
	"noema/methods"
	"noema/methods/reply"
)

// NewTask makes a task of samples. Samples without an ID are numbered. Ids must
// be unique. A sample without a target is run and not scored.
func NewTask(name string, samples ...Sample) (*Task, error) {
	t := &task.Task{Name: name, Version: "1", Summary: "defined by a script", Source: "a script"}
	seen := map[string]bool{}
	for i, s := range samples {
		if s.ID == "" {
			s.ID = fmt.Sprint(i + 1)
		}
		if seen[s.ID] {
			return nil, Misused(fmt.Errorf("new task %q: two samples have the id %q", name, s.ID))
		}
		seen[s.ID] = true
		t.Samples = append(t.Samples, s)
	}
	t.NoteUnscored()
	return t, nil
}

// Question is a sample of a query and its target, which decides what kind of
// answer is asked for: a number, a text, a list of texts (a set), or a map or
// struct (fields). With nil, which is not a target, a text is asked for and not
// scored. It panics on a target of any other kind, as there is no way to go on
// from that mistake.
func Question(query string, target any) Sample {
	if target == nil {
		return Sample{Problem: Problem{Query: query, Answer: methods.AnswerSpec{Kind: Text}}}
	}
	spec := methods.AnswerSpec{}
	v := reflect.ValueOf(target)
	switch {
	case v.IsValid() && (v.CanInt() || v.CanUint() || v.CanFloat()):
		spec.Kind = Number
	case v.IsValid() && v.Kind() == reflect.String:
		spec.Kind = Text
	case v.IsValid() && v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		spec.Kind = Set
	case v.IsValid() && (v.Kind() == reflect.Map || v.Kind() == reflect.Struct):
		spec.Kind = Fields
	default:
		panic(fmt.Sprintf("question %q: a target is a number, a text, a list of texts, or a map of fields, not %T", query, target))
	}
	raw, err := json.Marshal(target)
	if err != nil {
		panic(fmt.Sprintf("question %q: encode target: %v", query, err))
	}
	if spec.Kind == Fields {
		spec.Names = fieldNames(raw)
	}
	return Sample{Problem: Problem{Query: query, Answer: spec}, Target: raw}
}

func fieldNames(object json.RawMessage) []string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		panic(fmt.Sprintf("fields of a target: %v", err)) // it was encoded from a map or struct
	}
	return sortedKeys(fields)
}

// Pick is a sample that asks to choose one of labels.
func Pick(query, target string, labels ...string) Sample {
	return Sample{Problem: Problem{Query: query, Answer: methods.AnswerSpec{Kind: Choice, Labels: labels}}, Target: methods.Must(json.Marshal(target))}
}

// Reply asks the model of h one question, at temperature 0, and returns its
// text: the call that most functions make. Path is the call's place in the
// trial, such as "ask".
func Reply(ctx Context, h Host, path, prompt string) (string, error) {
	c, err := h.Complete(ctx, Request{Messages: methods.Ask(prompt), Path: path})
	return c.Text, err
}

// NumberAnswer answers with a number.
func NumberAnswer(x float64) Answer { return methods.NumberAnswer(x) }

// TextAnswer answers with a text.
func TextAnswer(s string) Answer { return methods.TextAnswer(s) }

// ChoiceAnswer answers with one of the labels.
func ChoiceAnswer(label string) Answer { return methods.ChoiceAnswer(label) }

// RankingAnswer answers with item numbers from 1, the best first.
func RankingAnswer(items []int) Answer { return methods.RankingAnswer(items) }

// SetAnswer answers with a set of texts.
func SetAnswer(members []string) Answer { return methods.SetAnswer(members) }

// NoAnswer says that a reply held none, and why.
func NoAnswer(reason string) Answer { return Answer{Outcome: Unparsed, Reason: reason} }

// ParseNumber finds the answer in a reply that should end with a number.
func ParseNumber(text string) (float64, bool) {
	number, ok := reply.Number(text)
	if !ok {
		return 0, false
	}
	x, err := number.Float64()
	return x, err == nil
}
