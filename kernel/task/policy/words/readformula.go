package words

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// readFormula reads what Formula.english says. Each reader knows its formula
// by its wording; the first that does decides.
func (r *policyReader) readFormula(text string) (Formula, error) {
	for _, read := range []func(string) (Formula, bool, error){
		r.readCount, r.readAverage, r.readLatest, r.readVotes, r.readByYear, r.readSteps, r.readRatio, r.readProduct,
	} {
		if f, ok, err := read(text); ok || err != nil {
			return f, err
		}
	}
	return r.readLinear(text)
}

// between cuts prefix and suffix off text.
func between(text, prefix, suffix string) (string, bool) {
	text, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(text, suffix)
}

func (r *policyReader) readCount(text string) (Formula, bool, error) {
	inner, ok := strings.CutPrefix(text, "the number of reviews with ")
	if !ok {
		return nil, false, nil
	}
	w, err := r.readWhere(inner)
	return Count{w}, true, err
}

func (r *policyReader) readAverage(text string) (Formula, bool, error) {
	inner, ok := between(text, "the average stars, rounded to two decimals, of the reviews with ", ", or 0 if there are none")
	if !ok {
		return nil, false, nil
	}
	w, err := r.readWhere(inner)
	return Average{w}, true, err
}

func (r *policyReader) readLatest(text string) (Formula, bool, error) {
	inner, ok := between(text, "the year of the latest review with ", ", or 0 if there is none")
	if !ok {
		return nil, false, nil
	}
	w, err := r.readWhere(inner)
	return Latest{w}, true, err
}

func (r *policyReader) readVotes(text string) (Formula, bool, error) {
	inner, ok := between(text, "the sum of the useful votes of the reviews with ", " votes")
	if !ok {
		return nil, false, nil
	}
	inner, most, ok := strings.Cut(inner, ", where no review counts more than ")
	if !ok {
		return nil, false, nil
	}
	votes, err := positive(most)
	if err != nil {
		return nil, true, err
	}
	w, err := r.readWhere(inner)
	return Votes{w, votes}, true, err
}

func (r *policyReader) readByYear(text string) (Formula, bool, error) {
	inner, ok := strings.CutPrefix(text, "the sum over the reviews with ")
	if !ok {
		return nil, false, nil
	}
	inner, weights, ok := strings.Cut(inner, " of a weight by date, namely ")
	if !ok {
		return nil, false, nil
	}
	w, err := r.readWhere(inner)
	if err != nil {
		return nil, true, err
	}
	f := ByYear{Where: w}
	weights, older, _ := strings.Cut(weights, ", and ")
	for _, age := range strings.Split(weights, ", else ") {
		weight, year, ok := strings.Cut(strings.TrimSuffix(age, " or later"), " if dated ")
		if !ok {
			return nil, true, fmt.Errorf("%.80q is no weight by date", age)
		}
		var a Age
		if a.Weight, err = amount(weight); err != nil {
			return nil, true, err
		}
		if a.Since, err = positive(year); err != nil {
			return nil, true, err
		}
		f.Ages = append(f.Ages, a)
	}
	f.Older, err = amount(strings.TrimSuffix(older, " if older"))
	return f, true, err
}

func (r *policyReader) readSteps(text string) (Formula, bool, error) {
	rungs, last, _ := strings.Cut(text, ", and ")
	last, ok := strings.CutSuffix(last, " otherwise")
	if !ok {
		return nil, false, nil
	}
	var f Steps
	for _, rung := range strings.Split(rungs, ", else ") {
		m := regexp.MustCompile(`^(\S+) if (\w+) is at least (\S+)$`).FindStringSubmatch(rung)
		if m == nil || f.Of != "" && m[2] != f.Of {
			return nil, true, fmt.Errorf("%.80q is no step", rung)
		}
		f.Of = m[2]
		value, err := amount(m[1])
		if err != nil {
			return nil, true, err
		}
		bound, err := amount(m[3])
		if err != nil {
			return nil, true, err
		}
		f.Rungs = append(f.Rungs, Rung{bound, value})
	}
	var err error
	if f.Else, err = amount(last); err != nil {
		return nil, true, err
	}
	return f, true, r.known(f.Of)
}

func (r *policyReader) readRatio(text string) (Formula, bool, error) {
	m := regexp.MustCompile(`^(\w+) divided by (\w+), rounded to two decimals, or 0 if (\w+) is 0$`).FindStringSubmatch(text)
	if m == nil || m[2] != m[3] {
		return nil, false, nil
	}
	return Ratio{m[1], m[2]}, true, r.known(m[1], m[2])
}

// readProduct leaves "2 times x" to readLinear.
func (r *policyReader) readProduct(text string) (Formula, bool, error) {
	names := strings.Split(text, " times ")
	isName := identifier().MatchString
	if len(names) < 2 || slices.ContainsFunc(names, func(n string) bool { return !isName(n) }) {
		return nil, false, nil
	}
	return Product{names}, true, r.known(names...)
}

func (r *policyReader) readLinear(text string) (Formula, error) {
	var f Linear
	text, bounds, _ := strings.Cut(text, ", but ")
	for _, bound := range strings.Split(bounds, " and ") {
		var to **float64
		low, isLow := strings.CutPrefix(bound, "at least ")
		high, isHigh := strings.CutPrefix(bound, "at most ")
		switch {
		case isLow:
			to, bound = &f.Low, low
		case isHigh:
			to, bound = &f.High, high
		case bound == "":
			continue
		default:
			return nil, fmt.Errorf("%.80q is no bound", bound)
		}
		x, err := amount(bound)
		if err != nil {
			return nil, err
		}
		*to = &x
	}
	for _, added := range strings.Split(text, " plus ") {
		for i, part := range strings.Split(added, " minus ") {
			p := Part{1, part}
			if weight, name, ok := strings.Cut(part, " times "); ok {
				w, err := amount(weight)
				if err != nil {
					return nil, err
				}
				p = Part{w, name}
			}
			if i > 0 {
				p.Weight = -p.Weight
			}
			if err := r.known(p.Name); err != nil {
				return nil, err
			}
			f.Parts = append(f.Parts, p)
		}
	}
	return f, nil
}

// amount reads a number as the policies write them: digits, perhaps with a
// decimal point between them.
func amount(text string) (float64, error) {
	if !regexp.MustCompile(`^\d+(\.\d+)?$`).MatchString(text) {
		return 0, fmt.Errorf("%.80q is no number", text)
	}
	return strconv.ParseFloat(text, 64)
}

// positive reads a whole number above 0.
func positive(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%.80q is no whole number above 0", text)
	}
	return n, nil
}

// readWhere reads what Where.english says.
func (r *policyReader) readWhere(text string) (Where, error) {
	var w Where
	for _, part := range strings.Split(text, " and ") {
		var err error
		if inner, ok := between(part, "at least ", " stars"); ok {
			w.Stars.AtLeast, err = positive(inner)
		} else if inner, ok := between(part, "at most ", " stars"); ok {
			w.Stars.AtMost, err = positive(inner)
		} else if inner, ok := between(part, "a date in ", " or later"); ok {
			w.Since, err = positive(inner)
		} else {
			var t Test
			t, err = r.readTest(part)
			w.Tests = append(w.Tests, t)
		}
		if err != nil {
			return w, err
		}
	}
	if len(w.Tests) == 0 {
		return w, fmt.Errorf("%.80q tests no field of the policy", text)
	}
	return w, nil
}

func (r *policyReader) readTest(text string) (Test, error) {
	field, values, _ := strings.Cut(text, " ")
	t := Test{Field: field}
	if inner, ok := strings.CutPrefix(values, "other than "); ok {
		t.Not, values = true, inner
	}
	t.Values = strings.Split(values, " or ")
	at := slices.IndexFunc(r.policy.Fields, func(f Field) bool { return f.Name == field })
	if at < 0 {
		return t, fmt.Errorf("%.80q tests no field of the policy", text)
	}
	for _, v := range t.Values {
		if !slices.ContainsFunc(r.policy.Fields[at].Values, func(known Value) bool { return known.Name == v }) {
			return t, fmt.Errorf("%s has no value %.80q", field, v)
		}
	}
	return t, nil
}
