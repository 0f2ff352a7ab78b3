package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"noema/kernel/result/record"
	"noema/kernel/task"
)

// underway compares methods by their marks on n declared samples.
func underway(t *testing.T, d record.Design, samples []task.Sample, labels []string, byMethod map[string]string) *Comparison {
	t.Helper()
	data, err := FromTrials(labels, samples, outcomes(byMethod))
	if err != nil {
		t.Fatal(err)
	}
	d.Rule = record.DesignRule
	c, err := Compare(data, Options{Design: &d})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOneSentenceAState: what a reader is told of a run that was to stop early.
func TestOneSentenceAState(t *testing.T) {
	for _, test := range []struct {
		state   State
		samples int
		a, b    string
		winner  string
		want    string
	}{
		{Decided, 60, marks(9, "1"), marks(9, "0"), "a",
			"a is better than b: accuracy +1.000 [+0.021, +1.000] (n = 9, e-value 23.3, 20 needed); decided after 9 samples"},
		{Futile, 60, marks(18, "1"), marks(18, "1"), "",
			"no difference of 0.3 or more between a and b: accuracy +0.000 [-0.293, +0.293] (n = 18, e-value 1, 20 needed); after 18 samples a difference of 0.3 or more is ruled out"},
		{Bound, 6, marks(6, "1"), marks(5, "1", 1, "0"), "",
			"not decided between a and b: accuracy +0.167 [-0.575, +0.760] (n = 6, e-value 1, 20 needed); all 6 samples were asked"},
		{Open, 60, marks(4, "1"), marks(4, "0"), "",
			"not decided between a and b: accuracy +1.000 [-0.511, +1.000] (n = 4, e-value 2.29, 20 needed); not decided by the 4 samples that were asked"},
		{Decided, 60, marks(9, "1", 6, "x"), marks(9, "0", 6, "1"), "a",
			"a is better than b: accuracy +1.000 [+0.021, +1.000] (n = 9, e-value 23.3, 20 needed); decided after 9 samples"},
		{Open, 60, marks(9, "x", 9, "1"), marks(9, "1", 9, "0"), "",
			"not decided between a and b: accuracy +1.000 [+0.021, +1.000] (n = 9, e-value 23.3, 20 needed); a is ahead where both have a score, but 9 trials of a have none, and 1 of them against it would undo that: repeat the command of the run, which asks again what failed, or complete the results"},
	} {
		c := underway(t, record.Design{Detect: 0.3}, choices(test.samples), []string{"a", "b"}, map[string]string{"a": test.a, "b": test.b})
		p := c.Pairs[0]
		if h := p.Metrics[c.Metric]; h.Stop == nil || h.Stop.State != test.state || p.Winner != test.winner || p.Verdict != test.want {
			t.Errorf("%s: winner %q\n%s\nwant %s", test.state, p.Winner, p.Verdict, test.want)
		}
		if saved := c.Sequential.Saved; (saved == nil) != (test.state == Open) || saved != nil && saved.Trials != 2*(test.samples-len(test.a)) {
			t.Errorf("%s: saved %+v", test.state, saved)
		}
	}
}

// TestAPairStopsByItself: what is asked for the sake of other pairs changes nothing of
// a pair that is decided, and no fixed-sample number is left.
func TestAPairStopsByItself(t *testing.T) {
	long := map[string]string{"a": marks(40, "1"), "b": marks(11, "0", 29, "1"), "c": marks(30, "1", 10, "0")}
	c := underway(t, record.Design{Detect: 0.1}, choices(40), []string{"a", "b", "c"}, long)
	ab := c.Pairs[0].Metrics[c.Metric]
	if ab.Winner != "a" || ab.Stop.Asked != 11 || ab.Difference.N != 11 || ab.Difference.Value != 1 || ab.Wins != 11 || ab.Ties != 0 {
		t.Errorf("a − b: %+v, %d wins, %d ties", ab.Stop, ab.Wins, ab.Ties)
	}
	for _, p := range c.Pairs {
		d := p.Metrics[c.Metric]
		if (d.Winner != "") != (sideOf(d.Difference) != 0) || d.Interval != anyTime || d.Test != anyTime || math.Abs(float64(d.P)-min(1, 1/d.Stop.E)) > 1e-9 || d.Detectable.Defined() {
			t.Errorf("%s − %s: winner %q of [%g, %g] by %s, p %g of e-value %g", p.A, p.B, d.Winner, d.Difference.Low, d.Difference.High, d.Interval, float64(d.P), d.Stop.E)
		}
	}
	if want := "b loses to a and c on accuracy; between a and c nothing is proven"; c.Verdict != want {
		t.Errorf("%s\nwant %s", c.Verdict, want)
	}
	fixed, err := Compare(mustData(t, []string{"a", "b", "c"}, long), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range c.Methods {
		now, then := m.Metrics[c.Metric].Value, fixed.Methods[i].Metrics[c.Metric].Value
		if now.Value != then.Value || !(now.Low < then.Low) || now.High < then.High {
			t.Errorf("%s: [%g, %g] at any time, [%g, %g] at a fixed number", m.Method, now.Low, now.High, then.Low, then.High)
		}
		if m.Missing != 0 {
			t.Errorf("%s: %d trials are missing", m.Method, m.Missing)
		}
	}
}

func mustData(t *testing.T, labels []string, byMethod map[string]string) Data {
	t.Helper()
	d, err := FromTrials(labels, choices(40), outcomes(byMethod))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestClustersCountWhenComplete: evidence moves at the end of a cluster only, and one
// cluster is one observation, however large.
func TestClustersCountWhenComplete(t *testing.T) {
	samples := choices(40)
	for i := range samples {
		samples[i].Cluster = string(rune('A' + i/4))
	}
	c := underway(t, record.Design{Detect: 0.1}, samples, []string{"a", "b"}, map[string]string{"a": marks(40, "1"), "b": marks(40, "0")})
	stop := c.Pairs[0].Metrics[c.Metric].Stop
	if stop.State != Decided || stop.Asked != 36 || math.Abs(stop.E-23.27) > 0.01 {
		t.Errorf("%+v: nine clusters decide as nine samples do", stop)
	}
	c = underway(t, record.Design{Detect: 0.1}, samples, []string{"a", "b"}, map[string]string{"a": marks(35, "1"), "b": marks(35, "0")})
	if stop := c.Pairs[0].Metrics[c.Metric].Stop; stop.State != Open || stop.E > 20 {
		t.Errorf("%+v: the ninth cluster is not complete", stop)
	}
}

// TestLooks: nothing is decided between looks, and the interval is the wider the earlier.
func TestLooks(t *testing.T) {
	by := map[string]string{"a": marks(40, "1"), "b": marks(40, "0")}
	c := underway(t, record.Design{Looks: 4, Detect: 0.1}, choices(40), []string{"a", "b"}, by)
	d := c.Pairs[0].Metrics[c.Metric]
	if d.Stop.State != Decided || d.Stop.Asked != 20 || d.Stop.Look != 2 || d.Winner != "a" || !strings.HasSuffix(d.Test, "for 4 looks") || d.P > 0.05 || float64(d.P) < SuissaShuster(20, 0, 20) {
		t.Errorf("%+v, %s p %g", d.Stop, d.Test, float64(d.P))
	}
	c = underway(t, record.Design{Looks: 4, Detect: 0.1}, choices(40), []string{"a", "b"}, map[string]string{"a": marks(9, "1"), "b": marks(9, "0")})
	if d := c.Pairs[0].Metrics[c.Metric]; d.Stop.State != Open || d.Difference.HasInterval() || d.P.Defined() || d.Winner != "" {
		t.Errorf("before the first look: %+v", d)
	}
}

// TestCorpusMeasuresHaveNoIntervalOfAFixedNumber where a run may stop early.
func TestCorpusMeasuresHaveNoIntervalOfAFixedNumber(t *testing.T) {
	a := audits()[9]
	d := a.data(rand.New(rand.NewPCG(5, 6)), 40, 2, 0.5)
	d.Metrics = append(d.Metrics, "x")
	c, err := Compare(d, Options{Design: &record.Design{Detect: 0.1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Pairs {
		if m := p.Metrics[d.Metrics[0]]; m.Difference.HasInterval() || m.P.Defined() || m.Winner != "" {
			t.Errorf("%+v", m)
		}
	}
}
