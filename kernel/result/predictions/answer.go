package predictions

import (
	"encoding/json"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// To reads the answer as a problem asks for it. A text, in whatever column, is a reply:
// it leads to the answer and the outcome that it would of a model. A value of a kind
// that cannot be the answer, such as an object where a number is asked for, is an
// error: the file is of another task, or its columns are mistaken.
func (p Prediction) To(spec methods.AnswerSpec) (methods.Answer, error) {
	switch {
	case p.Refused:
		return reply.Fallback(spec, methods.Refused, "the model refused to answer: "+reply.OneLine(p.Text, 300)), nil
	case p.Option > 0:
		if spec.Kind != methods.Choice || p.Option > len(spec.Labels) {
			return methods.Answer{}, fmt.Errorf("%s: option %d was chosen, and sample %q asks for %s: name another task", p.Place, p.Option, p.ID, asked(spec))
		}
		return methods.ChoiceAnswer(spec.Labels[p.Option-1]), nil
	case p.Value != nil && p.Value[0] != '"':
		r, err := reply.ReadValue(p.Value, spec)
		if err != nil {
			return methods.Answer{}, fmt.Errorf("%s: the answer to sample %q is %.60s, and it asks for %s: %w", p.Place, p.ID, p.Value, asked(spec), err)
		}
		return r.Answer, nil
	}
	text, err := p.text()
	if err != nil {
		return methods.Answer{}, err
	}
	a := reply.Conclude(text, p.Cut, spec)
	if strings.TrimSpace(text) == "" {
		a.Reason = "the prediction is empty"
	} else if a.Outcome != methods.Answered { // no transcript shows the text
		a.Reason = fmt.Sprintf("the text is not surely %s (%s): %q", asked(spec), a.Reason, reply.OneLine(text, 80))
	}
	return a, nil
}

// Verbatim is the answer as a text that is not searched for another: a program.
func (p Prediction) Verbatim() (methods.Answer, error) {
	text, err := p.text()
	if err == nil && strings.TrimSpace(text) == "" {
		return methods.Answer{Outcome: methods.Unparsed, Reason: "the prediction is empty"}, nil
	}
	return methods.TextAnswer(text), err
}

// text is what was replied.
func (p Prediction) text() (text string, err error) {
	if p.Value == nil {
		return p.Text, nil
	}
	if err := json.Unmarshal(p.Value, &text); err != nil {
		return "", fmt.Errorf("%s: the answer to sample %q: %w", p.Place, p.ID, err)
	}
	return text, nil
}

// asked is the kind of an answer, with its labels if there are few.
func asked(spec methods.AnswerSpec) string {
	if n := len(spec.Labels); n > 0 && n <= 10 {
		return fmt.Sprintf("a %s of %s", spec.Kind, strings.Join(spec.Labels, ", "))
	}
	return "a " + string(spec.Kind)
}
