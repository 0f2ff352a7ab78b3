package grammar

import "sync"

// maxHeld bounds the masks that a grammar keeps, in bytes.
const maxHeld = 64 << 20

// maskKey is all that a frame's mask depends on. For a frame by itself, parent
// is in phaseExit; otherwise it goes on where the frame ends.
type maskKey struct {
	v             *Vocab
	frame, parent local
}

// baseMask is the part of a mask that a frame decides alone: the tokens that
// stay within it, and the places in the vocabulary where it ends and what is
// below decides.
type baseMask struct {
	few   []int32 // the allowed tokens, when all is nil
	all   []bool
	exits []int32
}

// size is roughly how many bytes a mask takes.
func (m *baseMask) size() int { return len(m.all) + 4*len(m.few) + 4*len(m.exits) + 512 }

// maskCache keeps masks; when they become too many it starts anew.
type maskCache struct {
	mu    sync.RWMutex
	masks map[maskKey]*baseMask
	held  int
}

// Held is roughly how many bytes the masks that the grammar keeps take.
func (g *Grammar) Held() int {
	g.masks.mu.RLock()
	defer g.masks.mu.RUnlock()
	return g.masks.held
}

// reserve makes room for one more mask; the caller holds the lock.
func (c *maskCache) reserve(m *baseMask) {
	if c.masks == nil || c.held+m.size() > maxHeld {
		c.masks, c.held = map[maskKey]*baseMask{}, 0
	}
	c.held += m.size()
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
		key := maskKey{v, s.g.noticed(v, f.local), local{phase: phaseExit}}
		base := s.g.mask(key, f.local, []int32{0})
		if i == 0 && base.all != nil {
			copy(allowed, base.all)
		} else {
			base.allow(allowed)
		}
		w.leave(key, f, base.exits)
	}
	return s.CanEnd()
}

// allow adds the mask's tokens to allowed.
func (m *baseMask) allow(allowed []bool) {
	for _, t := range m.few {
		allowed[t] = true
	}
	for t, ok := range m.all {
		if ok {
			allowed[t] = true
		}
	}
}

// noticed is l without what no token can notice: the depth where the limit is
// far, and the counts beyond what the longest token can use up.
func (g *Grammar) noticed(v *Vocab, l local) local {
	if l.phase == phaseLexeme || g.maxDepth-l.depth >= g.tallest+v.opens {
		l.depth = 0
	}
	l.need = min(l.need, v.longest)
	if l.room > v.longest {
		l.room = -1
	}
	l.hash = 0
	return l
}

// isName says whether l is within an additional property's name.
func (g *Grammar) isName(l local) bool { return l.phase == phaseLexeme && g.lexemes[l.ref].name }

// mask returns the mask of key, which l decides alone for the tokens below the
// nodes, from the cache or by a walk.
func (g *Grammar) mask(key maskKey, l local, nodes []int32) *baseMask {
	c := &g.masks
	c.mu.RLock()
	m := c.masks[key]
	c.mu.RUnlock()
	if m != nil {
		return m
	}
	m = g.makeMask(key.v, l, nodes)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserve(m)
	c.masks[key] = m
	return m
}

// makeMask walks the vocabulary below the nodes with one frame alone.
func (g *Grammar) makeMask(v *Vocab, l local, nodes []int32) *baseMask {
	w := walker{g: g, v: v, allowed: make([]bool, v.n), name: g.isName(l)}
	alone := &frame{l, []*frame{{local: local{phase: phaseExit}}}}
	for _, node := range nodes {
		w.walk(node, []*frame{alone})
	}
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
