package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/methods"
)

// Data is what a comparison is made from: every method's trials on every
// sample. [FromTrials] makes it of a run's records.
type Data struct {
	Methods []string // labels, unique, in the order to show
	Metrics []string // names of the scores to compare, of which more is better; the first is the headline; none before a trial has a score
	Samples []Sample
	// Chance and Majority are what guessing and what always naming the most
	// frequent label earn, by metric. Absent where they have no meaning.
	Chance, Majority map[string]float64
	// Seeds are what the seeds of a method took to build, each by itself.
	Seeds map[string][]methods.Usage
	// Planned is how many trials a method was to have; absent for all epochs of all
	// samples.
	Planned map[string]int
	// Largest is how many samples the largest cluster of the whole task has, also of those that
	// are not among Samples; 0 where that is not known.
	Largest int
}

// Sample is one sample with the trials on it.
type Sample struct {
	ID      string
	Group   string             // for breakdowns; may be empty
	Cluster string             // samples of one cluster are not independent; a sample without one is independent
	Hops    int                // steps of research that the question takes; 0 if unknown
	Chance  map[string]float64 // what guessing earns on this sample, by metric
	Cells   [][]Cell           // Cells[m] are the trials of method m, by epoch
	Absent  []int              // along Cells: trials that were to be there and are not; nil for none
	// Unscored says that the right answer is not known: the sample's trials are
	// described, and no metric counts them.
	Unscored bool
}

// Cell is one trial.
type Cell struct {
	Epoch    int                // from 0
	Values   map[string]float64 // scores by metric; absent or not finite is undefined
	Outcome  methods.Outcome
	Reason   string        // why the outcome is not Answered
	LeftOut  int           // fields that the problem asks for and an answer lacks: they count as wrong
	Repaired bool          // the answer was read from another form than the one asked for
	Cut      bool          // a reply of it was cut at the token limit
	Infra    bool          // failed by plugin, provider or time: says nothing about the method
	Usage    methods.Usage // as recorded, so equal for a replay
	// Completions identify the model's answers that the trial used. Trials of
	// two methods that have one in common shared a draw.
	Completions []string
	Trial       string              // its id, for people
	Label       *Number             // what people say of the answer, 1 right and 0 wrong; nil where nobody did
	Pairs       []record.Preference // of graders, beside answers of other methods
	Grading     methods.Usage       // of the models that graded the answer, which is not the method's
	Prediction  score.Prediction    // the answer beside its target, for measures of all samples together

	seeds *SeedUse // of its method: a trial bears its share; see withSeeds
}

// check refuses data whose parts do not fit together.
func (d Data) check() error {
	if len(d.Methods) == 0 {
		return errors.New("compare: no methods: nothing to compare")
	}
	if slices.Contains(d.Metrics, score.First) {
		return fmt.Errorf("compare: %q measures bias, not quality: it cannot be the metric of a comparison", score.First)
	}
	if name := twice(d.Methods); name != "" {
		return fmt.Errorf("compare: two methods are labelled %q: give each a label of its own", name)
	}
	ids := make([]string, len(d.Samples))
	for i, s := range d.Samples {
		ids[i] = s.ID
		if len(s.Cells) != len(d.Methods) {
			return fmt.Errorf("compare: sample %q has cells of %d methods, not %d", s.ID, len(s.Cells), len(d.Methods))
		}
	}
	if id := twice(ids); id != "" {
		return fmt.Errorf("compare: two samples are called %q", id)
	}
	return nil
}

// twice returns a name that occurs more than once, or nothing.
func twice(names []string) string {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if seen[n] {
			return fmt.Sprintf("%.80s", n)
		}
		seen[n] = true
	}
	return ""
}

// clusters names each sample's cluster; it is nil if all stand alone.
func (d Data) clusters() []string {
	names := make([]string, len(d.Samples))
	for i, s := range d.Samples {
		names[i] = s.Cluster
	}
	return orAlone(names)
}

// orAlone is the names of samples' clusters, or nil if all stand alone.
func orAlone(clusters []string) []string {
	if !slices.ContainsFunc(clusters, func(name string) bool { return name != "" }) {
		return nil
	}
	return clusters
}

// where keeps the samples for which keep is true.
func (d Data) where(keep func(Sample) bool) Data {
	var kept []Sample
	for _, s := range d.Samples {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	d.Samples = kept
	return d
}

// scored keeps the samples whose right answer is known.
func (d Data) scored() Data { return d.where(func(s Sample) bool { return !s.Unscored }) }

// unjudged reports whether there are samples and none has a target.
func (d Data) unjudged() bool { return len(d.Samples) > 0 && len(d.scored().Samples) == 0 }

// treatment says what trials without a result count as.
type treatment int

const (
	completeCase  treatment = iota // failures of the infrastructure are undefined, other non-answers wrong
	failedAsWrong                  // both are wrong
	answeredOnly                   // both are undefined
	lostWrong                      // every trial without a value counts as 0
	lostRight                      // every trial without a value counts as 1
	againstA                       // of two methods: what the first lost counts as 0, what the second lost as 1
	againstB                       // the reverse
)

// view is a way to look at trials: one metric, a treatment of trials without a
// result, and the envelope that trials must stay in.
type view struct {
	metric    string
	treatment treatment
	envelope  []limit
	bare      bool // a measure of all samples needs no interval
	level     int  // that wrong verdicts name in place of those that were lost
	// own gives the values of a line of a curve in place of those of a method; nil for a method's.
	own func(d Data, line int, v view) []float64
}

// limit is the most of a resource that a trial may use.
type limit struct {
	resource Resource
	most     float64
}

// envelopeOf lists the limits that are set.
func envelopeOf(l record.Limits) []limit {
	var e []limit
	for _, one := range []limit{
		{Calls, float64(l.Calls)}, {Tokens, float64(l.Tokens)}, {Cost, l.Cost.USD()},
		{Latency, float64(l.Time) / float64(time.Millisecond)},
	} {
		if one.most > 0 {
			e = append(e, one)
		}
	}
	return e
}

// counted reports whether v takes a trial for an observation of its method,
// and whether the trial is wrong whatever it scored, as one beyond the envelope
// is. A trial whose use of a limited resource is not known is not an observation.
func (v view) counted(c Cell) (counted, wrong bool) {
	switch {
	case c.Infra:
		return v.treatment == failedAsWrong, true
	case v.treatment == answeredOnly && c.Outcome != methods.Answered:
		return false, false
	}
	counted = true
	for _, l := range v.envelope {
		used := l.resource.Used(c.Usage, c.seeds)
		if used > l.most {
			return true, true
		}
		counted = counted && !math.IsNaN(used) // unless another limit is broken
	}
	return counted, false
}

// sides are v as it looks at the first and at the second of two methods.
func (v view) sides() (first, second view) {
	first, second = v, v
	switch v.treatment {
	case againstA:
		first.treatment, second.treatment = lostWrong, lostRight
	case againstB:
		first.treatment, second.treatment = lostRight, lostWrong
	}
	return first, second
}

// fill is what a trial without a value counts as; false where it is left out.
func (v view) fill() (worth float64, fills bool) {
	if v.treatment == lostRight {
		return 1, true
	}
	return 0, v.treatment == lostWrong
}

// counts is the first result of counted.
func (v view) counts(c Cell) bool {
	counted, _ := v.counted(c)
	return counted
}

// value is what a trial scored, NaN if that is undefined.
func (v view) value(c Cell) float64 {
	counted, wrong := v.counted(c)
	x, ok := c.Values[v.metric]
	switch {
	case counted && c.Infra:
		return 0
	case !counted || !ok || !finite(x):
		return math.NaN()
	case wrong:
		return 0
	}
	return x
}

// values gives one value per sample: the mean over method m's epochs where v
// is defined, NaN where there is none.
func (d Data) values(m int, v view) []float64 {
	if v.own != nil {
		return v.own(d, m, v)
	}
	out := d.means(m, v.value)
	if worth, fills := v.fill(); fills {
		for i, s := range d.Samples {
			if lost := float64(s.lost(m, v)); lost > 0 {
				n := float64(len(s.Cells[m])+s.absent(m)) - lost
				if n == 0 {
					out[i] = 0
				}
				out[i] = (out[i]*n + worth*lost) / (n + lost)
			}
		}
	}
	return out
}

// absent is how many trials of method m were to be there and are not.
func (s Sample) absent(m int) int {
	if s.Absent == nil {
		return 0
	}
	return s.Absent[m]
}

// lost counts the trials of method m without a value that counts: those that failed, that are
// absent, or that have no score. There are none on a sample that nobody was asked, nor where
// all answers are there and none has the metric.
func (s Sample) lost(m int, v view) (n int) {
	all := slices.Concat(s.Cells...)
	open := slices.ContainsFunc(all, func(c Cell) bool { return c.Infra || v.scores(c) }) || slices.ContainsFunc(s.Absent, func(n int) bool { return n > 0 })
	if s.Unscored || len(all) == 0 || !open {
		return 0
	}
	for _, c := range s.Cells[m] {
		if !v.scores(c) {
			n++
		}
	}
	return n + s.absent(m)
}

// scores reports whether a trial has a value that counts. Of graders, an answer without their
// verdict has one: see halfRight.
func (v view) scores(c Cell) bool {
	if isCorpus(v.metric) || v.metric == score.Graded {
		return v.counts(c) && !c.Infra
	}
	return finite(v.value(c))
}

// lost is that of all samples.
func (d Data) lost(m int, v view) (n int) {
	for _, s := range d.Samples {
		n += s.lost(m, v)
	}
	return n
}

// means averages what of says of a cell over the epochs of each sample.
func (d Data) means(m int, of func(Cell) float64) []float64 {
	out := make([]float64, len(d.Samples))
	for i, s := range d.Samples {
		sum, n := 0.0, 0
		for _, c := range s.Cells[m] {
			if x := of(c); finite(x) {
				sum += x
				n++
			}
		}
		out[i] = sum / float64(n) // 0/0 is NaN: undefined
	}
	return out
}

// metric is the mean of method m over samples, or their measure together, as v
// looks at it.
func (d Data) metric(m int, v view, o plan) score.Metric {
	if isCorpus(v.metric) {
		for _, one := range d.corpus(m, v, o) {
			if one.Name == v.metric {
				return one
			}
		}
	}
	out := d.mean(m, v.metric, v.counts, v.value, score.Options{Level: o.Level})
	if o.sequel != nil {
		o.sequel.hold(&out, d.values(m, v), d.clusters(), o.Level)
	}
	return out
}

// mean is the mean over samples of what value says of a trial, where the epochs
// of a sample are averaged first. Samples without a trial that counts are not
// part of it; samples whose trials count and have no value are left out with a
// warning.
func (d Data) mean(m int, name string, counts func(Cell) bool, value func(Cell) float64, o score.Options) score.Metric {
	observed := d.where(func(s Sample) bool { return slices.ContainsFunc(s.Cells[m], counts) })
	values, clusters := observed.means(m, value), observed.clusters()
	out, partial := metricOf(name, values, clusters, o), 0
	for i, s := range observed.Samples {
		if finite(values[i]) && slices.ContainsFunc(s.Cells[m], func(c Cell) bool { return counts(c) && !finite(value(c)) }) {
			partial++
		}
	}
	if partial > 0 {
		warn(&out, "undefined in some epochs of %d of %d samples", partial, len(values))
	}
	return out
}

// used gives the mean use of a resource per sample. Trials that the
// infrastructure cut short are left out.
func (d Data) used(m int, r Resource) []float64 { return d.means(m, r.observed) }

// count is how many of method m's cells are so.
func (d Data) count(m int, so func(Cell) bool) int {
	n := 0
	for _, s := range d.Samples {
		for _, c := range s.Cells[m] {
			if so(c) {
				n++
			}
		}
	}
	return n
}

// epochs is how many trials a method has on a sample when all are there.
func (d Data) epochs() int {
	n := 0
	for _, s := range d.Samples {
		for _, cells := range s.Cells {
			for _, c := range cells {
				n = max(n, c.Epoch+1)
			}
		}
	}
	return n
}
