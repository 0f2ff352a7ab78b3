package compare

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

// exchanged is the test by exchange of the methods' names, and the interval that it gives.
// Its null hypothesis is that the methods answer alike: that on each unit either could have
// scored what the other did. Then each of the exchanges of some units' names is as likely
// as the data, for every number of units (Fisher 1935, "The Design of Experiments", §21).
// It is stricter than equal means: where one method gains little on most samples and
// loses much on a few, methods of equal mean are told apart.
//
// If the truth is m, exchanging a set of units does not lower the sum of differences from m
// just if the set's own mean is m or less. So the p-value counts the means of random sets
// below 0, and the interval's ends are order statistics of these means (Hartigan 1969, "Using
// subsample values as typical values").
type exchanged struct {
	bounded
	units   int
	subsets []float64 // means of the sets, in rising order
	empty   int       // sets without a unit, which speak against everything
}

// exchanges is how many random sets there are.
const exchanges = 9999

// exchanged draws the sets. Units are sorted by what they differ by, for the one of the two
// methods with which that order is the larger, so that neither order nor names matter.
func (p pairing) exchanged() exchanged {
	e := exchanged{bounded: p.bounded(), units: p.units}
	units, sign := p.sorted(1), 1.0
	if back := p.sorted(-1); slices.CompareFunc(units, back, unit.compare) < 0 {
		units, sign = back, -1
	}
	random := stream(0, "exchange")
	for range exchanges {
		var sum, size float64
		bits := uint64(0)
		for i, u := range units {
			if i%64 == 0 {
				bits = random.Uint64()
			}
			if bits>>(i%64)&1 == 1 {
				sum, size = sum+u.sum, size+u.size
			}
		}
		if size == 0 {
			e.empty++
		} else {
			e.subsets = append(e.subsets, sign*sum/size)
		}
	}
	slices.Sort(e.subsets)
	return e
}

// sorted are the units in the order of their sums, which sign turns around.
func (p pairing) sorted(sign float64) []unit {
	units := unitsOf(p.d, p.unit, p.units, 1)
	for i := range units {
		units[i].sum *= sign
	}
	slices.SortFunc(units, unit.compare)
	return units
}

func (u unit) compare(v unit) int {
	return cmp.Or(cmp.Compare(u.sum, v.sum), cmp.Compare(u.size, v.size))
}

// pValue is twice the smaller share of sets, that of all data included, whose mean is 0 or
// on the other side.
func (e exchanged) pValue() float64 {
	from, _ := slices.BinarySearch(e.subsets, 0) // the means below 0
	to := from
	for to < len(e.subsets) && e.subsets[to] == 0 {
		to++
	}
	rarer := 1 + e.empty + min(to, len(e.subsets)-from)
	return min(1, 2*float64(rarer)/(exchanges+1))
}

func (e exchanged) interval(level float64) (low, high float64) {
	at := int((1-level)/2*(exchanges+1)*(1+1e-12)) - e.empty
	if at < 1 {
		return -1, 1
	}
	return e.subsets[at-1], e.subsets[len(e.subsets)-at]
}

func (e exchanged) decides(alpha float64) bool {
	return alpha*(exchanges+1) >= 2 && math.Exp2(float64(1-e.units)) <= alpha
}

func (e exchanged) detectable(alpha float64) float64 {
	low, high := e.interval(1 - alpha)
	if d := (high-low)/2 + student(e.df).Quantile(Power)*e.se; d <= e.bound && e.decides(alpha) {
		return d
	}
	return math.NaN()
}

func (exchanged) names() (interval, test string) { return "exchange of names", "exchange of names" }

// stream is the source of random numbers for one purpose.
func stream(seed uint64, names ...string) *rand.Rand {
	h := fnv.New64a()
	for _, n := range names {
		h.Write([]byte(n)) // never fails
		h.Write([]byte{0})
	}
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
