package task

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"noema/kernel/files"
	"noema/methods"
)

// maxRanked is how many items of a ranking are asked for if the data does not
// say.
const maxRanked = 5

// LoadJSONL reads a task from a JSON Lines file, one sample a line:
//
//	{"id": "a1", "input": "2+2?", "target": 4, "metadata": {"group": "easy"}}
//
// Field names are those of Inspect's datasets. The id may be missing: it is
// then the number of the sample. The input is a text, or an object with the
// fields query, context (an object), items (a list to rank), labels (a list
// of texts to choose from) and k (how many items to rank). What the answer is
// follows from what there is: items make it a ranking, with the number or
// numbers of the right items, from 1, as the target; labels a choice; and
// otherwise the target decides: a number, a text, a list of texts (a set) or
// an object (fields). An empty text or list as the target is an answer, too: that
// there is none. The metadata "group" and "cluster" become the sample's.
//
// The target may be missing where the right answer is not known: the sample is
// run and not scored. The field answer of the input then says what is asked for,
// as [ParseAnswer] reads it; without it, a text. Beside labels it is choice or set,
// and a choice without it.
//
// Errors name file, line and column.
func LoadJSONL(path string) (*Task, error) {
	t := &Task{Version: "1", Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	seen := map[string]int{}
	err := EachLine(path, func(l Line) error {
		s, err := readSample(l, len(t.Samples)+1)
		if err != nil {
			return err
		}
		if first, dup := seen[s.ID]; dup {
			return l.Errorf("id %q is already used in line %d", s.ID, first)
		}
		seen[s.ID] = l.Number
		t.Samples = append(t.Samples, s)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load task: %w", err)
	}
	if len(t.Samples) == 0 {
		return nil, fmt.Errorf("load task: %s has no samples", filepath.Base(path))
	}
	t.NoteUnscored()
	t.Summary = fmt.Sprintf("%d samples of %s", len(t.Samples), filepath.Base(path))
	t.Source, err = describe(path)
	return t, err
}

// describe names a file by its base name and its content.
func describe(path string) (string, error) {
	f, err := files.Open(path)
	if err != nil {
		return "", fmt.Errorf("load task: %w", err)
	}
	defer f.Close() // opened for reading: closing cannot lose anything
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("load task: %w", err)
	}
	return fmt.Sprintf("file %s, sha256 %s", filepath.Base(path), hex.EncodeToString(h.Sum(nil))), nil
}

// record is a line of the file.
type record struct {
	ID       json.RawMessage            `json:"id"`
	Input    json.RawMessage            `json:"input"`
	Target   json.RawMessage            `json:"target"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

// input is the long form of record.Input.
type input struct {
	Query   string                     `json:"query"`
	Context map[string]json.RawMessage `json:"context"`
	Items   []json.RawMessage          `json:"items"`
	Labels  []string                   `json:"labels"`
	K       int                        `json:"k"`
	Answer  string                     `json:"answer"` // without a target: what is asked for
}

func readSample(l Line, number int) (Sample, error) {
	var r record
	if err := l.DecodeStrict(&r); err != nil {
		return Sample{}, hint(err, "id", "input", "target", "metadata")
	}
	s := Sample{ID: strconv.Itoa(number), Metadata: metadata(r.Metadata)}
	s.Group, s.Cluster = s.Metadata["group"], s.Metadata["cluster"]
	if !absent(r.ID) {
		s.ID = plain(r.ID)
	}
	if strings.TrimSpace(s.ID) == "" {
		return Sample{}, l.Errorf("the id is empty")
	}
	if absent(r.Input) {
		return Sample{}, l.Errorf("sample %q has no input", s.ID)
	}
	in, err := readInput(l, r.Input)
	if err != nil {
		return Sample{}, err
	}
	at := "target"
	if absent(r.Target) {
		r.Target, at = nil, "input"
	}
	if s.Problem, s.Target, err = in.problem(r.Target); err != nil {
		return Sample{}, l.errorAt(l.valueOffset(at), fmt.Errorf("sample %q: %w", s.ID, err))
	}
	return s, nil
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

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

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

func metadata(raw map[string]json.RawMessage) map[string]string {
	if len(raw) == 0 {
		return nil
	}
	out := make(map[string]string, len(raw))
	for k, v := range raw {
		out[k] = plain(v)
	}
	return out
}

func readInput(l Line, raw json.RawMessage) (input, error) {
	var in input
	at := l.valueOffset("input")
	if raw[0] == '"' {
		err := json.Unmarshal(raw, &in.Query)
		if err == nil && strings.TrimSpace(in.Query) == "" {
			err = l.errorAt(at, errors.New("the input is empty"))
		}
		return in, err
	}
	// Decoded in its place, so that errors have the right column.
	inner := Line{l.File, l.Number, append(bytes.Repeat([]byte{' '}, utf8.RuneCount(l.Raw[:at])), raw...)}
	if raw[0] != '{' {
		return in, l.errorAt(at, fmt.Errorf("the input is neither a text nor an object with a query"))
	}
	if err := inner.DecodeStrict(&in); err != nil {
		return in, hint(err, "query", "context", "items", "labels", "k", "answer")
	}
	switch {
	case strings.TrimSpace(in.Query) == "":
		return in, l.errorAt(at, fmt.Errorf("the input has no query"))
	case in.Items != nil && in.Labels != nil:
		return in, l.errorAt(at, fmt.Errorf("the input has both items and labels: keep one"))
	case in.Context[ItemsKey] != nil && in.Items != nil:
		return in, l.errorAt(at, fmt.Errorf("items are given twice: in input and in context"))
	case in.K != 0 && in.Items == nil:
		return in, l.errorAt(at, fmt.Errorf("k needs items to rank"))
	case in.Labels != nil:
		if err := atLeast(in.Labels, 1, "texts to choose from"); err != nil {
			return in, l.errorAt(at, fmt.Errorf("labels: %w", err))
		}
	}
	return in, nil
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
		in.Context[ItemsKey] = raw
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
	var label string
	if json.Unmarshal(target, &label) != nil || !slices.Contains(in.Labels, label) {
		return spec, nil, fmt.Errorf("target %s is not one of the labels %q", compact(target), in.Labels)
	}
	return spec, methods.ChoiceAnswer(label).Value, nil
}

// labelledSet is a set whose members are among the labels.
func (in input) labelledSet(target json.RawMessage) (methods.AnswerSpec, json.RawMessage, error) {
	spec := methods.AnswerSpec{Kind: methods.Set, Labels: in.Labels}
	var members []string
	if err := json.Unmarshal(target, &members); err != nil {
		return spec, nil, fmt.Errorf("target %.80s is not a list of texts", compact(target))
	}
	for _, m := range members {
		if !slices.Contains(in.Labels, m) {
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
		yesNo := map[byte]string{'t': "yes", 'f': "no"}[target[0]]
		return methods.AnswerSpec{}, nil, fmt.Errorf("target %s needs labels: add \"labels\": [\"yes\",\"no\"] to the input and use \"%s\"", target, yesNo)
	}
	var number float64
	if err := json.Unmarshal(target, &number); err != nil {
		return methods.AnswerSpec{}, nil, fmt.Errorf("target %.80s is not a number", target)
	}
	return methods.AnswerSpec{Kind: methods.Number}, target, nil
}

// open is what a sample without a target asks for.
func (in input) open() (methods.AnswerSpec, error) {
	spec, _, err := ParseAnswer(cmp.Or(in.Answer, string(methods.Text)))
	if err == nil && spec.Kind == methods.Ranking {
		err = errors.New(`a ranking needs its items: write "items" in place of "answer"`)
	}
	return spec, err
}

func (in input) ranking(target json.RawMessage) (methods.AnswerSpec, json.RawMessage, error) {
	n := len(in.Items)
	spec := methods.AnswerSpec{Kind: methods.Ranking, N: n, K: in.K}
	if spec.K == 0 {
		spec.K = min(maxRanked, n)
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
