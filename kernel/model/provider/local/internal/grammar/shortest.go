package grammar

// Shortest returns the shortest bytes that complete the text from here; none
// where it is complete already. A writer that has few tokens left ends with
// them. Only where the limit on depth rules the shortest out is it longer than
// it need be.
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
	case phaseDone, phaseExtraName: // a name's lexeme goes on through pop
	case phaseLexeme:
		text = e.lexeme(f)
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
		return e.g.appendValue(nil, 0, e.g.maxDepth)
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
	return append(lex.appendEnd(nil, f.local), e.best(f.parents)...)
}

func (l *lexeme) appendEnd(dst []byte, at local) []byte {
	begun := len(dst)
	dst = l.appendShortest(dst, at.at)
	if !l.counted || at.need == 0 {
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
		l, rest := start, append(letters(more), '"')
		for _, b := range rest {
			l, _, _ = lex.step(l, b)
		}
		var out frontier
		e.g.pop(f.parents, l, &out)
		if len(out.tops) > 0 {
			return append(append(before, rest...), e.best(out.tops)...)
		}
	}
}

// letters is the nth text of letters, shorter ones first.
func letters(n int) (text []byte) {
	for ; n > 0; n /= 26 {
		text = append(text, 'a'+byte(n%26))
	}
	return text
}

// appendValue writes the shortest text of value v, choosing among the kinds
// that fit slack levels.
func (g *Grammar) appendValue(dst []byte, v, slack int32) []byte {
	node := &g.values[v]
	best, write := impossible, func() []byte { return dst }
	for _, id := range node.lexemes {
		if lex := g.lexemes[id]; lex.shortest() < best {
			best, write = lex.shortest(), func() []byte { return lex.appendEnd(dst, lex.start(id)) }
		}
	}
	depth := g.maxDepth - slack + 1
	for _, id := range node.objects {
		if o := g.objects[id]; o.height <= slack && g.shortestObject(o) < best {
			best, write = g.shortestObject(o), func() []byte {
				return g.appendProperties(append(dst, '{'), local{phase: phaseObject, ref: id, depth: depth})
			}
		}
	}
	for _, id := range node.arrays {
		if a := g.arrays[id]; a.height <= slack && g.shortestArray(a) < best {
			best, write = g.shortestArray(a), func() []byte {
				return g.appendItems(append(dst, '['), local{phase: phaseArray, ref: id, depth: depth, need: a.min})
			}
		}
	}
	return write()
}

// appendItems ends an array with as few items as it must have.
func (g *Grammar) appendItems(dst []byte, l local) []byte {
	for l.need > 0 || l.phase == phaseNextItem {
		if l.phase == phaseAfterItem {
			dst = append(dst, ',')
		}
		dst = g.appendValue(dst, g.arrays[l.ref].item, g.maxDepth-l.depth)
		l.phase, l.need = phaseAfterItem, max(0, l.need-1)
	}
	return append(dst, ']')
}

// appendProperties ends an object with as few bytes as it takes.
func (g *Grammar) appendProperties(dst []byte, l local) []byte {
	o := g.objects[l.ref]
	slack := g.maxDepth - l.depth
	comma := l.phase != phaseObject
	switch l.phase {
	case phaseColon:
		dst = g.appendValue(append(dst, ':'), o.additional, slack)
	case phaseValue:
		dst = g.appendValue(dst, l.key, slack)
	case phaseName, phaseNextName:
		dst, l.at = g.appendName(dst, l, o)
	}
	for i := o.nextRequired[l.at]; int(i) < len(o.properties); i = o.nextRequired[i+1] {
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		p := &o.properties[i]
		dst = g.appendValue(append(dst, p.spelling...), p.value, slack)
	}
	return append(dst, '}')
}

// appendName finishes or begins the property that costs least in all, with its
// value, and returns the next property.
func (g *Grammar) appendName(dst []byte, l local, o *object) ([]byte, int32) {
	slack := g.maxDepth - l.depth
	node := &o.trie[0]
	if l.phase == phaseName {
		node = &o.trie[l.key]
	}
	required := o.nextRequired[l.at]
	best, cost := int32(-1), impossible
	for _, k := range node.keys {
		if k < l.at || k > required || g.values[o.properties[k].value].height > slack {
			continue
		}
		n := g.shortestProperty(o, k)
		if k < required && int(required) < len(o.properties) {
			n += 1 + g.shortestProperty(o, required) // this one does not save writing that one
		}
		if n < cost {
			best, cost = k, n
		}
	}
	extra := l.phase == phaseNextName && g.extraNames(l, o)
	if best < 0 || extra && float64(len(`"":`))+g.values[o.additional].shortest < cost {
		return g.appendExtra(dst, l, o)
	}
	p := &o.properties[best]
	return g.appendValue(append(dst, p.spelling[node.depth:]...), p.value, slack), best + 1
}

// appendExtra writes an additional property with a short new name.
func (g *Grammar) appendExtra(dst []byte, l local, o *object) ([]byte, int32) {
	for n := 0; ; n++ {
		name := append(append([]byte{'"'}, letters(n)...), '"')
		if h := hashName(name); !o.declared[h] && !l.names.has(h) {
			dst = append(append(dst, name...), ':')
			return g.appendValue(dst, o.additional, g.maxDepth-l.depth), int32(len(o.properties))
		}
	}
}
