package compare

import (
	"cmp"
	"math"
	"slices"
)

// Holm corrects the p-values of a family of tests, so that the chance of any
// false finding among them stays below the level that each is compared with.
// An undefined p-value stays undefined and is not a member of the family.
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
