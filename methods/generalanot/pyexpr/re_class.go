package pyexpr

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reSet is a set of characters: those of ASCII as bits, and a test for the others.
type reSet struct {
	ascii [2]uint64
	test  func(rune) bool
}

func charsOf(test func(rune) bool) *reSet {
	s := &reSet{test: test}
	for r := range rune(utf8.RuneSelf) {
		if test(r) {
			s.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return s
}

func (s *reSet) has(r rune) bool {
	if r < utf8.RuneSelf {
		return s.ascii[r>>6]>>(r&63)&1 == 1
	}
	return s.test(r)
}

// either holds what one of two sets has, and perhaps more; nil stands for all.
func either(a, b *reSet) *reSet {
	if a == nil || b == nil {
		return nil
	}
	return &reSet{[2]uint64{a.ascii[0] | b.ascii[0], a.ascii[1] | b.ascii[1]}, func(rune) bool { return true }}
}

// literal is the set of one character, in any case if the flags say so.
func (p *reParser) literal(r rune) *reNode {
	if p.flags.fold && len(foldings(r)) > 0 {
		return oneOf(charsOf(func(c rune) bool { return c == r || slices.Contains(foldings(c), r) }))
	}
	s := &reSet{test: func(c rune) bool { return c == r }}
	if r < utf8.RuneSelf {
		s.ascii[r>>6] = 1 << (r & 63)
	}
	return oneOf(s)
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

// reClass is the class of a letter behind a backslash, or nil.
func reClass(r rune) func(rune) bool {
	is := map[rune]func(rune) bool{'d': isDecimal, 's': isSpace, 'w': isWord}[unicode.ToLower(r)]
	if is != nil && unicode.IsUpper(r) {
		return func(r rune) bool { return !is(r) }
	}
	return is
}

func isWord(r rune) bool {
	return r == '_' || r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') ||
		r >= 0x80 && (unicode.IsLetter(r) || isNumeric(r))
}

// class reads a set of characters in brackets.
func (p *reParser) class() *reNode {
	not, fold := p.accept("^"), p.flags.fold
	var members []func(rune) bool
	for first := true; first || !p.have("]"); first = false {
		low, class := p.member()
		high, other := low, class
		if p.have("-") && !p.have("-]") {
			p.pos++
			if high, other = p.member(); class != nil || other != nil || high < low {
				p.fail("bad character range")
			}
		}
		if class == nil {
			class = func(r rune) bool { return low <= r && r <= high }
		}
		members = append(members, class)
	}
	p.pos++
	holds := func(r rune) bool {
		return slices.ContainsFunc(members, func(has func(rune) bool) bool { return has(r) })
	}
	return oneOf(charsOf(func(r rune) bool { return (holds(r) || fold && slices.ContainsFunc(foldings(r), holds)) != not }))
}

// member is one character of a set, or one class.
func (p *reParser) member() (rune, func(rune) bool) {
	if p.pos == len(p.src) {
		p.fail("unterminated character set")
	}
	r := p.rune()
	if r != '\\' {
		return r, nil
	}
	r = p.escaped()
	if class := reClass(r); class != nil {
		return 0, class
	}
	if r >= '0' && r <= '7' {
		return p.octal(string(r) + p.octals()), nil
	}
	return p.char(r), nil
}

// escaped is the character behind a backslash.
func (p *reParser) escaped() rune {
	if p.pos == len(p.src) {
		p.fail("bad escape (end of pattern)")
	}
	return p.rune()
}

// escape reads what follows a backslash outside of brackets.
func (p *reParser) escape() *reNode {
	r := p.escaped()
	if class := reClass(r); class != nil {
		return oneOf(charsOf(class))
	}
	switch r {
	case 'A':
		return standing(func(_ *reRunner, pos int) bool { return pos == 0 })
	case 'Z':
		return standing(func(r *reRunner, pos int) bool { return pos == len(r.whole) })
	case 'b':
		return standing((*reRunner).atWord)
	case 'B':
		return standing(func(r *reRunner, pos int) bool { return r.whole != "" && !r.atWord(pos) })
	}
	if char, group := p.number(r); group > 0 {
		return p.backref(group)
	} else if group == 0 {
		return p.literal(char)
	}
	return p.literal(p.char(r))
}

// atWord reports whether a word begins or ends here.
func (r *reRunner) atWord(pos int) bool {
	before, n := utf8.DecodeLastRuneInString(r.whole[:pos])
	after, k := utf8.DecodeRuneInString(r.whole[pos:])
	return (n > 0 && isWord(before)) != (k > 0 && isWord(after))
}

// number reads the digits behind a backslash, of which r is the first: \12 is a
// group, and \123 or \0 a character in octal digits. Without a digit group is -1.
func (p *reParser) number(r rune) (char rune, group int) {
	text := string(r)
	switch rest := p.src[p.pos:]; {
	case r == '0':
		return p.octal("0" + p.octals()), 0
	case r < '1' || r > '9':
		return 0, -1
	case rest != "" && rest[0] >= '0' && rest[0] <= '9':
		p.pos++
		if text += rest[:1]; len(rest) > 1 && strings.Trim(text+rest[1:2], octalDigits) == "" {
			p.pos++
			return p.octal(text + rest[1:2]), 0
		}
	}
	group, _ = strconv.Atoi(text)
	return 0, group
}

const octalDigits = "01234567"

// octals are up to two octal digits.
func (p *reParser) octals() string {
	rest := p.src[p.pos:]
	rest = rest[:min(len(rest), 2)]
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, octalDigits))]
	p.pos += len(digits)
	return digits
}

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
	if n := map[rune]int{'x': 2, 'u': 4, 'U': 8}[r]; n > 0 {
		rest := p.src[p.pos:]
		rest = rest[:min(len(rest), n)]
		v, err := strconv.ParseUint(rest, 16, 32)
		if err != nil || len(rest) < n || v > unicode.MaxRune {
			p.fail("bad or incomplete escape")
		}
		p.pos += n
		return rune(v)
	}
	if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		p.fail("bad escape \\%c", r)
	}
	return r
}
