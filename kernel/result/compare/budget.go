package compare

import (
	"math"
	"slices"

	"noema/kernel/base/score"
)

// Curve is the headline metric of every method at one envelope after another:
// what each is worth to somebody who can pay that much for a trial. A trial
// that used more counts as wrong, so every method reaches its full level at
// the envelope of its dearest trial.
type Curve struct {
	Resource Resource     `json:"resource"`
	Points   []CurvePoint `json:"points"` // in rising order
}

// CurvePoint is one envelope.
type CurvePoint struct {
	Most    float64        `json:"most"`    // that a trial may use
	Methods []score.Metric `json:"methods"` // along Comparison.Methods
}

// envelopes is how many points of its distribution each method gives a curve.
const envelopes = 8

// curves makes one curve for each resource that is known of any trial. A
// budget holds on top of each envelope.
func (d Data) curves(o plan) []Curve {
	out := []Curve{}
	for _, r := range []Resource{Tokens, Calls, Cost} {
		points := d.envelopesOf(r)
		if len(points) == 0 {
			continue
		}
		c := Curve{Resource: r}
		for _, most := range points {
			v := view{metric: d.Metrics[0], envelope: append(envelopeOf(o.Budget), limit{r, most}), bare: true}
			p := CurvePoint{Most: most}
			for m := range d.Methods {
				p.Methods = append(p.Methods, d.metric(m, v, o))
			}
			c.Points = append(c.Points, p)
		}
		out = append(out, c)
	}
	return out
}

// envelopesOf lists amounts that tell the methods apart: for each method the
// amounts that equal shares of its trials stay within, up to all of them.
func (d Data) envelopesOf(r Resource) []float64 {
	var all []float64
	for m := range d.Methods {
		var used []float64
		d.count(m, func(c Cell) bool {
			if x := r.observed(c); !math.IsNaN(x) {
				used = append(used, x)
			}
			return true
		})
		slices.Sort(used)
		for i := 1; i <= envelopes && len(used) > 0; i++ {
			all = append(all, used[(len(used)*i+envelopes-1)/envelopes-1])
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 1 && all[0] == 0 { // no trial used any: nothing to limit
		return nil
	}
	return all
}
