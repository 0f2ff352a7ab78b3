package researchtree

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
)

// value reads an answer of the wanted kind.
func value(raw json.RawMessage, spec methods.AnswerSpec) (methods.Answer, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return methods.Answer{}, errors.New("there is no answer in it")
	}
	switch spec.Kind {
	case methods.Number:
		var x json.Number
		if err := json.Unmarshal(raw, &x); err != nil {
			return methods.Answer{}, fmt.Errorf("the answer %.80s is not a number", raw)
		}
		return methods.Answer{Value: json.RawMessage(x.String()), Outcome: methods.Answered}, nil
	case methods.Set:
		var list []string
		if err := json.Unmarshal(raw, &list); err != nil {
			return methods.Answer{}, fmt.Errorf("the answer %.80s is not a list of texts", raw)
		}
		return methods.SetAnswer(list), nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || strings.TrimSpace(text) == "" {
		return methods.Answer{}, fmt.Errorf("the answer %.80s is not a text", raw)
	}
	if spec.Kind == methods.Choice {
		i := slices.IndexFunc(spec.Labels, func(l string) bool { return strings.EqualFold(l, strings.TrimSpace(text)) })
		if i < 0 {
			return methods.Answer{}, fmt.Errorf("%q is none of %s", text, strings.Join(spec.Labels, ", "))
		}
		return methods.ChoiceAnswer(spec.Labels[i]), nil
	}
	return methods.TextAnswer(text), nil
}
