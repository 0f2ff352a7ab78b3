// Package compare says which of several methods is better, by how much, at
// what cost, and how sure that is. It exists because most differences that are
// reported between reasoning methods are within the noise of the samples they
// were measured on.
//
// The rules, which hold for every number:
//
//   - Samples are what is counted. The epochs of a sample are averaged first,
//     and samples of one cluster count as the one observation that they are.
//   - Methods are compared on the same samples, sample by sample.
//   - No winner is named unless the interval of the difference excludes zero
//     and a test agrees, both corrected for the number of pairs (Bonferroni).
//     Otherwise the smallest difference that could have been found is given.
//   - Neither a flag nor the order of rows or methods changes a verdict, and a better result
//     never loses a win.
//   - No method is called dominated but by one that wins against it among all
//     pairs, and that uses less on average and on most samples.
//   - Trials that the infrastructure failed are left out of means; every other
//     non-answer is wrong. A verdict holds in the worst case of what was left out, is
//     absent, or has no score.
//   - What is undefined is null, and warnings travel with the numbers.
//
// Every number that noema shows about methods comes from here, so that all
// faces agree. [FromTrials] reads the records of runs; [Describe] gives the
// numbers of each method and [Compare] also their differences; the result has
// JSON names and sentences, and knows no tables. [Diff] says where two runs differ.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
)

// Options choose what is compared and how.
type Options struct {
	// Level is the confidence of every interval and 1-Level the error rate of
	// every test; anything not above 0 and below 1 means 0.95.
	Level float64
	// Test is [Exchange] for the test by exchange of names on graded measures, empty for
	// the exact rule. It is a run's to declare: whoever chooses between
	// tests afterwards finds too much.
	Test string
	// Equivalence is the margin within which methods are equivalent; 0 means none, or that of
	// the design.
	Equivalence float64
	// Baseline names the method that every other is shown beside; without one, every pair is
	// shown. Declared is the one that was declared with the run. Only that makes the pairs
	// with it a family of their own, which needs less evidence: who picks a baseline when
	// the means are seen has all pairs to choose from.
	Baseline, Declared string
	// Against gives methods a baseline each, such as the same method on clean data:
	// only these pairs are compared. It excludes Baseline.
	Against map[string]string
	// Budget is the envelope that every trial must stay in: one that used more
	// counts as wrong. Zero sets no limit. It asks what each method is worth
	// to somebody who would have stopped it there; a method that knew of the
	// limit might do better.
	Budget record.Limits
	// Curve is the resource over which [Curve] is made; empty for none.
	Curve Resource
	// Design is the rule by which a run was to stop, with the samples in its order:
	// all numbers of merit hold whenever one looks. nil for a fixed number of samples.
	Design *record.Design
	// Undeclared says that the design was declared for other data than these, such as
	// one of several runs, another measure, or no budget: its numbers hold, but it is not
	// what chose all samples.
	Undeclared bool
}

// plan is a comparison before its numbers: the options with their defaults, and what all
// its pairs share. It is made once and not changed while numbers are computed.
type plan struct {
	Options
	family int     // pairs whose intervals hold together; below 2 a pair stands alone
	sequel *sequel // the design over the data; nil for a fixed number of samples
	edges  *edges
}

// plan applies the defaults for a family of pairs.
func (o Options) plan(family int) plan {
	if !(o.Level > 0 && o.Level < 1) {
		o.Level = 0.95
	}
	return plan{Options: o, family: family, edges: &edges{}}
}

// simultaneous is the level of a pair's interval at which all pairs of the
// family hold their intervals with the chance Level (Bonferroni).
func (p plan) simultaneous() float64 { return 1 - (1-p.Level)/float64(max(1, p.family)) }

// over is the same plan for another family of pairs.
func (p plan) over(family int) plan {
	p.family = family
	return p
}

// plan applies the defaults and, where there is one, the design, and has every trial
// bear its share of the seeds. The family is of the pairs that are asked for; with a
// design it is of all, for which its rule is.
func (d Data) plan(o Options) (Data, plan) {
	p := o.plan(0)
	all := d.every(p)
	if p.Design != nil {
		p.Level = 1 - errorRate
		p.Equivalence = cmp.Or(p.Equivalence, p.Design.Detect)
		d, p.sequel = d.follow(p)
	} else {
		all = slices.DeleteFunc(all, func(one Pair) bool { return !o.chooses(one) })
	}
	if p.family = len(all); o.Baseline != "" && o.Baseline != o.Declared && o.Against == nil {
		p.family = len(d.every(p))
	}
	d.Samples = slices.Clone(d.Samples)
	slices.SortFunc(d.Samples, func(a, b Sample) int { return cmp.Compare(a.ID, b.ID) }) // so that the order of rows changes nothing
	return d.withSeeds(), p
}

// Exchange is the [Options.Test] by exchange of the methods' names.
const Exchange = "exchange"

// chooses reports whether the pair is one of those that were asked for.
func (o Options) chooses(p Pair) bool {
	if o.Against != nil {
		return o.Against[p.A] == p.B
	}
	return o.Baseline == "" || p.B == o.Baseline
}

// Comparison is the result: everything that tables, plots and sentences about
// methods side by side are made of. Slices over methods follow Methods, and
// slices over pairs follow Pairs. [Describe] leaves Verdict, Pairs, Groups,
// Pareto and Curve empty.
type Comparison struct {
	Verdict   string   `json:"verdict"` // one sentence on the headline metric
	Metric    string   `json:"metric"`  // the headline; empty before a trial has a score
	Metrics   []string `json:"metrics"` // all that were compared, the headline first
	Level     float64  `json:"level"`
	PairLevel float64  `json:"pair_level,omitempty"` // of each pair's interval, so that all pairs together hold Level; groups have Level
	Test      string   `json:"test,omitempty"`       // [Options.Test]
	Baseline  string   `json:"baseline,omitempty"`
	// Against is the baseline of each method that has one of its own.
	Against  map[string]string `json:"against,omitempty"`
	Budget   *record.Limits    `json:"budget,omitempty"`
	Samples  int               `json:"samples"`
	Unscored int               `json:"unscored,omitempty"` // of the samples: without a target, so in no metric
	Clusters int               `json:"clusters,omitempty"` // 0 if every sample is independent
	// Largest is the largest cluster that intervals and tests allow for, in samples, and LargestHere
	// that of the samples. They differ where the task has a larger one; Assumed says that the
	// task is not known.
	Largest     int  `json:"largest_cluster,omitempty"`
	LargestHere int  `json:"largest_cluster_here,omitempty"`
	Assumed     bool `json:"largest_assumed,omitempty"`
	Epochs      int  `json:"epochs"`
	// UnevenEpochs says that some samples have fewer epochs than Epochs, as where runs
	// are taken together.
	UnevenEpochs bool `json:"uneven_epochs,omitempty"`

	Chance   map[string]float64 `json:"chance"`             // what guessing earns, by metric
	Majority map[string]float64 `json:"majority,omitempty"` // what the most frequent label earns

	Methods []MethodStats `json:"methods"`
	Pairs   []Pair        `json:"pairs"`
	Grading *Grading      `json:"grading,omitempty"` // of all methods; nil if no model graded
	Common  *Common       `json:"common,omitempty"`  // nil if all methods have the same samples
	Groups  []GroupStats  `json:"groups,omitempty"`  // in natural order of their names
	Pareto  Pareto        `json:"pareto"`
	Curve   *Curve        `json:"curve,omitempty"` // nil unless asked for
	Notes   []string      `json:"notes,omitempty"` // what a reader must know
	Looks   *Looks        `json:"looks,omitempty"` // the verdicts that were shown on this question; nil where none is kept

	Sequential *Sequential `json:"sequential,omitempty"` // nil for a fixed number of samples
}

// Pair is two methods side by side.
type Pair struct {
	A       string                `json:"a"`
	B       string                `json:"b"` // the baseline, if there is one
	Winner  string                `json:"winner,omitempty"`
	Verdict string                `json:"verdict"` // one sentence on the headline metric
	Metrics map[string]Difference `json:"metrics"`
	Ratios  map[Resource]Ratio    `json:"ratios"` // use of A for each unit that B uses
	Shared  Shared                `json:"shared"`
	// Agreement is over the samples without a target; nil if there are none.
	Agreement *Agreement `json:"agreement,omitempty"`
	// Preference is what graders say of the answers beside each other; nil if they were
	// not asked.
	Preference *Preference `json:"preference,omitempty"`
}

// Describe gives the numbers of each method of d by itself.
func Describe(d Data, o Options) (*Comparison, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	d, p := d.plan(o)
	c := d.describe(p.over(0))
	c.Notes = c.notes()
	return c, nil
}

// noScore says why there is nothing to measure.
func (d Data) noScore() error {
	if d.unjudged() {
		return errors.New("compare: no sample has a target, so no measure is defined: name none")
	}
	for _, s := range d.Samples {
		for _, c := range slices.Concat(s.Cells...) {
			if c.Infra {
				return fmt.Errorf("compare: no trial has a score: those that ended failed, such as %s: %s", c.Trial, c.Reason)
			}
		}
	}
	return errors.New("compare: no trial has a score: finish the run first")
}

// Compare describes the methods of d and compares them. It takes about a second
// for 1,000 samples of six methods, nearly all of it for the bootstraps. Where no
// sample has a target, methods are compared in what they use and in how often they
// agree, and no more.
func Compare(d Data, o Options) (*Comparison, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	judged := len(d.Metrics) > 0
	if !judged && !d.unjudged() {
		return nil, d.noScore()
	}
	if o.Baseline != "" && !slices.Contains(d.Methods, o.Baseline) {
		return nil, fmt.Errorf("compare: baseline %q is not among the methods %q", o.Baseline, d.Methods)
	}
	raw := d
	d, p := d.plan(o)
	alone := p.over(0) // for numbers that stand by themselves
	c := d.describe(alone)
	c.PairLevel = p.simultaneous()
	c.Pairs = d.family(d.every(p), p)
	if judged {
		shared, others := d.common(p)
		if others {
			c.Common = &Common{Samples: len(shared.Samples), Means: shared.headlines(p)}
		}
		c.Groups = d.scored().groups(c.Pairs, alone)
		c.Pareto = d.pareto(c.Methods, c.Pairs, p)
	} else {
		c.Pareto = Pareto{Resource: payment(c.Methods)}
	}
	if o.Curve != "" {
		s, err := newStudy([]CellData{{Weight: 1, Data: raw}}, o)
		if err == nil {
			c.Curve, err = s.curve(o.Curve)
		}
		if err != nil {
			return nil, err
		}
	}
	c.Verdict = c.verdict() + c.within()
	c.Notes = c.notes()
	return c, nil
}

func (d Data) describe(o plan) *Comparison {
	c := &Comparison{
		Metrics: d.Metrics, Level: o.Level, Test: o.Test,
		Baseline: o.Baseline, Against: o.Against, Samples: len(d.Samples), Unscored: len(d.Samples) - len(d.scored().Samples), Epochs: d.epochs(), Chance: d.Chance, Majority: d.Majority,
	}
	if len(d.Metrics) > 0 {
		c.Metric = d.Metrics[0]
	}
	if o.Budget != (record.Limits{}) {
		c.Budget = &o.Budget
	}
	if names := d.clusters(); names != nil {
		var unit []int
		unit, c.Clusters = score.Units(names)
		sizes := make([]int, c.Clusters)
		for _, u := range unit {
			sizes[u]++
		}
		c.LargestHere = slices.Max(sizes)
		c.Largest, c.Assumed = max(c.LargestHere, d.Largest), d.Largest == 0
	}
	for m := range d.Methods {
		c.Methods = append(c.Methods, d.statsOf(m, o))
	}
	for _, s := range d.Samples {
		for _, cells := range s.Cells {
			c.UnevenEpochs = c.UnevenEpochs || 0 < len(cells) && len(cells) < c.Epochs
		}
	}
	correctPositions(c.Methods)
	if o.sequel != nil {
		c.Sequential = o.sequel.sequential(d, c)
		for i := range c.Methods {
			c.Methods[i].Missing = 0 // by rule
		}
	}
	d.grading(c, o)
	return c
}

// every lists every two methods, the baseline second, with nothing compared yet.
func (d Data) every(o plan) []Pair {
	var all []Pair
	for i, first := range d.Methods {
		for _, second := range d.Methods[i+1:] {
			p := Pair{A: first, B: second}
			if first == o.Baseline || o.Against[second] == first {
				p.A, p.B = second, first
			}
			all = append(all, p)
		}
	}
	return all
}

// atOnce calls do for each of n parts of a work, side by side: one a processor, since each
// holds memory of its own.
func atOnce(n int, do func(i int)) {
	var work sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		free <- struct{}{}
		work.Go(func() { do(i); <-free })
	}
	work.Wait()
}

// pair compares two methods; [decide] adds what depends on the family.
func (d Data) pair(p Pair, o plan) Pair {
	a, b := slices.Index(d.Methods, p.A), slices.Index(d.Methods, p.B)
	p.Metrics, p.Ratios, p.Shared, p.Agreement = map[string]Difference{}, map[Resource]Ratio{}, d.shared(a, b), d.agreement(a, b)
	scored := d.scored()
	for _, metric := range d.Metrics {
		h := scored.difference(a, b, metric, o)
		h.Seeded = d.seeded(p.A, p.B)
		p.Metrics[metric] = h
	}
	for _, r := range Resources() {
		p.Ratios[r] = d.ratio(a, b, r, o)
	}
	return p
}

// ratio is the use of methods a and b.
func (d Data) ratio(a, b int, r Resource, o plan) Ratio {
	return pair(d.used(a, r), d.used(b, r), d.clusters()).ratio(string(r), o.simultaneous())
}

// family compares the requested pairs and decides each metric among them. Each metric is a family of its own: the headline
// decides, the others explain.
func (d Data) family(all []Pair, o plan) []Pair {
	chosen := slices.DeleteFunc(slices.Clone(all), func(p Pair) bool { return !o.chooses(p) })
	atOnce(len(chosen), func(i int) { chosen[i] = d.pair(chosen[i], o) })
	for _, metric := range d.Metrics {
		differences := make([]Difference, len(chosen))
		for i, p := range chosen {
			differences[i] = p.Metrics[metric]
		}
		decide(differences, o)
		if metric == d.Metrics[0] {
			for i := range differences {
				differences[i].Equivalence = differences[i].within(o.Equivalence)
			}
		}
		for i, p := range chosen {
			p.Metrics[metric] = differences[i]
		}
	}
	d.preferences(chosen, o)
	for i := range chosen {
		if len(d.Metrics) == 0 {
			chosen[i].Verdict = chosen[i].Agreement.Sentence(chosen[i].A, chosen[i].B)
			continue
		}
		headline := chosen[i].Metrics[d.Metrics[0]]
		chosen[i].Winner, chosen[i].Verdict = headline.Winner, headline.Verdict()
	}
	return chosen
}

// metricOf makes the metric of a method over its samples, clustered where the
// task names clusters.
func metricOf(name string, values []float64, clusters []string, o score.Options) score.Metric {
	if clusters == nil {
		return score.Mean(name, values, o)
	}
	return score.MeanClustered(name, values, clusters, o)
}
