package score

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"

	"noema/methods"
)

// The measures that only a whole set of verdicts has.
const (
	MacroF1       = "macro_f1"       // mean over the levels of the F1 of each
	AUPRC         = "auprc"          // ordinal: mean over the thresholds between levels
	AdjustedAUPRC = "adjusted_auprc" // auprc times primitive accuracy
)

// Prediction is one trial's answer beside its target, for the measures that
// are no mean over trials.
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

// Corpus computes macro-F1, ordinal AUPRC and adjusted AUPRC over samples,
// each with its epochs' predictions. The measures of the epochs are averaged.
// Intervals are percentiles of a bootstrap over samples (Efron and Tibshirani
// 1993, §13.3) whose random numbers come from seed. Without verdicts there
// are no measures, and the result is nil.
//
// Levels are compared by their place in Spec.Labels, so that problems with
// other names for their levels can be in one corpus. An answer that is no
// result, or whose verdict is no level, is a prediction of no level: it counts
// against the recall of its gold level, and ranks below the mildest level.
func Corpus(samples [][]Prediction, seed uint64, o Options) ([]Metric, error) {
	var all [][]outcome
	for _, epochs := range samples {
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
		if len(outs) > 0 {
			all = append(all, outs)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	point := measure(all)
	spread := bootstrap(all, seed)
	var metrics []Metric
	for i, name := range []string{MacroF1, AUPRC, AdjustedAUPRC} {
		m := newMetric(name, nil)
		m.N = len(all)
		m.Value, m.Defined = point[i], finite(point[i])
		if !m.Defined {
			m.Warnings = nil
			m.warn("undefined: no sample is above the mildest level")
		} else {
			m.Low, m.High = percentiles(spread[i], o.level())
			if m.Low == m.High { // it would claim a certainty that nobody has
				m.Low, m.High = math.NaN(), math.NaN()
				m.warn("all resamples are equal: no interval")
			}
		}
		metrics = append(metrics, m)
	}
	return metrics, nil
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

// measure returns macro-F1, AUPRC and adjusted AUPRC, each the mean over the
// epochs in which it is defined, NaN if there is none.
func measure(samples [][]outcome) [3]float64 {
	epochs := 0
	for _, s := range samples {
		epochs = max(epochs, len(s))
	}
	var sums, counts [3]float64
	for e := range epochs {
		var outs []outcome
		for _, s := range samples {
			if e < len(s) {
				outs = append(outs, s[e])
			}
		}
		auprc := ordinalAUPRC(outs)
		for i, v := range [3]float64{macroF1(outs), auprc, auprc * meanPrimitives(outs)} {
			if finite(v) {
				sums[i] += v
				counts[i]++
			}
		}
	}
	for i := range sums {
		sums[i] /= counts[i] // 0/0 is NaN: undefined
	}
	return sums
}

// meanPrimitives is 1 where there are no primitives to be right about.
func meanPrimitives(outs []outcome) float64 {
	sum, n := 0.0, 0
	for _, o := range outs {
		if o.hasPrimitives {
			sum += o.primitives
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return sum / float64(n)
}

// macroF1 averages the F1 over the levels that occur in the gold or in the
// predictions, as scikit-learn does.
func macroF1(outs []outcome) float64 {
	levels := 0
	for _, o := range outs {
		levels = max(levels, o.gold+1, o.predicted+1)
	}
	sum, n := 0.0, 0
	for level := range levels {
		right, predicted, gold := 0, 0, 0
		for _, o := range outs {
			if o.gold == level {
				gold++
			}
			if o.predicted == level {
				predicted++
				if o.gold == level {
					right++
				}
			}
		}
		if gold+predicted > 0 {
			sum += 2 * float64(right) / float64(gold+predicted)
			n++
		}
	}
	return sum / float64(n)
}

// ordinalAUPRC is the mean, over the thresholds between levels, of the average
// precision in finding the samples at or above the threshold by their
// predicted level. Thresholds that no gold level reaches are left out.
func ordinalAUPRC(outs []outcome) float64 {
	top := 0
	for _, o := range outs {
		top = max(top, o.gold)
	}
	sum, n := 0.0, 0
	for threshold := 1; threshold <= top; threshold++ {
		if ap := averagePrecision(outs, threshold); finite(ap) {
			sum += ap
			n++
		}
	}
	return sum / float64(n)
}

// averagePrecision is the step-wise area under the precision-recall curve,
// with equal scores taken together: the sum of P_k (R_k - R_{k-1}) over the
// distinct predicted levels, highest first, as in scikit-learn.
func averagePrecision(outs []outcome, threshold int) float64 {
	positives, highest := 0, noLevel
	for _, o := range outs {
		if o.gold >= threshold {
			positives++
		}
		highest = max(highest, o.predicted)
	}
	area, found, taken := 0.0, 0, 0
	for level := highest; level >= noLevel; level-- {
		before := found
		for _, o := range outs {
			if o.predicted == level {
				taken++
				if o.gold >= threshold {
					found++
				}
			}
		}
		if taken > 0 {
			area += float64(found) / float64(taken) * float64(found-before) / float64(positives)
		}
	}
	return area
}

// bootstrap resamples samples, each with its epochs, and measures again.
func bootstrap(samples [][]outcome, seed uint64) [3][]float64 {
	random := rand.New(rand.NewPCG(seed, 0x636f72707573))
	var spread [3][]float64
	again := make([][]outcome, len(samples))
	for range resamples {
		for i := range again {
			again[i] = samples[random.IntN(len(samples))]
		}
		for i, v := range measure(again) {
			if finite(v) {
				spread[i] = append(spread[i], v)
			}
		}
	}
	return spread
}

// percentiles returns the interval that holds the central share of values.
func percentiles(values []float64, level float64) (low, high float64) {
	if len(values) < resamples/2 {
		return math.NaN(), math.NaN()
	}
	slices.Sort(values)
	at := func(p float64) float64 { return values[min(len(values)-1, int(p*float64(len(values))))] }
	return at((1 - level) / 2), at((1 + level) / 2)
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
	outs := make([]outcome, 0, len(samples))
	for level, n := range counts {
		outs = append(outs, slices.Repeat([]outcome{{gold: level, predicted: best}}, n)...)
	}
	baseline := map[string]float64{VerdictAccuracy: share, MacroF1: macroF1(outs)}
	if ap := ordinalAUPRC(outs); finite(ap) {
		baseline[AUPRC] = ap
	}
	return baseline, nil
}
