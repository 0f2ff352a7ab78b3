// Package dfa tells quickly whether a regular expression matches a line. The
// standard library's matcher follows every thread of the expression for every
// rune, at some 30 MB/s; a scan of a large log needs a table instead.
//
// The automaton is built while it reads, as in RE2: a state is the set of
// instructions that could come next, and its transitions are computed when a text
// first takes them. Memory is bounded: when the table is full, it starts anew.
// It answers yes or no exactly as [regexp.Regexp.Match] does, and says nothing of
// where the match is.
package dfa

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const (
	ascii     = utf8.RuneSelf
	maxStates = 4096 // 2 MB of transitions
)

// The states that end a scan, and the mark of a transition not yet computed.
const (
	unknown int32 = iota
	matched
	first // number of the first other state
)

// A Matcher matches one expression. It is not safe for concurrent use: every
// scan has its own.
type Matcher struct {
	prog   *syntax.Prog
	states []state
	next   [][ascii]int32 // by state, then by ASCII byte
	wide   map[wideKey]int32
	ids    map[string]int32
	work   sparse // instructions after a rune
	walk   sparse // instructions whose conditions hold
	stack  []uint32
}

// state is a set of instructions before their conditions (such as \b) are
// decided, because those depend on the rune that follows.
type state struct {
	pcs  []uint32
	prev rune // a representative of the rune before: -1 at the start
	end  int8 // whether the text may end here: 0 not computed, 1 no match, 2 match
}

type wideKey struct {
	state int32
	r     rune
}

// New compiles an expression in the syntax of package regexp.
func New(expr string) (*Matcher, error) {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	m := &Matcher{prog: prog, work: newSparse(len(prog.Inst)), walk: newSparse(len(prog.Inst))}
	m.reset()
	return m, nil
}

func (m *Matcher) reset() {
	m.states, m.next = m.states[:0], m.next[:0]
	m.wide, m.ids = map[wideKey]int32{}, map[string]int32{}
	m.work.clear()
	for range first { // the numbers below first are not states
		m.states, m.next = append(m.states, state{}), append(m.next, [ascii]int32{})
	}
	m.work.add(uint32(m.prog.Start))
	m.intern(-1)
}

// Match reports whether the expression matches anywhere in the line.
func (m *Matcher) Match(line []byte) bool {
	s, row := first, &m.next[first]
	for i := 0; i < len(line); {
		if b := line[i]; b < ascii {
			if to := row[b]; to >= first {
				s, row = to, &m.next[to]
				i++
				continue
			}
		}
		var size int
		if s, size = m.step(s, line[i:]); s == matched {
			return true
		}
		row = &m.next[s]
		i += size
	}
	return m.ends(s)
}

// step takes a transition that the table does not have, and adds it.
func (m *Matcher) step(s int32, rest []byte) (to int32, size int) {
	r, size := utf8.DecodeRune(rest)
	if r < ascii {
		if to = m.next[s][r]; to != unknown {
			return to, size
		}
	} else if to, ok := m.wide[wideKey{s, r}]; ok {
		return to, size
	}
	from := m.states[s]
	if len(m.states) >= maxStates || len(m.wide) >= 16*maxStates {
		m.reset()
		m.work.clear()
		for _, pc := range from.pcs {
			m.work.add(pc)
		}
		s = m.intern(from.prev)
	}
	to = m.compute(from, r)
	if r < ascii {
		m.next[s][r] = to
	} else {
		m.wide[wideKey{s, r}] = to
	}
	return to, size
}

// compute is the state after r.
func (m *Matcher) compute(from state, r rune) int32 {
	if m.follow(from, r) {
		return matched
	}
	m.work.clear()
	for _, pc := range m.walk.dense {
		if inst := &m.prog.Inst[pc]; inst.MatchRune(r) {
			m.work.add(inst.Out)
		}
	}
	m.work.add(uint32(m.prog.Start)) // a match may begin at every place
	return m.intern(representative(r))
}

// ends reports whether there is a match if the text ends in state s.
func (m *Matcher) ends(s int32) bool {
	if m.states[s].end == 0 {
		m.states[s].end = 1
		if m.follow(m.states[s], -1) {
			m.states[s].end = 2
		}
	}
	return m.states[s].end == 2
}

// follow collects in walk the instructions that wait for a rune, given the runes
// around the place, and reports whether the expression has already matched.
func (m *Matcher) follow(from state, r rune) bool {
	m.walk.clear()
	seen := &m.work
	seen.clear()
	flags := syntax.EmptyOpContext(from.prev, r)
	m.stack = append(m.stack[:0], from.pcs...)
	for len(m.stack) > 0 {
		pc := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if !seen.add(pc) {
			continue
		}
		switch inst := &m.prog.Inst[pc]; inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstFail:
		case syntax.InstAlt, syntax.InstAltMatch:
			m.stack = append(m.stack, inst.Arg, inst.Out)
		case syntax.InstCapture, syntax.InstNop:
			m.stack = append(m.stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				m.stack = append(m.stack, inst.Out)
			}
		default:
			m.walk.add(pc)
		}
	}
	return false
}

// intern returns the state of the instructions in work after prev.
func (m *Matcher) intern(prev rune) int32 {
	pcs := slices.Clone(m.work.dense)
	slices.Sort(pcs)
	key := binary.AppendVarint(nil, int64(prev))
	for _, pc := range pcs {
		key = binary.AppendUvarint(key, uint64(pc))
	}
	id, ok := m.ids[string(key)]
	if !ok {
		id = int32(len(m.states))
		m.ids[string(key)] = id
		m.states, m.next = append(m.states, state{pcs: pcs, prev: prev}), append(m.next, [ascii]int32{})
	}
	return id
}

// representative stands for all runes that conditions cannot tell apart.
func representative(r rune) rune {
	switch {
	case r == '\n':
		return r
	case syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

// sparse is a set of small numbers that is cleared at no cost.
type sparse struct {
	dense []uint32
	index []uint32
}

func newSparse(n int) sparse { return sparse{make([]uint32, 0, n), make([]uint32, n)} }

func (s *sparse) clear() { s.dense = s.dense[:0] }

// add reports whether n was not in the set before.
func (s *sparse) add(n uint32) bool {
	if i := s.index[n]; int(i) < len(s.dense) && s.dense[i] == n {
		return false
	}
	s.index[n] = uint32(len(s.dense))
	s.dense = append(s.dense, n)
	return true
}
