package pyexpr

import (
	"strconv"
	"strings"
	"unicode"
)

// reClass is the class of a letter behind a backslash, or nil.
func reClass(r rune) func(rune) bool {
	not := func(f func(rune) bool) func(rune) bool { return func(r rune) bool { return !f(r) } }
	switch r {
	case 'd':
		return isDecimal
	case 'D':
		return not(isDecimal)
	case 's':
		return isSpace
	case 'S':
		return not(isSpace)
	case 'w':
		return isWord
	case 'W':
		return not(isWord)
	}
	return nil
}

func isWord(r rune) bool {
	return r == '_' || r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') ||
		r >= 0x80 && (unicode.IsLetter(r) || isNumeric(r))
}

// foldings are the other characters that IGNORECASE takes for r.
func foldings(r rune) []rune {
	var out []rune
	switch r {
	case 'i', 'I':
		return []rune{'i' ^ 'I' ^ r, 'ı', 'İ'}
	case 'ı', 'İ':
		return []rune{'i', 'I', 'ı' ^ 'İ' ^ r}
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		out = append(out, f)
	}
	return out
}

// escape reads what follows a backslash outside of brackets.
func (p *reParser) escape() *reNode {
	if p.pos == len(p.src) {
		p.fail("bad escape (end of pattern)")
	}
	r := p.rune()
	if class := reClass(r); class != nil {
		return &reNode{op: reIn, set: (&reSet{classes: []func(rune) bool{class}}).ready()}
	}
	switch r {
	case 'A':
		return &reNode{op: reTextBegin}
	case 'Z':
		return &reNode{op: reTextEnd}
	case 'b':
		return &reNode{op: reWord}
	case 'B':
		return &reNode{op: reNotWord}
	}
	if r >= '1' && r <= '9' {
		return p.digits(r)
	}
	return p.literal(p.char(r))
}

// digits: \12 is a group, and \123 a character in octal digits.
func (p *reParser) digits(first rune) *reNode {
	text := string(first)
	if rest := p.src[p.pos:]; rest != "" && isDigitByte(rest[0]) {
		p.pos++
		text += rest[:1]
		if len(rest) > 1 && first <= '7' && isOctal(rest[0]) && isOctal(rest[1]) {
			p.pos++
			return p.literal(p.octal(text + rest[1:2]))
		}
	}
	n, _ := strconv.Atoi(text)
	return p.backref(n)
}

func isDigitByte(c byte) bool { return c >= '0' && c <= '9' }
func isOctal(c byte) bool     { return c >= '0' && c <= '7' }

func (p *reParser) octal(text string) rune {
	n, err := strconv.ParseInt(text, 8, 32)
	if err != nil || n > 0o377 {
		p.fail("octal escape value outside of range 0-0o377")
	}
	return rune(n)
}

// char is the character of an escape.
func (p *reParser) char(r rune) rune {
	if i := strings.IndexRune(`abfnrtv\`, r); i >= 0 {
		return rune("\a\b\f\n\r\t\v\\"[i])
	}
	switch r {
	case 'x':
		return p.hex(2)
	case 'u':
		return p.hex(4)
	case 'U':
		return p.hex(8)
	case '0':
		return p.octal("0" + p.octals())
	}
	if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		p.fail("bad escape \\%c", r)
	}
	return r
}

func (p *reParser) hex(n int) rune {
	rest := p.src[p.pos:]
	if len(rest) < n {
		p.fail("incomplete escape")
	}
	v, err := strconv.ParseUint(rest[:n], 16, 32)
	if err != nil || v > unicode.MaxRune {
		p.fail("bad or incomplete escape")
	}
	p.pos += n
	return rune(v)
}

// class reads a set of characters in brackets.
func (p *reParser) class() *reNode {
	s := &reSet{not: p.accept("^"), fold: p.flags.fold}
	for first := true; first || !p.have("]"); first = false {
		if p.pos == len(p.src) {
			p.fail("unterminated character set")
		}
		low, class := p.member()
		if !p.have("-") || strings.HasPrefix(p.src[p.pos:], "-]") {
			if class != nil {
				s.classes = append(s.classes, class)
			} else {
				s.ranges = append(s.ranges, low, low)
			}
			continue
		}
		p.pos++
		if p.pos == len(p.src) {
			p.fail("unterminated character set")
		}
		high, other := p.member()
		if class != nil || other != nil || high < low {
			p.fail("bad character range")
		}
		s.ranges = append(s.ranges, low, high)
	}
	p.pos++
	return &reNode{op: reIn, set: s.ready()}
}

// member is one character of a set, or one class.
func (p *reParser) member() (rune, func(rune) bool) {
	r := p.rune()
	if r != '\\' {
		return r, nil
	}
	if p.pos == len(p.src) {
		p.fail("bad escape (end of pattern)")
	}
	r = p.rune()
	if class := reClass(r); class != nil {
		return 0, class
	}
	if r >= '0' && r <= '7' {
		return p.octal(string(r) + p.octals()), nil
	}
	return p.char(r), nil
}

// octals are up to two octal digits.
func (p *reParser) octals() string {
	rest := p.src[p.pos:]
	n := 0
	for n < len(rest) && n < 2 && isOctal(rest[n]) {
		n++
	}
	p.pos += n
	return rest[:n]
}
