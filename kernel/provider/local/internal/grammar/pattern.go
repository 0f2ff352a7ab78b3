package grammar

import (
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"
	"sort"
	"unicode"
)

// searcher runs one regular expression over a string's characters as a set of
// threads. The search is unanchored, as JSON Schema's pattern is.
type searcher struct{ prog *syntax.Prog }

// newSearcher parses a pattern in RE2's syntax. Word and line boundaries are
// refused. A dot leaves out all of ECMA-262's line ends, so that a string which
// matches here matches there too.
func newSearcher(p located) (*searcher, error) {
	re, err := syntax.Parse(p.text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; only RE2's syntax is supported", p.path, err)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		if in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
			return nil, fmt.Errorf("%s: \\b, \\B and (?m) are not supported", p.path)
		}
	}
	return &searcher{prog}, nil
}

// threads is the state of a search: the instructions that wait for a character
// or for the text's end. done is set once a match is certain.
type threads struct {
	pcs  []uint32
	done bool
}

// close follows the instructions that take no character.
func (s *searcher) close(pcs []uint32, atStart, atEnd bool) threads {
	var t threads
	seen := map[uint32]bool{}
	stack := slices.Clone(pcs)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		in := &s.prog.Inst[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, in.Out)
		case syntax.InstMatch:
			return threads{done: true}
		case syntax.InstEmptyWidth:
			op := syntax.EmptyOp(in.Arg)
			switch {
			case op&syntax.EmptyBeginText != 0 && !atStart:
			case op&syntax.EmptyEndText != 0 && !atEnd:
				t.pcs = append(t.pcs, pc)
			default:
				stack = append(stack, in.Out)
			}
		case syntax.InstFail:
		default:
			t.pcs = append(t.pcs, pc)
		}
	}
	slices.Sort(t.pcs)
	return t
}

// start is the state before the first character.
func (s *searcher) start() threads { return s.close([]uint32{uint32(s.prog.Start)}, true, false) }

// step is the state after one more character.
func (s *searcher) step(t threads, r rune) threads {
	if t.done {
		return t
	}
	next := []uint32{uint32(s.prog.Start)}
	for _, pc := range t.pcs {
		if in := &s.prog.Inst[pc]; matches(in, r) {
			next = append(next, in.Out)
		}
	}
	return s.close(next, false, false)
}

// accepts says whether the text may end here.
func (s *searcher) accepts(t threads, atStart bool) bool {
	return t.done || s.close(t.pcs, atStart, true).done
}

// lineEnds are ECMA-262's line terminators.
const lineEnds = "\n\r\u2028\u2029"

// matches says whether an instruction takes the character r.
func matches(in *syntax.Inst, r rune) bool {
	switch in.Op {
	case syntax.InstRuneAnyNotNL:
		for _, e := range lineEnds {
			if r == e {
				return false
			}
		}
		return true
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny:
		return in.MatchRune(r)
	}
	return false
}

// runeRange is a range of characters that all searchers treat alike.
type runeRange struct{ lo, hi rune }

// splitRunes cuts all characters into ranges that no instruction tells apart.
func splitRunes(searchers []*searcher) []runeRange {
	cuts := []rune{0, 0xd800, 0xe000, unicode.MaxRune + 1}
	add := func(lo, hi rune) { cuts = append(cuts, lo, hi+1) }
	for _, s := range searchers {
		for i := range s.prog.Inst {
			in := &s.prog.Inst[i]
			switch {
			case in.Op == syntax.InstRuneAnyNotNL:
				for _, e := range lineEnds {
					add(e, e)
				}
			case len(in.Rune) == 1:
				add(in.Rune[0], in.Rune[0])
				for r := unicode.SimpleFold(in.Rune[0]); r != in.Rune[0]; r = unicode.SimpleFold(r) {
					add(r, r)
				}
			default:
				for j := 0; j+1 < len(in.Rune); j += 2 {
					add(in.Rune[j], in.Rune[j+1])
				}
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []runeRange
	for i := 0; i+1 < len(cuts); i++ {
		if lo, hi := cuts[i], cuts[i+1]-1; lo != 0xd800 && hi <= unicode.MaxRune {
			out = append(out, runeRange{lo, hi})
		}
	}
	return out
}

// runeState is a state over characters: each searcher's threads, and how many
// characters there were as far as the limits on length need it.
type runeState struct {
	threads []threads
	count   int
	atStart bool
}

func (s runeState) key() string {
	key := binary.AppendUvarint(nil, uint64(s.count))
	if s.atStart {
		key = append(key, 1)
	}
	for _, t := range s.threads {
		n := uint64(2*len(t.pcs)) + 3
		if t.done {
			n = 2
		}
		key = binary.AppendUvarint(key, n)
		for _, pc := range t.pcs {
			key = binary.AppendUvarint(key, uint64(pc))
		}
	}
	return string(key)
}

// matcher builds the automaton of the strings that match every pattern and
// keep to the limits on length.
type matcher struct {
	c         *compiler
	searchers []*searcher
	min, max  int
	classes   [][]runeRange
	ids       map[string]int32
	states    []runeState
	next      [][]int32 // by state and class, -1 where nothing follows
}

// matchedString is a string in canonical spelling that matches the patterns
// and has min to max code points; nil when there is none.
func (c *compiler) matchedString(patterns []located, min, max int) (*lexeme, error) {
	if max >= 0 && max < min {
		return nil, nil
	}
	m := &matcher{c: c, min: min, max: max, ids: map[string]int32{}}
	for _, p := range patterns {
		s, err := newSearcher(p)
		if err != nil {
			return nil, err
		}
		m.searchers = append(m.searchers, s)
	}
	if err := m.classify(); err != nil {
		return nil, err
	}
	if err := m.explore(); err != nil {
		return nil, err
	}
	return m.spell()
}

// classify joins the ranges that every instruction treats alike.
func (m *matcher) classify() error {
	byKey := map[string]int{}
	for _, r := range splitRunes(m.searchers) {
		var key []byte
		for _, s := range m.searchers {
			if err := m.c.spend(len(s.prog.Inst)); err != nil {
				return err
			}
			for i := range s.prog.Inst {
				if matches(&s.prog.Inst[i], r.lo) {
					key = binary.AppendUvarint(key, uint64(i))
				}
			}
			key = append(key, 0) // instruction 0 is always the failing one
		}
		i, ok := byKey[string(key)]
		if !ok {
			i = len(m.classes)
			byKey[string(key)] = i
			m.classes = append(m.classes, nil)
		}
		m.classes[i] = append(m.classes[i], r)
	}
	return nil
}

func (m *matcher) id(s runeState) int32 {
	key := s.key()
	n, ok := m.ids[key]
	if !ok {
		n = int32(len(m.states))
		m.ids[key] = n
		m.states = append(m.states, s)
	}
	return n
}

func (m *matcher) explore() error {
	start := runeState{atStart: true}
	for _, s := range m.searchers {
		start.threads = append(start.threads, s.start())
	}
	m.id(start)
	for i := 0; i < len(m.states); i++ {
		row := make([]int32, len(m.classes))
		for j, class := range m.classes {
			to, ok, err := m.step(m.states[i], class[0].lo)
			if err != nil {
				return err
			}
			row[j] = -1
			if ok {
				row[j] = m.id(to)
			}
		}
		m.next = append(m.next, row)
	}
	return nil
}

func (m *matcher) step(from runeState, r rune) (runeState, bool, error) {
	if m.max >= 0 && from.count == m.max {
		return runeState{}, false, nil
	}
	to := runeState{count: from.count}
	if m.max >= 0 || to.count < m.min {
		to.count++
	}
	for i, s := range m.searchers {
		t := s.step(from.threads[i], r)
		if err := m.c.spend(8 * (len(t.pcs) + len(from.threads[i].pcs) + 1)); err != nil {
			return runeState{}, false, err
		}
		if !t.done && len(t.pcs) == 0 {
			return runeState{}, false, nil
		}
		to.threads = append(to.threads, t)
	}
	return to, true, nil
}

func (m *matcher) accepts(s runeState) bool {
	for i, search := range m.searchers {
		if !search.accepts(s.threads[i], s.atStart) {
			return false
		}
	}
	return s.count >= m.min
}

// spell writes the automaton over bytes: the states over characters keep their
// numbers, shifted by one for the opening quote.
func (m *matcher) spell() (*lexeme, error) {
	n := int32(len(m.states))
	d := &dfa{states: make([]dfaState, n+2)}
	d.addEdge(0, '"', '"', 1)
	d.states[n+1].accept = true
	sp := &speller{c: m.c, d: d, known: map[string]int32{}}
	for i := range m.states {
		var seqs []sequence
		if m.accepts(m.states[i]) {
			seqs = append(seqs, sequence{ranges: [6][2]byte{{'"', '"'}}, n: 1, to: n + 1})
		}
		for _, e := range m.edges(i) {
			seqs = appendRunes(seqs, e.lo, e.hi, e.to+1)
		}
		if err := sp.spell(int32(i+1), seqs); err != nil {
			return nil, err
		}
	}
	if !d.finish() {
		return nil, nil
	}
	return &lexeme{dfa: d}, nil
}

type runeEdge struct {
	runeRange
	to int32
}

// edges lists where a state's characters lead, neighbours joined.
func (m *matcher) edges(state int) []runeEdge {
	var all []runeEdge
	for j, to := range m.next[state] {
		if to < 0 {
			continue
		}
		for _, r := range m.classes[j] {
			all = append(all, runeEdge{r, to})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].lo < all[j].lo })
	joined := all[:0]
	for _, e := range all {
		if k := len(joined) - 1; k >= 0 && joined[k].to == e.to && joined[k].hi+1 == e.lo {
			joined[k].hi = e.hi
			continue
		}
		joined = append(joined, e)
	}
	return joined
}
