package compare

import (
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
	stop    Stop
	current unit
	none    *evidence    // against no difference
	far     [2]*evidence // against a difference of interest on either side
	a, b    []float64    // what was scored, for looks
	names   []string     // of clusters
}

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
		g := newGrid()
		r.stop.E, r.stop.Needed = 1, p.needed
		r.none = newEvidence(g, 0, -1, 1)
		for i, sign := range []float64{-1, 1} {
			r.far[i] = newEvidence(g, sign*p.design.Detect, -1, 1)
		}
	}
	return r
}

// add takes what both scored on the next sample, within 0 and 1; NaN leaves it out,
// as where the infrastructure failed a trial.
func (r *race) add(a, b float64) {
	i := r.stop.Asked
	r.stop.Asked++
	if finite(a) && finite(b) {
		r.current.sum += apart(a, b) / r.largest
		r.current.size += 1 / r.largest
		r.a, r.b, r.names = append(r.a, a), append(r.b, b), append(r.names, r.clusters[i])
	}
	if !r.ends(i) {
		return
	}
	if r.design.Looks > 0 {
		r.look()
	} else if r.current.size > 0 {
		r.bet()
	}
	r.current = unit{}
	if last := r.stop.Asked == len(r.clusters); last && r.stop.State == Open {
		r.stop.State = Bound
	}
	if n := r.stop.Asked; r.none != nil && (n&(n-1) == 0 || r.stop.State != Open) {
		r.stop.Path = append(r.stop.Path, Point{n, r.stop.E})
	}
}

// bet takes the unit that has ended.
func (r *race) bet() {
	for _, e := range []*evidence{r.none, r.far[0], r.far[1]} {
		e.bet(r.current.sum, r.current.size)
	}
	log := r.none.log()
	r.stop.E = r.none.value()
	switch {
	case reaches(log, r.needed):
		r.stop.State = Decided
	case reaches(r.far[0].log(), r.needed) && reaches(r.far[1].log(), r.needed):
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
	j := Options{Level: 1 - r.stop.Level, Test: r.test}.plan(1).judge(pair(r.a, r.b, r.clustersOf(r.names)), Stop{})
	m, _ := j.interval("")
	value, _ := j.test()
	switch {
	case sideOf(m) != 0 && value <= r.stop.Level:
		r.stop.State = Decided
	case m.HasInterval() && -r.design.Detect < m.Low && m.High < r.design.Detect:
		r.stop.State = Futile
	}
}

// clustersOf is nil where all samples stand alone.
func (p schedule) clustersOf(names []string) []string {
	if p.largest == 1 {
		return nil
	}
	return names
}
