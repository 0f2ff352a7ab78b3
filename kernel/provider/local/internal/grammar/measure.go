package grammar

import (
	"fmt"
	"math"
	"slices"
)

const (
	impossible = math.MaxInt64
	tooLong    = maxShortest + 1
	noHeight   = math.MaxInt32
)

// plus adds lengths, keeping to the two special ones.
func plus(a, b int64) int64 {
	if a == impossible || b == impossible {
		return impossible
	}
	return min(a+b, tooLong)
}

// times is n times a length.
func times(n int, a int64) int64 {
	if n == 0 || a == 0 {
		return 0
	}
	if a == impossible {
		return impossible
	}
	if int64(n) > tooLong/a {
		return tooLong
	}
	return int64(n) * a
}

// measure finds for every value the length of its shortest text under every
// depth that matters. From that follow what can be written at all (a schema
// can contradict itself, or recur without a base case) and how deep it nests.
func (c *compiler) measure() error {
	g := c.g
	for i := range g.values {
		g.values[i].height = noHeight
	}
	for s := 0; s <= int(g.maxDepth); s++ {
		if err := c.spend(c.size()); err != nil {
			return err
		}
		row := make([]int64, len(g.values))
		for i := range g.values {
			row[i] = g.measureValue(i, s)
			if row[i] != impossible && g.values[i].height == noHeight {
				g.values[i].height = int32(s)
			}
		}
		if s > 0 && slices.Equal(row, g.best[s-1]) {
			break
		}
		g.best = append(g.best, row)
	}
	last := g.best[len(g.best)-1]
	if last[0] == impossible {
		return fmt.Errorf("%s: no JSON text of up to %d levels satisfies the schema: it contradicts itself, or it recurs without an end", g.values[0].path, g.maxDepth)
	}
	for i, n := range last {
		if n == tooLong {
			return fmt.Errorf("%s: the shortest text that is allowed here has more than %d bytes; lower the minimum", g.values[i].path, maxShortest)
		}
	}
	g.settle(last)
	if err := c.checkUnique(); err != nil {
		return err
	}
	g.limited = g.nesting() > int(g.maxDepth)
	return nil
}

// size is roughly how many steps one round of measuring takes.
func (c *compiler) size() int {
	n := len(c.g.values)
	for _, o := range c.g.objects {
		n += len(o.properties)
	}
	for _, a := range c.g.arrays {
		n += len(a.prefix)
	}
	return n
}

// measureValue is the shortest length of value i within s levels, given those
// within s-1.
func (g *Grammar) measureValue(i, s int) int64 {
	v := &g.values[i]
	best := int64(impossible)
	for _, l := range v.lexemes {
		best = min(best, min(g.lexemes[l].shortest(), tooLong))
	}
	if s == 0 {
		return best
	}
	inner := func(v int32) int64 { return g.best[s-1][v] }
	for _, id := range v.objects {
		o := g.objects[id]
		n := o.shortest(inner)
		if n != impossible && o.height == 0 {
			o.height = int32(s)
		}
		best = min(best, n)
	}
	for _, id := range v.arrays {
		a := g.arrays[id]
		n := g.shortestArray(a, inner)
		if n != impossible && a.height == 0 {
			a.height = int32(s)
		}
		best = min(best, n)
	}
	return best
}

// shortest is the length of the shortest object, given that of values.
func (o *object) shortest(inner func(int32) int64) int64 {
	n := int64(len("{}"))
	first := true
	for i := range o.properties {
		p := &o.properties[i]
		if !p.required {
			continue
		}
		if !first {
			n = plus(n, 1)
		}
		first = false
		n = plus(n, plus(int64(len(p.spelling)), inner(p.value)))
	}
	return n
}

// shortestArray is the length of the shortest array, given that of values.
func (g *Grammar) shortestArray(a *array, inner func(int32) int64) int64 {
	if a.max >= 0 && a.min > a.max {
		return impossible
	}
	n := plus(int64(len("[]")), int64(min(max(0, a.min-1), tooLong)))
	for i := range min(a.min, len(a.prefix)) {
		n = plus(n, inner(a.prefix[i]))
	}
	more := max(0, a.min-len(a.prefix))
	if l := g.uniqueLiterals(a); l != nil {
		if more > l.literals {
			return impossible
		}
		for _, length := range l.lengths()[:more] {
			n = plus(n, length)
		}
		return n
	}
	return plus(n, times(more, inner(a.rest)))
}

// uniqueLiterals returns the literals that an array of distinct items draws
// from, or nil when its items need not be distinct or cannot be told apart.
func (g *Grammar) uniqueLiterals(a *array) *lexeme {
	v := &g.values[a.rest]
	if !a.unique || len(a.prefix) > 0 || len(v.lexemes) != 1 || len(v.objects)+len(v.arrays) > 0 {
		return nil
	}
	if l := g.lexemes[v.lexemes[0]]; l.literals > 0 && l.reach != nil {
		return l
	}
	return nil
}

// lengths lists the literals' lengths, ascending.
func (l *lexeme) lengths() []int64 {
	var out []int64
	type at struct {
		state int32
		n     int64
	}
	for stack := []at{{}}; len(stack) > 0; {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if l.states[top.state].accept {
			out = append(out, top.n)
		}
		for _, e := range l.states[top.state].edges {
			stack = append(stack, at{e.to, top.n + 1})
		}
	}
	slices.Sort(out)
	return out
}

// settle writes what is impossible into the grammar: arrays end before an item
// that cannot be, and objects have no additional properties without a value.
func (g *Grammar) settle(last []int64) {
	for _, a := range g.arrays {
		for i, id := range a.prefix {
			if last[id] == impossible {
				a.max = lower(a.max, i)
				break
			}
		}
		if last[a.rest] == impossible {
			a.max = lower(a.max, len(a.prefix))
		}
		if l := g.uniqueLiterals(a); l != nil {
			a.max = lower(a.max, l.literals)
		}
	}
	for _, o := range g.objects {
		if o.height == 0 {
			o.height = noHeight
		}
	}
	for _, a := range g.arrays {
		if a.height == 0 {
			a.height = noHeight
		}
	}
}

// checkUnique refuses uniqueItems where it cannot be kept.
func (c *compiler) checkUnique() error {
	for i := range c.g.values {
		for _, id := range c.g.values[i].arrays {
			a := c.g.arrays[id]
			if a.max == 0 || a.max == 1 {
				a.unique = false
			}
			if a.unique && c.g.uniqueLiterals(a) == nil {
				return fmt.Errorf("%s/uniqueItems: only supported for items with an enum of up to %d values and without prefixItems", c.g.values[i].path, maxUnique)
			}
		}
	}
	return nil
}

// nesting is how deep the grammar's texts can nest, without regard to
// maxDepth; recursion counts as deeper than any.
func (g *Grammar) nesting() int {
	const open = -1
	depth := make([]int, len(g.values)) // 0 is unknown, else one more than the depth
	type frame struct {
		value    int32
		children []int32
		next     int
		deepest  int
	}
	stack := []frame{{value: 0, children: g.children(0)}}
	depth[0] = open
	for {
		top := &stack[len(stack)-1]
		if top.next < len(top.children) {
			child := top.children[top.next]
			top.next++
			switch depth[child] {
			case open:
				return math.MaxInt
			case 0:
				depth[child] = open
				stack = append(stack, frame{value: child, children: g.children(child)})
			default:
				top.deepest = max(top.deepest, depth[child])
			}
			continue
		}
		d := 1
		if v := &g.values[top.value]; len(v.objects)+len(v.arrays) > 0 {
			d = max(top.deepest, 1) + 1
		}
		depth[top.value] = d
		stack = stack[:len(stack)-1]
		if len(stack) == 0 {
			return d - 1
		}
		up := &stack[len(stack)-1]
		up.deepest = max(up.deepest, d)
	}
}

// children lists the values that stand directly within value v.
func (g *Grammar) children(v int32) []int32 {
	var out []int32
	add := func(id int32) {
		if id >= 0 && g.values[id].height < noHeight {
			out = append(out, id)
		}
	}
	for _, id := range g.values[v].objects {
		for _, p := range g.objects[id].properties {
			add(p.value)
		}
		add(g.objects[id].additional)
	}
	for _, id := range g.values[v].arrays {
		for _, p := range g.arrays[id].prefix {
			add(p)
		}
		add(g.arrays[id].rest)
	}
	return out
}
