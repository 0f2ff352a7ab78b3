package pyexpr

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// regex is a pattern as code, which matches by backtracking as CPython does.
type regex struct {
	code   reCode
	groups int // with the whole match, which is number 0
	loops  int
	names  map[string]int
	first  *reSet // what a match begins with; nil where nothing is known
}

// reCode matches the rest of a pattern at pos. Where it fails, it has put back
// what it noted.
type reCode func(r *reRunner, pos int) bool

// reNode is a part of a pattern. build makes its code, given that of what follows.
type reNode struct {
	build     func(next reCode) reCode
	low, high int    // how many characters it takes
	first     *reSet // as of a regex
	one       *reSet // of a part that is one character
	size      int    // parts in it
	isPlace   bool   // it only says where it stands: ^ $ \b
	isRepeat  bool
}

// reRunner looks for a pattern in a text.
type reRunner struct {
	Match
	m       *machine
	opened  []int // where the groups began
	loops   []reRound
	depth   int // of the calls of code
	deepest int
	ticks   int
	full    bool // the match must end with the text
	notHere int  // a match must not end here, -1 for anywhere
}

// reRound is where a loop stands: how many rounds it had, and where the last began.
type reRound struct{ count, from int }

func (m *machine) runner(x *regex, text Value) *reRunner {
	s, ok := text.(Str)
	if !ok {
		raise(typeError, "expected string or bytes-like object, got '%s'", className(text))
	}
	m.alloc(24*x.groups + 16*x.loops + 128)
	return &reRunner{Match: Match{x, string(s), make([]int, 2*x.groups)}, m: m, opened: make([]int, x.groups), loops: make([]reRound, x.loops), notHere: -1}
}

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
		if r.x.code(r, at) {
			r.slots[0] = at
			return true
		}
		if only || at >= len(r.whole) {
			return false
		}
		r.notHere = -1
		_, n := utf8.DecodeRuneInString(r.whole[at:])
		at += n
	}
}

// skip goes on to where a match can begin.
func (r *reRunner) skip(at int) int {
	from := at
	for r.x.first != nil && at < len(r.whole) {
		next, ok := r.one(r.x.first, at)
		if ok {
			break
		}
		at = next
	}
	r.m.step((at - from) >> 4)
	return at
}

// accept ends a whole match.
func accept(r *reRunner, pos int) bool {
	r.slots[1] = pos
	return (!r.full || pos == len(r.whole)) && pos != r.notHere
}

func (r *reRunner) tick() {
	if r.ticks++; r.ticks&1 == 0 {
		r.m.step(1)
	}
}

// one is the place behind the character at pos, and whether a set has that.
func (r *reRunner) one(set *reSet, pos int) (int, bool) {
	if pos >= len(r.whole) {
		return pos, false
	}
	c, n := rune(r.whole[pos]), 1
	if c >= utf8.RuneSelf {
		c, n = utf8.DecodeRuneInString(r.whole[pos:])
	}
	return pos + n, set.has(c)
}

func oneOf(set *reSet) *reNode {
	return &reNode{one: set, first: set, low: 1, high: 1, size: 1, build: func(next reCode) reCode {
		return func(r *reRunner, pos int) bool {
			r.tick()
			pos, ok := r.one(set, pos)
			return ok && next(r, pos)
		}
	}}
}

func inSequence(parts []*reNode) *reNode {
	n := &reNode{size: 1, build: func(next reCode) reCode {
		for _, p := range slices.Backward(parts) {
			next = p.build(next)
		}
		return next
	}}
	for i, p := range parts {
		switch {
		case i == 0 || n.high == 0:
			n.first = p.first
		case n.low == 0:
			n.first = either(n.first, p.first)
		}
		n.low, n.high, n.size = min(n.low+p.low, endless), min(n.high+p.high, endless), n.size+p.size
	}
	return n
}

func alternatives(parts []*reNode) *reNode {
	n := *parts[0]
	for _, p := range parts[1:] {
		n.low, n.high, n.size = min(n.low, p.low), max(n.high, p.high), n.size+p.size
		n.first = either(n.first, p.first)
	}
	n.one, n.isPlace, n.isRepeat = nil, false, false
	n.build = func(next reCode) reCode {
		codes := make([]reCode, len(parts))
		for i, p := range parts {
			codes[i] = p.build(next)
		}
		return func(r *reRunner, pos int) bool {
			r.tick()
			return slices.ContainsFunc(codes, func(c reCode) bool { return c(r, pos) })
		}
	}
	return &n
}

// capture notes where a group begins and ends.
func capture(n *reNode, group int) *reNode {
	return &reNode{low: n.low, high: n.high, first: n.first, size: n.size + 2, build: func(next reCode) reCode {
		body := n.build(func(r *reRunner, pos int) bool {
			from, to := r.slots[2*group], r.slots[2*group+1]
			r.slots[2*group], r.slots[2*group+1] = r.opened[group], pos
			if next(r, pos) {
				return true
			}
			r.slots[2*group], r.slots[2*group+1] = from, to
			return false
		})
		return func(r *reRunner, pos int) bool {
			r.tick()
			before := r.opened[group]
			r.opened[group] = pos
			if body(r, pos) {
				return true
			}
			r.opened[group] = before
			return false
		}
	}}
}

// times repeats n, as often as it goes or, if lazy, as rarely.
func (n *reNode) times(low, high int, lazy bool, loop int) *reNode {
	out := &reNode{low: min(times(n.low, low), endless), high: min(times(n.high, high), endless), first: n.first, size: n.size + 1, isRepeat: true}
	out.build = func(next reCode) reCode { return n.loop(low, high, lazy, loop, next) }
	if n.one != nil {
		out.build = func(next reCode) reCode { return n.one.run(low, high, lazy, next) }
	}
	return out
}

// run is a character several times.
func (s *reSet) run(low, high int, lazy bool, next reCode) reCode {
	return func(r *reRunner, pos int) bool {
		least := pos
		count := 0
		more := func() bool {
			r.tick()
			at, ok := r.one(s, pos)
			if ok = ok && count < high; ok {
				pos, count = at, count+1
			}
			return ok
		}
		for (count < low || !lazy) && more() {
			if count <= low {
				least = pos
			}
		}
		for count >= low {
			if next(r, pos) {
				return true
			}
			if lazy && !more() || !lazy && pos <= least {
				return false
			}
			if !lazy {
				r.tick()
				_, size := utf8.DecodeLastRuneInString(r.whole[:pos])
				pos -= size
			}
		}
		return false
	}
}

// loop is any other part several times. A round that matched nothing is the last.
func (n *reNode) loop(low, high int, lazy bool, at int, next reCode) reCode {
	var body reCode
	again := func(r *reRunner, pos int) bool {
		r.tick()
		if r.depth += n.size; r.depth > r.deepest { // the calls of code within a round
			r.m.alloc(128 * (r.depth - r.deepest))
			r.deepest = r.depth
		}
		was := r.loops[at]
		round := func() bool {
			r.loops[at] = reRound{was.count + 1, pos}
			if was.count < low {
				r.loops[at].from = was.from
			}
			ok := body(r, pos)
			r.loops[at] = was
			return ok
		}
		can := was.count < low || was.count < high && was.from != pos
		done := was.count >= low
		ok := !lazy && can && round() || done && next(r, pos) || lazy && can && round()
		r.depth -= n.size
		return ok
	}
	body = n.build(again)
	return func(r *reRunner, pos int) bool {
		was := r.loops[at]
		r.loops[at] = reRound{0, -1}
		ok := again(r, pos)
		r.loops[at] = was
		return ok
	}
}

// look asks whether n matches behind or before this place. What groups it finds
// stay, unless it must not match.
func look(n *reNode, behind, not bool) *reNode {
	return &reNode{size: n.size, build: func(next reCode) reCode {
		code := n.build(func(*reRunner, int) bool { return true })
		return func(r *reRunner, pos int) bool {
			r.m.step(1 + len(r.slots))
			at, ok := pos, true
			for i := 0; behind && i < n.low && ok; i++ {
				_, size := utf8.DecodeLastRuneInString(r.whole[:at])
				at, ok = at-size, size > 0
			}
			before := slices.Clone(r.slots)
			if ok = ok && code(r, at); ok && !not && next(r, pos) {
				return true
			}
			copy(r.slots, before)
			return not && !ok && next(r, pos)
		}
	}}
}

// standing is a condition on the place in the text.
func standing(holds func(r *reRunner, pos int) bool) *reNode {
	return &reNode{size: 1, isPlace: true, build: func(next reCode) reCode {
		return func(r *reRunner, pos int) bool {
			r.tick()
			return holds(r, pos) && next(r, pos)
		}
	}}
}

func sameAs(group int, fold bool) func(next reCode) reCode {
	return func(next reCode) reCode {
		return func(r *reRunner, pos int) bool {
			from, to := r.slots[2*group], r.slots[2*group+1]
			if from < 0 {
				return false
			}
			r.m.work(to - from + 32)
			for _, want := range r.whole[from:to] {
				c, n := utf8.DecodeRuneInString(r.whole[pos:])
				if n == 0 || c != want && !(fold && strings.ContainsRune(string(foldings(want)), c)) {
					return false
				}
				pos += n
			}
			return next(r, pos)
		}
	}
}
