package lab_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"noema/cache"
	"noema/kernel/lab"
	"noema/kernel/result/compare"
)

// runOf runs direct and cot on some samples of arithmetic.
func runOf(t *testing.T, l *lab.Lab, limit string) *lab.Result {
	t.Helper()
	r, err := l.Run(lab.Experiment{Task: "arithmetic", Methods: []string{"direct", "cot"}, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func comparedRuns(t *testing.T, results ...*lab.Result) *lab.Comparison {
	t.Helper()
	c, err := lab.Compare(lab.Comparing{}, results...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func says(t *testing.T, c *lab.Comparison, text string) {
	t.Helper()
	if !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, text) }) {
		t.Errorf("no note says %q:\n%s", text, strings.Join(c.Notes, "\n"))
	}
}

// numbers are a comparison without its notes.
func numbers(t *testing.T, c *lab.Comparison) string {
	t.Helper()
	bare := *c.Comparison
	bare.Notes, bare.Looks = nil, nil
	raw, err := json.Marshal(bare)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestRunsOfOneExperiment: whatever runs the trials of an experiment are in, and in
// whatever order these are named, its numbers are those of one run with all of them.
func TestRunsOfOneExperiment(t *testing.T) {
	l := open(t)
	small, large, rest := runOf(t, l, "4"), runOf(t, l, "8"), runOf(t, l, "5-8")
	whole := comparedRuns(t, large)
	for _, together := range [][]*lab.Result{{small, large}, {large, small}, {small, rest}, {rest, small}, {small, rest, large}, {large, large}} {
		c := comparedRuns(t, together...)
		if numbers(t, c) != numbers(t, whole) {
			t.Errorf("%d runs: %s\nwant %s", len(together), numbers(t, c), numbers(t, whole))
		}
		if c.Looks == nil || c.Looks.Total != 1 {
			t.Errorf("the same trials in %d runs are another look: %+v", len(together), c.Looks)
		}
	}
	says(t, comparedRuns(t, small, large), "made their trials of direct, cot in the same way, so these are taken together, each once: 16 trials, of which 8 are in both runs")
	says(t, comparedRuns(t, small, rest), "16 trials, of which 0 are in both runs")
	says(t, comparedRuns(t, small, rest, large), "16 trials, of which 16 are in more than one run")
	says(t, comparedRuns(t, large, large), "is named twice")

	twice, err := l.Run(lab.Experiment{Task: "arithmetic", Methods: []string{"direct", "cot"}, Limit: "4", Epochs: 2})
	if err != nil {
		t.Fatal(err)
	}
	says(t, comparedRuns(t, twice, large), "up to 2 epochs of each sample are averaged first")

	other, err := l.Run(lab.Experiment{Task: "arithmetic", Methods: []string{"direct", "self-consistency"}, Limit: "6"})
	if err != nil {
		t.Fatal(err)
	}
	c := comparedRuns(t, other, large)
	if len(c.Methods) != 3 || c.Common == nil || c.Common.Samples != 6 {
		t.Errorf("%d methods, common %+v", len(c.Methods), c.Common)
	}
	says(t, c, "made their trials of direct in the same way, so these are taken together, each once: 8 trials, of which 6 are in both runs")
	says(t, c, "compared on the 6 samples that all methods have")
}

// TestTrialsThatDiffer: a method that answers otherwise when it is asked again is
// compared with itself, and the reader is told.
func TestTrialsThatDiffer(t *testing.T) {
	l := open(t)
	var results []*lab.Result
	for _, answer := range []float64{1, 2} {
		solve := func(context.Context, lab.Problem, lab.Host) (lab.Answer, error) {
			return lab.NumberAnswer(answer), nil
		}
		if err := l.AddMethod("moody", solve, lab.Number); err != nil {
			t.Fatal(err)
		}
		r, err := l.Run(lab.Experiment{Task: "arithmetic", Methods: []string{"moody", "direct"}, Limit: fmt.Sprint(4 * answer)})
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	c := comparedRuns(t, results...)
	if len(c.Methods) != 3 || !strings.HasPrefix(c.Methods[0].Method, "moody (") || c.Methods[1].Method != "direct" {
		t.Errorf("%d methods, the first %q", len(c.Methods), c.Methods[0].Method)
	}
	says(t, c, "asked moody the same, and 4 of the 4 trials that both have came out differently, the first moody/L1-001/1")
	says(t, c, "made their trials of direct in the same way, so these are taken together, each once: 8 trials, of which 4 are in both runs")
}

// TestARunEndedByItsLimit is finished for a comparison: it says what it lacks.
func TestARunEndedByItsLimit(t *testing.T) {
	l := open(t)
	e := lab.Experiment{Task: "arithmetic", Methods: []string{"direct", "cot"}, Limit: "8", RunCallLimit: 9, MaxSamples: 1}
	r, err := l.Run(e)
	if err == nil || r.Run.Stopped != "9 calls" {
		t.Fatalf("stopped by %q: %v", r.Run.Stopped, err)
	}
	lacks := fmt.Sprintf("run %s was ended by its limit of 9 calls: it lacks %d of 16 trials", r.ID(), 16-len(r.Trials))
	c := comparedRuns(t, r)
	says(t, c, lacks)
	if strings.Contains(strings.Join(c.Notes, "\n"), "finished") {
		t.Errorf("notes %q", c.Notes)
	}
	s, err := r.Summary()
	if err != nil || !slices.Contains(s.Remarks, lacks) {
		t.Errorf("remarks %q (%v)", s.Remarks, err)
	}
	e.RunCallLimit = 0
	if r, err = l.Run(e); err != nil || r.Run.Stopped != "" || r.Root() == "" {
		t.Errorf("resumed: stopped by %q, root %q, %v", r.Run.Stopped, r.Root(), err)
	}
}

func TestLooksAreCounted(t *testing.T) {
	l := open(t)
	runs := []*lab.Result{runOf(t, l, "6"), runOf(t, l, "8"), runOf(t, l, "12")}
	if c := comparedRuns(t, runOf(t, l, "3")); c.Looks != nil {
		t.Errorf("three samples decide nothing, whatever they show, and are a look: %+v", c.Looks)
	}
	for i, r := range runs {
		for range 2 { // looking again at the same data is no look
			if c := comparedRuns(t, r); c.Looks.Total != i+1 || c.Looks.Number != i+1 || c.Looks.Latest[i].Runs[0] != r.ID() {
				t.Errorf("look %d: %+v", i+1, c.Looks)
			}
		}
	}
	c := comparedRuns(t, runs[2])
	says(t, c, "third look at this comparison (6, 8, 12 samples): if the methods were equally good, at least one of 3 looks would name a winner in up to 11 % of cases, not 5 %")
	says(t, comparedRuns(t, runs[0]), "the first of 3 looks")

	// A budget that is tried is another look at the question, and the verdict names it.
	other, err := lab.Compare(lab.Comparing{Budget: map[string]string{"tokens": "10"}}, runs[2])
	if err != nil || other.Looks.Total != 4 || !strings.Contains(other.Verdict, "(within a budget of 10 tokens a trial)") {
		t.Errorf("%+v, %v", other.Looks, err)
	}
	// Another seed is the same question with other draws.
	seeded, err := l.Run(lab.Experiment{Task: "arithmetic", Methods: []string{"cot", "direct"}, Limit: "12", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	c = comparedRuns(t, seeded)
	if c.Looks.Total != 5 || float64(c.Looks.FalseWinner) < 0.13 {
		t.Errorf("%+v", c.Looks)
	}
	before, notes := comparedRuns(t, runs[0]), len(comparedRuns(t, runs[0]).Notes)
	if again := before.Look().Look(); len(again.Notes) != notes {
		t.Errorf("notes add up: %q", again.Notes)
	}
	if replayed, err := runs[0].Replay(); err != nil || !replayed.Same() {
		t.Errorf("%v", err)
	}
}

// TestLooksOfADesign: those of a declared design are one look, and with another limit
// they are another; an e-value holds whenever one looks.
func TestLooksOfADesign(t *testing.T) {
	l := open(t)
	for i, limit := range []string{"12", "12", "24"} {
		for until, want := range map[string]int{"": 1 + i/2, "decided": 0} {
			e := lab.Experiment{Task: "arithmetic", Methods: []string{"direct", "self-consistency"}, Limit: limit, Until: until}
			if until == "" {
				e.Looks = 2
			}
			r, err := l.Run(e)
			if err != nil {
				t.Fatal(err)
			}
			looks := 0
			if c := comparedRuns(t, r); c.Looks != nil {
				looks = c.Looks.Total
			}
			if looks != want {
				t.Errorf("limit %s, until %q: %d looks, want %d", limit, until, looks, want)
			}
		}
	}
}

// TestLooksInAnUnfitStore: damage, thousands of looks, and a store that is not there
// any more cost the count and not the table.
func TestLooksInAnUnfitStore(t *testing.T) {
	l := open(t)
	r := runOf(t, l, "6")
	first := comparedRuns(t, r)
	store, err := l.Store()
	if err != nil {
		t.Fatal(err)
	}
	var question cache.Key
	if _, err := hex.Decode(question[:], []byte(first.Looks.Question)); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := store.PutLook(ctx, question, cache.Key{1}, []byte("\x00 no JSON")); err != nil {
		t.Fatal(err)
	}
	says(t, comparedRuns(t, r), "(?, 6 samples)")
	hostile, err := json.Marshal(compare.Look{Samples: 1 << 40, Verdict: strings.Repeat("x", 1<<10), Series: "s"})
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup // one sync serves all that wait
	for i := range compare.MaxLooks + 500 {
		writers.Go(func() {
			if err := store.PutLook(ctx, question, cache.Key{2, byte(i >> 8), byte(i)}, hostile); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	larger := comparedRuns(t, runOf(t, l, "8"))
	if larger.Looks.Number != 0 || larger.Looks.Total > compare.MaxLooks+2000 || len(larger.Looks.Latest) > 20 {
		t.Errorf("%d of %d looks, %d shown", larger.Looks.Number, larger.Looks.Total, len(larger.Looks.Latest))
	}
	says(t, larger, "one of more than 1000 looks")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	closed := comparedRuns(t, r)
	says(t, closed, "this look at the comparison is not recorded, and later ones do not count it")
	if closed.Verdict != first.Verdict {
		t.Errorf("the verdict is %q", closed.Verdict)
	}
	if _, err := store.Run(ctx, r.ID()); !errors.Is(err, cache.ErrClosed) {
		t.Errorf("the store is open: %v", err)
	}
}
