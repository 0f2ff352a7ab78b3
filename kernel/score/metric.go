package score

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Metric is a mean over samples with its confidence interval. Low and High are
// NaN where the interval is undefined; Value is NaN unless Defined.
type Metric struct {
	Name      string
	Value     float64
	Low, High float64
	N         int  // samples that the mean is over
	Defined   bool // false if there was nothing to average
	Warnings  []string
}

// HasInterval reports whether Low and High are defined.
func (m Metric) HasInterval() bool { return m.Defined && finite(m.Low) && finite(m.High) }

// Options choose how an interval is made.
type Options struct {
	Level   float64 // confidence level, above 0 and below 1; anything else means 0.95
	Student bool    // Student's interval even if all values are 0 or 1, as for differences
}

func (o Options) level() float64 {
	if o.Level > 0 && o.Level < 1 {
		return o.Level
	}
	return 0.95
}

// Mean averages one value per sample. If all values are 0 or 1 the interval is
// Wilson's, otherwise Student's. Fewer than two values leave it undefined, and
// so do equal values that are not all 0 or 1: an interval without width would
// claim a certainty that nobody has. Values that are not finite count as
// undefined: they are left out, with a warning.
func Mean(name string, values []float64, o Options) Metric {
	kept := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !finite(v) })
	m := newMetric(name, kept)
	m.warnLeftOut(len(values)-len(kept), len(values))
	switch {
	case !m.Defined:
	case m.N < 2:
		m.warn("one sample: no interval")
	case binary(kept) && !o.Student:
		m.Low, m.High = Wilson(stat.Mean(kept, nil)*float64(m.N), m.N, o.level())
	default:
		se := stat.StdErr(stat.StdDev(kept, nil), float64(m.N))
		m.student(se, m.N-1, o)
	}
	return m
}

// MeanClustered averages one value per sample where samples of one cluster are
// not independent, such as questions about one text. clusters[i] names the
// cluster of values[i]; a sample with an empty name stands alone.
//
// The variance is the cluster-robust one with the correction G/(G-1) for G
// clusters, and the interval Student's with G-1 degrees of freedom. If every
// sample stands alone the result is that of [Mean].
//
// Sources: Liang and Zeger 1986, "Longitudinal data analysis using generalized
// linear models"; Miller 2024, "Adding Error Bars to Evals". Differs from
// Miller, who uses neither the correction nor Student's distribution: both
// matter for few clusters (Cameron and Miller 2015, "A Practitioner's Guide to
// Cluster-Robust Inference").
func MeanClustered(name string, values []float64, clusters []string, o Options) Metric {
	if len(clusters) != len(values) {
		m := newMetric(name, nil)
		m.warn("%d values but %d clusters", len(values), len(clusters))
		return m
	}
	var kept []float64
	var names []string
	for i, v := range values {
		if finite(v) {
			kept, names = append(kept, v), append(names, clusters[i])
		}
	}
	groups := groupOf(names)
	count := len(slices.Compact(slices.Sorted(slices.Values(groups))))
	if count == len(kept) {
		return Mean(name, values, o)
	}
	m := newMetric(name, kept)
	m.warnLeftOut(len(values)-len(kept), len(values))
	if count < 2 {
		m.warn("one cluster: no interval")
		return m
	}
	if count < fewClusters {
		m.warn("only %d clusters: the interval tends to be too narrow", count)
	}
	m.student(clusteredSE(kept, m.Value, groups, count), count-1, o)
	return m
}

// fewClusters is the count under which cluster-robust intervals are known to
// cover less than they say; Cameron and Miller 2015 put it between 20 and 50.
const fewClusters = 20

// groupOf numbers the clusters in order of appearance, one for each empty name.
func groupOf(names []string) []int {
	number := make(map[string]int)
	groups, next := make([]int, len(names)), 0
	for i, name := range names {
		g, known := number[name]
		if !known || name == "" {
			g, next = next, next+1
			number[name] = g
		}
		groups[i] = g
	}
	return groups
}

// clusteredSE is the standard error of the mean from the residuals' sums per
// cluster. Groups are numbered from 0, so that the sum has a fixed order.
func clusteredSE(values []float64, mean float64, groups []int, count int) float64 {
	sums := make([]float64, count)
	for i, v := range values {
		sums[groups[i]] += v - mean
	}
	var squares float64
	for _, s := range sums {
		squares += s * s
	}
	g := float64(count)
	return math.Sqrt(squares*g/(g-1)) / float64(len(values))
}

// Wilson is the score interval of a proportion: successes of n trials at a
// confidence level such as 0.95. It stays within 0 and 1 and has width even
// when all trials agree. n must be at least 1.
//
// Source: Wilson 1927, "Probable inference, the law of succession, and
// statistical inference", without continuity correction.
func Wilson(successes float64, n int, level float64) (low, high float64) {
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	count := float64(n)
	p := successes / count
	z2 := z * z / count
	centre := (p + z2/2) / (1 + z2)
	half := z / (1 + z2) * math.Sqrt(p*(1-p)/count+z2/(4*count))
	low, high = max(0, centre-half), min(1, centre+half)
	if successes <= 0 {
		low = 0 // exactly, where rounding would leave 1e-17
	}
	if successes >= count {
		high = 1
	}
	return low, high
}

// newMetric holds the mean of finite values and no interval yet.
func newMetric(name string, values []float64) Metric {
	m := Metric{Name: name, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), N: len(values)}
	if len(values) == 0 {
		return m
	}
	if mean := stat.Mean(values, nil); finite(mean) {
		m.Value, m.Defined = mean, true
	} else {
		m.warn("the sum of the values is too large for a mean")
	}
	return m
}

// student sets the t interval around the mean, if the standard error allows.
func (m *Metric) student(se float64, freedom int, o Options) {
	switch {
	case !m.Defined:
	case !finite(se):
		m.warn("the values are too far apart for an interval")
	case se <= 1e-12*math.Abs(m.Value): // rounding alone
		m.warn("no variance between %d samples: no interval", m.N)
	default:
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}
		half := t.Quantile((1+o.level())/2) * se
		m.Low, m.High = m.Value-half, m.Value+half
	}
}

func (m *Metric) warn(format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
}

func (m *Metric) warnLeftOut(missing, of int) {
	if missing > 0 {
		m.warn("undefined in %d of %d samples, which are left out", missing, of)
	}
}

// metricJSON is the JSON form: what is undefined is null.
type metricJSON struct {
	Name     string   `json:"name,omitempty"`
	Value    *float64 `json:"value"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	N        int      `json:"n"`
	Warnings []string `json:"warnings,omitempty"`
}

// MarshalJSON writes {"name","value","low","high","n","warnings"}, with null
// for each undefined number.
func (m Metric) MarshalJSON() ([]byte, error) {
	j := metricJSON{Name: m.Name, N: m.N, Warnings: m.Warnings}
	if m.Defined {
		j.Value, j.Low, j.High = finitePtr(m.Value), finitePtr(m.Low), finitePtr(m.High)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Metric) UnmarshalJSON(raw []byte) error {
	var j metricJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return fmt.Errorf("decode metric: %w", err)
	}
	*m = Metric{
		Name: j.Name, Value: orNaN(j.Value), Low: orNaN(j.Low), High: orNaN(j.High),
		N: j.N, Defined: j.Value != nil, Warnings: j.Warnings,
	}
	return nil
}

func finitePtr(x float64) *float64 {
	if !finite(x) {
		return nil
	}
	return &x
}

func orNaN(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func binary(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != 0 && v != 1 })
}
