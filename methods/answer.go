package methods

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// AnswerKind is a form of answer.
type AnswerKind string

// The answer kinds, with the JSON form of Answer.Value for each.
const (
	Ranking AnswerKind = "ranking" // [3,1]: 1-based item numbers, best first
	Choice  AnswerKind = "choice"  // "label"
	Number  AnswerKind = "number"  // 4.5
	Text    AnswerKind = "text"    // "any text"
	Set     AnswerKind = "set"     // ["a","b"], order without meaning
	Fields  AnswerKind = "fields"  // {"name": value}
)

// AnswerSpec says which answer a problem wants.
type AnswerSpec struct {
	Kind AnswerKind
	N    int // ranking: how many items there are
	K    int // ranking: how many of them to name, at most
	// Labels are the allowed labels of a choice, in the order of their meaning
	// where it has one; for a set, what its members are chosen from, where that is
	// given; for fields, the levels of the field Verdict, mildest
	// first, and empty if there is no such field.
	Labels []string
	Names  []string // fields: the field names
	// Texts are those of a choice's options, in the order of Labels, where it has some: a reply
	// may say an option in place of its label.
	Texts []string `json:",omitempty"`
	// Decimal is "comma" where replies write 1.500,25 for 1500.25; empty for a point.
	Decimal string `json:",omitempty"`
	// Percent is "fraction" where 25 % is the number 0.25; empty where it is 25.
	Percent string `json:",omitempty"`
}

// The settings of AnswerSpec.Decimal and Percent that are not the default.
const (
	DecimalComma    = "comma"
	PercentFraction = "fraction"
)

// OptionText is the text of the option that has a label; empty if it has none.
func (s AnswerSpec) OptionText(label string) string {
	if i := slices.Index(s.Labels, label); i >= 0 && i < len(s.Texts) {
		return s.Texts[i]
	}
	return ""
}

// Verdict is the name of the field that holds the conclusion of a fields
// answer, where the problem asks for one; the other fields are its primitives.
const Verdict = "verdict"

// Outcome says how an answer was reached. Comparisons count each apart, so a
// fallback is never mistaken for a result.
type Outcome string

// The outcomes.
const (
	Answered   Outcome = "answered"
	Defaulted  Outcome = "defaulted" // fell back on a default because nothing better was found
	Unparsed   Outcome = "unparsed"  // the model's reply held no answer
	Refused    Outcome = "refused"   // the model refused, or gave no valid plan after the allowed retries
	OverBudget Outcome = "budget"    // a limit was reached before an answer
	Failed     Outcome = "error"     // the method, its plugin or the provider failed
)

// Outcomes lists every Outcome in display order.
func Outcomes() []Outcome {
	return []Outcome{Answered, Defaulted, Unparsed, Refused, OverBudget, Failed}
}

// Answer is what a method concludes. Value is nil when there is none, which
// no scorer takes for a right answer.
type Answer struct {
	Value    json.RawMessage
	Outcome  Outcome
	Reason   string     // why the outcome is not Answered; empty otherwise
	Evidence []Evidence // what it rests on
}

// Evidence names one thing that an answer rests on.
type Evidence struct {
	Source string // a node id, a URL, a step, a field
	Text   string // what it says
}

// Worded is the Source of an evidence that is the answer as a person would say it,
// where the value alone, which is what is scored, says less: "Found 2 modems
// connected to MAWED07T01: …" for the set of the two.
const Worded = "in words"

// InWords is the answer as the method worded it, and false if it did not.
func (a Answer) InWords() (string, bool) { return a.evidence(Worded) }

func (a Answer) evidence(source string) (string, bool) {
	for _, e := range a.Evidence {
		if e.Source == source {
			return e.Text, true
		}
	}
	return "", false
}

// Confident is the Source of an evidence that is the chance, from 0 to 1 and as a decimal
// number, which the method gives its answer of being right.
const Confident = "confidence"

// Confidence is that chance, and false if the method gave none.
func (a Answer) Confidence() (float64, bool) {
	text, _ := a.evidence(Confident)
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && 0 <= x && x <= 1
}

// RankingAnswer is an answered ranking of 1-based item numbers.
func RankingAnswer(items []int) Answer { return valueAnswer(items) }

// ChoiceAnswer is an answered choice.
func ChoiceAnswer(label string) Answer { return TextAnswer(label) }

// NumberAnswer is an answered number. NaN and infinities have no JSON form:
// they give an Unparsed answer without a value.
func NumberAnswer(x float64) Answer {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Answer{Outcome: Unparsed, Reason: fmt.Sprintf("the number is %v", x)}
	}
	return valueAnswer(x)
}

// TextAnswer is an answered text. One that is not UTF-8 has no JSON form: it is
// kept as it is, and [Answer.CheckText] refuses it.
func TextAnswer(s string) Answer {
	if !utf8.ValidString(s) {
		return Answer{Value: json.RawMessage(`"` + s + `"`), Outcome: Answered}
	}
	return valueAnswer(s)
}

// SetAnswer is an answered set; the members are sorted, so that equal sets
// are equal answers.
func SetAnswer(members []string) Answer {
	if i := slices.IndexFunc(members, func(m string) bool { return !utf8.ValidString(m) }); i >= 0 {
		return TextAnswer(members[i])
	}
	sorted := slices.Clone(members)
	slices.Sort(sorted)
	return valueAnswer(slices.Compact(sorted))
}

// FieldsAnswer is an answered set of named values.
func FieldsAnswer(fields map[string]any) (Answer, error) {
	raw, err := json.Marshal(fields)
	if err != nil {
		return Answer{}, fmt.Errorf("encode fields: %w", err)
	}
	return Answer{Value: raw, Outcome: Answered}, nil
}

func valueAnswer(v any) Answer {
	return Answer{Value: Must(json.Marshal(v)), Outcome: Answered} // slices of int and string, strings and finite floats always encode
}

// As returns a with another outcome and the reason for it.
func (a Answer) As(o Outcome, reason string) Answer {
	a.Outcome, a.Reason = o, reason
	return a
}

// Ranking decodes a ranking value.
func (a Answer) Ranking() ([]int, error) { return decode[[]int](a) }

// Text decodes a choice or text value.
func (a Answer) Text() (string, error) { return decode[string](a) }

// Number decodes a number value.
func (a Answer) Number() (float64, error) { return decode[float64](a) }

// Set decodes a set value.
func (a Answer) Set() ([]string, error) { return decode[[]string](a) }

// Fields decodes a fields value.
func (a Answer) Fields() (map[string]json.RawMessage, error) {
	return decode[map[string]json.RawMessage](a)
}

func decode[T any](a Answer) (v T, err error) {
	if len(a.Value) == 0 {
		return v, fmt.Errorf("decode answer: no value (outcome %s)", a.Outcome)
	}
	if err := json.Unmarshal(a.Value, &v); err != nil {
		return v, fmt.Errorf("decode answer %.80q: %w", a.Value, err)
	}
	return v, nil
}

// CheckText refuses an answer with text that is not Unicode. Replacing what is
// wrong in it would score an answer that the method did not give.
func (a Answer) CheckText() error {
	if !utf8.Valid(a.Value) || LoneSurrogate(a.Value) >= 0 {
		return fmt.Errorf("check answer: the value %.80q is not valid UTF-8: decode the text before it is answered", []byte(a.Value))
	}
	texts := []string{string(a.Outcome), a.Reason}
	for _, e := range a.Evidence {
		texts = append(texts, e.Source, e.Text)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("check answer: the reason or evidence %.80q is not valid UTF-8: cut texts between characters", text)
		}
	}
	return nil
}

// LoneSurrogate is where JSON has an escape such as \ud800 without its other half, which
// Go reads as U+FFFD; -1 if it has none.
func LoneSurrogate(raw []byte) int {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		r := escaped(raw[i:])
		switch {
		case !utf16.IsSurrogate(r):
			i++
		case utf16.DecodeRune(r, escaped(raw[i+6:])) == utf8.RuneError:
			return i
		default:
			i += 11
		}
	}
	return -1
}

// escaped is the character of an escape such as \u00e9 at the start of raw; 0 if
// there is none.
func escaped(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// Check reports whether a is a well-formed answer to s: a known outcome, and
// a value of the right kind within its bounds. The kernel checks every answer
// before scoring it, because a plugin may send anything.
func (s AnswerSpec) Check(a Answer) error {
	if err := a.CheckText(); err != nil {
		return err
	}
	if !slices.Contains(Outcomes(), a.Outcome) {
		return fmt.Errorf("check answer: unknown outcome %q", a.Outcome)
	}
	if string(bytes.TrimSpace(a.Value)) == "null" {
		return fmt.Errorf("check answer: the value is null: leave it out where there is none")
	}
	if len(a.Value) == 0 {
		if a.Outcome == Answered || a.Outcome == Defaulted {
			return fmt.Errorf("check answer: outcome %s needs a value", a.Outcome)
		}
		return nil
	}
	switch s.Kind {
	case Ranking:
		return s.checkRanking(a)
	case Choice:
		label, err := a.Text()
		if err == nil && !slices.Contains(s.Labels, label) {
			err = fmt.Errorf("check answer: %.80q is none of the labels %s", label, strings.Join(s.Labels, ", "))
		}
		return err
	case Number:
		_, err := a.Number()
		return err
	case Text:
		_, err := a.Text()
		return err
	case Set:
		_, err := a.Set()
		return err
	case Fields:
		_, err := a.Fields()
		return err
	}
	return fmt.Errorf("check answer: unknown answer kind %q", s.Kind)
}

func (s AnswerSpec) checkRanking(a Answer) error {
	items, err := a.Ranking()
	if err != nil {
		return err
	}
	seen := make(map[int]bool, len(items))
	for _, i := range items {
		if i < 1 || i > s.N {
			return fmt.Errorf("check answer: item %d is not within 1..%d", i, s.N)
		}
		if seen[i] {
			return fmt.Errorf("check answer: item %d is ranked twice", i)
		}
		seen[i] = true
	}
	return nil
}
