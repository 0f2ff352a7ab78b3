package grammar

import (
	"fmt"
	"math"
)

const noHeight = math.MaxInt32

// impossible is the length of what cannot be written.
var impossible = math.Inf(1)

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
		if v.shortest > maxShortest && v.shortest != impossible {
			return fmt.Errorf("%s: the shortest text that is allowed here has more than %d bytes: lower the minimum", v.path, maxShortest)
		}
	}
	return nil
}

// measureLevel finds the extents of texts that nest up to level deep from those
// up to level-1, and reports whether any has changed.
func (g *Grammar) measureLevel(level int32) (changed bool) {
	shortest := make([]float64, len(g.values))
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

func (g *Grammar) measureValue(v *valueNode, level int32) float64 {
	best := impossible
	for _, l := range v.lexemes {
		best = min(best, g.lexemes[l].shortest())
	}
	if level == 0 {
		return best
	}
	reach := func(height *int32, n float64) {
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
func (g *Grammar) shortestObject(o *object) float64 {
	n := float64(len("{}"))
	for i := o.nextRequired[0]; int(i) < len(o.properties); i = o.nextRequired[i+1] {
		if i > o.nextRequired[0] {
			n += float64(len(","))
		}
		n += g.shortestProperty(o, i)
	}
	return n
}

// shortestProperty is the length of a name and its shortest value.
func (g *Grammar) shortestProperty(o *object, i int32) float64 {
	p := &o.properties[i]
	return float64(len(p.spelling)) + g.values[p.value].shortest
}

// shortestArray is the length of the shortest array, given those of values.
func (g *Grammar) shortestArray(a *array) float64 {
	switch {
	case a.max >= 0 && a.min > a.max:
		return impossible
	case a.min == 0:
		return float64(len("[]"))
	}
	return float64(len("[]")+a.min-1) + float64(a.min)*g.values[a.item].shortest
}
