package score

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"noema/methods"
	"noema/methods/decimal"
)

// Names of the values of choices, numbers, texts, sets and fields.
const (
	Accuracy      = "accuracy"       // 1 if the answer is right as a whole
	EM            = "em"             // accuracy of a text, under the name its field uses
	F1            = "f1"             // harmonic mean of precision and recall
	Precision     = "precision"      // share of the answer's members that are right
	Recall        = "recall"         // share of the target's members that were found
	FieldAccuracy = "field_accuracy" // share of the target's fields that are right
)

// choice scores a label: accuracy is 1 if it is the target.
type choice struct {
	labels int
	want   string
}

func newChoice(spec methods.AnswerSpec, target json.RawMessage) (grader, error) {
	want, err := parseTarget[string](methods.Choice, target)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(spec.Labels, want) {
		return nil, fmt.Errorf("score: choice target %.80q is not one of the labels %q", want, spec.Labels)
	}
	return choice{labels: len(spec.Labels), want: want}, nil
}

func (c choice) grade(a methods.Answer) (map[string]float64, error) {
	label, err := a.Text()
	return map[string]float64{Accuracy: oneIf(label == c.want)}, err
}

func (c choice) chance() map[string]float64 {
	return map[string]float64{Accuracy: 1 / float64(c.labels)}
}

// number scores a number: accuracy is 1 if it equals the target exactly, as
// decimals of any length. 4.50 is 45e-1 and 0.1+0.2 would not be 0.3 in
// floating point; a number that was rounded is another number.
type number struct{ want *big.Rat }

func newNumber(target json.RawMessage) (grader, error) {
	n, err := parseTarget[json.Number](methods.Number, target)
	if err != nil {
		return nil, err
	}
	if bytes.TrimSpace(target)[0] == '"' { // which decodes, too
		return nil, fmt.Errorf("score: number target %.80s must be a number, not a text", target)
	}
	want, err := decimal.Parse(string(n))
	if err != nil {
		return nil, fmt.Errorf("score: number target: %w", err)
	}
	return number{want}, nil
}

func (n number) grade(a methods.Answer) (map[string]float64, error) {
	got, err := decimal.Parse(string(bytes.TrimSpace(a.Value)))
	if err != nil {
		return nil, err
	}
	return map[string]float64{Accuracy: oneIf(got.Cmp(n.want) == 0)}, nil
}

// Tolerances within which two numbers among fields are equal, unless both are
// whole: the difference is at most RelTolerance of the target's size or at
// most AbsTolerance. Fields are often shares and means that were computed in
// floating point, in another order on either side; they allow for that, not
// for rounding to fewer digits, and a count is either right or wrong.
const (
	RelTolerance = 1e-6
	AbsTolerance = 1e-9
)

func sameNumber(got, want float64) bool {
	if got == math.Trunc(got) && want == math.Trunc(want) {
		return got == want
	}
	return math.Abs(got-want) <= max(AbsTolerance, RelTolerance*math.Abs(want))
}

// set scores sets of strings, compared exactly. accuracy is 1 if the sets are
// equal. A measure whose denominator is 0 is undefined: the precision of an
// empty answer and the recall of an empty target. Two empty sets agree, and
// all measures are 1.
type set struct{ want map[string]bool }

func newSet(target json.RawMessage) (grader, error) {
	members, err := parseTarget[[]string](methods.Set, target)
	return set{asSet(members)}, err
}

func asSet(members []string) map[string]bool {
	s := make(map[string]bool, len(members))
	for _, m := range members {
		s[m] = true
	}
	return s
}

func (s set) grade(a methods.Answer) (map[string]float64, error) {
	members, err := a.Set()
	if err != nil {
		return nil, err
	}
	got := asSet(members)
	if len(got) == 0 && len(s.want) == 0 {
		return map[string]float64{Accuracy: 1, Precision: 1, Recall: 1, F1: 1}, nil
	}
	right := 0
	for m := range got {
		if s.want[m] {
			right++
		}
	}
	v := map[string]float64{
		Accuracy: oneIf(right == len(got) && right == len(s.want)),
		F1:       2 * float64(right) / float64(len(got)+len(s.want)),
	}
	if len(got) > 0 {
		v[Precision] = float64(right) / float64(len(got))
	}
	if len(s.want) > 0 {
		v[Recall] = float64(right) / float64(len(s.want))
	}
	return v, nil
}
