package score

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/decimal"
)

// Names of the scorers that a user may choose, and of what they give.
const (
	Exact    = "exact"
	Includes = "includes"
	Pattern  = "pattern"
	Numeric  = "number"
	Letter   = "choice"
	Math     = "math"
)

// Chosen says how scorers are chosen, for help and errors.
const Chosen = "exact, includes, pattern:REGEX, number:TOLERANCE, choice, f1, math, json:FIELD:SCORER, or graded?model=MODEL&rubric=@FILE&pairwise"

// judge says how right a text is, from 0 to 1, where each of the accepted texts is a
// right answer. An error is about those.
type judge func(got string, accepted []string) (float64, error)

// grades reports whether a model judges: the caller must ask it.
func (j judge) grades() bool { return j == nil }

// chosenScorer is the scorers that a user named; the first one decides. It is for
// texts, numbers and choices, and below json: for fields.
type chosenScorer struct {
	names  []string
	judges []judge
}

// separator stands between the scorers in the name of several.
const separator = "\n"

func parseChosen(name string) (Scorer, error) {
	var c chosenScorer
	for one := range strings.SplitSeq(name, separator) {
		j, label, err := parseJudge(one)
		if err != nil {
			return nil, fmt.Errorf("scorer %.100q: %w", one, err)
		}
		if slices.Contains(c.names, label) {
			return nil, fmt.Errorf("scorer %.100q: %s is named twice: keep one", one, label)
		}
		c.names, c.judges = append(c.names, label), append(c.judges, j)
	}
	return c, nil
}

// maxPattern bounds a pattern.
const maxPattern = 1000

// parseJudge reads one scorer, and what its values are called.
func parseJudge(text string) (judge, string, error) {
	if isGrading(text) {
		_, err := ParseGrading(text)
		return nil, Graded, err
	}
	name, arg, given := strings.Cut(text, ":")
	plain := map[string]judge{Exact: judgeExact, Includes: judgeIncludes, Letter: judgeLetter, F1: judgeF1, Math: judgeMath}
	if j, ok := plain[name]; ok && given {
		return nil, "", fmt.Errorf("%s takes no argument: leave %q out", name, ":"+arg)
	} else if ok {
		return j, name, nil
	}
	switch name {
	case Pattern:
		re, err := regexp.Compile(arg)
		if err != nil || arg == "" || len(arg) > maxPattern {
			return nil, "", fmt.Errorf("want a regular expression of at most %d bytes, as in pattern:answer is (\\w+) (%v)", maxPattern, err)
		}
		return judgePattern(re), name, nil
	case Numeric:
		tolerance, relative, err := parseTolerance(arg)
		if err != nil {
			return nil, "", err
		}
		return judgeNumber(tolerance, relative), name, nil
	case "json":
		field, inner, ok := strings.Cut(arg, ":")
		if !ok || field == "" {
			return nil, "", fmt.Errorf("want a field and a scorer, as in json:answer:exact")
		}
		j, _, err := parseJudge(inner)
		if err == nil && j.grades() {
			err = fmt.Errorf("a model grades whole answers: leave json:%s out", field)
		}
		return judgeField(strings.Split(field, "."), j), "json:" + field, err
	}
	return nil, "", fmt.Errorf("there is no such scorer%s: the scorers are %s", methods.DidYouMean(name, []string{Exact, Includes, Pattern, Numeric, Letter, F1, Math, "json", Graded}), Chosen)
}

// Score implements [Scorer]. The values are the first scorer's, as accuracy, and
// those of the others by name. An answer that is graded gets [Graded] from its
// graders; without one it is 0. Graders alone need no target.
func (c chosenScorer) Score(spec methods.AnswerSpec, answer methods.Answer, target json.RawMessage) (Score, error) {
	if err := choosable(spec.Kind); err != nil {
		return Score{}, err
	}
	var accepted []string
	if slices.ContainsFunc(c.judges, func(j judge) bool { return !j.grades() }) {
		var err error
		if accepted, err = acceptedTexts(spec, target); err != nil {
			return Score{}, err
		}
	}
	if err := spec.Check(answer); err != nil {
		return Score{}, fmt.Errorf("score: %w", err)
	}
	miss, values := map[string]float64{}, map[string]float64{}
	for i, j := range c.judges {
		name := c.names[i]
		if j.grades() {
			miss[name] = 0
			continue
		}
		if i == 0 {
			name = Accuracy
		}
		value, err := j(answerText(answer), accepted) // an answer without a value tries the target alone
		if err != nil {
			return Score{}, fmt.Errorf("score: scorer %s: %w", c.names[i], err)
		}
		miss[name], values[name] = 0, value
	}
	switch {
	case !hasValue(answer):
		return Score{Values: miss}, nil
	case answer.Outcome != methods.Answered:
		return Score{Values: miss, Given: values}, nil
	}
	return Score{Values: values}, nil
}

// choosable refuses kinds of answers that only their own scorer can read.
func choosable(kind methods.AnswerKind) error {
	switch kind {
	case methods.Text, methods.Number, methods.Choice, methods.Fields:
		return nil
	}
	return fmt.Errorf("score: scorers are chosen for texts, numbers and choices: a %s has its own", kind)
}

// acceptedTexts are the right answers as texts.
func acceptedTexts(spec methods.AnswerSpec, target json.RawMessage) ([]string, error) {
	var list []string
	if spec.Kind == methods.Text && json.Unmarshal(target, &list) == nil && len(list) > 0 {
		return list, nil
	}
	if !hasValue(methods.Answer{Value: target}) {
		return nil, fmt.Errorf("score: %s target is missing", spec.Kind)
	}
	return []string{answerText(methods.Answer{Value: target})}, nil
}

// answerText is an answer's value: a text as it is, all else as JSON.
func answerText(a methods.Answer) string {
	if text, err := a.Text(); err == nil {
		return text
	}
	return string(a.Value)
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func judgeExact(got string, accepted []string) (float64, error) {
	return oneIf(slices.ContainsFunc(accepted, func(want string) bool { return squeeze(got) == squeeze(want) })), nil
}

func judgeIncludes(got string, accepted []string) (float64, error) {
	for _, want := range accepted {
		if squeeze(want) == "" {
			return 0, fmt.Errorf("the target is empty, which every answer includes")
		}
	}
	text := strings.ToLower(squeeze(got))
	return oneIf(slices.ContainsFunc(accepted, func(want string) bool { return strings.Contains(text, strings.ToLower(squeeze(want))) })), nil
}

// judgePattern compares the first group of the first match, or all of it.
func judgePattern(re *regexp.Regexp) judge {
	return func(got string, accepted []string) (float64, error) {
		m := re.FindStringSubmatch(got)
		if m == nil {
			return 0, nil
		}
		found := m[min(1, len(m)-1)]
		return oneIf(slices.ContainsFunc(accepted, func(want string) bool { return strings.EqualFold(squeeze(found), squeeze(want)) })), nil
	}
}

func judgeF1(got string, accepted []string) (best float64, err error) {
	for _, want := range accepted {
		best = max(best, wordF1(Normalize(got), Normalize(want)))
	}
	return best, nil
}

func judgeMath(got string, accepted []string) (float64, error) {
	return oneIf(slices.ContainsFunc(accepted, func(want string) bool { return SameMath(got, want) })), nil
}

// letterForms find the letter of an option in an answer: alone at its beginning, or
// behind "answer".
var letterForms = regexp.MustCompile(`(?i)(?:^|\banswer(?: is)?:?)[\s(\[*]*([A-Z])(?:[\s)\].:,*]|$)`)

// judgeLetter compares a label, or the letter that a text names last.
func judgeLetter(got string, accepted []string) (float64, error) {
	found := squeeze(got)
	if all := letterForms.FindAllStringSubmatch(found, -1); len(all) > 0 {
		found = all[len(all)-1][1]
	}
	same := func(want string) bool {
		return strings.EqualFold(found, squeeze(want)) || squeeze(got) == squeeze(want)
	}
	return oneIf(slices.ContainsFunc(accepted, same)), nil
}

// parseTolerance reads "", "0.01" or "1%".
func parseTolerance(text string) (tolerance *big.Rat, relative bool, err error) {
	if text == "" {
		return new(big.Rat), false, nil
	}
	digits, relative := strings.CutSuffix(text, "%")
	tolerance, err = decimal.Parse(digits)
	if err != nil || tolerance.Sign() < 0 {
		return nil, false, fmt.Errorf("the tolerance %.40q is neither a number from 0, as in number:0.01, nor a share, as in number:1%%", text)
	}
	if relative {
		tolerance.Quo(tolerance, big.NewRat(100, 1))
	}
	return tolerance, relative, nil
}

var numerals = regexp.MustCompile(`[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)?\.?\d+(?:[eE][-+]?\d{1,3})?`)

// lastNumber is the last number of a text, exactly.
func lastNumber(text string) (*big.Rat, bool) {
	all := numerals.FindAllString(text, -1)
	if len(all) == 0 {
		return nil, false
	}
	n, err := decimal.Parse(strings.NewReplacer(",", "", "−", "-").Replace(all[len(all)-1]))
	return n, err == nil
}

// judgeNumber compares the last number of the answer: the difference is at most the
// tolerance, or that share of the target.
func judgeNumber(tolerance *big.Rat, relative bool) judge {
	return func(got string, accepted []string) (float64, error) {
		have, ok := lastNumber(got)
		for _, want := range accepted {
			right, isNumber := lastNumber(want)
			if !isNumber {
				return 0, fmt.Errorf("the target %.60q is not a number", want)
			}
			limit := tolerance
			if relative {
				limit = new(big.Rat).Mul(tolerance, new(big.Rat).Abs(right))
			}
			if ok && new(big.Rat).Abs(new(big.Rat).Sub(have, right)).Cmp(limit) <= 0 {
				return 1, nil
			}
		}
		return 0, nil
	}
}

// judgeField judges a field of an answer that is a JSON object, alone or in a fence.
// Where the target is such an object, too, its field is what is right.
func judgeField(path []string, inner judge) judge {
	return func(got string, accepted []string) (float64, error) {
		wants := make([]string, len(accepted))
		for i, want := range accepted {
			if wants[i] = want; strings.HasPrefix(strings.TrimSpace(want), "{") {
				field, ok := fieldOf(want, path)
				if !ok {
					return 0, fmt.Errorf("the target %.60q has no field %q", want, strings.Join(path, "."))
				}
				wants[i] = field
			}
		}
		text, ok := fieldOf(got, path)
		value, err := inner(text, wants)
		if !ok {
			value = 0
		}
		return value, err
	}
}

// fence is a block of code around a whole answer.
var fence = regexp.MustCompile("(?s)^\\s*```[a-z]*\\s*(.*?)\\s*```\\s*$")

func fieldOf(text string, path []string) (string, bool) {
	if m := fence.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	raw := json.RawMessage(text)
	for _, name := range path {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil || fields[name] == nil {
			return "", false
		}
		raw = fields[name]
	}
	return answerText(methods.Answer{Value: raw}), true
}
