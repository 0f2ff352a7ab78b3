package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/methods"
)

// TestVerdicts: a winner only with an interval off zero and an exact test that
// agrees; otherwise what could have been found.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		winner string
		says   []string
	}{
		{
			marks(20, "1", 80, "1"), marks(20, "0", 80, "1"), "a",
			[]string{"a is better than b: accuracy +0.200 [+0.13", "n = 100", "p < 0.001"},
		},
		{
			marks(20, "0", 80, "1"), marks(20, "1", 80, "1"), "b",
			[]string{"b is better than a: accuracy +0.200 [+0.13"},
		},
		{
			marks(12, "1", 5, "0", 83, "1"), marks(12, "0", 5, "1", 83, "1"), "",
			[]string{"not decided between a and b: accuracy +0.070 [-0.014, +0.159]", "p = 0.098", "finds differences from 0.1"},
		},
		{marks(5, "1", 95, "1"), marks(5, "0", 95, "1"), "a", []string{"a is better than b: accuracy +0.050 [+0.010, +0.113]", "p = 0.026"}},
		{marks(3, "1", 97, "1"), marks(3, "0", 97, "1"), "", []string{"not decided", "+0.030 [-0.0", "finds differences from 0.0"}},
		{marks(30, "1"), marks(30, "1"), "", []string{"not decided", "+0.000 [-0.114, +0.114]", "p = 1.000", "finds differences from"}},
		{marks(4, "1"), marks(4, "0"), "", []string{"not decided", "4 independent samples cannot decide"}},
		{marks(3, "1", 3, " "), marks(3, " ", 3, "1"), "", []string{"not decided", "no common sample on which accuracy is defined"}},
	} {
		got := compared(t, Options{}, []string{"a", "b"}, map[string]string{"a": c.a, "b": c.b})
		p := got.Pairs[0]
		if p.Winner != c.winner || got.Verdict != p.Verdict {
			t.Errorf("%s against %s: winner %q (%s), want %q", c.a, c.b, p.Winner, got.Verdict, c.winner)
		}
		for _, text := range c.says {
			if !strings.Contains(p.Verdict, text) {
				t.Errorf("verdict %q does not say %q", p.Verdict, text)
			}
		}
		if d := p.Metrics[score.Accuracy]; d.Detectable.Defined() && d.Winner != "" {
			t.Errorf("a decided pair has a detectable difference: %+v", d)
		}
	}
}

// TestGradedValuesThatDoNotVary are decided once there are enough of them, and
// values that may be anything never.
func TestGradedValuesThatDoNotVary(t *testing.T) {
	a, b := slices.Repeat([]float64{0.75}, 40), slices.Repeat([]float64{0.5}, 40)
	if d, _ := Paired("f1", a, b, nil, Options{}); d.Winner != "A" || d.Correlation.Defined() || d.Difference.High > 1 {
		t.Errorf("%+v", d)
	}
	if d, _ := Paired("f1", a[:8], b[:8], nil, Options{}); d.Winner != "" || !d.Difference.HasInterval() {
		t.Errorf("eight samples decide: %+v", d)
	}
	if d, _ := Paired("f1", a, a, nil, Options{}); d.Winner != "" || d.P != 1 {
		t.Errorf("%+v", d)
	}
	for i := range a {
		a[i] = 3 + float64(i%2)
	}
	d, _ := Paired("reward", a, b, nil, Options{})
	if d.Winner != "" || d.P.Defined() || !d.Difference.HasInterval() || !strings.Contains(d.Verdict(), "no test, because reward is not within 0 and 1") {
		t.Errorf("%+v: %s", d, d.Verdict())
	}
}

// TestClustersThatDoNotVary: right on everything against wrong on everything is
// decided, by the clusters alone, and equal on everything is not.
func TestClustersThatDoNotVary(t *testing.T) {
	clusters := make([]string, 60)
	for i := range clusters {
		clusters[i] = fmt.Sprint(i / 3)
	}
	ones, zeros := slices.Repeat([]float64{1}, 60), make([]float64, 60)
	for _, c := range []struct {
		a, b   []float64
		winner string
	}{{ones, zeros, "A"}, {zeros, ones, "B"}, {ones, ones, ""}} {
		d, err := Paired("x", c.a, c.b, clusters, Options{})
		if err != nil || d.Winner != c.winner || !d.Difference.HasInterval() || d.Difference.N != 60 {
			t.Errorf("%+v, %v", d, err)
		}
	}
	three := []string{"x", "x", "x", "x", "y", "z"}
	if d, _ := Paired("x", ones[:6], zeros[:6], three, Options{}); d.Winner != "" {
		t.Errorf("three clusters decide: %+v", d)
	}
}

// TestFailuresNameNoWinner: a method whose process dies on what it cannot do is
// measured on the rest, and must not win by that.
func TestFailuresNameNoWinner(t *testing.T) {
	c := compared(t, Options{}, []string{"quitter", "honest"}, map[string]string{
		"quitter": marks(40, "x", 60, "1"), "honest": marks(40, "1", 20, "0", 40, "1"),
	})
	p := c.Pairs[0]
	if p.Winner != "" || !strings.Contains(p.Verdict, "not decided") || !strings.Contains(p.Verdict, "9 of them against it would undo that") {
		t.Errorf("winner %q: %s", p.Winner, p.Verdict)
	}
	// A few failures that change nothing hide no winner.
	c = compared(t, Options{}, []string{"a", "b"}, map[string]string{"a": marks(2, "x", 58, "1"), "b": marks(30, "0", 30, "1")})
	if c.Pairs[0].Winner != "a" {
		t.Errorf("%s", c.Pairs[0].Verdict)
	}
}

func TestCorrectedOverTheFamily(t *testing.T) {
	samples := map[string]string{
		"base": marks(8, "0", 92, "1"), "good": marks(100, "1"), // p = 0.0078
		"same": marks(8, "0", 92, "1"), "bad": marks(11, "0", 89, "1"), // p = 0.25
	}
	labels := []string{"base", "good", "same", "bad"}
	all := compared(t, Options{}, labels, samples)
	if len(all.Pairs) != 6 || all.Pairs[0].Metrics["accuracy"].Family != 6 {
		t.Fatalf("%d pairs in a family of %d", len(all.Pairs), all.Pairs[0].Metrics["accuracy"].Family)
	}
	if all.Pairs[0].Winner != "good" || !strings.Contains(all.Verdict, "good is the best on accuracy") {
		t.Errorf("%q; %q", all.Pairs[0].Verdict, all.Verdict)
	}
	// Against seven more pairs the same evidence would not do.
	against := compared(t, Options{Baseline: "base", Declared: "base"}, labels, samples)
	if len(against.Pairs) != 3 {
		t.Fatalf("%d pairs with a baseline", len(against.Pairs))
	}
	for _, p := range against.Pairs {
		if p.B != "base" || p.Metrics["accuracy"].Family != 3 {
			t.Errorf("pair %s, %s in a family of %d", p.A, p.B, p.Metrics["accuracy"].Family)
		}
	}
	if want := "against base on accuracy: better: good; nothing is proven of: same, bad"; against.Verdict != want {
		t.Errorf("verdict %q, want %q", against.Verdict, want)
	}
	p := float64(against.Pairs[0].Metrics["accuracy"].P)
	if got := float64(against.Pairs[0].Metrics["accuracy"].Corrected); got != 3*p {
		t.Errorf("p %v becomes %v among three", p, got)
	}
	// A baseline that is chosen when the means are seen chooses what is shown.
	for _, p := range compared(t, Options{Baseline: "base"}, labels, samples).Pairs {
		i := slices.IndexFunc(all.Pairs, func(q Pair) bool { return q.A == p.A && q.B == p.B || q.A == p.B && q.B == p.A })
		if got, want := p.Metrics["accuracy"], all.Pairs[i].Metrics["accuracy"]; got.Family != 6 || got.Corrected != want.Corrected || got.Winner != want.Winner {
			t.Errorf("chosen later: %s, among all pairs %s", got.Verdict(), want.Verdict())
		}
	}
	weaker := map[string]string{"a": marks(5, "1", 95, "1"), "b": marks(5, "0", 95, "1"), "c": marks(5, "0", 95, "1")}
	if two := compared(t, Options{}, []string{"a", "b"}, weaker); two.Pairs[0].Winner != "a" {
		t.Errorf("alone: %q", two.Verdict)
	}
	three := compared(t, Options{}, []string{"a", "b", "c"}, weaker)
	if three.Pairs[0].Winner != "" || !strings.Contains(three.Verdict, "nothing is proven on accuracy: a has the highest mean") {
		t.Errorf("among three: %q", three.Verdict)
	}
}

// TestWithoutResult: what the infrastructure failed is left out with its
// partner, and wrong in a second number; other non-answers are wrong, and left
// out in a third.
func TestWithoutResult(t *testing.T) {
	c := compared(t, Options{}, []string{"a", "b"}, map[string]string{
		"a": marks(1, "x", 1, "-", 6, "1", 2, "0"),
		"b": marks(2, "1", 4, "1", 4, "0"),
	})
	a, d := c.Methods[0], c.Pairs[0].Metrics["accuracy"]
	for _, check := range []struct {
		what      string
		got, want float64
	}{
		{"complete cases", a.Metrics["accuracy"].Value.Value, 6.0 / 9},
		{"failed as wrong", a.Metrics["accuracy"].FailedAsWrong.Value, 6.0 / 10},
		{"answered only", a.Metrics["accuracy"].AnsweredOnly.Value, 6.0 / 8},
		{"difference", d.Difference.Value, 6.0/9 - 5.0/9},
		{"difference, failed as wrong", d.FailedAsWrong.Value, 0}, // six of ten each
		{"difference, answered only", d.AnsweredOnly.Value, 6.0/8 - 4.0/8},
		{"mean of b on common samples", float64(d.MeanB), 5.0 / 9},
		{"use, without what was cut short", a.Usage[Calls].Value, 10},
	} {
		if !near(check.got, check.want, 1e-12) {
			t.Errorf("%s: %v, want %v", check.what, check.got, check.want)
		}
	}
	if a.Failed != 1 || a.Trials != 10 || a.Outcomes[methods.Unparsed] != 1 || d.Difference.N != 9 || len(d.Difference.Warnings) != 1 {
		t.Errorf("%+v; %+v", a, d.Difference)
	}
	if !noted(c, "a: 1 of 10 trials failed for other reasons than the method and are left out: 1 × provider: gave up after 3 attempts on \"x\"; if they were wrong: accuracy 0.60 instead of 0.67") {
		t.Errorf("notes %q", c.Notes)
	}
	if b := c.Methods[1].Metrics["accuracy"]; b.FailedAsWrong != nil || b.AnsweredOnly != nil {
		t.Errorf("a method without failures has other ways to count: %+v", b)
	}
}

func TestCauses(t *testing.T) {
	c := compared(t, Options{}, []string{"a"}, map[string]string{"a": "1x--0-x"})
	causes := c.Methods[0].Causes
	if len(causes) != 2 || causes[0].Trials != 3 || causes[0].Outcome != methods.Unparsed || causes[0].Text != "no label in reply 2" ||
		causes[0].Example != "a/s2/1" || causes[1].Trials != 2 || !causes[1].Infra || causes[0].Infra {
		t.Errorf("causes %+v", causes)
	}
	if c.Verdict != "one method: nothing to compare" || len(c.Pairs) != 0 {
		t.Errorf("one method: %q, %d pairs", c.Verdict, len(c.Pairs))
	}
}

// TestEpochsAreAveragedFirst: repeats of a sample add no samples.
func TestEpochsAreAveragedFirst(t *testing.T) {
	var trials []*record.Trial
	for i := range 10 {
		for e := range 4 {
			trials = append(trials, trial("a", fmt.Sprintf("s%d", i), e, float64((i+e)%2)), trial("b", fmt.Sprintf("s%d", i), e, float64(i%2)))
		}
	}
	c := compareTrials(t, Options{}, []string{"a", "b"}, choices(10), trials)
	d := c.Pairs[0].Metrics["accuracy"]
	if d.Difference.N != 10 || d.Difference.Value != 0 || d.Wins != 5 || d.Losses != 5 || c.Epochs != 4 || d.Test != exactName {
		t.Errorf("%+v", d)
	}
	a, b := c.Methods[0].Repeats, c.Methods[1].Repeats
	if len(a) != 4 || !near(a[1].PassAt.Value, 1-1.0/6, 1e-12) || !near(a[1].Pass.Value, 1.0/6, 1e-12) || a[1].PassAt.Name != "pass@2" {
		t.Errorf("two of four tries right on every sample: %+v", a)
	}
	if b[3].PassAt.Value != 0.5 || b[3].Pass.Value != 0.5 {
		t.Errorf("half the samples always right: %+v", b[3])
	}
	if !noted(c, "n counts samples") {
		t.Errorf("notes %q", c.Notes)
	}
}

// TestCopiesInOneClusterAddNoCertainty: four copies of each sample in one
// cluster give the p-value and the interval of the single ones.
func TestCopiesInOneClusterAddNoCertainty(t *testing.T) {
	var a, b, aa, bb []float64
	var clusters []string
	for i := range 18 {
		x, y := float64(i%5)/4, float64(i%3)/3
		a, b = append(a, x), append(b, y)
		for range 4 {
			aa, bb, clusters = append(aa, x), append(bb, y), append(clusters, fmt.Sprint(i))
		}
	}
	single, _ := Paired("x", a, b, nil, Options{})
	copies, _ := Paired("x", aa, bb, clusters, Options{})
	for _, c := range [][2]float64{
		{single.Difference.Low, copies.Difference.Low}, {single.Difference.High, copies.Difference.High},
		{float64(single.P), float64(copies.P)}, {float64(single.Detectable), float64(copies.Detectable)},
	} {
		if !near(c[0], c[1], 1e-9) {
			t.Errorf("single %+v, copies %+v", single, copies)
		}
	}
}

func TestSwappingTheMethodsMirrorsTheResult(t *testing.T) {
	samples := map[string]string{"a": marks(9, "1", 2, "0", 30, "1"), "b": marks(9, "0", 2, "1", 30, "1")}
	ab := compared(t, Options{}, []string{"a", "b"}, samples).Pairs[0].Metrics["accuracy"]
	ba := compared(t, Options{}, []string{"b", "a"}, samples).Pairs[0].Metrics["accuracy"]
	if !near(ab.Difference.Low, -ba.Difference.High, 1e-9) || ab.P != ba.P || ab.Wins != ba.Losses {
		t.Errorf("%+v and %+v", ab, ba)
	}
}

func encoded(t *testing.T, c any) string {
	t.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestJSON: what is undefined is null, and a reader gets back what was
// written.
func TestJSON(t *testing.T) {
	for _, c := range []*Comparison{
		compared(t, Options{}, []string{"a", "b"}, map[string]string{"a": "1 x", "b": " 10"}),
		compared(t, Options{Budget: record.Limits{Tokens: 99}}, []string{"a", "b"}, map[string]string{"a": "1010", "b": "0011"}),
	} {
		raw := encoded(t, c)
		if strings.Contains(raw, "NaN") {
			t.Errorf("NaN in %s", raw)
		}
		var back Comparison
		if err := json.Unmarshal([]byte(raw), &back); err != nil {
			t.Fatal(err)
		}
		if again := encoded(t, &back); again != raw {
			t.Errorf("written %s\nread    %s", raw, again)
		}
	}
	c := compared(t, Options{}, []string{"a", "b"}, map[string]string{"a": "1 ", "b": " 1"})
	for _, text := range []string{`"mean_a":null`, `"p":null`, `"difference":{"name":"accuracy","value":null,"low":null,"high":null,"n":0`} {
		if raw := encoded(t, c); !strings.Contains(raw, text) {
			t.Errorf("%s is not in %s", text, raw)
		}
	}
	if p := c.Pairs[0]; math.IsNaN(float64(p.Shared.Share)) == false || p.Shared.Trials != 0 {
		t.Errorf("shared %+v", p.Shared)
	}
}

func TestRefusals(t *testing.T) {
	good := func() Data {
		d, err := FromTrials([]string{"a", "b"}, choices(2), outcomes(map[string]string{"a": "10", "b": "11"}))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		says string
		make func(*Data, *Options)
	}{
		{"no methods", func(d *Data, _ *Options) { d.Methods = nil }},
		{"no trial has a score: finish the run", func(d *Data, _ *Options) { d.Metrics = nil }},
		{`labelled "a"`, func(d *Data, _ *Options) { d.Methods[1] = "a" }},
		{`two samples are called "s0"`, func(d *Data, _ *Options) { d.Samples[1].ID = "s0" }},
		{`sample "s1" has cells of 1 methods`, func(d *Data, _ *Options) { d.Samples[1].Cells = d.Samples[1].Cells[:1] }},
		{`baseline "c" is not among`, func(_ *Data, o *Options) { o.Baseline = "c" }},
		{`"first" measures bias, not quality`, func(d *Data, _ *Options) { d.Metrics = []string{score.First} }},
	} {
		d, o := good(), Options{}
		c.make(&d, &o)
		if _, err := Compare(d, o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v does not say %q", err, c.says)
		}
	}
	if _, err := Paired("x", []float64{1}, nil, nil, Options{}); err == nil {
		t.Error("values of unlike length are compared")
	}
	if _, err := Paired("x", []float64{1}, []float64{1}, []string{}, Options{}); err == nil {
		t.Error("values without clusters are compared by cluster")
	}
}

func TestNoSamples(t *testing.T) {
	c, err := Compare(Data{Methods: []string{"a", "b"}, Metrics: []string{"x"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Pairs[0].Winner != "" || c.Methods[0].Metrics["x"].Value.Defined || c.Pareto.Points[0].Standing != "" {
		t.Errorf("%+v", c)
	}
}
