package grammar

// Shortest returns the shortest bytes that complete the text from here; none
// where it is complete already. A writer that has few tokens left ends with
// them.
func (s State) Shortest() []byte {
	e := ender{g: s.g, known: map[*frame][]byte{}}
	return e.best(s.tops)
}

// ender finds the ends of stacks, each shared frame's once.
type ender struct {
	g     *Grammar
	known map[*frame][]byte
}

// best is the shortest end of several stacks, the first among equals.
func (e *ender) best(tops []*frame) []byte {
	var best []byte
	for i, f := range tops {
		if text := e.frame(f); i == 0 || len(text) < len(best) {
			best = text
		}
	}
	return best
}

// frame is the shortest end from the top frame f on.
func (e *ender) frame(f *frame) []byte {
	if text, ok := e.known[f]; ok {
		return text
	}
	var text []byte
	switch f.phase {
	case phaseDone:
	case phaseLexeme:
		text = e.lexeme(f)
	case phaseExtraName:
		// A name below which this frame lies ends through pop.
	default:
		text = append(e.inner(f.local), e.best(f.parents)...)
	}
	e.known[f] = text
	return text
}

// inner is the shortest end of an object or array, or of the whole value.
func (e *ender) inner(l local) []byte {
	switch l.phase {
	case phaseRoot:
		return e.g.appendValue(nil, 0, e.g.maxDepth, 0)
	case phaseArray, phaseNextItem, phaseAfterItem:
		return e.g.appendItems(nil, l)
	default:
		return e.g.appendProperties(nil, l)
	}
}

// lexeme ends a lexeme in the shortest way and then what is below it.
func (e *ender) lexeme(f *frame) []byte {
	lex := e.g.lexemes[f.ref]
	if lex.name {
		return e.name(f, lex)
	}
	var text []byte
	l := f.local
	if l.used != 0 {
		text = lex.appendUnused(nil, l.at, l.used)
	} else {
		text = lex.appendEnd(nil, l)
	}
	for _, b := range text {
		l, _, _ = lex.step(l, b)
	}
	var out frontier
	e.g.pop(f, l, &out)
	return append(text, e.best(out.tops)...)
}

// appendEnd ends a lexeme without regard to what is used.
func (l *lexeme) appendEnd(dst []byte, at local) []byte {
	if !l.counted {
		return l.appendShortest(dst, at.at)
	}
	begun := len(dst)
	dst = l.appendShortest(dst, at.at)
	if at.need == 0 {
		return dst
	}
	// The fewest bytes to the string's end go through its content, where the
	// missing characters are put before the closing quote.
	dst = dst[:max(begun, len(dst)-1)]
	for range at.need {
		dst = append(dst, ' ')
	}
	return append(dst, '"')
}

// appendUnused writes the shortest rest of a literal that is not used yet.
func (l *lexeme) appendUnused(dst []byte, state int32, used uint64) []byte {
	type at struct {
		state int32
		text  []byte
	}
	for queue := []at{{state, nil}}; len(queue) > 0; {
		s := queue[0]
		queue = queue[1:]
		st := &l.states[s.state]
		if len(s.text) > 0 && st.accept && used>>st.label&1 == 0 {
			return append(dst, s.text...)
		}
		for _, e := range st.edges {
			if l.reach[e.to]&^used != 0 {
				queue = append(queue, at{e.to, append(append([]byte(nil), s.text...), e.lo)})
			}
		}
	}
	return dst
}

// name ends an additional property's name, with as many letters more as it
// takes for the name to be a new one.
func (e *ender) name(f *frame, lex *lexeme) []byte {
	start := f.local
	var before []byte
	for lex.states[start.at].dist > 1 {
		b := lex.appendShortest(nil, start.at)[0]
		before = append(before, b)
		start, _, _ = lex.step(start, b)
	}
	for more := 0; ; more++ {
		l, text := start, append([]byte(nil), before...)
		for n := more; n > 0; n /= 26 {
			b := 'a' + byte(n%26)
			text = append(text, b)
			l, _, _ = lex.step(l, b)
		}
		l, _, _ = lex.step(l, '"')
		var out frontier
		e.g.pop(f, l, &out)
		if len(out.tops) > 0 {
			return append(append(text, '"'), e.best(out.tops)...)
		}
	}
}

// appendValue writes the shortest text of value v that nests at most slack.
func (g *Grammar) appendValue(dst []byte, v, slack int32, used uint64) []byte {
	node := &g.values[v]
	row := func(s int32) []int64 { return g.best[min(int(s), len(g.best)-1)] }
	want := row(slack)[v]
	for _, id := range node.lexemes {
		lex := g.lexemes[id]
		if used != 0 {
			return lex.appendUnused(dst, 0, used)
		}
		if lex.shortest() == want {
			return lex.appendEnd(dst, lex.start(id, 0))
		}
	}
	inner := func(v int32) int64 { return row(slack - 1)[v] }
	for _, id := range node.objects {
		if o := g.objects[id]; o.height <= slack && o.shortest(inner) == want {
			return g.appendProperties(append(dst, '{'), local{phase: phaseObject, ref: id, depth: g.maxDepth - slack + 1})
		}
	}
	for _, id := range node.arrays {
		if a := g.arrays[id]; a.height <= slack && g.shortestArray(a, inner) == want {
			return g.appendItems(append(dst, '['), local{phase: phaseArray, ref: id, depth: g.maxDepth - slack + 1, need: a.min, room: a.max})
		}
	}
	return dst
}

// appendItems ends an array with as few items as it must have.
func (g *Grammar) appendItems(dst []byte, l local) []byte {
	a := g.arrays[l.ref]
	for l.need > 0 || l.phase == phaseNextItem {
		if l.phase == phaseAfterItem {
			dst = append(dst, ',')
		}
		begun := len(dst)
		dst = g.appendValue(dst, a.item(int(l.at)), g.maxDepth-l.depth, l.used)
		if a.unique {
			lex := g.uniqueLiterals(a)
			at := local{}
			for _, b := range dst[begun:] {
				at.at = lex.next(at.at, b)
			}
			l.used |= 1 << lex.states[at.at].label
		}
		l.phase, l.at, l.need = phaseAfterItem, min(l.at+1, int32(len(a.prefix))), max(0, l.need-1)
	}
	return append(dst, ']')
}

// appendProperties ends an object with as few bytes as it takes.
func (g *Grammar) appendProperties(dst []byte, l local) []byte {
	o := g.objects[l.ref]
	slack := g.maxDepth - l.depth
	comma := false
	switch l.phase {
	case phaseAfterValue:
		comma = true
	case phaseColon:
		dst = append(dst, ':')
		dst, comma = g.appendValue(dst, o.additional, slack, 0), true
	case phaseValue:
		dst, comma = g.appendValue(dst, l.key, slack, 0), true
	case phaseName, phaseNextName:
		dst, l.at = g.appendName(dst, l, o)
		comma = true
	}
	for i := o.nextRequired[l.at]; int(i) < len(o.properties); i = o.nextRequired[i+1] {
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		p := &o.properties[i]
		dst = g.appendValue(append(dst, p.spelling...), p.value, slack, 0)
	}
	return append(dst, '}')
}

// appendName finishes or begins the property that costs least in all, with its
// value, and returns the next property.
func (g *Grammar) appendName(dst []byte, l local, o *object) ([]byte, int32) {
	slack := g.maxDepth - l.depth
	row := g.best[min(int(slack), len(g.best)-1)]
	node, written := int32(0), 0
	if l.phase == phaseName {
		node = l.key
		written = o.written(node)
	}
	required := o.nextRequired[l.at]
	best, cost := int32(-1), int64(impossible)
	for _, k := range o.keysAt(node) {
		p := &o.properties[k]
		if k < l.at || k > required || g.values[p.value].height > slack {
			continue
		}
		n := plus(int64(len(p.spelling)-written), row[p.value])
		if k < required && int(required) < len(o.properties) {
			r := &o.properties[required] // this one does not save writing that one
			n = plus(n, plus(int64(1+len(r.spelling)), row[r.value]))
		}
		if n < cost {
			best, cost = k, n
		}
	}
	extra := l.phase == phaseNextName && g.extraNames(l, o)
	if best < 0 || extra && plus(int64(len(`"":`)), row[o.additional]) < cost {
		return g.appendExtra(dst, l, o)
	}
	p := &o.properties[best]
	return g.appendValue(append(dst, p.spelling[written:]...), p.value, slack, 0), best + 1
}

// keysAt lists the properties through a node, at the root all of them.
func (o *object) keysAt(node int32) []int32 {
	if node == 0 {
		if len(o.properties) == 0 {
			return nil
		}
		return o.trie[o.trie[0].edges[0].to].keys
	}
	return o.trie[node].keys
}

// written is how many bytes of a name lead to a node.
func (o *object) written(node int32) int {
	p := &o.properties[o.trie[node].keys[0]]
	at := int32(0)
	for i, b := range p.spelling {
		if at == node {
			return i
		}
		at = o.trie[at].child(b)
	}
	return len(p.spelling)
}

// appendExtra writes an additional property with a short new name.
func (g *Grammar) appendExtra(dst []byte, l local, o *object) ([]byte, int32) {
	for n := 0; ; n++ {
		name := []byte{'"'}
		for k := n; k > 0; k /= 26 {
			name = append(name, 'a'+byte(k%26))
		}
		name = append(name, '"')
		h := hashName(name)
		if _, declared := o.declared[h]; declared || l.names.has(h) {
			continue
		}
		dst = append(append(dst, name...), ':')
		return g.appendValue(dst, o.additional, g.maxDepth-l.depth, 0), int32(len(o.properties))
	}
}
