package pyexpr

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// regex is a pattern as a program.
type regex struct {
	prog   *syntax.Prog
	groups int // with the whole match, which is number 0
	names  map[string]int
	multi  bool // ^ and $ stand at every line
}

// reRunner looks for a pattern in a text. It tries the ways to match in the order
// of CPython, and no state of the program twice at one place: so its work grows
// with the length of the text and of the pattern, and with nothing else.
type reRunner struct {
	Match
	m       *machine
	first   *syntax.Inst // what the first character must meet; nil where there is none
	seen    []uint64     // a row of bits for each place: the states that were tried
	jobs    []reJob
	full    bool // the match must end with the text
	notHere int  // a match must not end here, -1 for anywhere
}

// reJob is a state to try at a place or, where slot is not negative, the place that
// the slot goes back to.
type reJob struct{ pc, pos, slot int }

func (m *machine) runner(x *regex, text Value) *reRunner {
	s, ok := text.(Str)
	if !ok {
		raise(typeError, "expected string or bytes-like object, got '%s'", className(text))
	}
	words := times(len(s)+1, len(x.prog.Inst))/64 + 1
	m.alloc(24*x.groups + 128)
	m.step(words >> 4)
	seen := m.seen
	m.seen = nil // one runner has it at a time
	if len(seen) < words {
		m.alloc(8 * words)
		seen = make([]uint64, words)
	} else {
		clear(seen[:words])
	}
	r := &reRunner{Match: Match{x, string(s), make([]int, 2*x.groups)}, m: m, seen: seen, notHere: -1}
	in := &x.prog.Inst[x.prog.Start]
	for in.Op == syntax.InstCapture || in.Op == syntax.InstNop || in.Op == syntax.InstEmptyWidth {
		in = &x.prog.Inst[in.Out]
	}
	if in.Op == syntax.InstRune || in.Op == syntax.InstRune1 {
		r.first = in
	}
	return r
}

// done gives back what the next runner can use.
func (r *reRunner) done() { r.m.seen = r.seen }

// search finds the first match that begins at from or, unless only, later.
func (r *reRunner) search(from int, only bool) bool {
	for at := from; ; {
		r.m.step(1)
		if !only {
			at = r.skip(at)
		}
		for i := range r.slots {
			r.slots[i] = -1
		}
		if r.matchAt(at) {
			r.slots[0] = at
			return true
		}
		if only || at >= len(r.whole) {
			return false
		}
		_, n := utf8.DecodeRuneInString(r.whole[at:])
		at += n
	}
}

// skip goes on to where a match can begin.
func (r *reRunner) skip(at int) int {
	from := at
	for r.first != nil && at < len(r.whole) {
		c, n := utf8.DecodeRuneInString(r.whole[at:])
		if r.first.MatchRune(c) {
			break
		}
		at += n
	}
	r.m.step((at - from) >> 3)
	return at
}

func (r *reRunner) matchAt(at int) bool {
	r.jobs = append(r.jobs[:0], reJob{r.x.prog.Start, at, -1})
	for len(r.jobs) > 0 {
		job := r.jobs[len(r.jobs)-1]
		r.jobs = r.jobs[:len(r.jobs)-1]
		if job.slot >= 0 {
			r.slots[job.slot] = job.pos
		} else if r.try(job.pc, job.pos) {
			return true
		}
	}
	return false
}

func (r *reRunner) later(j reJob) {
	if len(r.jobs) == cap(r.jobs) {
		r.m.alloc(2 * 24 * (len(r.jobs) + 8))
	}
	r.jobs = append(r.jobs, j)
}

// try runs the program from a state on, up to its end or to where it fails. Other
// ways to go on become jobs.
func (r *reRunner) try(pc, pos int) bool {
	for {
		r.m.step(1)
		bit := uint(pos*len(r.x.prog.Inst) + pc)
		if r.seen[bit/64]>>(bit%64)&1 == 1 {
			return false
		}
		r.seen[bit/64] |= 1 << (bit % 64)
		switch in := &r.x.prog.Inst[pc]; in.Op {
		case syntax.InstFail:
			return false
		case syntax.InstMatch:
			r.slots[1] = pos
			return (!r.full || pos == len(r.whole)) && pos != r.notHere
		case syntax.InstAlt, syntax.InstAltMatch:
			r.later(reJob{int(in.Arg), pos, -1})
			pc = int(in.Out)
		case syntax.InstCapture:
			r.later(reJob{0, r.slots[in.Arg], int(in.Arg)})
			r.slots[in.Arg] = pos
			pc = int(in.Out)
		case syntax.InstEmptyWidth:
			if !r.stands(syntax.EmptyOp(in.Arg), pos) {
				return false
			}
			pc = int(in.Out)
		case syntax.InstNop:
			pc = int(in.Out)
		default:
			c, n := utf8.DecodeRuneInString(r.whole[pos:])
			if n == 0 || !in.MatchRune(c) {
				return false
			}
			pc, pos = int(in.Out), pos+n
		}
	}
}

// stands reports whether a condition on the place in the text holds. As in Python,
// words have letters of any script, and $ stands before a last newline too.
func (r *reRunner) stands(op syntax.EmptyOp, pos int) bool {
	end := len(r.whole)
	switch op {
	case syntax.EmptyBeginText:
		return pos == 0
	case syntax.EmptyEndText:
		return pos == end
	case syntax.EmptyBeginLine:
		return pos == 0 || r.x.multi && r.whole[pos-1] == '\n'
	case syntax.EmptyEndLine:
		return pos == end || r.whole[pos] == '\n' && (r.x.multi || pos == end-1)
	case syntax.EmptyWordBoundary:
		return r.atWord(pos)
	}
	return end > 0 && !r.atWord(pos)
}

// atWord reports whether a word begins or ends here.
func (r *reRunner) atWord(pos int) bool {
	before, n := utf8.DecodeLastRuneInString(r.whole[:pos])
	after, k := utf8.DecodeRuneInString(r.whole[pos:])
	return (n > 0 && isWord(before)) != (k > 0 && isWord(after))
}

// each visits the matches from left to right, limit of them unless that is
// negative. As in CPython, an empty one may follow another but not itself.
func (r *reRunner) each(limit int, do func(r *reRunner)) {
	defer r.done()
	for at := 0; limit != 0 && at <= len(r.whole) && r.search(at, false); limit-- {
		do(r)
		at = r.slots[1]
		if r.notHere = -1; r.slots[0] == at {
			r.notHere = at
		}
		r.forget(at)
	}
}

// forget allows the states at a place again: those that failed before it or behind
// it would fail again, but here the last match went through some.
func (r *reRunner) forget(at int) {
	n := len(r.x.prog.Inst)
	r.m.step(n >> 4)
	for bit := uint(at * n); bit < uint((at+1)*n); bit++ {
		r.seen[bit/64] &^= 1 << (bit % 64)
	}
}

// match is a match as a value.
func (r *reRunner) match() Value {
	r.m.alloc(64 + 16*len(r.slots))
	return &Match{r.x, r.whole, slices.Clone(r.slots)}
}
