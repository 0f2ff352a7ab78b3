package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"noema/kernel/base/score"
)

// pooledName is the rule of a mean over tasks.
const pooledName = allowed + ", each task a stratum"

// paired are the values of two methods on the samples of a task, the models of a sample
// averaged first: several models on one sample count as one observation. A model
// counts on a sample where both methods have a value.
func (t stratum) paired(a, b int, v view) pairing {
	v.metric = t.Metric
	at := map[string]int{}
	var ids, clusters []string
	var sumA, sumB, n []float64
	first, second := v.sides()
	largest := 0
	for _, d := range t.data {
		largest = max(largest, d.Largest)
		x, y := d.values(a, first), d.values(b, second)
		for i, s := range d.Samples {
			j, known := at[s.ID]
			if !known {
				j = len(ids)
				at[s.ID] = j
				ids, clusters = append(ids, s.ID), append(clusters, s.Cluster)
				sumA, sumB, n = append(sumA, 0), append(sumB, 0), append(n, 0)
			}
			if finite(x[i]) && finite(y[i]) {
				sumA[j], sumB[j], n[j] = sumA[j]+x[i], sumB[j]+y[i], n[j]+1
			}
		}
	}
	for j := range ids {
		sumA[j], sumB[j] = sumA[j]/n[j], sumB[j]/n[j] // 0/0 is NaN: undefined
	}
	p := pair(sumA, sumB, orAlone(clusters))
	p.largest = largest
	return p
}

// compose is the rule of a sum of strata by their weights, which may be below 0: the
// variances add up, with Satterthwaite's degrees of freedom, at least those of the smallest
// stratum. The allowance is for the unit with the largest share of all.
func compose(parts []bounded, weights []float64) bounded {
	out := bounded{df: math.Inf(1), bound: parts[0].bound}
	variance, spread := 0.0, 0.0
	for i, p := range parts {
		v := weights[i] * p.se * weights[i] * p.se
		out.mean += weights[i] * p.mean
		variance += v
		spread += v * v / p.df
		out.weight = max(out.weight, math.Abs(weights[i])*p.weight)
		out.df = min(out.df, p.df)
	}
	out.se = math.Sqrt(variance)
	if spread > 0 {
		out.df = max(out.df, variance*variance/spread)
	}
	return out
}

// pooledRule is the rule of the mean over strata; that of a single comparison for one, and
// nil where a stratum has fewer than two units.
func pooledRule(parts []pairing, weights []float64, o plan) rule {
	if slices.ContainsFunc(parts, func(p pairing) bool { return p.units < 2 }) {
		return nil
	}
	if len(parts) == 1 {
		return parts[0].rule(o.Test, o.edges)
	}
	bounds := make([]bounded, len(parts))
	within := true
	for i, p := range parts {
		bounds[i], within = p.bounded(), within && p.within()
	}
	e := compose(bounds, weights)
	if !within {
		return unbounded{e.mean, e.se, e.df}
	}
	return e
}

// difference compares the methods of a pair over strata, in all three ways to count.
func (s *study) difference(strata []stratum, p Pair, o plan) Difference {
	a, b := s.index(p)
	v := view{envelope: s.envelope}
	out := s.differ(strata, a, b, v, o)
	failed, unanswered := 0, 0
	for _, t := range strata {
		for _, d := range t.data {
			failed += d.infra(a) + d.infra(b)
			unanswered += d.unanswered(a) + d.unanswered(b)
		}
	}
	at := func(t treatment) *score.Metric {
		v.treatment = t
		m := s.differ(strata, a, b, v, o).Difference
		return &m
	}
	if failed > 0 {
		out.FailedAsWrong = at(failedAsWrong)
	}
	if unanswered > 0 {
		out.AnsweredOnly = at(answeredOnly)
	}
	v.treatment = completeCase
	out.weigh(lost(strata, a, v), lost(strata, b, v), at)
	return out
}

// lost counts the trials of a method without a value that counts, over strata.
func lost(strata []stratum, m int, v view) (n int) {
	for _, t := range strata {
		v.metric = t.Metric
		for _, d := range t.data {
			n += d.lost(m, v)
		}
	}
	return n
}

// differ compares two methods over strata as v looks at them.
func (s *study) differ(strata []stratum, a, b int, v view, o plan) Difference {
	parts, weights := make([]pairing, len(strata)), make([]float64, len(strata))
	for i, t := range strata {
		parts[i], weights[i] = t.paired(a, b, v), t.Weight
	}
	if len(strata) == 1 {
		weights[0] = 1
		if strata[0].Metric != score.Graded {
			return differ(strata[0].Metric, s.methods[a], s.methods[b], parts[0], o, Stop{})
		}
	}
	d := newDifference(metricName(strata), s.methods[a], s.methods[b])
	d.Difference = d.over(parts, weights)
	r := pooledRule(parts, weights, o)
	if r == nil || !d.Difference.Defined || slices.ContainsFunc(strata, func(t stratum) bool { return t.Metric == score.Graded }) {
		warn(&d.Difference, "no interval: %s", blocking(strata, parts))
		return d
	}
	d.Difference.Low, d.Difference.High = r.interval(o.simultaneous())
	if _, test := r.names(); test == "" {
		d.Interval = "Student's t, each task a stratum"
		warn(&d.Difference, "a measure is not within 0 and 1, so no test bounds it and no winner is named: scale it to that range")
		return d
	}
	d.Interval, d.Test, d.P, d.rule = pooledName, pooledName, Number(r.pValue()), r
	return d
}

// blocking says which tasks have no interval, and why.
func blocking(strata []stratum, parts []pairing) string {
	var why []string
	for i, t := range strata {
		switch {
		case t.Metric == score.Graded:
			why = append(why, "a model grades "+t.Task)
		case parts[i].units < 2:
			why = append(why, fmt.Sprintf("both methods have a score on %d independent samples of %s, and it takes 2", parts[i].units, t.Task))
		}
	}
	return strings.Join(why, "; ")
}

// over is the mean difference over strata, with what is counted beside it. It is undefined
// where a task has no sample that both methods have.
func (d *Difference) over(parts []pairing, weights []float64) score.Metric {
	m := score.Metric{Name: d.Metric, Defined: true, Low: math.NaN(), High: math.NaN()}
	meanA, meanB, left := 0.0, 0.0, 0
	for i, p := range parts {
		if len(p.d) == 0 {
			m.Defined, m.Value = false, math.NaN()
			continue
		}
		wins, losses, ties := p.sides()
		d.Units, d.Wins, d.Losses, d.Ties = d.Units+p.units, d.Wins+wins, d.Losses+losses, d.Ties+ties
		m.N, left = m.N+len(p.d), left+p.left
		m.Value += weights[i] * stat.Mean(p.d, nil)
		meanA += weights[i] * stat.Mean(p.a, nil)
		meanB += weights[i] * stat.Mean(p.b, nil)
	}
	if m.Defined {
		d.MeanA, d.MeanB = Number(meanA), Number(meanB)
	}
	if left > 0 {
		warn(&m, "one of the two methods has no value on %d of %d samples, which are left out", left, left+m.N)
	}
	return m
}

// mean is how good a method is over strata.
func (s *study) mean(strata []stratum, m int) score.Metric {
	v := view{envelope: s.envelope}
	if len(strata) == 1 && len(strata[0].data) == 1 {
		v.metric = strata[0].Metric
		return strata[0].data[0].metric(m, v, s.over(0))
	}
	return s.stratified(strata, m, v, s.methods[m], s.Level)
}

// pooled is a method's mean over the samples of all tasks.
func (s *study) pooled(m int) Number {
	sum, n := 0.0, 0
	for _, t := range s.strata {
		for _, x := range t.paired(m, m, view{envelope: s.envelope}).a {
			sum, n = sum+x, n+1
		}
	}
	return Number(sum / float64(n))
}
