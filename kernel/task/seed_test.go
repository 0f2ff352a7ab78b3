package task_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"noema/kernel/task"
	"noema/methods"
)

// TestSeedsAreOfTheQuestion: what only the reader of replies uses moves no seed, and whatever a
// method is asked does.
func TestSeedsAreOfTheQuestion(t *testing.T) {
	of := func(change func(*methods.Problem)) string {
		p := methods.Problem{Query: "q", Answer: methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"A", "B"}}}
		change(&p)
		texts := slices.Clone(p.Answer.Texts)
		samples := []task.Sample{{ID: "1", Problem: p}}
		if err := task.SeedEach(samples); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(samples[0].Problem.Answer.Texts, texts) || samples[0].Problem.Answer.Decimal != p.Answer.Decimal {
			t.Errorf("the sample lost what its replies are read by: %+v", samples[0])
		}
		return samples[0].SeedDigest
	}
	// as it was before questions had these
	before := sha256.Sum256([]byte(`{"ID":"","Query":"q","Context":null,"Tools":null,"Answer":{"Kind":"choice","N":0,"K":0,"Labels":["A","B"],"Names":null},"Seed":0,"Options":null}` + "\n1"))
	bare := of(func(*methods.Problem) {})
	for name, change := range map[string]func(*methods.Problem){
		"texts": func(p *methods.Problem) { p.Answer.Texts = []string{"x", "y"} }, "decimal": func(p *methods.Problem) { p.Answer.Decimal = methods.DecimalComma },
		"percent": func(p *methods.Problem) { p.Answer.Percent = methods.PercentFraction },
	} {
		if of(change) != bare {
			t.Errorf("%s move the seed", name)
		}
	}
	for name, change := range map[string]func(*methods.Problem){
		"query": func(p *methods.Problem) { p.Query = "r" }, "labels": func(p *methods.Problem) { p.Answer.Labels = []string{"A", "C"} },
		"kind": func(p *methods.Problem) { p.Answer.Kind = methods.Set },
	} {
		if of(change) == bare {
			t.Errorf("%s move no seed", name)
		}
	}
	if bare != hex.EncodeToString(before[:16]) {
		t.Errorf("seeds moved: %s", bare)
	}
}
