package generalanot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/generalanot"
	"noema/methods/methodtest"
)

// disagreeing reads the severity of r1 in passes as given, "" for an unusable
// reply, and everything else as the test's reviews say.
func disagreeing(t testing.TB, severities ...string) methods.Model {
	seed := seedJSON(t)
	return saying(func(r methods.Request) string {
		pass := r.Draw
		switch {
		case strings.HasPrefix(r.Path, "compile"):
			return seed
		case strings.HasPrefix(r.Path, "extract/r1") && severities[pass] == "":
			return "hm"
		case strings.HasPrefix(r.Path, "extract/r1"):
			return fmt.Sprintf(`{"incident_severity":%q,"account_type":"firsthand","safety_interaction":"none"}`, severities[pass])
		}
		return extraction(r.Messages[0].Content)
	})
}

// The majority decides, ties go to the earliest pass, a pass without a usable
// reply has no vote; a review is lost if all its passes are.
func TestPasses(t *testing.T) {
	for name, c := range map[string]struct {
		passes    []string
		kept      string
		agreement string
		outcome   methods.Outcome
	}{
		"agree":        {[]string{"mild", "mild", "mild"}, "mild", "1.00 of 3", methods.Answered},
		"majority":     {[]string{"mild", "severe", "severe"}, "severe", "0.94 of 3", methods.Answered}, // (5 + 2/3) / 6
		"tie":          {[]string{"none", "severe", "mild", "severe", "none"}, "none", "0.90 of 5", methods.Answered},
		"no vote":      {[]string{"", "severe", "severe"}, "severe", "1.00 of 3", methods.Answered},
		"lost":         {[]string{"", "", ""}, "", "1.00 of 3", methods.Unparsed},
		"two disagree": {[]string{"moderate", "mild"}, "moderate", "0.92 of 2", methods.Answered},
	} {
		t.Run(name, func(t *testing.T) {
			a, log := solve(t, problem(fmt.Sprintf(`{"passes":%d,"retries":0}`, len(c.passes))), disagreeing(t, c.passes...))
			if a.Outcome != c.outcome {
				t.Errorf("outcome %s %s", a.Outcome, a.Reason)
			}
			want := fmt.Sprintf("extract/r1: %d passes: incident_severity=%s ", len(slices.DeleteFunc(slices.Clone(c.passes), func(s string) bool { return s == "" })), c.kept)
			got := events(log, generalanot.Agreed)
			if (c.kept != "") != strings.Contains(got, want) {
				t.Errorf("no event %q in\n%s", want, got)
			}
			i := slices.IndexFunc(a.Evidence, func(e methods.Evidence) bool { return e.Source == "extract/agreement/incident_severity" })
			if i < 0 || !strings.HasPrefix(a.Evidence[i].Text, c.agreement) {
				t.Errorf("no agreement %q in %v", c.agreement, a.Evidence)
			}
		})
	}
}

// The first pass is greedy and the call of a trial with one pass; the others
// are draws at a temperature.
func TestPassesAreDraws(t *testing.T) {
	_, log := solve(t, problem(`{"passes":3,"temperature":0.5}`), disagreeing(t, "mild", "mild", "mild"))
	_, one := solve(t, problem(""), disagreeing(t, "mild"))
	for _, c := range log.Calls {
		r := c.Request
		switch {
		case r.Path == "extract/r1":
			first := one.Calls[slices.Index(paths(one), "extract/r1")].Request
			if r.Sampling.Temperature != 0 || r.Sampling.Seed != first.Sampling.Seed || r.Draw != 0 || r.Messages[0].Content != first.Messages[0].Content {
				t.Errorf("the first pass asks otherwise: %+v", r.Sampling)
			}
		case r.Path == "extract/r1/p3":
			if r.Draw != 2 || r.Sampling.Temperature != 0.5 {
				t.Errorf("pass 3: draw %d, temperature %v", r.Draw, r.Sampling.Temperature)
			}
		}
	}
	if n := len(paths(log)); n != 1+3*6 {
		t.Errorf("%d calls: %v", n, paths(log))
	}
}

func TestPassesOverItems(t *testing.T) {
	a, log := solve(t, ranking(places, `{"passes":2}`), sweets(text(t, score(t))))
	if order, _ := a.Ranking(); order[0] != 1 || !slices.Contains(paths(log), "extract/i1/r1/p2") {
		t.Errorf("answer %s, calls %v", a.Value, paths(log))
	}
	want := methods.Evidence{Source: "extract/agreement/sweet", Text: "1.00 of 2 passes agree on sweet, over 2 reviews"}
	if !slices.Contains(a.Evidence, want) {
		t.Errorf("evidence %v", a.Evidence)
	}
}

func TestPassesContract(t *testing.T) {
	methodtest.Run(t, generalanot.New(), methodtest.Case{Name: "passes", Problem: problem(`{"passes":3}`), Model: working(t), Sampled: true})
}
