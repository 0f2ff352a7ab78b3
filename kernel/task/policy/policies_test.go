package policy

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestPolicyTexts holds that every policy is recovered from its text, alone
// and inside a prompt.
func TestPolicyTexts(t *testing.T) {
	for _, p := range policies() {
		text := p.Text()
		prompt := "Say what this\nis no policy\n<policy>\n" + text + "</policy>\nReply with JSON."
		if got, ok := FindPolicy(prompt); !ok || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: found %v, %+v in a prompt", p.Name, ok, got)
		}
		if strings.Contains(text, "%!") || strings.Contains(text, "  ") {
			t.Errorf("%s: bad text:\n%s", p.Name, text)
		}
	}
	if _, ok := FindPolicy("Allergy safety policy\nThe verdict is fine"); ok {
		t.Error("found a policy where there is none")
	}
}

// TestPolicyShape holds what the package comment says of every policy.
func TestPolicyShape(t *testing.T) {
	for _, p := range policies() {
		if n := len(p.Terms); n < 5 || n > 12 {
			t.Errorf("%s has %d primitives", p.Name, n)
		}
		if p.Verdict.Term != p.Terms[len(p.Terms)-1].Name {
			t.Errorf("%s: the verdict does not rest on the last primitive", p.Name)
		}
		if len(p.Fields) != 3 || len(p.Fields[0].Values) != 4 || len(p.Fields[1].Values) != 4 {
			t.Errorf("%s: the fields have the wrong shape", p.Name)
		}
		for _, term := range p.Terms {
			if w, ok := where(term.Formula); ok && !slices.ContainsFunc(w.Tests, func(t Test) bool { return slices.Contains(t.Values, None) == t.Not }) {
				t.Errorf("%s: %s counts reviews that say nothing", p.Name, term.Name)
			}
		}
		if got, ok := Find(p.Name); !ok || got.Title != p.Title {
			t.Errorf("Find(%q) = %q, %v", p.Name, got.Title, ok)
		}
		lex, ok := lexicons().Policies[p.Name]
		if !ok || len(lex.Replies) != len(p.Fields[2].Values)-1 {
			t.Errorf("%s: lexicon %v with %d kinds of replies", p.Name, ok, len(lex.Replies))
		}
	}
	if _, ok := Find("weather"); ok {
		t.Error("found a policy on the weather")
	}
}

// where is what a formula selects reviews by, if it does.
func where(f Formula) (Where, bool) {
	switch f := f.(type) {
	case Count:
		return f.Where, true
	case Average:
		return f.Where, true
	case Latest:
		return f.Where, true
	case Votes:
		return f.Where, true
	case ByYear:
		return f.Where, true
	}
	return Where{}, false
}

// TestCents holds that rounding is Python's: round(0.125, 2) is 0.12 and
// round(2.675, 2) is 2.67, because 2.675 is less than it looks.
func TestCents(t *testing.T) {
	for in, want := range map[float64]float64{0.125: 0.12, 2.675: 2.67, 1.0 / 3: 0.33, 2.0 / 3: 0.67, 0.375: 0.38, 5: 5} {
		if got := cents(in); got != want {
			t.Errorf("cents(%v) = %v, want %v", in, got, want)
		}
	}
}
