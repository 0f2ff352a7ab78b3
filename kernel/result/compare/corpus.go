package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"noema/kernel/base/score"
	"noema/methods"
)

// isCorpus reports whether a metric is one of all samples together.
func isCorpus(metric string) bool { return slices.Contains(score.OfCorpus(), metric) }

// predictions are method m's answers as v looks at them, by sample and epoch.
func (d Data) predictions(m int, v view) [][]score.Prediction {
	samples := make([][]score.Prediction, len(d.Samples))
	for i, s := range d.Samples {
		if worth, fills := v.fill(); fills {
			for range s.lost(m, v) {
				samples[i] = append(samples[i], s.named(worth == 1, v.level))
			}
		}
		for _, c := range s.Cells[m] {
			counted, wrong := v.counted(c)
			if !counted {
				continue
			}
			p := c.Prediction
			if wrong {
				p.Answer = methods.Answer{Outcome: methods.Failed}
			}
			samples[i] = append(samples[i], p)
		}
	}
	return samples
}

// corpus is method m on the measures that only a set of verdicts has; nil where
// answers are not verdicts, or targets are in a form of the task's own.
func (d Data) corpus(m int, v view, o plan) []score.Metric {
	metrics, err := score.Corpus(d.predictions(m, v), d.clusters(), score.Options{Level: o.Level, Bare: v.bare})
	if err != nil {
		return nil
	}
	for i := range metrics {
		if o.sequel != nil {
			fixedOnly(&metrics[i])
		}
	}
	return metrics
}

// fixedOnly takes the interval of a measure that only a fixed number of samples can
// have.
func fixedOnly(m *score.Metric) {
	m.Low, m.High = math.NaN(), math.NaN()
	warn(m, "no interval of %s holds for a run that may stop early", m.Name)
}

// contrasts compares methods a and b on those measures, by the rule of bounded means with
// the standard error of a bootstrap that resamples both together. Its random numbers meet
// samples in the order of their ids.
func (d Data) contrasts(a, b int, v view, o plan) map[string]Difference {
	found, err := score.CorpusContrasts(d.predictions(a, v), d.predictions(b, v), d.clusters())
	if err != nil {
		return nil
	}
	all := map[string]Difference{}
	for _, c := range found {
		all[c.Name] = contrast(c, d.Methods[a], d.Methods[b], o)
	}
	return all
}

// contrast is the difference of methods a and b on one of those measures. Where trials that
// they lost are to count against one of them, all of its own name one level, or another where
// that is right: the level that is worst for it.
func (d Data) contrast(a, b int, v view, o plan) score.Metric {
	if v.treatment != againstA && v.treatment != againstB {
		return d.contrasts(a, b, v, o)[v.metric].Difference
	}
	var worst score.Metric
	for i := range max(1, d.levels()) {
		v.level = i
		m := d.contrasts(a, b, v, o)[v.metric].Difference
		if i == 0 || v.treatment == againstA && !(m.Low >= worst.Low) || v.treatment == againstB && !(m.High <= worst.High) {
			worst = m
		}
	}
	return worst
}

// levels is how many levels a verdict may name.
func (d Data) levels() (n int) {
	for _, s := range d.Samples {
		for _, c := range slices.Concat(s.Cells...) {
			n = max(n, len(c.Prediction.Spec.Labels))
		}
	}
	return n
}

// named is a verdict in place of one that was lost: the right one, or a wrong level.
func (s Sample) named(right bool, level int) score.Prediction {
	all := slices.Concat(s.Cells...)
	p := all[0].Prediction
	if p.Answer = (methods.Answer{Outcome: methods.Answered, Value: p.Target}); right {
		return p
	}
	for i := range p.Spec.Labels {
		value, err := json.Marshal(map[string]string{methods.Verdict: p.Spec.Labels[(level+i)%len(p.Spec.Labels)]})
		if err == nil && !bytes.Equal(value, p.Target) {
			p.Answer.Value = value
			return p
		}
	}
	p.Answer = methods.Answer{Outcome: methods.Failed}
	return p
}

func contrast(c score.Contrast, a, b string, o plan) Difference {
	d := newDifference(c.Name, a, b)
	m := &d.Difference
	d.Units, m.N, m.Value = c.Units, c.N, c.A-c.B
	if m.Defined = finite(m.Value); !m.Defined {
		return d
	}
	d.MeanA, d.MeanB = Number(c.A), Number(c.B)
	if o.sequel != nil {
		fixedOnly(m)
		return d
	}
	if c.Units < 2 || !(c.SE > 0) {
		warn(m, "the resamples do not differ: no interval")
		return d
	}
	rule := bounded{mean: m.Value, se: c.SE, df: c.DF, weight: c.Weight, bound: 1}
	m.Low, m.High = rule.interval(o.simultaneous())
	d.Interval = fmt.Sprintf("bootstrap of %d units, %s", c.Units, allowed)
	d.P, d.Test, d.rule = Number(rule.pValue()), d.Interval, rule
	return d
}
