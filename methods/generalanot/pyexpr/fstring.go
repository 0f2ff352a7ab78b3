package pyexpr

import (
	"regexp"
	"strings"
)

// quoted is a text within an expression, in which "#" begins no comment.
var quoted = regexp.MustCompile(`'[^']*'|"[^"]*"`)

// fscanner cuts the inside of one f-string into parts, by the rules of
// CPython 3.11: an expression holds no backslash, no comment and not the
// string's own quote (which the lexer sees to).
type fscanner struct {
	p   *parser
	pos int
	end int
	raw bool
}

// parts reads to the end, or, in a format specification (level 1 or 2), to
// the brace that closes it.
func (f *fscanner) parts(level int) []fpart {
	var out []fpart
	for f.pos < f.end && !(level > 0 && f.have("}")) {
		if lit := f.literal(level); lit != "" {
			out = append(out, fpart{lit: lit})
		}
		if f.have("{") {
			out = append(out, f.expr(level))
		}
	}
	return out
}

func (f *fscanner) have(s string) bool { return strings.HasPrefix(f.p.lex.src[f.pos:f.end], s) }

// literal reads text up to the next expression or closing brace. At level 0
// a doubled brace is one brace and ends the piece.
func (f *fscanner) literal(level int) string {
	start, src := f.pos, f.p.lex.src
	for f.pos < f.end && !f.have("{") && !f.have("}") {
		if f.have(`\`) && !f.raw {
			f.pos++
		}
		f.pos = min(f.pos+1, f.end)
	}
	text := src[start:f.pos]
	switch {
	case level > 0:
	case f.have("{{") || f.have("}}"):
		text = src[start : f.pos+1]
		f.pos += 2
	case f.have("}"):
		fail(f.pos, "f-string: single '}' is not allowed")
	}
	return unescape(text, start, f.raw)
}

// expr reads {expression[!conversion][:specification]}.
func (f *fscanner) expr(level int) fpart {
	if level >= 2 {
		fail(f.pos, "f-string: expressions nested too deeply")
	}
	start := f.pos + 1
	inner := &parser{lex: lexer{src: f.p.lex.src, pos: start, end: f.end, open: 1}, depth: f.p.depth}
	part := fpart{expr: inner.exprList()}
	f.pos = inner.peek().pos
	if inside := f.p.lex.src[start:f.pos]; strings.ContainsRune(inside, '\\') || strings.ContainsRune(quoted.ReplaceAllString(inside, ""), '#') {
		fail(start, "f-string expression part cannot include a backslash or a comment")
	}
	if f.have("=") {
		fail(f.pos, "f'{x=}' is not supported: write f'x={x}'")
	}
	if f.have("!") {
		if f.pos++; !f.have("s") && !f.have("r") {
			fail(f.pos, "f-string: invalid or unsupported conversion: use !r or !s")
		}
		part.conv = f.p.lex.src[f.pos]
		f.pos++
	}
	if f.have(":") {
		f.pos++
		part.spec = f.parts(level + 1)
	}
	if !f.have("}") {
		fail(f.pos, "f-string: expecting '}'")
	}
	f.pos++
	return part
}
