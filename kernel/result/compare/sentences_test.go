package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/methods"
)

// TestSituations: every way in which a pair can end, and the whole sentence that is
// said then. A situation without a case here fails the test.
func TestSituations(t *testing.T) {
	graded := func(a, b []float64) Difference {
		d, err := Paired("quality", a, b, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	margin := func(within float64, a, b string) Difference {
		return compared(t, Options{Equivalence: within}, []string{"a", "b"}, map[string]string{"a": a, "b": b}).Pairs[0].Metrics["accuracy"]
	}
	binary := func(a, b string) Difference { return margin(0, a, b) }
	designed := func(a, b string) Difference {
		return underway(t, record.Design{Detect: 0.3}, choices(len(a)), []string{"a", "b"}, map[string]string{"a": a, "b": b}).Pairs[0].Metrics["accuracy"]
	}
	repeat := func(n int, x float64) []float64 { return slices.Repeat([]float64{x}, n) }
	judged := func(labels string) Difference {
		all := append(labelled("a", labels), labelled("b", labels)...)
		return comparedGraded(t, free(40, `"x"`), map[string]string{"a": marks(40, "1"), "b": marks(40, "10")[:40]}, all...).Pairs[0].Metrics[score.Graded]
	}
	told := map[string]bool{}
	for _, c := range []struct {
		situation string
		d         Difference
		says      string
	}{
		{"nothing in common", binary(marks(3, "1", 3, " "), marks(3, " ", 3, "1")),
			"not decided between a and b: they have no common sample on which accuracy is defined: run both on the same samples"},
		{"uncalibrated", judged("yy"),
			"uncalibrated between a and b: graded +0.500 (n = 40, 2 labelled); too few labels to check the graders: about 10 more labelled samples would decide it: \"noema label\" asks for them"},
		{"calibrated", judged(marks(5, "y", 5, "n")),
			"not decided between a and b: graded +0.000 [-0.287, +0.287] (n = 40, 10 labelled, p = 1.000); more labels will not decide it: add samples"},
		{"winner", binary(marks(40, "1"), marks(20, "1", 20, "0")), "a is better than b: accuracy +0.500 [+0.351, +0.649] (n = 40, p < 0.001)"},
		{"equivalent", margin(0.2, marks(30, "1"), marks(30, "1")), "a and b are equivalent within 0.2: accuracy +0.000 [-0.114, +0.114] (n = 30, p = 1.000)"},
		{"equal everywhere", margin(0.05, marks(30, "1"), marks(30, "1")),
			"not decided between a and b: accuracy +0.000 [-0.114, +0.114] (n = 30, p = 1.000); they are equal on every sample: harder samples may tell them apart; this run finds differences from 0.176 on, and about half of that with four times the samples"},
		{"failed trials decide", binary(marks(20, "1", 20, "x"), marks(10, "1", 10, "0", 20, "1")),
			"not decided between a and b: accuracy +0.500 [+0.250, +0.704] (n = 20, p < 0.001); a is ahead where both have a score, but 20 trials of a have none, and 3 of them against it would undo that: repeat the command of the run, which asks again what failed, or complete the results"},
		{"futile", designed(marks(18, "1"), marks(18, "1")),
			"no difference of 0.3 or more between a and b: accuracy +0.000 [-0.293, +0.293] (n = 18, e-value 1, 20 needed); after 18 samples a difference of 0.3 or more is ruled out"},
		{"stopped", designed(marks(6, "1"), marks(5, "1", 1, "0")),
			"not decided between a and b: accuracy +0.167 [-0.575, +0.760] (n = 6, e-value 1, 20 needed); all 6 samples were asked"},
		{"no test", graded([]float64{3, 9, 4, 8}, []float64{1, 2, 3, 4}),
			"not decided between A and B: quality +3.500 [-0.710, +7.710] (n = 4); no test, because quality is not within 0 and 1: scale it to that range"},
		{"equal everywhere", binary(marks(30, "1"), marks(30, "1")),
			"not decided between a and b: accuracy +0.000 [-0.114, +0.114] (n = 30, p = 1.000); they are equal on every sample: harder samples may tell them apart; this run finds differences from 0.176 on, and about half of that with four times the samples"},
		{"too few samples", binary("11", "00"), "not decided between a and b: accuracy +1.000 [-1.000, +1.000] (n = 2, p = 0.500); 2 independent samples cannot decide, whatever they show: 6 are the fewest"},
		{"all one way", graded([]float64{0.52, 0.53, 0.51, 0.52, 0.53, 0.51, 0.52, 0.53, 0.51, 0.52, 0.53, 0.51}, repeat(12, 0.5)),
			"not decided between A and B: quality +0.020 [-0.250, +0.279] (n = 12, p = 1.000); A is better on all 12 samples, by little: a loss of all on one sample in 51 would make them equal, and 12 samples show no such loss in 79 % of cases; if no sample can differ by more than was seen (0.03) it is within [+0.015, +0.025], which decides nothing"},
		{"too uneven", graded(append(repeat(3, 0.9), repeat(3, 0)...), append(repeat(3, 0), repeat(3, 0.9)...)),
			"not decided between A and B: quality +0.000 [-0.710, +0.710] (n = 6, p = 1.000); too few samples to tell, because they differ so much: run more; if no sample can differ by more than was seen (0.90) it is within [-1.035, +1.035], which decides nothing"},
		{"test and interval disagree", disagreeing(),
			"not decided between A and B: macro_f1 +0.100 [+0.010, +0.190] (n = 40, p = 0.062); the test does not confirm the interval, and a winner needs both; this run finds differences from 0.250 on, and about half of that with four times the samples"},
		{"skewed", graded(append(repeat(36, 0.6), repeat(4, 0)...), append(repeat(36, 0.5), repeat(4, 0.8)...)),
			"not decided between A and B: quality +0.010 [-0.123, +0.120] (n = 40, p = 1.000); few samples carry the mean (better on 36, worse on 4, by unlike amounts): look at the largest differences; this run finds differences from 0.172 on, and about half of that with four times the samples; if no sample can differ by more than was seen (0.80) it is within [-0.077, +0.097], which decides nothing"},
		{"not decided", binary(marks(20, "10"), marks(10, "1100")),
			"not decided between a and b: accuracy +0.000 [-0.220, +0.220] (n = 40, p = 1.000); either may be the better one; this run finds differences from 0.300 on, and about half of that with four times the samples"},
	} {
		told[c.situation] = true
		if got := c.d.situation().name; got != c.situation {
			t.Errorf("%q is taken for %q: %s", c.situation, got, c.d.Verdict())
			continue
		}
		if got := c.d.Verdict(); got != c.says {
			t.Errorf("%s: %s", c.situation, got)
		}
	}
	for _, s := range situations() {
		if !told[s.name] {
			t.Errorf("the situation %q has no case", s.name)
		}
	}
}

// disagreeing is a difference whose interval and test are not one formula.
func disagreeing() Difference {
	d := newDifference(score.MacroF1, "A", "B")
	d.Difference = score.Metric{Name: score.MacroF1, Value: 0.1, Low: 0.01, High: 0.19, N: 40, Defined: true}
	d.P, d.Corrected, d.Family, d.Units, d.Wins, d.Detectable, d.Test = 0.062, 0.062, 1, 40, 3, 0.25, "permutation"
	return d
}

// TestRemarks: what is said of a whole comparison, and that nothing is said
// where there is nothing to say.
func TestRemarks(t *testing.T) {
	plain := compared(t, Options{}, []string{"a", "b"}, map[string]string{"a": marks(8, "1", 4, "0"), "b": marks(4, "0", 8, "1")})
	if len(plain.Notes) != 0 {
		t.Errorf("a plain comparison has notes %q", plain.Notes)
	}
	trials := outcomes(map[string]string{"a": marks(6, "10"), "b": marks(6, "01"), "c": marks(5, "1", 7, "0")})
	for _, tr := range trials {
		if tr.ID.Method == "a" {
			tr.Usage.Cost /= 4
		}
		tr.Calls = []record.Call{{Kind: record.CompletionCall, Key: tr.ID.Sample, Digest: "d"}}
	}
	c := compareTrials(t, Options{Budget: record.Limits{Calls: 90}}, []string{"a", "b", "c"}, choices(13), trials)
	for _, want := range []string{
		"a: 1 trials are not finished, and not in these numbers",
		"a trial over the budget counts as wrong, although its method did not know the budget",
		"intervals of pairs hold together: each of the 3 is at 98.3 %, all at once at 95 %",
		"cheaper on most samples, and how much worse on accuracy it may be: a than b (up to 0.57 worse); a than c (up to 0.38 worse)",
		"a and b share model answers in 12 of 12 pairs of trials (common random numbers), which narrows the interval of their difference",
	} {
		if !noted(c, want) {
			t.Errorf("no note says %q:\n%s", want, strings.Join(c.Notes, "\n"))
		}
	}
	c.Epochs, c.Clusters, c.Metrics = 3, 4, []string{"accuracy", "other"}
	c.Methods[0].LeftOut, c.Methods[0].Outcomes[methods.Answered] = 2, 5
	for name, want := range map[string]string{
		"epochs": "3 epochs of each sample", "clusters": "in 4 clusters", "headline": "decided on accuracy", "trials": "2 of 5 answers leave out fields",
	} {
		all := remarks()
		notes := all[slices.IndexFunc(all, func(r remark) bool { return r.name == name })].of(c)
		if !strings.Contains(strings.Join(notes, "\n"), want) {
			t.Errorf("%s: %q does not say %q", name, notes, want)
		}
	}
}

// TestNotesOfManyMethods: however many methods there are, a note names few pairs, and no
// note is made for each pair.
func TestNotesOfManyMethods(t *testing.T) {
	for _, n := range []int{3, 4, 8, 18} {
		byMethod, labels := map[string]string{}, []string{}
		for i := range n {
			label := string(rune('a' + i))
			labels, byMethod[label] = append(labels, label), marks(12, "1")
		}
		trials := outcomes(byMethod)
		for _, tr := range trials {
			tr.Usage.Cost *= methods.NanoUSD(1 + tr.ID.Method[0] - 'a')
			tr.Calls = []record.Call{{Kind: record.CompletionCall, Key: tr.ID.Sample, Digest: "d"}}
		}
		c := compareTrials(t, Options{}, labels, choices(12), trials)
		pairs, shared := n*(n-1)/2, 0
		for _, note := range c.Notes {
			if strings.Contains(note, "how much worse") && strings.Count(note, " than ") != min(pairs, FewPairs) {
				t.Errorf("%d methods: %q", n, note)
			}
			if strings.Contains(note, "common random numbers") {
				shared++
			}
		}
		want := pairs
		if pairs > FewPairs {
			want = 1
		}
		if shared != want || !noted(c, "how much worse") || (pairs > FewPairs) != noted(c, fmt.Sprintf("and %d more pairs", pairs-FewPairs)) {
			t.Errorf("%d methods: %q", n, c.Notes)
		}
	}
}
