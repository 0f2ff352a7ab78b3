package pyexpr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber
	tokString
	tokOp
	tokNewline
)

type token struct {
	kind tokenKind
	text string
	pos  int // byte offset in the whole source
}

// lexer cuts a source into tokens. An f-string's expressions are cut by a
// lexer of their own that starts inside a bracket.
type lexer struct {
	src    string // the whole source, so that offsets are true
	pos    int
	end    int
	open   []byte // brackets to be closed
	inside bool   // newlines mean nothing
	toks   []token
}

// maxBrackets is CPython's own limit on nesting.
const maxBrackets = 200

const operators = "<<= >>= **= //= ... == != <= >= << >> ** // := -> += -= *= /= %= &= |= ^= @="

func lex(src string, from, to int, inside bool) []token {
	x := &lexer{src: src, pos: from, end: to, inside: inside}
	if !inside {
		x.skip(" \t")
	}
	for x.next() {
	}
	if len(x.open) > 0 {
		fail(x.end, "%q was never closed", x.open[len(x.open)-1])
	}
	x.emit(tokEnd, x.end)
	return x.toks
}

func (x *lexer) skip(chars string) {
	for x.pos < x.end && strings.IndexByte(chars, x.src[x.pos]) >= 0 {
		x.pos++
	}
}

// emit adds the token that runs from x.pos to end.
func (x *lexer) emit(kind tokenKind, end int) {
	x.toks = append(x.toks, token{kind, x.src[x.pos:end], x.pos})
	x.pos = end
}

// next reads one token; it is false at the end.
func (x *lexer) next() bool {
	x.skip(" \t\f")
	if x.pos >= x.end {
		return false
	}
	c := x.src[x.pos]
	switch {
	case c == '\n' || c == '\r':
		x.newline()
	case c == '#':
		x.comment()
	case c == '\\':
		x.continuation()
	case c >= '0' && c <= '9' || c == '.' && x.digitAt(x.pos+1):
		x.number()
	case c == '"' || c == '\'':
		x.str(x.pos)
	case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf:
		x.name()
	default:
		x.operator()
	}
	return true
}

func (x *lexer) newline() {
	x.pos++
	if x.inside || len(x.open) > 0 {
		return
	}
	if len(x.toks) > 0 && x.toks[len(x.toks)-1].kind != tokNewline {
		x.pos--
		x.emit(tokNewline, x.pos+1)
	}
	start := x.pos
	x.skip(" \t\f")
	blank := x.pos >= x.end || strings.IndexByte("\r\n#", x.src[x.pos]) >= 0
	if x.pos > start && !blank {
		fail(start, "unexpected indent")
	}
}

func (x *lexer) comment() {
	if x.inside {
		fail(x.pos, "f-string expression part cannot include '#'")
	}
	for x.pos < x.end && x.src[x.pos] != '\n' {
		x.pos++
	}
}

func (x *lexer) continuation() {
	rest := x.src[x.pos+1 : x.end]
	switch {
	case strings.HasPrefix(rest, "\r\n") && len(rest) > 2:
		x.pos += 3
	case strings.HasPrefix(rest, "\n") && len(rest) > 1:
		x.pos += 2
	case rest == "" || rest == "\n":
		fail(x.pos, "unexpected end after a backslash")
	default:
		fail(x.pos, "unexpected character after line continuation character")
	}
}

func (x *lexer) name() {
	end := x.pos
	for end < x.end {
		r, n := utf8.DecodeRuneInString(x.src[end:x.end])
		if r != '_' && !unicode.IsLetter(r) && !unicode.Is(unicode.Nl, r) &&
			(end == x.pos || !unicode.IsDigit(r) && !unicode.IsMark(r)) {
			break
		}
		end += n
	}
	if end == x.pos {
		r, _ := utf8.DecodeRuneInString(x.src[x.pos:])
		fail(x.pos, "invalid character %q", r)
	}
	if end < x.end && (x.src[end] == '"' || x.src[end] == '\'') && isPrefix(x.src[x.pos:end]) {
		x.str(end)
		return
	}
	x.emit(tokName, end)
}

func isPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "u", "b", "f", "br", "rb", "fr", "rf":
		return true
	}
	return false
}

// str reads a string whose opening quote stands at quote.
func (x *lexer) str(quote int) {
	q := x.src[quote : quote+1]
	if strings.HasPrefix(x.src[quote:x.end], strings.Repeat(q, 3)) {
		q = strings.Repeat(q, 3)
	}
	for i := quote + len(q); i < x.end; i++ {
		switch {
		case x.src[i] == '\\':
			i++
		case x.src[i] == '\n' && len(q) == 1:
			fail(x.pos, "unterminated string literal")
		case strings.HasPrefix(x.src[i:x.end], q):
			x.emit(tokString, i+len(q))
			return
		}
	}
	fail(x.pos, "unterminated string literal")
}

func (x *lexer) operator() {
	rest := x.src[x.pos:x.end]
	for op := range strings.FieldsSeq(operators) {
		if strings.HasPrefix(rest, op) {
			x.emit(tokOp, x.pos+len(op))
			return
		}
	}
	c := rest[0]
	switch {
	case strings.IndexByte("([{", c) >= 0:
		if x.open = append(x.open, c); len(x.open) > maxBrackets {
			fail(x.pos, "too many nested parentheses")
		}
	case strings.IndexByte(")]}", c) >= 0:
		x.closeBracket(c)
	case strings.IndexByte("+-*/%<>=&|^~.,:;@", c) < 0:
		fail(x.pos, "invalid character %q", rune(c))
	}
	x.emit(tokOp, x.pos+1)
}

func (x *lexer) closeBracket(c byte) {
	n := len(x.open)
	if n == 0 {
		fail(x.pos, "unmatched %q", c)
	}
	if o := x.open[n-1]; strings.IndexByte("([{", o) != strings.IndexByte(")]}", c) {
		fail(x.pos, "closing %q does not match opening %q", c, o)
	}
	x.open = x.open[:n-1]
}
