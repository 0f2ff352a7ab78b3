package compare

import (
	"noema/kernel/base/score"
	"noema/kernel/result/record"
)

// errorRate is that of the whole family of pairs of a sequential design: the
// chance of any false winner.
const errorRate = 0.05

// DefaultDetect is the smallest difference of interest where none is declared.
const DefaultDetect = 0.1

// State is what a sequential design says of a pair.
type State string

// The states.
const (
	Open    State = "open"    // the samples asked so far decide nothing, and more are to come
	Decided State = "decided" // one method is better
	Futile  State = "futile"  // no difference of interest: it lies within the smallest one on either side
	Bound   State = "bound"   // not decided on all the samples that were declared
)

// Stop is how far a sequential design went for a pair, on its headline. What came
// after it, for the sake of other pairs, counts for these.
type Stop struct {
	State State `json:"state"`
	Asked int   `json:"asked"` // samples, from the first in the declared order
	// Detect is the declared smallest difference of interest.
	Detect float64 `json:"detect"`
	// E is the e-value, from 1; it decides at Needed. Both are 0 under looks.
	E      float64 `json:"e_value,omitempty"`
	Needed float64 `json:"needed,omitempty"`
	Path   []Point `json:"path,omitempty"` // of E: at powers of 2, and at the end
	// Look counts the looks taken, and Level is the share of the error rate that
	// the last one may spend on a two-sided test; 0 without looks.
	Look  int     `json:"look,omitempty"`
	Level float64 `json:"level,omitempty"`
}

// Point is an e-value on the way.
type Point struct {
	Asked int     `json:"asked"`
	E     float64 `json:"e_value"`
}

// race follows a pair through the samples in their order.
type race struct {
	schedule
	stop  Stop
	seen  bets
	worst [2]bets // with what both lost against the first method, and against the second; see [Lost]
	lost  bool    // some trial
}

// bets are the evidence of a pair's units.
type bets struct {
	current unit
	none    *evidence    // against no difference
	far     [2]*evidence // against a difference of interest on either side
	a, b    []float64    // what was scored, for looks
	names   []string     // of clusters
	lead    float64      // sum of the differences
}

// Reading is what a method scored on a sample: the mean of the epochs that have a value, and
// the least and the most that it can be if those without one count. All three are equal where
// none was lost; all are NaN for a method that was not asked.
type Reading struct{ Seen, Low, High float64 }

// schedule is a design over samples and pairs.
type schedule struct {
	design   record.Design
	clusters []string  // of the samples, in their order
	largest  float64   // number of samples in a cluster
	needed   float64   // e-value that decides
	levels   []float64 // nominal, of the looks
	test     string    // of looks, as [Options.Test]
	at       []int     // samples at which to look
}

// newSchedule puts the design over samples with the given clusters, "" for samples
// alone, and pairs of methods.
func newSchedule(design record.Design, test string, clusters []string, pairs int) schedule {
	p := schedule{design: design, test: test, clusters: clusters, largest: float64(max(1, design.Largest)), needed: float64(pairs) / errorRate}
	count := map[string]int{}
	for _, name := range clusters {
		if name != "" {
			count[name]++
			p.largest = max(p.largest, float64(count[name]))
		}
	}
	if design.Looks > 0 {
		for k := range design.Looks {
			p.at = append(p.at, (len(clusters)*(k+1)+design.Looks-1)/design.Looks)
		}
		p.levels = obrienFleming(p.fractions(), errorRate/float64(pairs))
	}
	return p
}

// fractions are the parts of the samples at which to look.
func (p schedule) fractions() []float64 {
	parts := make([]float64, len(p.at))
	for k, at := range p.at {
		parts[k] = float64(at) / float64(len(p.clusters))
	}
	return parts
}

// ends reports whether an independent unit ends with sample i.
func (p schedule) ends(i int) bool {
	return i+1 == len(p.clusters) || p.clusters[i] == "" || p.clusters[i+1] != p.clusters[i]
}

func newRace(p schedule) *race {
	r := &race{schedule: p, stop: Stop{State: Open, Detect: p.design.Detect}}
	if p.design.Looks == 0 {
		r.stop.E, r.stop.Needed = 1, p.needed
		g := newGrid()
		for _, b := range []*bets{&r.seen, &r.worst[0], &r.worst[1]} {
			b.none = newEvidence(g, 0, -1, 1)
			for i, sign := range []float64{-1, 1} {
				b.far[i] = newEvidence(g, sign*p.design.Detect, -1, 1)
			}
		}
	}
	return r
}

// take adds what both scored on a sample, unless one of them has no value.
func (b *bets) take(x, y, largest float64, name string) {
	if finite(x) && finite(y) {
		b.current.sum += apart(x, y) / largest
		b.current.size += 1 / largest
		b.a, b.b, b.names = append(b.a, x), append(b.b, y), append(b.names, name)
	}
}

// bet takes the unit that has ended.
func (b *bets) bet() {
	if b.current.size > 0 {
		for _, e := range []*evidence{b.none, b.far[0], b.far[1]} {
			e.bet(b.current.sum, b.current.size)
		}
		b.lead += b.current.sum
	}
	b.current = unit{}
}

// add takes what both scored on the next sample, within 0 and 1. Rules before the third leave
// a sample out of which a trial was lost, as where the infrastructure failed it.
func (r *race) add(a, b Reading) {
	i := r.stop.Asked
	r.stop.Asked++
	name := r.clusters[i]
	r.seen.take(a.Seen, b.Seen, r.largest, name)
	if r.design.Rule >= worstCaseRule {
		r.worst[0].take(a.Low, b.High, r.largest, name)
		r.worst[1].take(a.High, b.Low, r.largest, name)
		r.lost = r.lost || a.Low < a.High || b.Low < b.High
	}
	if !r.ends(i) {
		return
	}
	if r.design.Looks > 0 {
		r.look()
	} else {
		r.bet()
	}
	if last := r.stop.Asked == len(r.clusters); last && r.stop.State == Open {
		r.stop.State = Bound
	}
	if n := r.stop.Asked; r.design.Looks == 0 && (n&(n-1) == 0 || r.stop.State != Open) {
		r.stop.Path = append(r.stop.Path, Point{n, r.stop.E})
	}
}

// worstCaseRule is the version of the rule since which a pair is decided only if it is in the
// worst case of what was lost.
const worstCaseRule = 3

// bet takes the unit that has ended. What was lost counts against the method that leads; of
// that case only the evidence on its side counts, which better values cannot lower.
func (r *race) bet() {
	r.seen.bet()
	r.worst[0].bet()
	r.worst[1].bet()
	r.stop.E = r.seen.none.value()
	ahead, worst := 1.0, &r.worst[0]
	if r.seen.lead < 0 {
		ahead, worst = -1, &r.worst[1]
	}
	far := func(i int, sign float64) bool {
		return reaches(r.seen.far[i].log(), r.needed) && (!r.lost || reaches(r.worst[i].far[i].logOn(sign), r.needed))
	}
	switch {
	case reaches(r.seen.none.log(), r.needed) && (!r.lost || reaches(worst.none.logOn(ahead), r.needed)):
		r.stop.State = Decided
	case far(0, 1) && far(1, -1):
		r.stop.State = Futile
	}
}

// look takes the look that is due, if one is.
func (r *race) look() {
	due := r.stop.Look
	for due < len(r.at) && r.at[due] <= r.stop.Asked {
		due++
	}
	if due == r.stop.Look {
		return
	}
	r.stop.Look, r.stop.Level = due, r.levels[due-1]
	m, value := r.judge(r.seen)
	d := Difference{Difference: m}
	if r.lost {
		low, _ := r.judge(r.worst[0])
		high, _ := r.judge(r.worst[1])
		d.Lost = &Lost{Low: Number(low.Low), High: Number(high.High)}
	}
	low, high := d.ends()
	switch {
	case d.side() != 0 && value <= r.stop.Level:
		r.stop.State = Decided
	case m.HasInterval() && -r.design.Detect < low && high < r.design.Detect:
		r.stop.State = Futile
	}
}

// judge is the difference at the level of the look, with its p-value.
func (r *race) judge(b bets) (score.Metric, float64) {
	p := pair(b.a, b.b, r.clustersOf(b.names))
	p.largest = int(r.largest)
	j := Options{Level: 1 - r.stop.Level, Test: r.test}.plan(1).judge(p, Stop{})
	m, _ := j.interval("")
	value, _ := j.test()
	return m, value
}

// clustersOf is nil where all samples stand alone.
func (p schedule) clustersOf(names []string) []string {
	if p.largest == 1 {
		return nil
	}
	return names
}
