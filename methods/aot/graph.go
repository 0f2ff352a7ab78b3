package aot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// graph says which atoms need which in a plan. Atoms are named by their positions,
// from 0, since ids may be wrong.
type graph struct {
	plan  Plan
	index map[int]int // position of the first atom with an id
	needs [][]int     // by position: the atoms that one needs, ascending, without itself
	order []int       // positions such that needs come first; of those free to go, the lowest id first
}

func newGraph(plan Plan) *graph {
	g := &graph{plan: plan, index: make(map[int]int, len(plan.Atoms)), needs: make([][]int, len(plan.Atoms))}
	for i := len(plan.Atoms) - 1; i >= 0; i-- {
		g.index[plan.Atoms[i].ID] = i
	}
	for i, a := range plan.Atoms {
		refs, _ := references(a.Input)
		for _, id := range slices.Concat(a.DependsOn, refs) {
			if need, ok := g.index[id]; ok && need != i {
				g.needs[i] = append(g.needs[i], need)
			}
		}
		slices.Sort(g.needs[i])
		g.needs[i] = slices.Compact(g.needs[i])
	}
	g.sort()
	return g
}

// sort finds the canonical order. Atoms on a cycle, and those that need them,
// have no place in it.
func (g *graph) sort() {
	f := newFrontier(g)
	for len(f.ready) > 0 {
		i := f.pop()
		g.order = append(g.order, i)
		f.ended(i)
	}
}

// frontier is how far a walk along the needs has come.
type frontier struct {
	graph *graph
	open  []int   // by position: how many of an atom's needs have not ended
	users [][]int // the reverse of needs
	ready []int   // the atoms whose needs have ended, highest id first
}

func newFrontier(g *graph) *frontier {
	f := &frontier{graph: g, open: make([]int, len(g.needs)), users: make([][]int, len(g.needs))}
	for i, needs := range g.needs {
		f.open[i] = len(needs)
		for _, need := range needs {
			f.users[need] = append(f.users[need], i)
		}
		if len(needs) == 0 {
			f.ready = append(f.ready, i)
		}
	}
	slices.SortFunc(f.ready, f.later)
	return f
}

// later orders positions by their ids, highest first.
func (f *frontier) later(i, j int) int {
	return cmp.Or(cmp.Compare(f.graph.plan.Atoms[j].ID, f.graph.plan.Atoms[i].ID), cmp.Compare(j, i))
}

// pop takes the ready atom with the lowest id.
func (f *frontier) pop() int {
	last := len(f.ready) - 1
	i := f.ready[last]
	f.ready = f.ready[:last]
	return i
}

// ended makes those ready that needed only this atom.
func (f *frontier) ended(i int) {
	for _, user := range f.users[i] {
		if f.open[user]--; f.open[user] == 0 {
			at, _ := slices.BinarySearchFunc(f.ready, user, f.later)
			f.ready = slices.Insert(f.ready, at, user)
		}
	}
}

// cycles lists at least one cycle of each group of atoms that wait for each
// other, as positions.
func (g *graph) cycles() [][]int {
	stuck := make([]bool, len(g.needs))
	for i := range stuck {
		stuck[i] = true
	}
	for _, i := range g.order {
		stuck[i] = false
	}
	var found [][]int
	seen := make([]int, len(g.needs)) // in which walk, from 1
	for start := range g.needs {
		if !stuck[start] || seen[start] > 0 {
			continue
		}
		// Every stuck atom needs another one, so the walk comes round.
		var walk []int
		i := start
		for ; seen[i] == 0; i = g.needs[i][slices.IndexFunc(g.needs[i], func(n int) bool { return stuck[n] })] {
			seen[i] = start + 1
			walk = append(walk, i)
		}
		if at := slices.Index(walk, i); at >= 0 {
			found = append(found, walk[at:])
		}
	}
	return found
}

// cycleText names a cycle by its ids, from the lowest.
func (g *graph) cycleText(cycle []int) string {
	low := 0
	for k, i := range cycle {
		if g.plan.Atoms[i].ID < g.plan.Atoms[cycle[low]].ID {
			low = k
		}
	}
	var b strings.Builder
	for k := range cycle {
		fmt.Fprintf(&b, "%d needs ", g.plan.Atoms[cycle[(low+k)%len(cycle)]].ID)
	}
	fmt.Fprintf(&b, "%d", g.plan.Atoms[cycle[low]].ID)
	return b.String()
}

// reach marks the atoms that those in from need, directly or not, and those
// in from themselves.
func (g *graph) reach(from ...int) []bool {
	reached := make([]bool, len(g.needs))
	for len(from) > 0 {
		i := from[len(from)-1]
		from = from[:len(from)-1]
		if !reached[i] {
			reached[i] = true
			from = append(from, g.needs[i]...)
		}
	}
	return reached
}
