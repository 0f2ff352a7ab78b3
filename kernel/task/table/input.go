package table

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"noema/kernel/task"
	"noema/methods"
)

// input is the form of an input that is more than a text: with the fields query,
// context (an object), items (a list to rank), labels (a list of texts to choose
// from) and k (how many items to rank). What the answer is follows from what there
// is: items make it a ranking, with the number or numbers of the right items, from 1,
// as the target; labels a choice, or a set where the target is a list; and otherwise
// the target decides: a number, a text, a list of texts (a set) or an object (fields).
// An empty text or list as the target is an answer, too: that there is none.
//
// The target may be missing where the right answer is not known: the sample is run
// and not scored. The field answer then says what is asked for, as [task.ParseAnswer]
// reads it; without it, a text. Beside labels it is choice or set, and a choice
// without it.
type input struct {
	Query   string                     `json:"query"`
	Context map[string]json.RawMessage `json:"context"`
	Items   []json.RawMessage          `json:"items"`
	Labels  []string                   `json:"labels"`
	K       int                        `json:"k"`
	Answer  string                     `json:"answer"` // without a target: what is asked for
}

// hint adds the known names to an error about an unknown one, or about a line
// that is not an object.
func hint(err error, known ...string) error {
	_, quoted, unknown := strings.Cut(err.Error(), "unknown field ")
	near := ""
	if name, bad := strconv.Unquote(quoted); unknown && bad == nil {
		near = methods.DidYouMean(name, known)
	}
	if unknown || strings.Contains(err.Error(), "want an object") {
		return fmt.Errorf("%w%s: the fields are %s", err, near, strings.Join(known, ", "))
	}
	return err
}

// plain is a text as it is and any other value as JSON.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return compact(raw)
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil { // raw was decoded from valid JSON
		panic(err)
	}
	return b.String()
}

// readInput reads the input of a row.
func readInput(row Row, column string, raw json.RawMessage) (in input, err error) {
	switch raw[0] {
	case '"':
		err := json.Unmarshal(raw, &in.Query)
		if err == nil && strings.TrimSpace(in.Query) == "" {
			err = row.Fault(column, errors.New("the input is empty"))
		}
		return in, err
	case '[':
		in.Query, err = conversation(raw)
		if err == nil && strings.TrimSpace(in.Query) == "" {
			err = errors.New("the input is empty")
		}
		if err != nil {
			err = row.Fault(column, err)
		}
		return in, err
	case '{':
		if column == "input" {
			return in, in.decode(row, column, raw)
		}
		if bytes.HasPrefix(raw, []byte(`{"0":`)) {
			return in, row.Fault(column, errors.New("the file is written by columns: write it by rows, in pandas with orient=\"records\""))
		}
	}
	return in, row.Fault(column, errors.New("the input is neither a text nor an object with a query, nor a list of messages"))
}

// decode reads an input that is an object.
func (in *input) decode(row Row, column string, raw json.RawMessage) error {
	inner := row.Line
	if inner.Raw = raw; row.Raw != nil { // in its place, so that errors have the right column
		inner.Raw = append(bytes.Repeat([]byte{' '}, utf8.RuneCount(row.Raw[:row.Offset(column)])), raw...)
	}
	if err := inner.DecodeStrict(in); err != nil {
		return hint(err, "query", "context", "items", "labels", "k", "answer")
	}
	if err := in.check(); err != nil {
		return row.Fault(column, err)
	}
	return nil
}

// check refuses fields that do not go together.
func (in *input) check() error {
	switch {
	case strings.TrimSpace(in.Query) == "":
		return fmt.Errorf("the input has no query")
	case in.Items != nil && in.Labels != nil:
		return fmt.Errorf("the input has both items and labels: keep one")
	case in.Context[task.ItemsKey] != nil && in.Items != nil:
		return fmt.Errorf("items are given twice: in input and in context")
	case in.K != 0 && in.Items == nil:
		return fmt.Errorf("k needs items to rank")
	case in.Labels != nil:
		if err := distinct(in.Labels); err != nil {
			return fmt.Errorf("labels: %w", err)
		}
	}
	return nil
}

// distinct refuses labels that methods could not tell apart.
func distinct(labels []string) error {
	seen := map[string]bool{}
	for _, label := range labels {
		if label == "" {
			return errors.New("a part of the list is empty")
		}
		if seen[label] {
			return fmt.Errorf("%q is in the list twice", label)
		}
		seen[label] = true
	}
	if len(labels) == 0 {
		return errors.New("it needs texts to choose from")
	}
	return nil
}

// problem builds the problem and its target in the form of an answer's value.
func (in input) problem(target json.RawMessage) (methods.Problem, json.RawMessage, error) {
	p := methods.Problem{Query: in.Query}
	if in.Items != nil {
		in.Context = maps.Clone(in.Context)
		if in.Context == nil {
			in.Context = map[string]json.RawMessage{}
		}
		raw, err := json.Marshal(in.Items)
		if err != nil {
			return p, nil, err
		}
		in.Context[task.ItemsKey] = raw
	}
	if in.Context != nil {
		raw, err := json.Marshal(in.Context)
		if err != nil {
			return p, nil, err
		}
		p.Context = raw
	}
	var err error
	p.Answer, target, err = in.answer(target)
	return p, target, err
}

// labelled is a choice of one of the labels, or a set of some.
func (in input) labelled(target json.RawMessage) (methods.AnswerSpec, json.RawMessage, error) {
	spec := methods.AnswerSpec{Kind: methods.Choice, Labels: in.Labels}
	kind := methods.AnswerKind(cmp.Or(in.Answer, string(methods.Choice)))
	switch {
	case bytes.HasPrefix(target, []byte("[")):
		return in.labelledSet(target)
	case kind != methods.Choice && kind != methods.Set:
		return spec, nil, fmt.Errorf("answer %.80q: over labels it is %q or %q", in.Answer, methods.Choice, methods.Set)
	case target == nil:
		spec.Kind = kind
		return spec, nil, nil
	}
	label, ok := meant(target, in.Labels)
	if !ok {
		return spec, nil, fmt.Errorf("target %s is not one of the labels %q", compact(target), in.Labels)
	}
	return spec, methods.ChoiceAnswer(label).Value, nil
}

// yesNo are the labels of a target that is true or false.
var yesNo = []string{"yes", "no"}

// meant is the label that a target stands for: itself, itself in other letters, or yes and
// no for true and false.
func meant(target json.RawMessage, labels []string) (label string, ok bool) {
	var text string
	switch {
	case json.Unmarshal(target, &text) == nil:
	case string(target) == "true" || string(target) == "false":
		text = string(target)
	default:
		return "", false
	}
	forms := []string{text}
	switch text {
	case "true":
		forms = append(forms, yesNo[0])
	case "false":
		forms = append(forms, yesNo[1])
	}
	for _, form := range forms {
		if slices.Contains(labels, form) {
			return form, true
		}
	}
	for _, form := range forms {
		same := func(l string) bool { return strings.EqualFold(l, form) }
		if i := slices.IndexFunc(labels, same); i >= 0 && !slices.ContainsFunc(labels[i+1:], same) {
			return labels[i], true
		}
	}
	return "", false
}

// labelledSet is a set whose members are among the labels.
func (in input) labelledSet(target json.RawMessage) (methods.AnswerSpec, json.RawMessage, error) {
	spec := methods.AnswerSpec{Kind: methods.Set, Labels: in.Labels}
	var members []string
	if err := json.Unmarshal(target, &members); err != nil {
		return spec, nil, fmt.Errorf("target %.80s is not a list of texts", compact(target))
	}
	labels := map[string]bool{}
	for _, label := range in.Labels {
		labels[label] = true
	}
	for _, m := range members {
		if !labels[m] {
			return spec, nil, fmt.Errorf("target %s: %q is not one of the labels %q", compact(target), m, in.Labels)
		}
	}
	return spec, methods.SetAnswer(members).Value, nil
}

func (in input) answer(target json.RawMessage) (methods.AnswerSpec, json.RawMessage, error) {
	switch {
	case in.Answer != "" && (target != nil || in.Items != nil):
		return methods.AnswerSpec{}, nil, fmt.Errorf("the answer follows from the target or the items: leave \"answer\" out")
	case in.Items != nil:
		return in.ranking(target)
	case in.Labels != nil:
		return in.labelled(target)
	}
	if target == nil {
		spec, err := in.open()
		return spec, nil, err
	}
	switch target[0] {
	case '"':
		return methods.AnswerSpec{Kind: methods.Text}, target, nil
	case '[':
		var members []string
		if err := json.Unmarshal(target, &members); err != nil {
			return methods.AnswerSpec{}, nil, fmt.Errorf("target %.80s is not a list of texts", compact(target))
		}
		if slices.ContainsFunc(members, func(m string) bool { return strings.TrimSpace(m) == "" }) {
			return methods.AnswerSpec{}, nil, fmt.Errorf("target %.80s has an empty text", compact(target))
		}
		return methods.AnswerSpec{Kind: methods.Set}, methods.SetAnswer(members).Value, nil
	case '{':
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(target, &fields); err != nil || len(fields) == 0 {
			return methods.AnswerSpec{}, nil, fmt.Errorf("the target is an object without fields")
		}
		names := slices.Sorted(maps.Keys(fields))
		return methods.AnswerSpec{Kind: methods.Fields, Names: names}, json.RawMessage(compact(target)), nil
	case 't', 'f':
		in.Labels = yesNo
		return in.labelled(target)
	}
	var number float64
	if err := json.Unmarshal(target, &number); err != nil {
		return methods.AnswerSpec{}, nil, fmt.Errorf("target %.80s is not a number", target)
	}
	return methods.AnswerSpec{Kind: methods.Number}, target, nil
}

// open is what a sample without a target asks for.
func (in input) open() (methods.AnswerSpec, error) {
	spec, _, err := task.ParseAnswer(cmp.Or(in.Answer, string(methods.Text)))
	if err == nil && spec.Kind == methods.Ranking {
		err = errors.New(`a ranking needs its items: write "items" in place of "answer"`)
	}
	return spec, err
}

func (in input) ranking(target json.RawMessage) (methods.AnswerSpec, json.RawMessage, error) {
	n := len(in.Items)
	spec := methods.AnswerSpec{Kind: methods.Ranking, N: n, K: in.K}
	if spec.K == 0 {
		spec.K = min(task.MaxRanked, n)
	}
	switch {
	case n == 0:
		return spec, nil, fmt.Errorf("the sample has no items to rank")
	case n == 1:
		return spec, nil, fmt.Errorf("the sample has one item: a ranking needs at least two")
	case spec.K < 1 || spec.K > n:
		return spec, nil, fmt.Errorf("k must be 1 to %d, the number of items, not %d", n, spec.K)
	}
	if target == nil {
		return spec, nil, nil
	}
	var gold []int
	if target[0] != '[' {
		gold = make([]int, 1)
		if err := json.Unmarshal(target, &gold[0]); err != nil {
			return spec, nil, fmt.Errorf("target %.80s is not an item number", compact(target))
		}
	} else if err := json.Unmarshal(target, &gold); err != nil {
		return spec, nil, fmt.Errorf("target %.80s is not a list of item numbers", compact(target))
	}
	slices.Sort(gold)
	switch {
	case len(gold) == 0:
		return spec, nil, fmt.Errorf("the target names no item")
	case len(slices.Compact(slices.Clone(gold))) < len(gold):
		return spec, nil, fmt.Errorf("target %.80s names an item twice", compact(target))
	}
	if gold[0] < 1 || gold[len(gold)-1] > n {
		return spec, nil, fmt.Errorf("target %s is not within 1..%d: items are numbered from 1", compact(target), n)
	}
	return spec, methods.RankingAnswer(gold).Value, nil
}
