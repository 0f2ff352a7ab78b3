package grammar

import "slices"

// stepArray reads a byte of an array's own.
func (g *Grammar) stepArray(f *frame, b byte, out *frontier) {
	if b == ']' && f.phase != phaseNextItem {
		if f.need == 0 {
			f.end(out)
		}
		return
	}
	a := g.arrays[f.ref]
	if f.room == 0 || g.values[a.item].height > g.maxDepth-f.depth {
		return
	}
	next := f.local
	if f.phase == phaseAfterItem {
		if b == ',' {
			next.phase = phaseNextItem
			out.add(next, f.parents)
		}
		return
	}
	next.phase = phaseAfterItem
	next.need = max(0, next.need-1)
	next.room = max(-1, next.room-1)
	g.beginValue(f, a.item, []*frame{{next, f.parents}}, b, out)
}

// end closes an array or object.
func (f *frame) end(out *frontier) {
	for _, p := range f.parents {
		out.addFrame(p)
	}
}

// stepObject reads a byte of an object's own.
func (g *Grammar) stepObject(f *frame, b byte, out *frontier) {
	o := g.objects[f.ref]
	next := f.local
	switch f.phase {
	case phaseObject, phaseAfterValue:
		switch {
		case b == '}':
			if o.complete(f.at) {
				f.end(out)
			}
		case f.phase == phaseObject:
			g.beginName(f, o, b, out)
		case b == ',' && g.moreNames(f.local, o):
			next.phase = phaseNextName
			out.add(next, f.parents)
		}
	case phaseNextName:
		g.beginName(f, o, b, out)
	case phaseName:
		next.key = o.trie[f.key].child(b)
		if next.key < 0 || !g.offered(f.local, o, next.key) {
			return
		}
		if end := o.trie[next.key].end; end >= 0 {
			next.phase, next.at, next.key = phaseValue, end+1, o.properties[end].value
		}
		out.add(next, f.parents)
	case phaseColon:
		if b == ':' {
			next.phase, next.key = phaseValue, o.additional
			out.add(next, f.parents)
		}
	case phaseValue:
		next.phase, next.key = phaseAfterValue, 0
		g.beginValue(f, f.key, []*frame{{next, f.parents}}, b, out)
	}
}

// complete says whether no required property is left from the one at on.
func (o *object) complete(at int32) bool { return int(o.nextRequired[at]) == len(o.properties) }

// beginName starts a name with b, the quote.
func (g *Grammar) beginName(f *frame, o *object, b byte, out *frontier) {
	if b != '"' {
		return
	}
	next := f.local
	if node := o.trie[0].child(b); node >= 0 && g.offered(f.local, o, node) {
		next.phase, next.key = phaseName, node
		out.add(next, f.parents)
	}
	if g.extraNames(f.local, o) {
		next = f.local
		next.phase, next.at = phaseExtraName, int32(len(o.properties))
		names := g.lexemes[g.names]
		l, _, _ := names.step(names.start(g.names), b)
		out.add(l, []*frame{{next, f.parents}})
	}
}

// moreNames says whether another property can follow.
func (g *Grammar) moreNames(l local, o *object) bool {
	return g.extraNames(l, o) || g.offered(l, o, 0)
}

// extraNames says whether an additional property can follow.
func (g *Grammar) extraNames(l local, o *object) bool {
	return o.additional >= 0 && o.complete(l.at) && g.values[o.additional].height <= g.maxDepth-l.depth
}

// offered says whether a property that goes through the trie's node can
// follow: not an earlier one, not one past a required one, and one whose value
// still fits.
func (g *Grammar) offered(l local, o *object, node int32) bool {
	keys := o.trie[node].keys
	from, _ := slices.BinarySearch(keys, l.at)
	for _, k := range keys[from:] {
		if k > o.nextRequired[l.at] {
			return false
		}
		if g.values[o.properties[k].value].height <= g.maxDepth-l.depth {
			return true
		}
	}
	return false
}
