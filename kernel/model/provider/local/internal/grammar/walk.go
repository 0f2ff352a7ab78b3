package grammar

import "slices"

// walker goes through a vocabulary's trie along with the stacks.
type walker struct {
	g       *Grammar
	v       *Vocab
	allowed []bool
	name    bool    // the frame at the walk's start is a name; its object decides about its end
	exits   []int32 // where the frame at the walk's start ended
}

// leave goes on with the tokens in whose middle f, whose key is given, ends.
func (w *walker) leave(key maskKey, f *frame, exits []int32) {
	if len(exits) == 0 {
		return
	}
	if w.g.isName(f.local) {
		w.leaveName(f, exits)
		return
	}
	for _, p := range f.parents {
		key.parent = w.g.noticed(w.v, p.local)
		m := w.g.mask(key, p.local, exits)
		m.allow(w.allowed)
		if len(m.exits) == 0 {
			continue
		}
		var out frontier
		p.end(&out)
		for _, node := range m.exits {
			w.walk(node, out.tops)
		}
	}
}

// leaveName is leave for a name, whose object decides whether it is a new one.
func (w *walker) leaveName(f *frame, exits []int32) {
	for _, node := range exits {
		l := f.local
		for _, b := range w.v.text(node) {
			l.hash = nextHash(l.hash, b)
		}
		if !slices.ContainsFunc(f.parents, func(p *frame) bool { return !w.g.knownName(p, l.hash) }) {
			continue
		}
		w.mark(node)
		if w.v.child(node, ':') > 0 { // seldom, so frames are made seldom
			var out frontier
			w.g.pop(f.parents, l, &out)
			w.walk(node, out.tops)
		}
	}
}

// mark allows the tokens that end at node.
func (w *walker) mark(node int32) {
	n := &w.v.nodes[node]
	for i := n.lo; i < n.hi; i++ {
		w.allowed[w.v.order[i]] = true
	}
}

// walk marks the tokens below node that the stacks can take.
func (w *walker) walk(node int32, tops []*frame) {
	if len(tops) == 1 && tops[0].phase == phaseLexeme {
		w.walkLexeme(node, tops[0], tops[0].local, w.g.lexemes[tops[0].ref])
		return
	}
	for child := node + 1; child < w.v.nodes[node].skip; child = w.v.nodes[child].skip {
		var out frontier
		for _, f := range tops {
			w.g.step(f, w.v.nodes[child].b, &out)
		}
		w.arrive(child, out.tops)
	}
}

// arrive takes up the stacks after a node's byte.
func (w *walker) arrive(node int32, tops []*frame) {
	if i := slices.IndexFunc(tops, func(f *frame) bool { return f.phase == phaseExit }); i >= 0 {
		tops = slices.Delete(tops, i, i+1)
		w.exit(node)
	}
	if len(tops) == 0 {
		return
	}
	w.mark(node)
	if !w.v.leaf(node) {
		w.walk(node, tops)
	}
}

// exit notes that the walk's first frame ends at node.
func (w *walker) exit(node int32) {
	if !w.name {
		w.mark(node)
		if w.v.leaf(node) {
			return
		}
	}
	w.exits = append(w.exits, node)
}

// walkLexeme is walk within one lexeme, in the state l; it makes no frames.
func (w *walker) walkLexeme(node int32, f *frame, l local, lex *lexeme) {
	for child := node + 1; child < w.v.nodes[node].skip; child = w.v.nodes[child].skip {
		next, alive, done := lex.step(l, w.v.nodes[child].b)
		if done {
			var out frontier
			w.g.pop(f.parents, next, &out)
			w.arrive(child, out.tops)
		}
		if alive {
			w.mark(child)
			if !w.v.leaf(child) {
				w.walkLexeme(child, f, next, lex)
			}
		}
	}
}
