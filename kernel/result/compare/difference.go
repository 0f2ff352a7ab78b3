package compare

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"noema/kernel/base/score"
)

// Difference is how much better one method is than another on one metric.
type Difference struct {
	Metric string `json:"metric"`
	A      string `json:"a"`
	B      string `json:"b"`
	// MeanA and MeanB are over the samples that both have, so they may differ
	// from the methods' own metrics.
	MeanA      Number       `json:"mean_a"`
	MeanB      Number       `json:"mean_b"`
	Difference score.Metric `json:"difference"` // the mean of A minus B; above 0 speaks for A
	Interval   string       `json:"interval"`   // how its interval was made
	P          Number       `json:"p"`          // two-sided, of no difference
	Test       string       `json:"test"`
	Corrected  Number       `json:"p_corrected"` // for the family: times its size (Bonferroni), as the intervals
	Family     int          `json:"family"`      // how many pairs were tested on this metric

	Units       int    `json:"units"`       // independent of each other: samples, or clusters
	Wins        int    `json:"wins"`        // samples on which A is better
	Losses      int    `json:"losses"`      // samples on which B is
	Ties        int    `json:"ties"`        // samples on which they are equal
	Correlation Number `json:"correlation"` // of the two over samples; pairing gains the more the higher it is
	Skewness    Number `json:"skewness"`    // of the differences, summed by cluster: far from 0 where a few samples carry the mean

	Winner string `json:"winner,omitempty"` // empty if not decided
	// Detectable is the smallest true difference that this comparison would
	// find with a chance of [Power]; null where a winner is named, or where no
	// difference would be found.
	Detectable Number `json:"detectable"`
	// Silent says that no outcome on so few samples would have named a winner.
	Silent bool `json:"silent,omitempty"`
	// Fewest is how many independent units of one size it takes to name one; 0 unless Silent.
	Fewest int `json:"fewest,omitempty"`
	// Seen is Student's interval, on a condition; nil where a winner is named and for 0/1 values.
	Seen *Seen `json:"as_seen,omitempty"`

	// The other ways to count trials without a result; nil where they change
	// nothing. FailedAsWrong counts those that the infrastructure failed as
	// wrong. AnsweredOnly leaves all of them out, which favours a method that
	// gives up on what is hard.
	FailedAsWrong *score.Metric `json:"failed_as_wrong,omitempty"`
	AnsweredOnly  *score.Metric `json:"answered_only,omitempty"`

	// Lost says what trials without a value could change; nil where every trial has one.
	Lost *Lost `json:"lost,omitempty"`
	// Seeded are those of the two whose trials share fewer than fewArtefacts compiled artefacts:
	// another artefact may shift all samples, so that the verdict is on these.
	Seeded []string `json:"seeded,omitempty"`
	// Equivalence says what the interval of the headline shows of the margin; nil without one.
	Equivalence *Equivalence `json:"equivalence,omitempty"`
	// Stop is how far a sequential design went, on the headline; nil without one.
	Stop *Stop `json:"stop,omitempty"`
	// Calibration is set where models graded.
	Calibration *Calibration `json:"calibration,omitempty"`

	rule finder // until decided; nil for none
}

// Paired compares two methods' values, one per sample in the same order; NaN
// is undefined, and its sample left out. clusters names each sample's cluster,
// nil if all stand alone. The three must have one length. The result is a
// family of its own.
//
// The test is [SuissaShuster]'s and the interval [Tango]'s for 0/1 values of samples that
// stand alone. For other values within 0 and 1 both are Gaffke's exact bound, or by exchange
// of the methods' names where o says so. Values outside of that range have no test.
func Paired(metric string, a, b []float64, clusters []string, o Options) (Difference, error) {
	if len(a) != len(b) || clusters != nil && len(clusters) != len(a) {
		return Difference{}, fmt.Errorf("compare: %d values against %d, with %d clusters: give one each per sample", len(a), len(b), len(clusters))
	}
	p := o.plan(1)
	one := []Difference{differ(metric, "A", "B", pair(a, b, clusters), p, Stop{})}
	decide(one, p)
	return one[0], nil
}

// newDifference has nothing but names.
func newDifference(metric, a, b string) Difference {
	nan := math.NaN()
	return Difference{
		Metric: metric, A: a, B: b, MeanA: undefined, MeanB: undefined, P: undefined, Corrected: undefined,
		Detectable: undefined, Correlation: undefined, Skewness: undefined, Difference: score.Metric{Name: metric, Value: nan, Low: nan, High: nan}}
}

// differ compares without regard to the family, which [decide] adds.
func differ(metric, a, b string, p pairing, o plan, stop Stop) Difference {
	d := newDifference(metric, a, b)
	d.Correlation, d.Skewness = p.correlation(), p.skewness()
	if len(p.d) > 0 {
		d.MeanA, d.MeanB = Number(stat.Mean(p.a, nil)), Number(stat.Mean(p.b, nil))
	}
	d.Units = p.units
	d.Wins, d.Losses, d.Ties = p.sides()
	j := o.judge(p, stop)
	d.Difference, d.Interval = j.interval(metric)
	value, test := j.test()
	d.P, d.Test = Number(value), test
	if o.sequel == nil { // what it can find does not depend on the samples it took
		d.rule = j.rule
	}
	return d
}

// difference compares methods a and b on a metric, in all three ways to count.
func (d Data) difference(a, b int, metric string, o plan) Difference {
	v := view{metric: metric, envelope: envelopeOf(o.Budget)}
	var stop Stop
	if o.sequel != nil {
		if stop = o.sequel.stop(d.Methods[a], d.Methods[b]); stop.State != "" {
			d = d.until(stop, o.sequel)
		}
	}
	at := func(t treatment) *score.Metric {
		v.treatment = t
		m := d.apart(a, b, v, o, stop)
		return &m
	}
	var out Difference
	switch {
	case isCorpus(metric):
		out = d.contrasts(a, b, v, o)[metric]
	case metric == score.Graded:
		out = d.differGraded(a, b, v, o)
	default:
		out = differ(metric, d.Methods[a], d.Methods[b], d.paired(a, b, v), o, stop)
	}
	if stop.State != "" && metric == d.Metrics[0] {
		out.Stop = &stop
	}
	if d.infra(a)+d.infra(b) > 0 {
		out.FailedAsWrong = at(failedAsWrong)
	}
	if d.unanswered(a)+d.unanswered(b) > 0 {
		out.AnsweredOnly = at(answeredOnly)
	}
	v.treatment = completeCase
	if out.weigh(d.lost(a, v), d.lost(b, v), at); out.onFailures() && !isCorpus(metric) && metric != score.Graded {
		out.Lost.Undo = d.undo(a, b, v, o, stop, sideOf(out.Difference))
	}
	return out
}

// Contrasts compares the first with the second method of each of several data on
// their headline metric. All pairs are one family. They may have clusters of their
// own.
func Contrasts(pairs []Data, o Options) ([]Difference, error) {
	for _, d := range pairs {
		if err := d.check(); err != nil {
			return nil, err
		}
		if len(d.Methods) != 2 || len(d.Metrics) == 0 {
			return nil, fmt.Errorf("compare: a contrast is of two methods on a metric, not of %d on %d", len(d.Methods), len(d.Metrics))
		}
	}
	p := o.plan(len(pairs))
	all := make([]Difference, len(pairs))
	atOnce(len(pairs), func(i int) { all[i] = pairs[i].scored().difference(0, 1, pairs[i].Metrics[0], p) })
	decide(all, p)
	return all, nil
}

func (d Data) paired(a, b int, v view) pairing {
	first, second := v.sides()
	p := pair(d.values(a, first), d.values(b, second), d.clusters())
	p.largest = d.Largest
	return p
}

// apart is the difference of two methods as v looks at them, with its interval.
func (d Data) apart(a, b int, v view, o plan, stop Stop) score.Metric {
	if isCorpus(v.metric) {
		return d.contrast(a, b, v, o)
	}
	if v.metric == score.Graded {
		return d.differGraded(a, b, v, o).Difference
	}
	m, _ := o.judge(d.paired(a, b, v), stop).interval(v.metric)
	return m
}

// decide corrects the tests of the family of o, of which some may not be here, and names the winners: a difference is
// decided if its interval excludes zero and its corrected p-value is at most
// 1-level, and the interval does so in the worst case of what the two lost: see [Lost]. The correction is Bonferroni's, as of the intervals: the
// later steps of Holm's would confirm what no interval shows.
func decide(some []Difference, o plan) {
	tested, level := max(1, o.family), o.Level
	alpha := (1 - level) / float64(tested)
	for i := range some {
		d := &some[i]
		d.Corrected, d.Family = Number(min(1, float64(d.P)*float64(tested))), tested
		d.Winner = d.winner(1 - level)
		if d.rule != nil && d.Winner == "" {
			d.Detectable, d.Silent = Number(d.rule.detectable(alpha)), !d.rule.decides(alpha)
			switch e := d.rule.(type) {
			case exact:
				d.Seen, d.Fewest = e.seen(1-alpha), fewestUnits(alpha)
			case table:
				d.Fewest = fewestUnits(alpha)
			}
			if !d.Silent || d.Units >= d.Fewest {
				d.Fewest = 0
			}
		}
		d.rule = nil // no longer needed
	}
}

// winner is the method that is proven better, if any.
func (d Difference) winner(alpha float64) string {
	if !d.Difference.HasInterval() || !(float64(d.Corrected) <= alpha) {
		return ""
	}
	switch d.side() {
	case 1:
		return d.A
	case -1:
		return d.B
	}
	return ""
}

// sideOf is the side of zero on which the whole interval lies, 0 for neither.
func sideOf(m score.Metric) int {
	switch {
	case !m.HasInterval():
		return 0
	case m.Low > 0:
		return 1
	case m.High < 0:
		return -1
	}
	return 0
}
