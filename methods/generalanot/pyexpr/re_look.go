package pyexpr

import "unicode/utf8"

// look runs the part of a lookaround. What groups it finds stay, unless the
// part must not match.
func (r *reRunner) look(in *reInst, pc, pos int) bool {
	r.m.enter()
	defer r.m.leave()
	if in.op == reBehind || in.op == reNotBehind {
		for range in.min {
			_, n := utf8.DecodeLastRuneInString(r.text[:pos])
			if n == 0 {
				return in.op == reNotBehind
			}
			pos -= n
		}
	}
	base := len(r.stack)
	_, ok := r.run(pc, pos)
	if not := in.op == reNotAhead || in.op == reNotBehind; not {
		for ok && len(r.stack) > base { // undo what the part noted
			r.undo()
		}
		return !ok
	}
	if ok { // no way back into the part, but what it noted can be put back
		kept := r.stack[:base]
		for _, w := range r.stack[base:] {
			if w.kind == waySlot || w.kind == wayLoop {
				kept = append(kept, w)
			}
		}
		r.stack = kept
	}
	return ok
}

func (r *reRunner) undo() {
	top := len(r.stack) - 1
	switch w := r.stack[top]; w.kind {
	case waySlot:
		r.slots[w.pc] = w.pos
	case wayLoop:
		r.last[w.pc] = w.pos
	}
	r.stack = r.stack[:top]
}

// holds is an assertion between two characters.
func (r *reRunner) holds(in *reInst, pos int) bool {
	switch in.op {
	case reTextBegin:
		return pos == 0
	case reTextEnd:
		return pos == len(r.text)
	case reBegin:
		return pos == 0 || in.flags.multi && r.text[pos-1] == '\n'
	case reEnd:
		return pos == len(r.text) || pos == len(r.text)-1 && r.text[pos] == '\n' || in.flags.multi && r.text[pos] == '\n'
	}
	before, n := utf8.DecodeLastRuneInString(r.text[:pos])
	after, k := utf8.DecodeRuneInString(r.text[pos:])
	atWord := (n > 0 && isWord(before)) != (k > 0 && isWord(after))
	return atWord == (in.op == reWord) && (len(r.text) > 0 || in.op == reWord)
}
