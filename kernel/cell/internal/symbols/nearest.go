package symbols

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// nearest picks at most n of the names that someone may have meant: those that
// end in the same word, and those a few letters away.
func nearest(name string, names []string, n int) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, other := range names {
		d := distance(strings.ToLower(name), strings.ToLower(other))
		switch {
		case path.Base(other) == path.Base(name):
			d = min(d, 1)
		case path.Base(other) == name || path.Base(name) == other:
			d = 0
		}
		if d <= 1+len(name)/4 {
			found = append(found, candidate{other, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var best []string
	for _, c := range found[:min(n, len(found))] {
		best = append(best, c.name)
	}
	return best
}

// distance is how many letters to put in, leave out, exchange or swap with
// their neighbour. Names of more than 100 bytes are far from everything, so
// that a hostile one costs nothing.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return 100
	}
	var before []int // the row before the last
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			same := 0
			if a[i-1] != b[j-1] {
				same = 1
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
