package compare

import "noema/kernel/score"

// Standing is a method's place against the front.
type Standing string

// The standings. A method with the better mean is ahead of another on merit,
// and one with the lower mean use is ahead of it on thrift. A lead is sure if
// the pair's interval of the difference excludes 0, or that of the ratio
// excludes 1 (uncorrected for the number of pairs).
const (
	// OnFront: no other method is at least as good on both and better on one.
	OnFront Standing = "front"
	// Dominated: some other method is ahead on both, and both leads are sure.
	Dominated Standing = "dominated"
	// Undecided: off the front by the means, yet no method's lead over it is
	// sure on both.
	Undecided Standing = "undecided"
)

// Pareto weighs the headline metric against what a trial costs. The means
// alone would draw a front through noise; Standing says what the intervals
// support.
type Pareto struct {
	// Resource is what is paid with: cost if it is known and not zero, else
	// tokens, else calls.
	Resource Resource      `json:"resource"`
	Points   []ParetoPoint `json:"points"` // along Comparison.Methods
}

// ParetoPoint is one method.
type ParetoPoint struct {
	Method   string       `json:"method"`
	Merit    score.Metric `json:"merit"`
	Cost     score.Metric `json:"cost"`
	Standing Standing     `json:"standing"` // empty if a mean is undefined
	By       []string     `json:"by,omitempty"`
	// By names the methods that dominate it or, if undecided, are ahead of it.
}

// pareto places every method; pairs are those of every two methods.
func (d Data) pareto(stats []MethodStats, pairs []Pair, o Options) Pareto {
	p := Pareto{Resource: payment(stats)}
	for _, s := range stats {
		p.Points = append(p.Points, ParetoPoint{
			Method: s.Method, Merit: s.Metrics[d.Metrics[0]].Value, Cost: s.Usage[p.Resource],
		})
	}
	for i := range p.Points {
		p.place(i, func(a, b string) bool { return surelyAhead(pairs, a, b, d.Metrics[0], p.Resource) })
	}
	return p
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
func (p *Pareto) place(i int, sure func(a, b string) bool) {
	at := &p.Points[i]
	if !at.Merit.Defined || !at.Cost.Defined {
		return
	}
	var behind, dominated []string
	for _, other := range p.Points {
		if !other.Merit.Defined || !other.Cost.Defined || !other.ahead(*at) {
			continue
		}
		behind = append(behind, other.Method)
		if sure(other.Method, at.Method) {
			dominated = append(dominated, other.Method)
		}
	}
	switch {
	case len(dominated) > 0:
		at.Standing, at.By = Dominated, dominated
	case len(behind) > 0:
		at.Standing, at.By = Undecided, behind
	default:
		at.Standing = OnFront
	}
}

// ahead compares means: at least as good on both, better on one.
func (p ParetoPoint) ahead(q ParetoPoint) bool {
	merit, cost := p.Merit.Value, p.Cost.Value
	return merit >= q.Merit.Value && cost <= q.Cost.Value && (merit > q.Merit.Value || cost < q.Cost.Value)
}

// surelyAhead reports whether a is proven ahead of b on both.
func surelyAhead(pairs []Pair, a, b, metric string, r Resource) bool {
	for _, p := range pairs {
		switch m, ratio := p.Metrics[metric].Difference, p.Ratios[r]; {
		case p.A == a && p.B == b:
			return m.HasInterval() && m.Low > 0 && ratio.below()
		case p.A == b && p.B == a:
			return m.HasInterval() && m.High < 0 && ratio.above()
		}
	}
	return false
}
