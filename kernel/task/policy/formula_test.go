package policy

import "testing"

// TestFormulas holds each kind of formula in English, in Python and by value,
// also where there is nothing to count.
func TestFormulas(t *testing.T) {
	reviews := []Review{
		{Labels{"a": "x", "b": "u"}, 5, 2024, 9},
		{Labels{"a": "x", "b": None}, 2, 2021, 1},
		{Labels{"a": "y", "b": "u"}, 4, 2019, 0},
		{Labels{"a": None, "b": None}, 1, 2024, 3},
	}
	earlier := map[string]float64{"p": 3, "q": 0.5, "zero": 0}
	x, some := all(is("a", "x")), all(is("a", "x", "y"), told("b"))
	for _, test := range []struct {
		formula         Formula
		english, python string
		value, none     float64 // over reviews, and over none
	}{
		{Count{Where{Tests: x.Tests, Since: 2022}}, "the number of reviews with a x and a date in 2022 or later",
			"sum(1 for e in extractions if e['a'] == 'x' and e['year'] >= 2022)", 1, 0},
		{Count{Where{Tests: []Test{told("a")}, AtMost: 3}}, "the number of reviews with a other than none and at most 3 stars",
			"sum(1 for e in extractions if e['a'] != 'none' and e['stars'] <= 3)", 1, 0},
		{Average{some}, "the average stars, rounded to two decimals, of the reviews with a x or y and b other than none, or 0 if there are none",
			"round(sum(e['stars'] for e in extractions if e['a'] in ['x', 'y'] and e['b'] != 'none') / sum(1 for e in extractions if e['a'] in ['x', 'y'] and e['b'] != 'none'), 2) if any(e['a'] in ['x', 'y'] and e['b'] != 'none' for e in extractions) else 0", 4.5, 0},
		{Latest{x}, "the year of the latest review with a x, or 0 if there is none",
			"max([0] + [e['year'] for e in extractions if e['a'] == 'x'])", 2024, 0},
		{Votes{x, 4}, "the sum of the useful votes of the reviews with a x, where no review counts more than 4 votes",
			"sum(min(4, e['useful']) for e in extractions if e['a'] == 'x')", 5, 0},
		{ByYear{some, []Age{{2023, 1}, {2020, 0.5}}, 0.25}, "the sum over the reviews with a x or y and b other than none of a weight by date, namely 1 if dated 2023 or later, else 0.5 if dated 2020 or later, and 0.25 if older",
			"sum((1 if e['year'] >= 2023 else (0.5 if e['year'] >= 2020 else 0.25)) for e in extractions if e['a'] in ['x', 'y'] and e['b'] != 'none')", 1.25, 0},
		{Linear{Parts: []Part{{2, "p"}, {-1, "q"}, {1, "p"}}, High: to(8)}, "2 times p minus q plus p, but at most 8", "min(8, p * 2 - q + p)", 8, 8},
		{Linear{Parts: []Part{{1, "q"}, {-1.5, "p"}}, Low: to(0), High: to(9)}, "q minus 1.5 times p, but at least 0 and at most 9", "max(0, min(9, q - p * 1.5))", 0, 0},
		{Product{[]string{"p", "q"}}, "p times q", "p * q", 1.5, 1.5},
		{Ratio{"q", "p"}, "q divided by p, rounded to two decimals, or 0 if p is 0", "round(q / p, 2) if p != 0 else 0", 0.17, 0.17},
		{Ratio{"q", "zero"}, "q divided by zero, rounded to two decimals, or 0 if zero is 0", "round(q / zero, 2) if zero != 0 else 0", 0, 0},
		{Steps{"p", []Rung{{4, 2}, {3, 1.5}}, 1}, "2 if p is at least 4, else 1.5 if p is at least 3, and 1 otherwise", "2 if p >= 4 else (1.5 if p >= 3 else 1)", 1.5, 1.5},
	} {
		if got := test.formula.english(); got != test.english {
			t.Errorf("English %q, want %q", got, test.english)
		}
		if got := test.formula.python(); got != test.python {
			t.Errorf("Python %q, want %q", got, test.python)
		}
		if got := test.formula.value(reviews, earlier); got != test.value {
			t.Errorf("%s: %v, want %v", test.english, got, test.value)
		}
		if got := test.formula.value(nil, earlier); got != test.none {
			t.Errorf("%s of none: %v, want %v", test.english, got, test.none)
		}
	}
	noise, _ := Find("noise")
	steps := noise.Steps()
	if last := steps[len(steps)-1]; last != (Step{"verdict", "'Calm' if noise_index < 5 else ('Busy' if noise_index < 12 else 'Too Loud')"}) || len(steps) != len(noise.Primitives())+1 {
		t.Errorf("%d steps, the last %v", len(steps), last)
	}
}

// is tests a field for values.
func is(field string, values ...string) Test { return Test{Field: field, Values: values} }

// told asks for any telling value.
func told(field string) Test { return Test{Field: field, Not: true, Values: []string{None}} }

// all is the reviews that pass all tests.
func all(tests ...Test) Where { return Where{Tests: tests} }

// to is a bound.
func to(x float64) *float64 { return &x }
