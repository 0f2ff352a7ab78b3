package pyexpr

import "unicode/utf8"

// regex is a pattern as a program: instructions with the places where they go
// on. A backtracking machine runs it (re_match.go).
type regex struct {
	prog   []reInst
	groups int // with the whole match, which is number 0
	loops  int
	names  map[string]int
	first  reFirst
}

type reInst struct {
	op       byte // a re… constant, or one of those below
	r        rune
	set      *reSet
	x, y     int // places, or a group, or a loop
	min, max int
	lazy     bool
	flags    reFlags
}

const (
	reSplit byte = iota + reNotWord + 1 // to x, and if that fails to y
	reJump
	reSave  // the position into slot x
	reEnter // loop x begins
	reLoop  // once more loop x, or on to y
	reMark  // a round of loop x begins here
	reRun   // a character min to max times
	reMatch
)

type reCompiler struct {
	m *machine
	*regex
}

func (m *machine) regex(src string, flags reFlags) *regex {
	key := regexKey{src, flags}
	if x := m.regexes[key]; x != nil {
		return x
	}
	m.alloc(100 * len(src))
	m.step(len(src))
	root, p := parseRegex(src, flags)
	x := &regex{groups: p.groups, names: p.names}
	c := &reCompiler{m, x}
	c.emit(root)
	c.add(reInst{op: reMatch})
	x.first.find(c, 0, make([]bool, len(x.prog)))
	if m.regexes == nil {
		m.regexes = map[regexKey]*regex{}
	}
	m.regexes[key] = x
	return x
}

type regexKey struct {
	src   string
	flags reFlags
}

func (c *reCompiler) add(in reInst) int {
	c.m.alloc(120)
	c.prog = append(c.prog, in)
	return len(c.prog) - 1
}

func (c *reCompiler) here() int { return len(c.prog) }

func (c *reCompiler) emit(n *reNode) {
	switch n.op {
	case reSeq:
		for _, s := range n.subs {
			c.emit(s)
		}
	case reAlt:
		c.alternatives(n)
	case reRepeat:
		c.repeat(n, n.subs[0])
	case reGroup:
		c.add(reInst{op: reSave, x: 2 * n.group})
		c.emit(n.subs[0])
		c.add(reInst{op: reSave, x: 2*n.group + 1})
	case reAhead, reNotAhead, reBehind, reNotBehind:
		at := c.add(reInst{op: n.op, min: n.min})
		c.emit(n.subs[0])
		c.add(reInst{op: reMatch, x: 1}) // of a part
		c.prog[at].y = c.here()
	default:
		c.add(reInst{op: n.op, r: n.r, set: n.set, x: n.group, flags: n.flags})
	}
}

func (c *reCompiler) alternatives(n *reNode) {
	var ends []int
	for i, s := range n.subs {
		if i == len(n.subs)-1 {
			c.emit(s)
			break
		}
		at := c.add(reInst{op: reSplit})
		c.prog[at].x = c.here()
		c.emit(s)
		ends = append(ends, c.add(reInst{op: reJump}))
		c.prog[at].y = c.here()
	}
	for _, at := range ends {
		c.prog[at].x = c.here()
	}
}

func (c *reCompiler) repeat(n, sub *reNode) {
	if sub.op == reRune || sub.op == reIn {
		c.add(reInst{op: reRun, r: sub.r, set: sub.set, min: n.min, max: n.max, lazy: n.lazy})
		return
	}
	for range n.min {
		c.emit(sub)
	}
	if n.max == endless {
		loop := c.loops
		c.loops++
		c.add(reInst{op: reEnter, x: loop})
		at := c.add(reInst{op: reLoop, x: loop, lazy: n.lazy})
		c.add(reInst{op: reMark, x: loop})
		c.emit(sub)
		c.add(reInst{op: reJump, x: at})
		c.prog[at].y = c.here()
		return
	}
	var splits []int
	for range n.max - n.min {
		at := c.add(reInst{op: reSplit, lazy: n.lazy})
		c.prog[at].x = c.here()
		splits = append(splits, at)
		c.emit(sub)
	}
	for _, at := range splits {
		if c.prog[at].y = c.here(); n.lazy {
			c.prog[at].x, c.prog[at].y = c.prog[at].y, c.prog[at].x
		}
	}
}

// width is the least and the greatest number of characters that n matches.
func (n *reNode) width() (low, high int) {
	switch n.op {
	case reRune, reIn:
		return 1, 1
	case reSeq, reGroup:
		for _, s := range n.subs {
			l, h := s.width()
			low, high = min(low+l, endless), min(high+h, endless)
		}
	case reAlt:
		low = endless
		for _, s := range n.subs {
			l, h := s.width()
			low, high = min(low, l), max(high, h)
		}
	case reRepeat:
		l, h := n.subs[0].width()
		return min(times(l, n.min), endless), min(times(h, n.max), endless)
	case reBackref:
		return n.min, n.max
	}
	return low, high
}

// reFirst are the characters with which a match can begin.
type reFirst struct {
	ascii [utf8.RuneSelf]bool
	other bool // those beyond ASCII
	any   bool // or none, so that nothing is known
}

func (f *reFirst) add(set *reSet, r rune) {
	f.other = f.other || set != nil || r >= utf8.RuneSelf
	for c := range f.ascii {
		f.ascii[c] = f.ascii[c] || set == nil && rune(c) == r || set != nil && set.has(rune(c))
	}
}

// find follows all ways from pc to the first character.
func (f *reFirst) find(x *reCompiler, pc int, seen []bool) {
	for ; !seen[pc]; pc++ {
		seen[pc] = true
		x.m.step(8)
		switch in := &x.prog[pc]; in.op {
		case reRune, reIn:
			f.add(in.set, in.r)
			return
		case reRun:
			if f.add(in.set, in.r); in.min > 0 {
				return
			}
		case reSplit:
			f.find(x, in.x, seen)
			pc = in.y - 1
		case reLoop:
			f.find(x, in.y, seen)
		case reJump:
			pc = in.x - 1
		case reAhead, reNotAhead, reBehind, reNotBehind, reBackref, reMatch:
			f.any = true
			return
		}
	}
}
