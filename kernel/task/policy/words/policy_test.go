package words

import (
	"reflect"
	"strings"
	"testing"
)

// TestPolicyTexts holds that every policy is recovered from its text, alone
// and inside a prompt.
func TestPolicyTexts(t *testing.T) {
	for _, p := range policies() {
		text := p.Text()
		got, err := ReadPolicy(text)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: read back as %+v, %v", p.Name, got, err)
		}
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

// TestReadPolicyAnew holds that the reader follows the text, not its own
// knowledge of the policies.
func TestReadPolicyAnew(t *testing.T) {
	change := strings.NewReplacer(
		"2 times n_mild plus 5 times", "2.5 times n_mild plus 6 times",
		"less than 4", "less than 4.5", "at least 4 ", "at least 4.5 ",
		"n_positive", "n_kind", "severe", "grave",
		"latest_incident_year is at least 2023", "latest_incident_year is at least 2020",
		"at most 20", "at most 30", "Low Risk", "Fine")
	p, err := ReadPolicy(change.Replace(allergy().Text()))
	if err != nil {
		t.Fatal(err)
	}
	one := func(field, value string, year int) Review {
		return Review{Labels{"incident_severity": field, "account_type": value, "safety_interaction": "positive"}, 3, year, 0}
	}
	got := p.Compute([]Review{one("mild", "firsthand", 2020), one("grave", "hypothetical", 2024)})
	want := map[string]any{
		"n_mild": 1.0, "n_moderate": 0.0, "n_grave": 0.0, "n_total_incidents": 1.0, "n_kind": 2.0, "n_betrayal": 0.0,
		"incident_score": 2.5, "latest_incident_year": 2020.0, "recency_factor": 1.0, "betrayal_factor": 1.0,
		"raw_risk": 2.5, "final_risk_score": 1.5, "verdict": "Fine",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestReadPolicyErrors holds that a text that is no policy is refused, with
// the line and the cause.
func TestReadPolicyErrors(t *testing.T) {
	text := allergy().Text()
	for _, test := range []struct{ old, new, want string }{
		{"Allergy safety policy", "Allergy safety", "line 1: \"Allergy safety\" is no title"},
		{evidenceRule, ".", "line 3: "},
		{fieldsIntro, "Read.", `line 5: "Read." stands where`},
		{"- mild: itching", "- mild, itching", "is no field and no value"},
		{"n_mild plus n_moderate", "n_tiny plus n_moderate", `n_total_incidents: "n_tiny" is not defined before`},
		{"with incident_severity mild", "with severity mild", `tests no field`},
		{"incident_severity mild and", "incident_severity harmless and", `has no value "harmless"`},
		{"2 times n_mild", "two times n_mild", `"two" is no number`},
		{"at least 0 and at most 20", "at least nothing", `"nothing" is no number`},
		{"of reviews with incident_severity mild and account_type firsthand", "of reviews with at least 2 stars", "tests no field"},
		{"of reviews with incident_severity mild", "of reviews with at least 0 stars and incident_severity mild", `"0" is no whole number above 0`},
		{"2 times n_mild", "1e3 times n_mild", `"1e3" is no number`},
		{"less than 4,", "less than four,", `"four" is no number`},
		{"at least 4 but", "at least 5 but", "gaps or overlap"},
		{"if final_risk_score is less", "if some_score is less", `"some_score" is not defined`},
		{"- raw_risk is ", "- raw risk is ", "is no definition"},
		{"\nThe verdict is", "\nThe ruling is", "is no definition"},
		{text[strings.Index(text, "\nThe verdict"):], "", "ends before the verdict"},
		{"at least 8.\n", "at least 8.\nAnd more.", "text after the verdict"},
	} {
		changed := strings.Replace(text, test.old, test.new, 1)
		if changed == text {
			t.Errorf("%q is not in the text", test.old)
		}
		if _, err := ReadPolicy(changed); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q for %q: %v, want %q", test.new, test.old, err, test.want)
		}
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
			if w, ok := where(term.Formula); ok && !w.telling() {
				t.Errorf("%s: %s counts reviews that say nothing", p.Name, term.Name)
			}
		}
		if got, ok := Find(p.Name); !ok || got.Title != p.Title {
			t.Errorf("Find(%q) = %q, %v", p.Name, got.Title, ok)
		}
		fields := []string{p.Fields[2].Name, p.Fields[0].Name, p.Fields[1].Name}
		if got, ok := WithFields(fields); !ok || got.Name != p.Name {
			t.Errorf("WithFields(%v) = %q, %v", fields, got.Name, ok)
		}
		lex, ok := lexiconOf(p.Name)
		if !ok || len(lex.replies) != len(p.Fields[2].Values)-1 {
			t.Errorf("%s: lexicon %v with %d kinds of replies", p.Name, ok, len(lex.replies))
		}
	}
	if _, ok := Find("weather"); ok {
		t.Error("found a policy on the weather")
	}
	if _, ok := WithFields([]string{"incident_severity"}); ok {
		t.Error("found a policy by one of its fields")
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

func FuzzReadPolicy(f *testing.F) {
	for _, p := range policies() {
		f.Add(p.Text())
	}
	f.Add("X policy\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadPolicy(text)
		if err != nil {
			return
		}
		again, err := ReadPolicy(p.Text())
		if err != nil {
			t.Fatalf("%q was read, but what it says was not: %v", text, err)
		}
		if again.Text() != p.Text() {
			t.Fatalf("%q is read as\n%s\nand then as\n%s", text, p.Text(), again.Text())
		}
	})
}
