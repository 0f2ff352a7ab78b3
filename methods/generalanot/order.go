package generalanot

import (
	"slices"
	"strings"
)

// order sorts the steps so that each comes after those that it uses, and is
// else where the seed has it. A cycle is a fault of the list with the steps.
func (c *checker) order(list string, steps []step) []step {
	var sorted []step
	done := make([]bool, len(steps))
	for len(sorted) < len(steps) {
		i := slices.IndexFunc(steps, func(s step) bool {
			return !done[s.at] && !slices.ContainsFunc(s.uses, func(u int) bool { return !done[u] })
		})
		if i < 0 {
			c.circle(list, steps, done)
			return nil
		}
		done[i] = true
		sorted = append(sorted, steps[i])
	}
	return sorted
}

// circle reports one cycle among the steps that are not done. Each of them
// uses another that is not done either, so going on from any leads into one.
func (c *checker) circle(list string, steps []step, done []bool) {
	undone := func(u int) bool { return !done[u] }
	at := slices.Index(done, false)
	var way []int
	for !slices.Contains(way, at) {
		way = append(way, at)
		at = steps[at].uses[slices.IndexFunc(steps[at].uses, undone)]
	}
	var names []string
	for _, i := range append(way[slices.Index(way, at):], at) {
		names = append(names, steps[i].Name)
	}
	c.fault(index(list, at), "the steps use each other in a circle: %s", strings.Join(names, " -> "))
}
