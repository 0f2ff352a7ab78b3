package score_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"noema/kernel/base/score"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// Values of statsmodels 0.15:
//
//	statsmodels.stats.proportion.proportion_confint(k, n, alpha=1-level, method="wilson")
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n             float64
		level, low, high float64
	}{
		{0, 10, 0.95, 0, 0.27753279986288926},
		{1, 2, 0.95, 0.09453120573423068, 0.9054687942657693},
		{7, 10, 0.95, 0.39677814746114537, 0.8922087325936989},
		{10, 10, 0.95, 0.7224672001371106, 1},
		{37, 100, 0.95, 0.2818236053432453, 0.46779470419057095},
		{95, 100, 0.95, 0.8882495307680808, 0.9784563208456319},
		{37, 100, 0.99, 0.2573862900780333, 0.4987910887280806},
	} {
		low, high := score.Wilson(c.k, int(c.n), c.level)
		if !near(low, c.low) || !near(high, c.high) {
			t.Errorf("Wilson(%v, %v, %v) = %v, %v, want %v, %v", c.k, c.n, c.level, low, high, c.low, c.high)
		}
		values := make([]float64, int(c.n))
		for i := range int(c.k) {
			values[i] = 1
		}
		m := score.Mean("x", values, score.Options{Level: c.level})
		if !near(m.Low, c.low) || !near(m.High, c.high) || !near(m.Value, c.k/c.n) {
			t.Errorf("Mean of %v ones in %v = %+v", c.k, c.n, m)
		}
	}
}

// Values of scipy 1.17:
//
//	scipy.stats.t.interval(level, len(x)-1, x.mean(), scipy.stats.sem(x))
func TestStudent(t *testing.T) {
	for _, c := range []struct {
		values    []float64
		o         score.Options
		low, high float64
	}{
		{[]float64{1, 0.5, 0.25, 0, 1}, score.Options{Student: true}, -0.005289021039558639, 1.1052890210395587},
		{[]float64{1, 0.5, 0.25, 0, 1}, score.Options{Level: 0.9, Student: true}, 0.1236306427346699, 0.9763693572653299},
		{[]float64{0.2, 0.4}, score.Options{Student: true}, -0.9706204736174695, 1.5706204736174696},
		{[]float64{3, 1, 4, 1, 5, 9, 2, 6}, score.Options{}, 1.5773000431592457, 6.172699956840754},
		{[]float64{0, 1, 1, 1}, score.Options{Student: true}, -0.04561157632092694, 1.545611576320927},
	} {
		m := score.Mean("x", c.values, c.o)
		if !m.Defined || !near(m.Low, c.low) || !near(m.High, c.high) || len(m.Warnings) > 0 {
			t.Errorf("Mean(%v) = %+v, want %v, %v", c.values, m, c.low, c.high)
		}
	}
}

// Values of numpy and scipy 1.17 with the matrices of Bell and McCaffrey, as in
// kernel/result/compare.
func TestMeanClustered(t *testing.T) {
	y := []float64{1, 1, 0, 0, 1, 0, 1, 1, 0.5, 0.5}
	g := strings.Split("a a a b b c c d d d", " ")
	m := score.MeanClustered("x", y, g, score.Options{Student: true})
	if !near(m.Value, 0.6) || math.Abs(m.Low-0.44855831394404366) > 1e-9 || math.Abs(m.High-0.7514416860559563) > 1e-9 {
		t.Errorf("MeanClustered = %+v, want 0.6 within 0.44856, 0.75144", m)
	}
	if in := score.MeanClustered("x", y, g, score.Options{}); in.Low < 0.42 || in.High > 0.75 || !in.HasInterval() {
		t.Errorf("within 0 and 1: %+v", in)
	}
	if !warned(m, "only 4 clusters") {
		t.Errorf("warnings %q do not tell of few clusters", m.Warnings)
	}
}

func TestSamplesThatStandAlone(t *testing.T) {
	binary, other := []float64{0, 1, 1, 0, 1}, []float64{0.5, 1, 0, 0.2, 1}
	for _, clusters := range [][]string{{"a", "b", "c", "d", "e"}, {"", "", "", "", ""}, {"a", "", "", "b", ""}} {
		for _, values := range [][]float64{binary, other} {
			got := score.MeanClustered("x", values, clusters, score.Options{})
			want := score.Mean("x", values, score.Options{})
			if got.Low != want.Low || got.High != want.High || got.Value != want.Value {
				t.Errorf("clusters %q: %+v, want %+v", clusters, got, want)
			}
		}
	}
}

// Copies of a sample in one cluster add no certainty.
func TestCopiesAddNoCertainty(t *testing.T) {
	values, clusters := []float64{}, []string{}
	for i := range 30 {
		for range 4 {
			values = append(values, float64(i%7)/7)
			clusters = append(clusters, fmt.Sprint(i))
		}
	}
	var single []float64
	for i := range 30 {
		single = append(single, float64(i%7)/7)
	}
	got := score.MeanClustered("x", values, clusters, score.Options{})
	want := score.Mean("x", single, score.Options{})
	if !near(got.Low, want.Low) || !near(got.High, want.High) {
		t.Errorf("with copies %v..%v, without %v..%v", got.Low, got.High, want.Low, want.High)
	}
}

func warned(m score.Metric, text string) bool {
	return slices.ContainsFunc(m.Warnings, func(w string) bool { return strings.Contains(w, text) })
}

func TestUndefinedIsNeverZero(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	mean := func(v ...float64) score.Metric { return score.Mean("x", v, score.Options{}) }
	clustered := func(c []string, v ...float64) score.Metric {
		return score.MeanClustered("x", v, c, score.Options{})
	}
	for _, c := range []struct {
		name              string
		m                 score.Metric
		n                 int
		defined, interval bool
		warning           string
	}{
		{"nothing", mean(), 0, false, false, ""},
		{"only undefined", mean(nan, nan), 0, false, false, "2 of 2"},
		{"one", mean(1), 1, true, false, "one sample"},
		{"one left", mean(0.5, nan, inf), 1, true, false, "2 of 3"},
		{"no variance", mean(0.1, 0.1, 0.1), 3, true, false, "no variance"},
		{"all right", mean(1, 1, 1), 3, true, true, ""},
		{"all wrong", mean(0, 0), 2, true, true, ""},
		{"overflowing mean", mean(1e308, 1e308), 2, false, false, "too large"},
		{"overflowing spread", mean(1e308, -1e308), 2, true, false, "too far apart"},
		{"one cluster", clustered([]string{"a", "a"}, 0, 1), 2, true, false, "one cluster"},
		{"two equal clusters", clustered([]string{"a", "a", "b", "b"}, 0, 1, 1, 0), 4, true, false, "no variance"},
		{"nothing clustered", clustered(nil), 0, false, false, ""},
		{"clusters missing", clustered([]string{"a"}, 0, 1), 0, false, false, "2 values but 1 clusters"},
		{"zero value", score.Metric{Name: "x"}, 0, false, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.m.N != c.n || c.m.Defined != c.defined || c.m.HasInterval() != c.interval {
				t.Errorf("%+v: want n %d, defined %t, interval %t", c.m, c.n, c.defined, c.interval)
			}
			if c.warning == "" && len(c.m.Warnings) > 0 || !warned(c.m, c.warning) && c.warning != "" {
				t.Errorf("warnings %q, want %q", c.m.Warnings, c.warning)
			}
			checkJSON(t, c.m)
		})
	}
}

// checkJSON demands null for all that is undefined, and a round trip.
func checkJSON(t *testing.T, m score.Metric) {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var loose map[string]any
	if err := json.Unmarshal(text, &loose); err != nil {
		t.Fatal(err)
	}
	if (loose["value"] != nil) != m.Defined || (loose["low"] != nil) != m.HasInterval() {
		t.Errorf("JSON %s of %+v", text, m)
	}
	var back score.Metric
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(text) || back.HasInterval() != m.HasInterval() {
		t.Errorf("JSON %s became %s (%v)", text, again, err)
	}
}

func TestMetricRefusesBrokenJSON(t *testing.T) {
	var m score.Metric
	if err := json.Unmarshal([]byte(`{"value":"high"}`), &m); err == nil {
		t.Errorf("decoded %+v", m)
	}
}

func ExampleMean() {
	hits := []float64{1, 1, 0, 1, 0, 1, 1, 1, 0, 1}
	m := score.Mean("hits@1", hits, score.Options{})
	fmt.Printf("%s %.2f [%.2f, %.2f] n=%d\n", m.Name, m.Value, m.Low, m.High, m.N)

	m = score.Mean("mrr", nil, score.Options{})
	text, err := json.Marshal(m)
	fmt.Println(string(text), err)
	// Output:
	// hits@1 0.70 [0.40, 0.89] n=10
	// {"name":"mrr","value":null,"low":null,"high":null,"n":0} <nil>
}
