package score

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"noema/methods"
)

// The measures that only a whole set of verdicts has.
const (
	MacroF1       = "macro_f1"       // mean over the levels of the F1 of each
	AUPRC         = "auprc"          // ordinal: mean over the thresholds between levels
	AdjustedAUPRC = "adjusted_auprc" // auprc times primitive accuracy
)

// Prediction is one trial's answer beside its target, for the measures that
// are not means over trials.
type Prediction struct {
	Spec   methods.AnswerSpec
	Answer methods.Answer
	Target json.RawMessage
}

// outcome is a prediction in numbers: levels count from 0, and -1 is a
// prediction that names none.
type outcome struct {
	gold, predicted int
	primitives      float64
	hasPrimitives   bool
}

// noLevel is the prediction of an answer without a verdict.
const noLevel = -1

// resamples is how many bootstrap samples an interval of Corpus rests on.
const resamples = 1000

// OfCorpus lists the measures of [Corpus] in display order.
func OfCorpus() []string { return []string{MacroF1, AUPRC, AdjustedAUPRC} }

// Corpus computes macro-F1, ordinal AUPRC and adjusted AUPRC over samples,
// each with its epochs' predictions. The measures of the epochs are averaged;
// a sample that misses some epochs stands in with those it has, so that every
// sample weighs the same. clusters names each sample's cluster; nil if all
// stand alone. Without verdicts there are no measures, and the result is nil.
//
// The standard error is that of a bootstrap over samples, or whole clusters (Efron
// and Tibshirani 1993, §6), whose random numbers are always the same; the interval is
// [Proportion]'s. Percentiles of the same bootstrap were seen to cover 71 % with
// clusters taken for single samples, and 87 % of few samples.
//
// Levels are compared by their place in Spec.Labels, so that problems with
// other names for their levels can be in one corpus. An answer that is not a
// result, or whose verdict is not a level, is a prediction of no level: it counts
// against the recall of its gold level, and ranks below the mildest level.
func Corpus(samples [][]Prediction, clusters []string, o Options) ([]Metric, error) {
	one, err := newCorpus(clusters, samples)
	if err != nil || one == nil {
		return nil, err
	}
	var metrics []Metric
	point, spread := one.measure(one.samples()), [3][3]float64{}
	if !o.Bare {
		spread = one.bootstrap()
	}
	for i, name := range OfCorpus() {
		m := newMetric(name, nil)
		m.N, m.Value, m.Defined = len(one.unit), point[0][i], finite(point[0][i])
		switch se := spread[0][i]; {
		case !m.Defined:
			m.Warnings = nil
			m.warn("undefined: no sample is above the mildest level")
		case o.Bare:
		case one.units < 2:
			m.warn("one independent sample: no interval")
		case !finite(se) || se == 0: // it would claim a certainty that nobody has
			m.warn("all resamples are equal: no interval")
		default:
			q := student(one.df).Quantile((1 + o.level()) / 2)
			m.Low, m.High = Proportion(m.Value, max(1, m.Value*(1-m.Value)/(se*se)), q)
		}
		metrics = append(metrics, m)
	}
	return metrics, nil
}

// Contrast is how two methods differ on a measure of [Corpus].
type Contrast struct {
	Name   string
	A, B   float64 // NaN where undefined
	SE     float64 // of A minus B; NaN or 0 where the bootstrap does not tell
	DF     float64 // degrees of freedom of SE
	Weight float64 // the largest share of an independent unit in the measure
	N      int     // samples
	Units  int     // independent ones: clusters, or samples
}

// CorpusContrasts compares two methods on the same samples. The standard error is that of
// a bootstrap that resamples both together. Samples and clusters are as for [Corpus]; nil
// without verdicts.
func CorpusContrasts(a, b [][]Prediction, clusters []string) ([]Contrast, error) {
	both, err := newCorpus(clusters, a, b)
	if err != nil || both == nil {
		return nil, err
	}
	var contrasts []Contrast
	point, spread, weights := both.measure(both.samples()), both.bootstrap(), both.weights()
	for i, name := range OfCorpus() {
		contrasts = append(contrasts, Contrast{
			Name: name, A: point[0][i], B: point[1][i], SE: spread[2][i], DF: both.df, Weight: weights[i], N: len(both.unit), Units: both.units,
		})
	}
	return contrasts, nil
}

// weights are the largest shares of a unit in each of [OfCorpus]: a sample has the share of
// its level divided by the samples of that level, in the mean over the levels or, of
// AUPRC, over the thresholds that its level reaches. A rare level makes it large.
func (c *corpus) weights() (largest [3]float64) {
	gold := func(i int) int { return c.of[0][i][0].gold }
	at, above := make([]float64, c.levels), make([]float64, c.levels) // samples at a level, and from it on
	for i := range c.unit {
		at[gold(i)]++
		for level := range gold(i) + 1 {
			above[level]++
		}
	}
	var levels, thresholds float64
	for level := range c.levels {
		levels += oneIf(at[level] > 0)
		thresholds += oneIf(level > 0 && above[level] > 0)
	}
	shares := make([][3]float64, c.units)
	for i, u := range c.unit {
		shares[u][0] += 1 / levels / at[gold(i)]
		ranked := 1 / float64(len(c.unit))
		for level := 1; level <= gold(i); level++ {
			ranked += 1 / thresholds / above[level]
		}
		shares[u][1] += ranked
		shares[u][2] += ranked
	}
	for _, share := range shares {
		for i := range largest {
			largest[i] = max(largest[i], share[i])
		}
	}
	return largest
}

// corpus holds the outcomes of one or two methods on the same samples.
type corpus struct {
	of     [][][]outcome // by method, sample and epoch
	epochs int
	levels int   // of the scale
	unit   []int // of each sample
	units  int
	alike  float64 // how many units of one size would be as sure
	df     float64 // degrees of freedom of a standard error, as [CR2] has them
}

// newCorpus is nil where there is nothing to measure. Samples without epochs are left
// out of all methods.
func newCorpus(clusters []string, of ...[][]Prediction) (*corpus, error) {
	c := corpus{of: make([][][]outcome, len(of))}
	var names []string
	for i := range of[0] {
		if slices.ContainsFunc(of, func(samples [][]Prediction) bool { return len(samples[i]) == 0 }) {
			continue
		}
		for m, samples := range of {
			outs, err := outcomesOf(samples[i])
			if err != nil || outs == nil {
				return nil, err
			}
			c.epochs = max(c.epochs, len(outs))
			for _, o := range outs {
				c.levels = max(c.levels, o.gold+1, o.predicted+1)
			}
			c.of[m] = append(c.of[m], outs)
		}
		name := ""
		if clusters != nil {
			name = clusters[i]
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, nil
	}
	c.unit, c.units = Units(names)
	if c.units > 1 {
		none := make([]float64, len(names))
		_, squares := inner(none, c.unit, c.units)
		c.alike = float64(len(names)) * float64(len(names)) / squares
		_, c.df = CR2(none, c.unit, c.units)
	}
	return &c, nil
}

// outcomesOf is nil for answers that are not verdicts.
func outcomesOf(epochs []Prediction) ([]outcome, error) {
	var outs []outcome
	for _, p := range epochs {
		if p.Spec.Kind != methods.Fields || len(p.Spec.Labels) == 0 {
			return nil, nil
		}
		out, err := outcomeOf(p)
		if err != nil {
			return nil, err
		}
		outs = append(outs, out)
	}
	return outs, nil
}

// measure is what each method has of [OfCorpus] on the samples with those
// numbers: the mean over the epochs in which it is defined, NaN if
// there is none. A sample with fewer epochs repeats them.
func (c *corpus) measure(chosen []int) [][3]float64 {
	all := make([][3]float64, len(c.of))
	for m, samples := range c.of {
		var counts [3]float64
		for e := range c.epochs {
			t := newConfusion(c.levels)
			for _, i := range chosen {
				t.add(samples[i][e%len(samples[i])], 1)
			}
			for i, v := range t.measures() {
				if finite(v) {
					all[m][i] += v
					counts[i]++
				}
			}
		}
		for i := range counts {
			all[m][i] /= counts[i] // 0/0 is NaN: undefined
		}
	}
	return all
}

// samples numbers them all.
func (c *corpus) samples() []int {
	all := make([]int, len(c.unit))
	for i := range all {
		all[i] = i
	}
	return all
}

// bootstrap is the standard error of each method's measures and, of two, that of
// their differences as a third. Where a twentieth of the resamples has no
// value there is none.
func (c *corpus) bootstrap() (se [3][3]float64) {
	random := rand.New(rand.NewPCG(0, 0x636f72707573))
	members := make([][]int, c.units)
	for i, u := range c.unit {
		members[u] = append(members[u], i)
	}
	var spread [3][3][]float64
	var again []int
	for range resamples {
		again = again[:0]
		for range members {
			again = append(again, members[random.IntN(len(members))]...)
		}
		values := c.measure(again)
		if len(values) == 2 {
			values = append(values, [3]float64{})
			for i := range values[2] {
				values[2][i] = values[0][i] - values[1][i]
			}
		}
		for m := range values {
			for i, v := range values[m] {
				if finite(v) {
					spread[m][i] = append(spread[m][i], v)
				}
			}
		}
	}
	// A bootstrap's spread is too small for few units: by n-1 to n for a mean, and by
	// more for other measures (the audit has them).
	small := math.Sqrt((c.alike + 3) / max(1, c.alike-1))
	for m := range se {
		for i := range se[m] {
			se[m][i] = math.NaN()
			if len(spread[m][i]) > resamples*19/20 {
				se[m][i] = small * stat.StdDev(spread[m][i], nil)
			}
		}
	}
	return se
}

func outcomeOf(p Prediction) (outcome, error) {
	g, err := newGrader(p.Spec, p.Target)
	if err != nil {
		return outcome{}, err
	}
	v := g.(verdict)
	out := outcome{gold: slices.Index(p.Spec.Labels, v.level.(string)), predicted: noLevel, hasPrimitives: len(v.primitives.want) > 0}
	if p.Answer.Outcome != methods.Answered || !hasValue(p.Answer) {
		return out, nil
	}
	values, err := v.grade(p.Answer)
	if err != nil {
		return out, err
	}
	out.primitives = values[PrimitiveAccuracy]
	got, err := p.Answer.Fields()
	if err != nil {
		return out, err
	}
	var level string
	if json.Unmarshal(got[methods.Verdict], &level) == nil {
		out.predicted = slices.Index(p.Spec.Labels, level)
	}
	return out, nil
}

// Majority returns what always naming the most frequent gold label earns, for
// choices and verdicts; other kinds have no such baseline and give nil.
func Majority(samples []Prediction) (map[string]float64, error) {
	counts := map[int]int{}
	var kind methods.AnswerKind
	for _, s := range samples {
		kind = s.Spec.Kind
		level := noLevel
		switch {
		case kind == methods.Choice:
			label, err := parseTarget[string](kind, s.Target)
			if err != nil {
				return nil, err
			}
			level = slices.Index(s.Spec.Labels, label)
		case kind == methods.Fields && len(s.Spec.Labels) > 0:
			out, err := outcomeOf(s)
			if err != nil {
				return nil, err
			}
			level = out.gold
		default:
			return nil, nil
		}
		counts[level]++
	}
	best := noLevel
	for level, n := range counts {
		if n > counts[best] || n == counts[best] && level < best {
			best = level
		}
	}
	if len(samples) == 0 {
		return nil, nil
	}
	share := float64(counts[best]) / float64(len(samples))
	if kind == methods.Choice {
		return map[string]float64{Accuracy: share}, nil
	}
	t := newConfusion(slices.Max(slices.Collect(maps.Keys(counts))) + 1)
	for level, n := range counts {
		t.add(outcome{gold: level, predicted: best}, float64(n))
	}
	baseline := map[string]float64{VerdictAccuracy: share, MacroF1: t.macroF1()}
	if ap := t.ordinalAUPRC(); finite(ap) {
		baseline[AUPRC] = ap
	}
	return baseline, nil
}
