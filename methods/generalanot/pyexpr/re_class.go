package pyexpr

import (
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func isWord(r rune) bool {
	return r == '_' || r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') ||
		r >= 0x80 && (unicode.IsLetter(r) || isNumeric(r))
}

// reClass is the class of a letter behind a backslash, as the inside of brackets.
func reClass(r rune) string {
	return map[rune]string{
		'd': `\p{Nd}`, 's': `\t-\r\x1c-\x20\x{85}\p{Z}`, 'w': `\p{L}\p{N}_`,
		'D': `\P{Nd}`, 'S': "", 'W': "",
	}[r]
}

// member is one character of a set, or one class.
func (p *reParser) member() (r rune, class string) {
	if r = p.rune(); r != '\\' {
		return r, ""
	}
	r = p.rune()
	if class = p.classOf(r); class != "" {
		return 0, class
	}
	return p.char(r), ""
}

// classOf is the class of \d and its kin, empty for other letters. The opposite of
// several ranges is written out.
func (p *reParser) classOf(r rune) string {
	if !strings.ContainsRune("dswDSW", r) {
		return ""
	}
	p.m.step(2000) // the tables of Unicode are long
	if class := reClass(r); class != "" {
		return class
	}
	re, err := syntax.Parse("[^"+reClass(unicode.ToLower(r))+"]", syntax.ClassNL|syntax.PerlX|syntax.UnicodeGroups)
	if err != nil {
		p.fail("%v", err)
	}
	var b strings.Builder
	for i := 0; i < len(re.Rune); i += 2 {
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, re.Rune[i], re.Rune[i+1])
	}
	return b.String()
}

// class translates a set of characters in brackets.
func (p *reParser) class() {
	p.write("[")
	if p.accept("^") {
		p.write("^")
	}
	dotless := false
	for first := true; first || !p.have("]"); first = false {
		low, class := p.member()
		if p.have("-") && !p.have("-]") {
			p.pos++
			high, other := p.member()
			if class != "" || other != "" || high < low {
				p.fail("bad character range")
			}
			p.write(fmt.Sprintf(`\x{%x}-\x{%x}`, low, high))
			dotless = dotless || strings.IndexFunc(likeI, func(r rune) bool { return low <= r && r <= high }) >= 0
			continue
		}
		if class == "" {
			class = fmt.Sprintf(`\x{%x}`, low)
			dotless = dotless || strings.ContainsRune(likeI, low)
		}
		p.write(class)
	}
	if p.pos++; dotless && p.flags&foldCase != 0 {
		p.write(likeI)
	}
	p.write("]")
}

// likeI are the letters that IGNORECASE takes for one another, and package unicode
// does not.
const likeI = "iIıİ"

func (p *reParser) literal(r rune) {
	if p.flags&foldCase != 0 && strings.ContainsRune(likeI, r) {
		p.write("[" + likeI + "]")
		return
	}
	p.write(fmt.Sprintf(`\x{%x}`, r))
}

// rune is the next character.
func (p *reParser) rune() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	if n == 0 {
		p.fail("the pattern ends too early")
	}
	p.pos += n
	return r
}

// escape translates what follows a backslash outside of brackets.
func (p *reParser) escape() reLast {
	r := p.rune()
	switch r {
	case 'A', 'b', 'B':
		p.write(`\` + string(r))
		return nothing
	case 'Z':
		p.write(`\z`)
		return nothing
	}
	if class := p.classOf(r); class != "" {
		p.write("[" + class + "]")
	} else {
		p.literal(p.char(r))
	}
	return anAtom
}

// char is the character of an escape.
func (p *reParser) char(r rune) rune {
	if i := strings.IndexRune(`abfnrtv\`, r); i >= 0 {
		return rune("\a\b\f\n\r\t\v\\"[i])
	}
	if n := map[rune]int{'x': 2, 'u': 4}[r]; n > 0 {
		rest := p.src[p.pos:]
		rest = rest[:min(len(rest), n)]
		v, err := strconv.ParseUint(rest, 16, 32)
		if err != nil || len(rest) < n {
			p.fail("bad or incomplete escape")
		}
		p.pos += n
		return rune(v)
	}
	switch {
	case r >= '0' && r <= '9':
		p.lacks("a reference to a group, or an octal escape,", "compare the groups of the match, or use \\x41")
	case r < 0x80 && unicode.IsLetter(r):
		p.fail("bad escape \\%c", r)
	}
	return r
}
