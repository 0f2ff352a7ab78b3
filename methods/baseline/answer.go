package baseline

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// fromJSON reads the value of {"answer": …}.
func fromJSON(raw json.RawMessage, spec methods.AnswerSpec) (reading, error) {
	switch spec.Kind {
	case methods.Ranking:
		return ranking(string(raw), spec)
	case methods.Fields:
		return fields(raw, spec)
	case methods.Number:
		n, err := decode[json.Number](raw)
		if err != nil || len(raw) == 0 || raw[0] == '"' { // which decodes, too
			return reading{}, fmt.Errorf("the answer %.80q is no number", raw)
		}
		return exact(n)
	case methods.Set:
		list, err := decode[[]string](raw)
		return reading{answer: methods.SetAnswer(list)}, err
	}
	text, err := decode[string](raw)
	if err != nil {
		return reading{}, err
	}
	if spec.Kind == methods.Choice {
		return choice(text, spec)
	}
	return reading{answer: methods.TextAnswer(text)}, nil
}

func decode[T any](raw json.RawMessage) (v T, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("the answer %.80q has the wrong form: %w", raw, err)
	}
	return v, nil
}

// fromText reads the answer after the last line that begins with "Answer:".
func fromText(text string, spec methods.AnswerSpec) (reading, error) {
	line, rest, ok := marked(strings.ToValidUTF8(text, "\ufffd"))
	if !ok {
		return reading{}, errors.New(`there is no line that begins with "Answer:"`)
	}
	if line == "" { // the answer may follow on lines of its own
		line = strings.TrimSpace(rest)
	}
	if line == "" {
		return reading{}, errors.New(`nothing follows "Answer:"`)
	}
	switch spec.Kind {
	case methods.Ranking:
		return ranking(line, spec)
	case methods.Choice:
		return choice(line, spec)
	case methods.Number:
		return number(line)
	case methods.Set:
		return set(line + "\n" + rest)
	case methods.Fields:
		raw, _, err := reply.Extract(line+"\n"+rest, nil)
		if err != nil {
			return reading{}, err
		}
		return fields(raw, spec)
	}
	return reading{answer: methods.TextAnswer(line)}, nil
}

const answerMark = "answer:"

// decoration is Markdown that models put around the mark and the answer.
const decoration = " \t\r*_#>`"

// marked finds the last line that begins with the mark, and returns what
// follows on that line and below it.
func marked(text string) (line, rest string, found bool) {
	for end := len(text); end >= 0; {
		start := strings.LastIndexByte(text[:end], '\n') + 1
		s := strings.TrimLeft(text[start:end], decoration)
		// "**Answer**: x" has the decoration before the colon.
		if word, after, ok := strings.Cut(s, ":"); ok && strings.EqualFold(strings.TrimRight(word, decoration)+":", answerMark) {
			return strings.Trim(after, decoration), text[min(len(text), end+1):], true
		}
		end = start - 1
	}
	return "", "", false
}

func ranking(text string, spec methods.AnswerSpec) (reading, error) {
	r := reply.Ranking(text, spec.N)
	if len(r.Items) == 0 {
		return reading{}, fmt.Errorf("it names no item within 1..%d", spec.N)
	}
	if len(r.Items) > spec.K {
		for _, i := range r.Items[spec.K:] {
			r.Dropped = append(r.Dropped, strconv.Itoa(i))
		}
		r.Items = r.Items[:spec.K]
	}
	return reading{answer: methods.RankingAnswer(r.Items), dropped: r.Dropped}, nil
}

// choice finds the label, without regard to case and decoration if no label
// is the text itself.
func choice(text string, spec methods.AnswerSpec) (reading, error) {
	for _, label := range spec.Labels {
		if text == label {
			return reading{answer: methods.ChoiceAnswer(label)}, nil
		}
	}
	bare := strings.Trim(text, decoration+".\"'")
	for _, label := range spec.Labels {
		if strings.EqualFold(bare, strings.Trim(label, decoration+".\"'")) {
			return reading{answer: methods.ChoiceAnswer(label)}, nil
		}
	}
	return reading{}, fmt.Errorf("%.80q is none of the labels %s", text, trial.Quoted(spec.Labels))
}

// number reads the number of a marked line, see [reply.Number].
func number(text string) (reading, error) {
	n, ok := reply.Number(answerMark + " " + text)
	if !ok {
		return reading{}, fmt.Errorf("%.80q holds no number", text)
	}
	return exact(n)
}

// exact is an answer with all digits of n.
func exact(n json.Number) (reading, error) {
	a, err := trial.Exact(n)
	return reading{answer: a}, err
}

// set reads a JSON list, or else the parts of the line between commas.
func set(text string) (reading, error) {
	if raw, _, err := reply.Extract(text, nil); err == nil {
		list, err := decode[[]string](raw)
		return reading{answer: methods.SetAnswer(list)}, err
	}
	line, _, _ := strings.Cut(text, "\n")
	var members []string
	for part := range strings.SplitSeq(line, ",") {
		if part = strings.Trim(part, decoration+"\"'."); part != "" {
			members = append(members, part)
		}
	}
	return reading{answer: methods.SetAnswer(members)}, nil
}

// fields reads an object that has all the names of the spec and drops others.
func fields(raw json.RawMessage, spec methods.AnswerSpec) (reading, error) {
	have, err := decode[map[string]any](raw)
	if err != nil {
		return reading{}, err
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
		return reading{}, fmt.Errorf("these fields are missing: %s", trial.Quoted(missing))
	}
	a, err := methods.FieldsAnswer(want)
	return reading{answer: a, dropped: make([]string, len(have))}, err
}
