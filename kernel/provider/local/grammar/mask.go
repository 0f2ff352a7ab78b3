package grammar

import "slices"

// maxHeld bounds the masks that a grammar keeps, in bytes.
const maxHeld = 64 << 20

// maskKey is all that a frame's mask depends on when nothing below the frame
// is looked at.
type maskKey struct {
	v     *Vocab
	frame local
	asks  bool
}

// baseMask is the part of a mask that a frame decides alone: the tokens that
// stay within it, and the places in the vocabulary where it ends and what is
// below decides.
type baseMask struct {
	few   []int32 // the allowed tokens, when all is nil
	all   []bool
	exits []int32
}

// Mask sets allowed[i] for every token i of the vocabulary to whether it can
// follow, and says whether the text so far is a complete value. allowed has an
// element for each token. Some token can follow, or the text can end, as long
// as the vocabulary has every single byte.
func (s State) Mask(v *Vocab, allowed []bool) (canEnd bool) {
	allowed = allowed[:v.n]
	clear(allowed)
	w := walker{g: s.g, v: v, allowed: allowed}
	for i, f := range s.tops {
		if f.phase == phaseDone {
			continue
		}
		base := s.g.base(v, f)
		switch {
		case base.all == nil:
			for _, t := range base.few {
				allowed[t] = true
			}
		case i == 0:
			copy(allowed, base.all)
		default:
			for t, ok := range base.all {
				allowed[t] = allowed[t] || ok
			}
		}
		w.leave(f, base.exits)
	}
	return s.CanEnd()
}

// leave goes on with the tokens in whose middle f ends.
func (w *walker) leave(f *frame, exits []int32) {
	if len(exits) == 0 {
		return
	}
	if f.asksBelow() {
		for _, node := range exits {
			l := f.local
			for _, b := range w.v.text(node) {
				l, _, _ = w.g.lexemes[f.ref].step(l, b)
			}
			var out frontier
			w.g.pop(f, l, &out)
			if len(out.tops) > 0 {
				w.mark(node)
				w.walk(node, out.tops)
			}
		}
		return
	}
	var out frontier
	f.end(&out)
	for _, node := range exits {
		w.walk(node, out.tops)
	}
}

// asksBelow says whether f is a lexeme and the frames below it look at what it
// said.
func (f *frame) asksBelow() bool {
	return f.phase == phaseLexeme && slices.ContainsFunc(f.parents, func(p *frame) bool {
		return p.phase == phaseExtraName || p.phase == phaseUnique
	})
}

// base returns the mask that f decides alone, from the cache or by a walk.
func (g *Grammar) base(v *Vocab, f *frame) *baseMask {
	key := g.maskKey(v, f)
	g.mu.RLock()
	m := g.masks[key]
	g.mu.RUnlock()
	if m != nil {
		return m
	}
	m = g.makeBase(v, f)
	size := len(m.all) + 4*len(m.few) + 4*len(m.exits) + 256
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.masks == nil || g.held+size > maxHeld {
		g.masks, g.held = map[maskKey]*baseMask{}, 0
	}
	if _, ok := g.masks[key]; !ok {
		g.masks[key] = m
		g.held += size
	}
	return m
}

// maskKey leaves out of a frame what no token can notice: depth where it does
// not matter, and counts beyond what the longest token can use up.
func (g *Grammar) maskKey(v *Vocab, f *frame) maskKey {
	l := f.local
	if !g.limited || l.phase == phaseLexeme {
		l.depth = 0
	}
	l.need = min(l.need, v.longest)
	if l.room > v.longest {
		l.room = -1
	}
	l.hash = 0
	return maskKey{v, l, f.asksBelow()}
}

func (g *Grammar) makeBase(v *Vocab, f *frame) *baseMask {
	w := walker{g: g, v: v, allowed: make([]bool, v.n), asks: f.asksBelow()}
	alone := &frame{f.local, []*frame{{local: local{phase: phaseExit}}}}
	w.walk(0, []*frame{alone})
	m := &baseMask{exits: w.exits}
	n := 0
	for _, ok := range w.allowed {
		if ok {
			n++
		}
	}
	if n > v.n/8 {
		m.all = w.allowed
		return m
	}
	m.few = make([]int32, 0, n)
	for t, ok := range w.allowed {
		if ok {
			m.few = append(m.few, int32(t))
		}
	}
	return m
}

// walker goes through a vocabulary's trie along with the stacks.
type walker struct {
	g       *Grammar
	v       *Vocab
	allowed []bool
	// asks says that what is below the frame at the walk's start decides also
	// about tokens that end exactly with the frame.
	asks  bool
	exits []int32 // where the frame at the walk's start ended
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
	if !w.asks {
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
			w.g.pop(f, next, &out)
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
