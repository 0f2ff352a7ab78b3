package reply

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
	"noema/methods/decimal"
)

// ReadValue reads the value of an answer, as it stands in {"answer": …}. A value
// of another JSON type is read as its text would be behind "Answer:", so that
// "1234" is a number, 3 a label and "[3, 1]" a ranking.
func ReadValue(raw json.RawMessage, spec methods.AnswerSpec) (Reading, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return Reading{}, errors.New("there is no answer in it")
	}
	r, err := typed(raw, spec)
	if err == nil || raw[0] == '{' || raw[0] == '[' {
		return r, err
	}
	text, quoted := string(raw), raw[0] == '"'
	if quoted && json.Unmarshal(raw, &text) != nil {
		return r, err
	}
	if strings.TrimSpace(text) == "" {
		return r, errors.New("the answer is empty")
	}
	loose, bad := readText(text, "", spec)
	if bad != nil {
		if errors.Is(bad, errSeveral) {
			err = bad
		}
		return r, err
	}
	loose.Repair = cmp.Or(loose.Repair, "a value of another type")
	return loose, nil
}

// typed reads a value of the type that the kind of answer has.
func typed(raw json.RawMessage, spec methods.AnswerSpec) (Reading, error) {
	switch spec.Kind {
	case methods.Ranking:
		if raw[0] != '[' {
			return Reading{}, fmt.Errorf("the answer %.80s is not a list of item numbers", raw)
		}
		return ranked(string(raw), spec)
	case methods.Fields:
		return namedFields(raw, spec)
	case methods.Number:
		if raw[0] == '"' { // which decodes, too
			return Reading{}, fmt.Errorf("the answer %.80s is not a number", raw)
		}
		n, err := decodeAnswer[json.Number](raw, "a number")
		if err != nil {
			return Reading{}, err
		}
		return exactly(n)
	case methods.Set:
		return members(raw, spec)
	}
	text, err := decodeAnswer[string](raw, "a text")
	if err != nil {
		return Reading{}, err
	}
	if spec.Kind == methods.Choice {
		return label(text, spec)
	}
	return Reading{Answer: methods.TextAnswer(text)}, nil
}

// decodeAnswer decodes a value of the form that what names, such as "a number".
func decodeAnswer[T any](raw json.RawMessage, what string) (v T, err error) {
	if json.Unmarshal(raw, &v) != nil {
		return v, fmt.Errorf("the answer %.80s is not %s", raw, what)
	}
	return v, nil
}

// readText reads what follows a mark: the line, and the lines below it.
func readText(line, rest string, spec methods.AnswerSpec) (Reading, error) {
	if spec.Kind != methods.Ranking { // whose lists are read with their faults
		if l, ok := literalAt(line, 0); ok && strings.IndexByte("{[", line[0]) >= 0 && strings.Trim(line[l.to:], decoration+".") == "" {
			if r, err := readLiteral(l, spec); err == nil {
				return r, nil
			}
		}
	}
	switch spec.Kind {
	case methods.Ranking:
		return ranked(line, spec)
	case methods.Choice:
		return choiceIn(line, spec)
	case methods.Number:
		return numberIn(line, spec)
	case methods.Set:
		return setIn(line, rest, spec)
	case methods.Fields:
		found, _ := literals(line + "\n" + rest)
		if len(found) == 0 {
			return Reading{}, errors.New("it holds no JSON value")
		}
		r, err := readLiteral(found[0], spec)
		for _, other := range found[1:] {
			if o, bad := readLiteral(other, spec); err == nil && bad == nil && string(o.Answer.Value) != string(r.Answer.Value) {
				return Reading{}, errSeveral
			}
		}
		return r, err
	}
	return Reading{Answer: methods.TextAnswer(line)}, nil
}

// readLiteral reads a list or an object as the value of an answer, or of an
// {"answer": …} of its own.
func readLiteral(l literal, spec methods.AnswerSpec) (Reading, error) {
	raw := l.raw
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		if answer, _, ok := answerOf(fields); ok && !slices.Contains(spec.Names, "answer") {
			raw = answer
		}
	}
	r, err := ReadValue(raw, spec)
	if l.python && r.Repair == "" {
		r.Repair = "a Python literal"
	}
	return r, err
}

func ranked(text string, spec methods.AnswerSpec) (Reading, error) {
	r := Ranking(text, spec.N)
	if len(r.Items) == 0 {
		return Reading{}, fmt.Errorf("it names no item within 1..%d", spec.N)
	}
	if k := spec.K; k > 0 && len(r.Items) > k {
		for _, i := range r.Items[k:] {
			r.Dropped = append(r.Dropped, strconv.Itoa(i))
		}
		r.Items = r.Items[:k]
	}
	return Reading{Answer: methods.RankingAnswer(r.Items), Dropped: r.Dropped}, nil
}

// label finds the label, without regard to case and decoration if no label is the
// text itself.
func label(text string, spec methods.AnswerSpec) (Reading, error) {
	if slices.Contains(spec.Labels, text) {
		return Reading{Answer: methods.ChoiceAnswer(text)}, nil
	}
	bare := strings.Trim(text, decoration+".\"'")
	for _, label := range spec.Labels {
		if strings.EqualFold(bare, strings.Trim(label, decoration+".\"'")) {
			return Reading{Answer: methods.ChoiceAnswer(label)}, nil
		}
	}
	return Reading{}, fmt.Errorf("%.80q is none of the labels %s", text, Quoted(spec.Labels))
}

// Exact is the answer n with all its digits, which a float64 would lose.
func Exact(n json.Number) (methods.Answer, error) {
	r, err := decimal.Parse(string(n))
	if err != nil {
		return methods.Answer{}, err
	}
	text, _ := decimal.Format(r)
	return methods.Answer{Value: json.RawMessage(text), Outcome: methods.Answered}, nil
}

func exactly(n json.Number) (Reading, error) {
	a, err := Exact(n)
	return Reading{Answer: a}, err
}

// members reads a list of texts. Numbers and truth values in it are their text.
func members(raw json.RawMessage, spec methods.AnswerSpec) (Reading, error) {
	list, err := decodeAnswer[[]string](raw, "a list of texts")
	if err == nil {
		return setOf(list, spec)
	}
	var values []json.RawMessage
	if json.Unmarshal(raw, &values) != nil {
		return Reading{}, err
	}
	list = make([]string, len(values))
	for i, v := range values {
		switch {
		case v[0] == '{' || v[0] == '[' || string(v) == "null":
			return Reading{}, err
		case v[0] != '"':
			list[i] = string(v)
		case json.Unmarshal(v, &list[i]) != nil:
			return Reading{}, err
		}
	}
	r, err := setOf(list, spec)
	r.Repair = "a list of other values than texts"
	return r, err
}

// namedFields reads an object that has all the names of the spec and drops others.
func namedFields(raw json.RawMessage, spec methods.AnswerSpec) (Reading, error) {
	have, err := decodeAnswer[map[string]any](raw, "an object with the fields")
	if err != nil {
		return Reading{}, err
	}
	want := map[string]any{}
	var missing []string
	for _, name := range spec.Names {
		v, ok := have[name]
		if !ok {
			missing = append(missing, name)
		}
		want[name] = v
		delete(have, name)
	}
	if len(missing) > 0 {
		return Reading{}, fmt.Errorf("these fields are missing: %s", Quoted(missing))
	}
	a, err := methods.FieldsAnswer(want)
	return Reading{Answer: a, Dropped: make([]string, len(have))}, err
}
