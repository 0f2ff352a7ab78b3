package grammar

// maxIndent is how many blanks and tabs may follow a line break.
const maxIndent = 20

// Places in the white space between two parts of a value; a line break's indent
// of n is oneLine+n or, at its beginning, twoLines.
const (
	noSpace int8 = iota
	oneBlank
	twoLines
	oneLine
)

// afterSpace is the place after one more byte of white space. It reports false if
// b cannot follow there.
func afterSpace(at int8, b byte) (next int8, ok bool) {
	switch {
	case b == '\n' && at == noSpace:
		return oneLine, true
	case b == '\n' && at == oneLine:
		return twoLines, true
	case b == ' ' && at == noSpace:
		return oneBlank, true
	case b != ' ' && b != '\t' || at < twoLines || at == oneLine+maxIndent:
		return at, false
	case at == twoLines:
		return oneLine + 1, true
	}
	return at + 1, true
}

// stepContainer reads a byte of an array's or object's own.
func (g *Grammar) stepContainer(f *frame, b byte, out *frontier) {
	if f.phase != phaseName && f.phase != phaseColon {
		if space, ok := afterSpace(f.space, b); ok {
			next := f.local
			next.space = space
			out.add(next, f.parents)
			return
		}
		if f.space != noSpace {
			f = &frame{f.local, f.parents}
			f.space = noSpace
		}
	}
	switch f.phase {
	case phaseArray, phaseNextItem, phaseAfterItem:
		g.stepArray(f, b, out)
	default:
		g.stepObject(f, b, out)
	}
}
