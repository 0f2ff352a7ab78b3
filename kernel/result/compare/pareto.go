package compare

import (
	"slices"

	"noema/kernel/base/score"
)

// Standing is a method's place against the front.
type Standing string

// The standings. A method with the better mean is ahead of another on merit,
// and one with the lower mean use is ahead of it on thrift. The lead on merit is
// sure if it wins against the other in the family of all pairs, which failed
// trials can prevent. The lead on thrift is sure if the other uses more on most samples, by
// the exact test at the level of that family: use has no bound, so no test of its mean holds.
const (
	// OnFront: no other method is at least as good on both and better on one.
	OnFront Standing = "front"
	// Dominated: some other method is ahead on both, and both leads are sure.
	Dominated Standing = "dominated"
	// Costlier: off the front; some other method uses less on most samples and has no
	// lower mean, but none is shown to be ahead on both.
	Costlier Standing = "costlier"
	// Undecided: off the front by the means, yet no other method's lead over it is sure on
	// thrift. By names those that may be ahead: each of their leads has a one-sided p-value of
	// mayBeAhead at most, which two equal methods show in about 1 % of runs.
	Undecided Standing = "undecided"
)

// Pareto weighs the headline metric against what a trial costs. The means
// alone would draw a front through noise; Standing says what the intervals
// support.
type Pareto struct {
	// Resource is what is paid with: cost if it is known and not zero, else
	// tokens, else calls.
	Resource Resource      `json:"resource"`
	Points   []ParetoPoint `json:"points"` // along Comparison.Methods; where their samples differ, on those that all have
}

// ParetoPoint is one method.
type ParetoPoint struct {
	Method   string       `json:"method"`
	Merit    score.Metric `json:"merit"`
	Cost     score.Metric `json:"cost"`     // with the share of the method's seeds
	Standing Standing     `json:"standing"` // empty if a mean is undefined
	By       []string     `json:"by,omitempty"`
	MeritP   []Number     `json:"p_merit,omitempty"`  // along By, if undecided: one-sided, not corrected
	ThriftP  []Number     `json:"p_thrift,omitempty"` // likewise, of using less on most samples
	Worse    []Number     `json:"worse,omitempty"`    // along By, where that is not better: how much worse it may be, at the level of the family
	// By names the methods that dominate it, use less on most samples or, if undecided,
	// may be ahead of it.
}

// pareto places every method; pairs are those that were compared.
func (d Data) pareto(stats []MethodStats, pairs []Pair, o plan) Pareto {
	p := Pareto{Resource: payment(stats)}
	shared, others := d.common(o)
	for m, s := range stats {
		merit, cost := s.Metrics[d.Metrics[0]].Value, s.Usage[p.Resource]
		if others {
			merit = shared.metric(m, view{metric: d.Metrics[0], envelope: envelopeOf(o.Budget)}, o)
			cost = shared.usage(m, o)[p.Resource]
		}
		p.Points = append(p.Points, ParetoPoint{Method: s.Method, Merit: merit, Cost: cost})
	}
	leads := d.leads(pairs, p.Resource, o)
	for i := range p.Points {
		p.place(i, func(a, b string) lead { return leads[[2]string{a, b}] })
	}
	return p
}

// lead is what is sure of one method against another.
type lead struct {
	better, thriftier bool
	worse             float64 // how much worse it may be
	merit, thrift     float64 // one-sided p-values
}

// mayBeAhead is the p-value from which on a lead is not told.
const mayBeAhead = 0.1

// leadOf is the lead of the method that sign stands for, 1 for the first, by what is sure.
func leadOf(h Difference, r Ratio, alpha, sign float64) lead {
	a, b := h.worse()
	out := lead{h.Winner == h.A && h.Winner != "", r.below(alpha), a, 1, 1}
	less := r.Ratio.Value < 1 && r.Less > r.More
	if sign < 0 {
		out = lead{h.Winner == h.B && h.Winner != "", r.above(alpha), b, 1, 1}
		less = r.Ratio.Value > 1 && r.More > r.Less
	}
	if h.P.Defined() && sign*h.Difference.Value > 0 {
		out.merit = float64(h.P) / 2
	}
	switch {
	case out.thriftier && r.Constant:
		out.thrift = 0
	case less && r.P.Defined():
		out.thrift = float64(r.P) / 2
	}
	return out
}

// leads has the sure leads of every method over every other, in the family of all
// pairs. pairs are taken as they are where they are that family.
func (d Data) leads(pairs []Pair, r Resource, o plan) map[[2]string]lead {
	all := d.every(plan{})
	headlines, ratios := make([]Difference, len(all)), make([]Ratio, len(all))
	known := len(pairs) == len(all)
	o = o.over(len(all))
	atOnce(len(all), func(i int) {
		if known {
			all[i], headlines[i], ratios[i] = pairs[i], pairs[i].Metrics[d.Metrics[0]], pairs[i].Ratios[r]
			return
		}
		a, b := slices.Index(d.Methods, all[i].A), slices.Index(d.Methods, all[i].B)
		headlines[i], ratios[i] = d.scored().difference(a, b, d.Metrics[0], o), d.ratio(a, b, r, o)
	})
	if !known {
		decide(headlines, o)
	}
	sure := map[[2]string]lead{}
	for i, p := range all {
		h, alpha := headlines[i], 1-o.simultaneous()
		sure[[2]string{p.A, p.B}], sure[[2]string{p.B, p.A}] = leadOf(h, ratios[i], alpha, 1), leadOf(h, ratios[i], alpha, -1)
	}
	return sure
}

// payment is the first resource that is known of all methods and used by any.
func payment(stats []MethodStats) Resource {
	for _, r := range []Resource{Cost, Tokens} {
		known, used := true, false
		for _, s := range stats {
			known = known && s.Usage[r].Defined
			used = used || s.Usage[r].Value > 0
		}
		if known && used {
			return r
		}
	}
	return Calls
}

// place sets the standing of point i.
func (p *Pareto) place(i int, sure func(a, b string) lead) {
	at := &p.Points[i]
	if !at.Merit.Defined || !at.Cost.Defined {
		return
	}
	var behind, costlier, dominated []string
	var worse, merit, thrift []Number
	off := false
	for _, other := range p.Points {
		if !other.Merit.Defined || !other.Cost.Defined || !other.ahead(*at) {
			continue
		}
		l := sure(other.Method, at.Method)
		if off = true; l.merit <= mayBeAhead && l.thrift <= mayBeAhead {
			behind, merit, thrift = append(behind, other.Method), append(merit, Number(l.merit)), append(thrift, Number(l.thrift))
		}
		if l.thriftier {
			costlier, worse = append(costlier, other.Method), append(worse, Number(l.worse))
			if l.better {
				dominated = append(dominated, other.Method)
			}
		}
	}
	switch {
	case len(dominated) > 0:
		at.Standing, at.By = Dominated, dominated
	case len(costlier) > 0:
		at.Standing, at.By, at.Worse = Costlier, costlier, worse
	case off:
		at.Standing, at.By, at.MeritP, at.ThriftP = Undecided, behind, merit, thrift
	default:
		at.Standing = OnFront
	}
}

// ahead compares means: at least as good on both, better on one.
func (p ParetoPoint) ahead(q ParetoPoint) bool {
	merit, cost := p.Merit.Value, p.Cost.Value
	return merit >= q.Merit.Value && cost <= q.Cost.Value && (merit > q.Merit.Value || cost < q.Cost.Value)
}
