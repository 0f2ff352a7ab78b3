package grammar

import (
	"fmt"
	"slices"
)

// State is a place in a text that a grammar is reading or writing. It is an
// immutable value: it may be copied, kept, advanced in several ways and used
// from several goroutines. The zero State belongs to no grammar; get one from
// Grammar.Start.
type State struct {
	g    *Grammar
	tops []*frame
}

// phase is a frame's place within its structure.
type phase uint8

const (
	phaseDone       phase = iota // the text is complete
	phaseRoot                    // the value is to begin
	phaseLexeme                  // within a lexeme
	phaseObject                  // after {
	phaseName                    // within a declared property's name
	phaseExtraName               // below an additional property's name
	phaseColon                   // after an additional property's name
	phaseValue                   // after a name's colon
	phaseAfterValue              // after a property
	phaseNextName                // after the comma
	phaseArray                   // after [
	phaseNextItem                // after the comma
	phaseAfterItem               // after an item
	phaseExit                    // below a frame that is looked at alone
)

// local is a frame's own part of the state. Two frames with the same local
// part at the same place in a text go on in the same ways until they end.
type local struct {
	phase phase
	space int8  // white space since the last part of an array or object
	depth int32 // how many arrays and objects are open
	ref   int32 // index of the lexeme, object or array
	at    int32 // the automaton's state in a lexeme, the next property in an object
	key   int32 // the node of the name's trie, or the value that follows
	// need and room are how many characters or items must and may still come;
	// room is -1 without a limit.
	need, room int
	hash       uint64 // of an additional property's name so far
	names      *nameSet
}

// nameSet is the additional names that an object has, as a list of hashes. Two
// names with the same hash cannot both be used, which no one will miss.
type nameSet struct {
	hash uint64
	rest *nameSet
}

func (n *nameSet) has(hash uint64) bool {
	for ; n != nil; n = n.rest {
		if n.hash == hash {
			return true
		}
	}
	return false
}

// frame is a stack's top with what lies below. Stacks with equal tops share
// the frame and differ in its parents, so their number stays small however
// many ways there are to read a text.
type frame struct {
	local
	parents []*frame
}

// frontier collects the tops after a byte.
type frontier struct{ tops []*frame }

// add puts a frame into the frontier, joining it with one of an equal top.
func (f *frontier) add(l local, parents []*frame) { f.addFrame(&frame{l, parents}) }

// addFrame is add for a frame that exists already.
func (f *frontier) addFrame(p *frame) {
	for i, t := range f.tops {
		if t == p {
			return
		}
		if t.local == p.local {
			f.tops[i] = joined(t, p.parents)
			return
		}
	}
	f.tops = append(f.tops, p)
}

// joined is t with more parents.
func joined(t *frame, parents []*frame) *frame {
	all := slices.Clip(t.parents)
	for _, p := range parents {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return &frame{t.local, all}
}

// Start returns the state before the first byte.
func (g *Grammar) Start() State {
	done := &frame{local: local{phase: phaseDone}}
	return State{g, []*frame{{local{phase: phaseRoot}, []*frame{done}}}}
}

// CanEnd says whether the text so far is a complete value.
func (s State) CanEnd() bool {
	return slices.ContainsFunc(s.tops, func(f *frame) bool { return f.phase == phaseDone })
}

// Advance returns the state after token, or an error if one of its bytes cannot
// follow.
func (s State) Advance(token []byte) (State, error) {
	tops := s.tops
	for i, b := range token {
		var next frontier
		for _, f := range tops {
			s.g.step(f, b, &next)
		}
		if len(next.tops) == 0 {
			return s, fmt.Errorf("advance grammar: byte %d of the token, %q, cannot follow: offer only tokens that Mask allows", i, []byte{b})
		}
		tops = next.tops
	}
	return State{s.g, tops}, nil
}

// step puts into out what f becomes after b.
func (g *Grammar) step(f *frame, b byte, out *frontier) {
	switch f.phase {
	case phaseRoot:
		g.beginValue(f, 0, f.parents, b, out)
	case phaseLexeme:
		l, alive, done := g.lexemes[f.ref].step(f.local, b)
		if done {
			g.pop(f.parents, l, out)
		}
		if alive {
			out.add(l, f.parents)
		}
	case phaseDone, phaseExit:
	default:
		g.stepContainer(f, b, out)
	}
}

// beginValue starts value v with the byte b; parents are the frames that go on
// after it.
func (g *Grammar) beginValue(f *frame, v int32, parents []*frame, b byte, out *frontier) {
	node := &g.values[v]
	slack := g.maxDepth - f.depth
	switch b {
	case '{':
		for _, id := range node.objects {
			if g.objects[id].height <= slack {
				out.add(local{phase: phaseObject, depth: f.depth + 1, ref: id}, parents)
			}
		}
	case '[':
		for _, id := range node.arrays {
			if a := g.arrays[id]; a.height <= slack {
				out.add(local{phase: phaseArray, depth: f.depth + 1, ref: id, need: a.min, room: a.max}, parents)
			}
		}
	}
	for _, id := range node.lexemes {
		lex := g.lexemes[id]
		l, alive, done := lex.step(lex.start(id), b)
		if done {
			g.pop(parents, l, out)
		}
		if alive {
			out.add(l, parents)
		}
	}
}

// start is the state before a lexeme's first byte.
func (l *lexeme) start(id int32) local {
	return local{phase: phaseLexeme, ref: id, need: l.min, room: l.max}
}

// step is a lexeme's state after b: alive when it may go on, done when it may
// end there.
func (l *lexeme) step(at local, b byte) (next local, alive, done bool) {
	to := l.next(at.at, b)
	if to < 0 {
		return at, false, false
	}
	if l.counted && at.at == inString {
		switch {
		case b == '"' && at.need > 0, b != '"' && at.room == 0:
			return at, false, false
		case b != '"':
			at.need = max(0, at.need-1)
			at.room = max(-1, at.room-1)
		}
	}
	if l.name {
		at.hash = nextHash(at.hash, b)
	}
	at.at = to
	return at, len(l.states[to].edges) > 0, l.states[to].accept
}

// hashName is the FNV-1a hash of a name's spelling with its quotes.
func hashName(spelled []byte) (h uint64) {
	for _, b := range spelled {
		h = nextHash(h, b)
	}
	return h
}

// nextHash is a step of FNV-1a whose start, for convenience, is 0.
func nextHash(h uint64, b byte) uint64 {
	if h == 0 {
		h = 14695981039346656037
	}
	return (h ^ uint64(b)) * 1099511628211
}

// pop ends a lexeme in the state l: its parents go on.
func (g *Grammar) pop(parents []*frame, l local, out *frontier) {
	for _, p := range parents {
		if p.phase != phaseExtraName {
			out.addFrame(p)
			continue
		}
		if !g.knownName(p, l.hash) {
			next := p.local
			next.phase, next.names = phaseColon, &nameSet{l.hash, p.names}
			out.add(next, p.parents)
		}
	}
}

// knownName says whether the object of p declares or already has a name.
func (g *Grammar) knownName(p *frame, hash uint64) bool {
	return g.objects[p.ref].declared[hash] || p.names.has(hash)
}
