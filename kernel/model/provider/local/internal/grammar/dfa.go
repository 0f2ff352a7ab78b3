package grammar

import (
	"bytes"
	"math"
	"slices"
)

// edge leads from a state over the bytes lo to hi.
type edge struct {
	lo, hi byte
	to     int32
}

// dfaState is one state of a byte automaton.
type dfaState struct {
	edges  []edge // by ascending bytes, none overlapping
	accept bool
	dist   int32 // bytes to the nearest accepting state
}

// dfa is a deterministic automaton over bytes that starts in state 0. From
// every state that can be reached an accepting one can be reached too, so a
// text that is still alive is a prefix of an accepted one.
type dfa struct{ states []dfaState }

// next returns the state after b, or -1.
func (d *dfa) next(state int32, b byte) int32 {
	for _, e := range d.states[state].edges {
		if b <= e.hi {
			if b >= e.lo {
				return e.to
			}
			return -1
		}
	}
	return -1
}

// addState appends an empty state.
func (d *dfa) addState() int32 {
	d.states = append(d.states, dfaState{})
	return int32(len(d.states) - 1)
}

// addEdge appends an edge to state's; bytes come in ascending order.
func (d *dfa) addEdge(state int32, b byte, to int32) {
	edges := d.states[state].edges
	if n := len(edges); n > 0 && edges[n-1].to == to && edges[n-1].hi+1 == b {
		edges[n-1].hi = b
		return
	}
	d.states[state].edges = append(edges, edge{b, b, to})
}

const unreachable = math.MaxInt32

// finish computes the distances to acceptance and cuts what leads nowhere. It
// reports whether anything is accepted at all.
func (d *dfa) finish() bool {
	back := make([][]int32, len(d.states))
	var queue []int32
	for i := range d.states {
		for _, e := range d.states[i].edges {
			back[e.to] = append(back[e.to], int32(i))
		}
		d.states[i].dist = unreachable
		if d.states[i].accept {
			d.states[i].dist = 0
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, p := range back[s] {
			if d.states[p].dist == unreachable {
				d.states[p].dist = d.states[s].dist + 1
				queue = append(queue, p)
			}
		}
	}
	for i := range d.states {
		d.states[i].edges = slices.DeleteFunc(d.states[i].edges, func(e edge) bool {
			return d.states[e.to].dist == unreachable
		})
	}
	return d.states[0].dist != unreachable
}

// appendShortest writes the shortest way from state to acceptance, the lowest
// bytes first.
func (d *dfa) appendShortest(dst []byte, state int32) []byte {
	for d.states[state].dist > 0 {
		for _, e := range d.states[state].edges {
			if d.states[e.to].dist < d.states[state].dist {
				dst, state = append(dst, e.lo), e.to
				break
			}
		}
	}
	return dst
}

// explore builds the automaton whose states are the values that step reaches
// from start over the alphabet's bytes (ascending). It returns nil when
// nothing is accepted.
func explore[S comparable](start S, alphabet string, step func(S, byte) (S, bool), accept func(S) bool) *dfa {
	d := &dfa{}
	ids := map[S]int32{}
	var todo []S
	id := func(s S) int32 {
		n, ok := ids[s]
		if !ok {
			n = d.addState()
			ids[s] = n
			d.states[n].accept = accept(s)
			todo = append(todo, s)
		}
		return n
	}
	id(start)
	for i := 0; i < len(todo); i++ {
		for _, b := range []byte(alphabet) {
			if to, ok := step(todo[i], b); ok {
				d.addEdge(int32(i), b, id(to))
			}
		}
	}
	if !d.finish() {
		return nil
	}
	return d
}

// lexeme is a value without structure: a string, a number, a literal, or the
// name of an additional property.
type lexeme struct {
	*dfa
	// A counted lexeme is a string of min to max code points (max -1: without
	// limit) over the automaton of all strings.
	counted  bool
	min, max int
	name     bool // the lexeme is an additional property's name
}

// shortest is the length of the shortest text.
func (l *lexeme) shortest() float64 { return float64(l.states[0].dist) + float64(l.min) }

// literalLexeme accepts exactly the texts, of which there is at least one.
func literalLexeme(texts [][]byte) *lexeme {
	d := &dfa{}
	d.addState()
	texts = slices.Clone(texts)
	slices.SortFunc(texts, bytes.Compare)
	for _, text := range texts {
		state := int32(0)
		for _, b := range text {
			to := d.next(state, b)
			if to < 0 {
				to = d.addState()
				d.addEdge(state, b, to)
			}
			state = to
		}
		d.states[state].accept = true
	}
	d.finish()
	return &lexeme{dfa: d}
}
