package compare

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// test is the two-sided p-value of no difference between the methods, and the
// test's name. Both tests are exact, so that few samples cannot make them
// claim too much; p is NaN without samples.
func (p pairing) test(random *rand.Rand) (pValue float64, name string) {
	switch {
	case len(p.d) == 0:
		return math.NaN(), ""
	case p.matched():
		wins, losses, _ := p.sides()
		return McNemar(wins, losses), "exact McNemar"
	}
	pValue, exact := signFlip(p.sums(p.d), random)
	name = "sign flip"
	if p.clustered() {
		name += " of clusters"
	}
	if exact {
		return pValue, name + ", all flips"
	}
	return pValue, name + ", 9,999 random flips"
}

// McNemar is the exact two-sided p-value of no difference between two methods
// on matched samples, of which wins were got right by the first alone and
// losses by the second alone: twice the smaller tail of the binomial.
//
// Source: McNemar 1947, "Note on the sampling error of the difference between
// correlated proportions or percentages", in its exact, conditional form.
func McNemar(wins, losses int) float64 {
	if wins == losses {
		return 1
	}
	coin := distuv.Binomial{N: float64(wins + losses), P: 0.5}
	return min(1, 2*coin.CDF(float64(min(wins, losses))))
}

const (
	allFlips    = 24   // units up to which every flip is tried: 2^24
	randomFlips = 9999 // flips tried of more units
)

// signFlip is the two-sided p-value that sums, one per independent unit, are
// spread around 0: the share of the ways to flip their signs that give a total
// at least as far from 0. With more than allFlips units that differ from 0 it
// is estimated from random flips, counting the observed one among them.
//
// Sources: Fisher 1935, "The Design of Experiments", §21; Phipson and Smyth
// 2010, "Permutation p-values should never be zero". On 0/1 outcomes of
// independent samples it is McNemar's exact test.
func signFlip(sums []float64, random *rand.Rand) (pValue float64, exact bool) {
	moved := slices.DeleteFunc(slices.Clone(sums), func(s float64) bool { return s == 0 })
	var observed, scale float64
	for _, s := range moved {
		observed += s
		scale += math.Abs(s)
	}
	limit := math.Abs(observed) - 1e-9*scale // what rounding cannot tell apart counts
	if len(moved) <= allFlips {
		return everyFlip(moved, limit), true
	}
	return drawnFlips(moved, limit, random), false
}

// everyFlip goes over all flips as pairs of flips of two halves. With those of
// one half sorted, each flip of the other finds its partners by bisection.
func everyFlip(moved []float64, limit float64) float64 {
	left, right := flips(moved[:len(moved)/2]), flips(moved[len(moved)/2:])
	slices.Sort(right)
	far := 0
	for _, l := range left {
		above := sort.Search(len(right), func(i int) bool { return l+right[i] >= limit })
		below := sort.Search(above, func(i int) bool { return l+right[i] > -limit })
		far += len(right) - above + below
	}
	return float64(far) / float64(len(left)*len(right))
}

// flipBlock has the totals of the flips of eight units in each row, so that a
// random flip of 64 units costs one random number and eight additions.
type flipBlock [8][256]float64

func (b *flipBlock) total(bits uint64) float64 {
	return b[0][uint8(bits)] + b[1][uint8(bits>>8)] + b[2][uint8(bits>>16)] + b[3][uint8(bits>>24)] +
		(b[4][uint8(bits>>32)] + b[5][uint8(bits>>40)] + b[6][uint8(bits>>48)] + b[7][uint8(bits>>56)])
}

func drawnFlips(moved []float64, limit float64, random *rand.Rand) float64 {
	blocks := make([]flipBlock, (len(moved)+63)/64)
	padded := make([]float64, 64*len(blocks)) // units of 0 change no total
	copy(padded, moved)
	for i := range blocks {
		for row := range blocks[i] {
			copy(blocks[i][row][:], flips(padded[64*i+8*row:][:8]))
		}
	}
	far := 1
	for range randomFlips {
		var total float64
		for i := range blocks {
			total += blocks[i].total(random.Uint64())
		}
		if math.Abs(total) >= limit {
			far++
		}
	}
	return float64(far) / (randomFlips + 1)
}

// flips lists the totals of all 2^n choices of signs.
func flips(values []float64) []float64 {
	totals := []float64{0}
	for _, v := range values {
		n := len(totals)
		for _, t := range totals[:n:n] {
			totals = append(totals, t+v)
		}
		for i := range n {
			totals[i] -= v
		}
	}
	return totals
}

// Holm corrects the p-values of a family of tests, so that the chance of any
// false finding among them stays below the level that each is compared with.
// An undefined p-value stays undefined and is no member of the family.
//
// Source: Holm 1979, "A simple sequentially rejective multiple test procedure".
func Holm(ps []float64) []float64 {
	var order []int
	adjusted := make([]float64, len(ps))
	for i, p := range ps {
		adjusted[i] = math.NaN()
		if finite(p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ps[i], ps[j]) })
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(order)-rank)*ps[i]))
		adjusted[i] = highest
	}
	return adjusted
}
