package grammar

import (
	"fmt"
	"math"
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
	switch {
	case n == 0 || a == 0:
		return 0
	case a == impossible:
		return impossible
	case int64(n) > tooLong/a:
		return tooLong
	}
	return int64(n) * a
}

// measure finds every value's extent, and with it what cannot be written at
// all: a schema can contradict itself, or recurse without end.
func (c *compiler) measure() error {
	g := c.g
	for i := range g.values {
		g.values[i].extent = extent{impossible, noHeight}
	}
	for _, o := range g.objects {
		o.height = noHeight
	}
	for _, a := range g.arrays {
		a.height = noHeight
	}
	for level, changed := int32(0), true; changed && level <= g.maxDepth; level++ {
		if err := c.spend(len(g.values) + len(g.objects)); err != nil {
			return err
		}
		changed = g.measureLevel(level)
	}
	if g.values[0].shortest == impossible {
		return fmt.Errorf("%s: no JSON text of up to %d levels satisfies the schema: it contradicts itself or recurses without end", g.values[0].path, g.maxDepth)
	}
	for _, v := range g.values {
		if v.shortest == tooLong {
			return fmt.Errorf("%s: the shortest text that is allowed here has more than %d bytes: lower the minimum", v.path, maxShortest)
		}
	}
	return nil
}

// measureLevel finds the extents of texts that nest up to level deep from those
// up to level-1, and reports whether any has changed.
func (g *Grammar) measureLevel(level int32) (changed bool) {
	shortest := make([]int64, len(g.values))
	for i := range g.values {
		shortest[i] = g.measureValue(&g.values[i], level)
	}
	for i, n := range shortest {
		v := &g.values[i]
		changed = changed || n != v.shortest || level == 0
		v.shortest = n
		if n != impossible && v.height == noHeight {
			v.height = level
		}
	}
	return changed
}

func (g *Grammar) measureValue(v *valueNode, level int32) int64 {
	best := int64(impossible)
	for _, l := range v.lexemes {
		best = min(best, g.lexemes[l].shortest(), tooLong)
	}
	if level == 0 {
		return best
	}
	reach := func(height *int32, n int64) {
		if n != impossible && *height == noHeight {
			*height, g.tallest = level, level
		}
		best = min(best, n)
	}
	for _, id := range v.objects {
		reach(&g.objects[id].height, g.shortestObject(g.objects[id]))
	}
	for _, id := range v.arrays {
		reach(&g.arrays[id].height, g.shortestArray(g.arrays[id]))
	}
	return best
}

// shortestObject is the length of the shortest object, given those of values.
func (g *Grammar) shortestObject(o *object) int64 {
	n := int64(len("{}"))
	for i := o.nextRequired[0]; int(i) < len(o.properties); i = o.nextRequired[i+1] {
		if i > o.nextRequired[0] {
			n = plus(n, int64(len(",")))
		}
		p := &o.properties[i]
		n = plus(n, plus(int64(len(p.spelling)), g.values[p.value].shortest))
	}
	return n
}

// shortestArray is the length of the shortest array, given those of values.
func (g *Grammar) shortestArray(a *array) int64 {
	if a.max >= 0 && a.min > a.max {
		return impossible
	}
	commas := int64(min(max(0, a.min-1), tooLong))
	return plus(int64(len("[]")), plus(commas, times(a.min, g.values[a.item].shortest)))
}
