package methods

import (
	"fmt"
	"strings"
)

// DidYouMean is ", did you mean X?" for the name among known that is nearest to
// a mistyped one, or "" when none is near. Of equally near ones it is the first in
// the alphabet, whatever their order: prompts may quote it.
func DidYouMean(name string, known []string) string {
	best, distance := "", max(2, len(name)/3)+1
	for _, k := range known {
		d := editDistance(strings.ToLower(name), strings.ToLower(k))
		if d < distance || best != "" && d == distance && k < best {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// editDistance counts the inserted, deleted, replaced and swapped bytes between
// two names (optimal string alignment).
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
