package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"noema/methods"
)

// Formula is how a primitive is computed: [Count], [Average], [Latest],
// [ByYear], [Votes] look at reviews; [Linear], [Product], [Ratio] and [Steps]
// at earlier primitives. Each can be said in English and in Python.
type Formula interface {
	english() string
	python() string
	value(reviews []Review, earlier map[string]float64) float64
}

// Count is the number of reviews.
type Count struct{ Where Where }

// Average is the mean number of stars, rounded to two decimals; 0 of none.
type Average struct{ Where Where }

// Latest is the latest year of a review; 0 if there is none.
type Latest struct{ Where Where }

// Votes is the sum of useful votes, no review counting more than Cap.
type Votes struct {
	Where Where
	Cap   int
}

// ByYear is a sum of weights by the review's year.
type ByYear struct {
	Where Where
	Ages  []Age // from the newest on; before the last one's year weighs Older
	Older float64
}

// Age is the weight of reviews dated Since or later.
type Age struct {
	Since  int
	Weight float64
}

// Linear is a weighted sum of primitives, perhaps held within bounds.
type Linear struct {
	Parts     []Part
	Low, High *float64 // nil: unbounded
}

// Part is Weight × the primitive Name.
type Part struct {
	Weight float64 // not 0; the first part's is positive
	Name   string
}

// Product multiplies primitives.
type Product struct{ Names []string }

// Ratio divides, rounded to two decimals; 0 if the divisor is 0.
type Ratio struct{ Over, Under string }

// Steps is the value of the first rung whose bound the primitive reaches,
// and Else below all of them.
type Steps struct {
	Of    string
	Rungs []Rung // highest bound first
	Else  float64
}

// Rung gives Value from AtLeast on.
type Rung struct{ AtLeast, Value float64 }

func (f Count) english() string { return "the number of reviews with " + f.Where.english() }

func (f Count) python() string {
	return "sum(1 for e in extractions if " + f.Where.python() + ")"
}

func (f Count) value(reviews []Review, _ map[string]float64) float64 {
	return f.Where.sum(reviews, func(Review) float64 { return 1 })
}

func (f Average) english() string {
	return "the average stars, rounded to two decimals, of the reviews with " + f.Where.english() + ", or 0 if there are none"
}

func (f Average) python() string {
	w := f.Where.python()
	return fmt.Sprintf("round(sum(e['stars'] for e in extractions if %s) / sum(1 for e in extractions if %s), 2) if any(%s for e in extractions) else 0", w, w, w)
}

func (f Average) value(reviews []Review, _ map[string]float64) float64 {
	n := f.Where.sum(reviews, func(Review) float64 { return 1 })
	if n == 0 {
		return 0
	}
	return cents(f.Where.sum(reviews, func(r Review) float64 { return float64(r.Stars) }) / n)
}

func (f Latest) english() string {
	return "the year of the latest review with " + f.Where.english() + ", or 0 if there is none"
}

func (f Latest) python() string {
	return "max([0] + [e['year'] for e in extractions if " + f.Where.python() + "])"
}

func (f Latest) value(reviews []Review, _ map[string]float64) float64 {
	latest := 0
	for _, r := range reviews {
		if f.Where.holds(r) {
			latest = max(latest, r.Year)
		}
	}
	return float64(latest)
}

func (f Votes) english() string {
	return "the sum of the useful votes of the reviews with " + f.Where.english() + fmt.Sprintf(", where no review counts more than %d votes", f.Cap)
}

func (f Votes) python() string {
	return fmt.Sprintf("sum(min(%d, e['useful']) for e in extractions if %s)", f.Cap, f.Where.python())
}

func (f Votes) value(reviews []Review, _ map[string]float64) float64 {
	return f.Where.sum(reviews, func(r Review) float64 { return float64(min(f.Cap, r.Useful)) })
}

func (f ByYear) english() string {
	ages := make([]string, len(f.Ages))
	for i, a := range f.Ages {
		ages[i] = fmt.Sprintf("%s if dated %d or later", number(a.Weight), a.Since)
	}
	return "the sum over the reviews with " + f.Where.english() + " of a weight by date, namely " +
		strings.Join(ages, ", else ") + ", and " + number(f.Older) + " if older"
}

func (f ByYear) python() string {
	weight := number(f.Older)
	for i := len(f.Ages) - 1; i >= 0; i-- {
		weight = fmt.Sprintf("(%s if e['year'] >= %d else %s)", number(f.Ages[i].Weight), f.Ages[i].Since, weight)
	}
	return "sum(" + weight + " for e in extractions if " + f.Where.python() + ")"
}

func (f ByYear) value(reviews []Review, _ map[string]float64) float64 {
	return f.Where.sum(reviews, func(r Review) float64 {
		for _, a := range f.Ages {
			if r.Year >= a.Since {
				return a.Weight
			}
		}
		return f.Older
	})
}

// sum says the parts between signs, each by its name and what is not 1 of its weight.
func (f Linear) sum(plus, minus string, part func(name, weight string) string) string {
	text := ""
	for i, p := range f.Parts {
		switch {
		case p.Weight < 0:
			text += minus
		case i > 0:
			text += plus
		}
		if w := math.Abs(p.Weight); w != 1 {
			text += part(p.Name, number(w))
		} else {
			text += p.Name
		}
	}
	return text
}

func (f Linear) english() string {
	text := f.sum(" plus ", " minus ", func(name, weight string) string { return weight + " times " + name })
	var bounds []string
	if f.Low != nil {
		bounds = append(bounds, "at least "+number(*f.Low))
	}
	if f.High != nil {
		bounds = append(bounds, "at most "+number(*f.High))
	}
	if bounds != nil {
		text += ", but " + strings.Join(bounds, " and ")
	}
	return text
}

func (f Linear) python() string {
	text := f.sum(" + ", " - ", func(name, weight string) string { return name + " * " + weight })
	if f.High != nil {
		text = fmt.Sprintf("min(%s, %s)", number(*f.High), text)
	}
	if f.Low != nil {
		text = fmt.Sprintf("max(%s, %s)", number(*f.Low), text)
	}
	return text
}

func (f Linear) value(_ []Review, earlier map[string]float64) float64 {
	sum := 0.0
	for _, p := range f.Parts {
		sum += earlier[p.Name] * p.Weight
	}
	if f.High != nil {
		sum = min(*f.High, sum)
	}
	if f.Low != nil {
		sum = max(*f.Low, sum)
	}
	return sum
}

func (f Product) english() string { return strings.Join(f.Names, " times ") }

func (f Product) python() string { return strings.Join(f.Names, " * ") }

func (f Product) value(_ []Review, earlier map[string]float64) float64 {
	product := 1.0
	for _, name := range f.Names {
		product *= earlier[name]
	}
	return product
}

func (f Ratio) english() string {
	return fmt.Sprintf("%s divided by %s, rounded to two decimals, or 0 if %s is 0", f.Over, f.Under, f.Under)
}

func (f Ratio) python() string {
	return fmt.Sprintf("round(%s / %s, 2) if %s != 0 else 0", f.Over, f.Under, f.Under)
}

func (f Ratio) value(_ []Review, earlier map[string]float64) float64 {
	if earlier[f.Under] == 0 {
		return 0
	}
	return cents(earlier[f.Over] / earlier[f.Under])
}

func (f Steps) english() string {
	rungs := make([]string, len(f.Rungs))
	for i, r := range f.Rungs {
		rungs[i] = fmt.Sprintf("%s if %s is at least %s", number(r.Value), f.Of, number(r.AtLeast))
	}
	return strings.Join(rungs, ", else ") + ", and " + number(f.Else) + " otherwise"
}

func (f Steps) python() string {
	text := number(f.Else)
	for i := len(f.Rungs) - 1; i >= 0; i-- {
		if i < len(f.Rungs)-1 {
			text = "(" + text + ")"
		}
		text = fmt.Sprintf("%s if %s >= %s else %s", number(f.Rungs[i].Value), f.Of, number(f.Rungs[i].AtLeast), text)
	}
	return text
}

func (f Steps) value(_ []Review, earlier map[string]float64) float64 {
	for _, r := range f.Rungs {
		if earlier[f.Of] >= r.AtLeast {
			return r.Value
		}
	}
	return f.Else
}

// cents rounds to two decimals as Python's round does: the decimal nearest to
// the binary value, which formatting finds and multiplying by 100 does not.
func cents(x float64) float64 {
	return methods.Must(strconv.ParseFloat(strconv.FormatFloat(x, 'f', 2, 64), 64)) // NaN and infinities parse too: what was formatted always parses
}
