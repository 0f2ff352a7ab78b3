package compare

import (
	"cmp"
	"math"
	"slices"
)

// chance is how often so many looks name a false winner.
type chance struct {
	looks int
	share float64
}

// falseWinners is how often at least one of several looks at growing data names a
// winner of equally good methods: the largest share that TestFalseWinners finds, over the
// kinds of measures and over looks after each 10, 20 or 50 samples and each doubling.
func falseWinners() []chance {
	return []chance{
		{1, 0.05}, {2, 0.08}, {3, 0.11}, {4, 0.14}, {5, 0.16}, {6, 0.19}, {8, 0.24}, {10, 0.30}, {20, 0.30}, {50, 0.31}, {100, 0.36}, {MaxLooks, 0.51},
	}
}

// falseWinner is that of all looks. Looks at other draws, at other samples or at more
// than twice the samples are taken for independent, which is the worst case.
func falseWinner(all []Look) float64 {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Look) int {
		return cmp.Or(cmp.Compare(a.Series, b.Series), cmp.Compare(a.Samples, b.Samples), cmp.Compare(a.Trials, b.Trials))
	})
	none, looks := 1.0, 0
	for i, l := range all {
		looks++
		if i+1 < len(all) && looks < MaxLooks {
			if next := all[i+1]; next.Series == l.Series && l.grewInto(next) {
				continue
			}
		}
		at := slices.IndexFunc(falseWinners(), func(c chance) bool { return c.looks >= looks })
		none *= 1 - falseWinners()[at].share
		looks = 0
	}
	return math.Round(1e4*(1-none)) / 1e4
}

// grewInto reports whether next has the data of l and at most as many again: further
// samples, or trials that the infrastructure had failed.
func (l Look) grewInto(next Look) bool {
	more := next.Samples > l.Samples || next.Samples == l.Samples && next.Trials > l.Trials && next.Trials <= 2*l.Trials
	return more && next.Samples <= 2*l.Samples
}
