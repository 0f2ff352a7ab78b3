package pyexpr

import (
	"strings"
	"unicode/utf8"
)

// reRunner looks for a pattern in a text. Ways that are still open lie on a
// stack, and between them what is to be put back when they are taken.
type reRunner struct {
	m       *machine
	x       *regex
	text    string
	slots   []int // ends of the groups, -1 for none
	last    []int // where the loops stood
	stack   []reWay
	high    int
	ops     int
	full    bool // the match must end with the text
	notHere int  // a match must not end here, -1 for anywhere
}

// reWay is a way to go on, or a slot or loop, numbered pc, to put back to pos.
type reWay struct {
	pc, pos int
	low     int // of a run of characters: how far it can shrink or grow
	kind    byte
}

const (
	wayOn byte = iota
	wayShrink
	wayGrow
	waySlot
	wayLoop
)

func (m *machine) runner(x *regex, text Value) *reRunner {
	s, ok := text.(Str)
	if !ok {
		raise(typeError, "expected string or bytes-like object, got '%s'", className(text))
	}
	m.alloc(16*x.groups + 8*x.loops + 128)
	return &reRunner{m: m, x: x, text: string(s), slots: make([]int, 2*x.groups), last: make([]int, x.loops), notHere: -1}
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
		r.stack = r.stack[:0]
		if end, ok := r.run(0, at); ok {
			r.slots[0], r.slots[1] = at, end
			return true
		}
		if only || at >= len(r.text) {
			return false
		}
		r.notHere = -1
		_, n := utf8.DecodeRuneInString(r.text[at:])
		at += n
	}
}

// skip goes on to where a match can begin.
func (r *reRunner) skip(at int) int {
	f, from := &r.x.first, at
	for !f.any && at < len(r.text) {
		if c := r.text[at]; c < utf8.RuneSelf && f.ascii[c] || c >= utf8.RuneSelf && f.other {
			break
		}
		_, n := utf8.DecodeRuneInString(r.text[at:])
		at += n
	}
	r.m.step((at - from) >> 4)
	return at
}

func (r *reRunner) push(w reWay) {
	r.stack = append(r.stack, w)
	if len(r.stack) > r.high {
		r.high = len(r.stack)
		r.m.alloc(64)
	}
}

// run follows the program from pc until it matches or no way is left.
func (r *reRunner) run(pc, pos int) (int, bool) {
	base := len(r.stack)
	for {
		if r.ops++; r.ops&1 == 0 {
			r.m.step(1)
		}
		ok := true
		switch in := &r.x.prog[pc]; in.op {
		case reMatch:
			if in.x == 1 || (!r.full || pos == len(r.text)) && pos != r.notHere {
				return pos, true
			}
			ok = false
		case reRune, reIn:
			pos, ok = r.one(in, pos)
			pc++
		case reRun:
			pos, ok = r.many(in, pc, pos)
			pc++
		case reJump:
			pc = in.x
		case reSplit:
			r.push(reWay{pc: in.y, pos: pos})
			pc = in.x
		case reSave:
			r.put(waySlot, r.slots, in.x, pos)
			pc++
		case reEnter:
			r.put(wayLoop, r.last, in.x, -1)
			pc++
		case reLoop:
			pc = r.loop(in, pc, pos)
		case reMark:
			r.put(wayLoop, r.last, in.x, pos)
			pc++
		case reBackref:
			pos, ok = r.backref(in, pos)
			pc++
		case reAhead, reNotAhead, reBehind, reNotBehind:
			ok = r.look(in, pc+1, pos)
			pc = in.y
		default:
			ok = r.holds(in, pos)
			pc++
		}
		if !ok {
			if pc, pos, ok = r.back(base); !ok {
				return 0, false
			}
		}
	}
}

// put changes a slot or a loop, and notes what to put back.
func (r *reRunner) put(kind byte, in []int, i, v int) {
	r.push(reWay{kind: kind, pc: i, pos: in[i]})
	in[i] = v
}

// back takes the way that was opened last.
func (r *reRunner) back(base int) (pc, pos int, ok bool) {
	for len(r.stack) > base {
		top := len(r.stack) - 1
		w := &r.stack[top]
		switch w.kind {
		case waySlot:
			r.slots[w.pc] = w.pos
		case wayLoop:
			r.last[w.pc] = w.pos
		case wayShrink:
			_, n := utf8.DecodeLastRuneInString(r.text[:w.pos])
			if w.pos -= n; w.pos > w.low {
				return w.pc, w.pos, true
			}
			pc, pos = w.pc, w.pos
			r.stack = r.stack[:top]
			return pc, pos, true
		case wayGrow:
			in := &r.x.prog[w.pc-1]
			if next, more := r.one(in, w.pos); more && w.low > 0 {
				w.pos, w.low = next, w.low-1
				return w.pc, next, true
			}
		default:
			pc, pos = w.pc, w.pos
			r.stack = r.stack[:top]
			return pc, pos, true
		}
		r.stack = r.stack[:top]
	}
	return 0, 0, false
}

func (r *reRunner) one(in *reInst, pos int) (int, bool) {
	if pos >= len(r.text) {
		return pos, false
	}
	c, n := rune(r.text[pos]), 1
	if c >= utf8.RuneSelf {
		c, n = utf8.DecodeRuneInString(r.text[pos:])
	}
	if in.set != nil {
		return pos + n, in.set.has(c)
	}
	return pos + n, c == in.r
}

// many is a character several times: as often as it goes, or as rarely.
func (r *reRunner) many(in *reInst, pc, pos int) (int, bool) {
	count, low := 0, pos
	for count < in.max && (!in.lazy || count < in.min) {
		next, ok := r.one(in, pos)
		if !ok {
			break
		}
		if r.ops++; r.ops&1 == 0 {
			r.m.step(1)
		}
		pos = next
		if count++; count <= in.min {
			low = pos
		}
	}
	switch {
	case count < in.min:
		return pos, false
	case in.lazy:
		r.push(reWay{kind: wayGrow, pc: pc + 1, pos: pos, low: in.max - count})
	case pos > low:
		r.push(reWay{kind: wayShrink, pc: pc + 1, pos: pos, low: low})
	}
	return pos, true
}

// loop begins another round unless the last one matched nothing.
func (r *reRunner) loop(in *reInst, pc, pos int) int {
	if r.last[in.x] == pos {
		return in.y
	}
	if in.lazy {
		r.push(reWay{pc: pc + 1, pos: pos})
		return in.y
	}
	r.push(reWay{pc: in.y, pos: pos})
	return pc + 1
}

func (r *reRunner) backref(in *reInst, pos int) (int, bool) {
	from, to := r.slots[2*in.x], r.slots[2*in.x+1]
	if from < 0 || to < from {
		return pos, false
	}
	r.m.work(to - from)
	for _, want := range r.text[from:to] {
		c, n := utf8.DecodeRuneInString(r.text[pos:])
		if n == 0 || c != want && !(in.flags.fold && strings.ContainsRune(string(foldings(want)), c)) {
			return pos, false
		}
		pos += n
	}
	return pos, true
}
