package aot

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// graph is who needs whom in a plan. Atoms are named by their positions,
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

// users is the reverse of needs.
func (g *graph) users() [][]int {
	users := make([][]int, len(g.needs))
	for i, needs := range g.needs {
		for _, need := range needs {
			users[need] = append(users[need], i)
		}
	}
	return users
}

// sort finds the canonical order. Atoms on a cycle, and those that need them,
// have no place in it.
func (g *graph) sort() {
	users := g.users()
	open := make([]int, len(g.needs))
	ready := &byID{plan: g.plan}
	for i, needs := range g.needs {
		if open[i] = len(needs); open[i] == 0 {
			ready.list = append(ready.list, i)
		}
	}
	heap.Init(ready)
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		g.order = append(g.order, i)
		for _, user := range users[i] {
			if open[user]--; open[user] == 0 {
				heap.Push(ready, user)
			}
		}
	}
}

// byID is a heap of positions with the lowest id on top.
type byID struct {
	plan Plan
	list []int
}

func (h *byID) Len() int { return len(h.list) }
func (h *byID) Less(i, j int) bool {
	a, b := h.plan.Atoms[h.list[i]].ID, h.plan.Atoms[h.list[j]].ID
	return a < b || a == b && h.list[i] < h.list[j]
}
func (h *byID) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *byID) Push(x any)    { h.list = append(h.list, x.(int)) }
func (h *byID) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
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
