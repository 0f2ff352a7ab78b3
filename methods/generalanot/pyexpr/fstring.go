package pyexpr

import "strings"

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
	for f.pos < f.end {
		if lit := f.literal(level); lit != "" {
			out = append(out, fpart{lit: lit})
		}
		if f.pos >= f.end || level > 0 && f.src()[f.pos] == '}' {
			break
		}
		if f.src()[f.pos] == '{' {
			out = append(out, f.expr(level)...)
		}
	}
	return out
}

func (f *fscanner) src() string { return f.p.src }

// literal reads text up to the next expression or closing brace. At level 0
// a doubled brace is one brace and ends the piece.
func (f *fscanner) literal(level int) string {
	start, src := f.pos, f.src()
	for f.pos < f.end {
		c := src[f.pos]
		f.pos++
		if !f.raw && c == '\\' && f.pos < f.end {
			c = src[f.pos]
			f.pos++
		}
		if c != '{' && c != '}' {
			continue
		}
		if level == 0 {
			if f.pos < f.end && src[f.pos] == c {
				f.pos++
				return unescape(src[start:f.pos-1], start, f.raw)
			}
			if c == '}' {
				fail(f.pos-1, "f-string: single '}' is not allowed")
			}
		}
		f.pos--
		break
	}
	return unescape(src[start:f.pos], start, f.raw)
}

// expr reads {expression[=][!conversion][:specification]}.
func (f *fscanner) expr(level int) []fpart {
	if level >= 2 {
		fail(f.pos, "f-string: expressions nested too deeply")
	}
	f.pos++
	start := f.pos
	f.skipExpr()
	text := f.src()[start:f.pos]
	if strings.TrimSpace(text) == "" {
		fail(start, "f-string: empty expression not allowed")
	}
	part := fpart{expr: f.p.inner(start, f.pos)}
	var out []fpart
	debug := f.have('=')
	if debug {
		for f.pos++; f.pos < f.end && strings.IndexByte(" \t\n\r\f", f.src()[f.pos]) >= 0; f.pos++ {
		}
		out = append(out, fpart{lit: f.src()[start:f.pos]})
	}
	if f.have('!') {
		if f.pos++; f.pos >= f.end || strings.IndexByte("sra", f.src()[f.pos]) < 0 {
			fail(f.pos, "f-string: invalid conversion character: expected 's', 'r', or 'a'")
		}
		part.conv = f.src()[f.pos]
		f.pos++
	}
	hasSpec := f.have(':')
	if hasSpec {
		f.pos++
		part.spec = f.parts(level + 1)
	}
	if !f.have('}') {
		fail(f.pos, "f-string: expecting '}'")
	}
	f.pos++
	if debug && part.conv == 0 && !hasSpec {
		part.conv = 'r'
	}
	return append(out, part)
}

func (f *fscanner) have(c byte) bool { return f.pos < f.end && f.src()[f.pos] == c }

// skipExpr moves to where the expression ends.
func (f *fscanner) skipExpr() {
	src := f.src()
	var open []byte
	for f.pos < f.end {
		switch c := src[f.pos]; {
		case c == '\\':
			fail(f.pos, "f-string expression part cannot include a backslash")
		case c == '#':
			fail(f.pos, "f-string expression part cannot include '#'")
		case c == '\'' || c == '"':
			f.skipString(c)
			continue
		case strings.IndexByte("([{", c) >= 0:
			open = append(open, c)
		case len(open) == 0 && strings.IndexByte("!:}=<>", c) >= 0:
			if f.pos+1 < f.end && src[f.pos+1] == '=' && strings.IndexByte("!=<>", c) >= 0 {
				f.pos += 2
				continue
			}
			if c != '<' && c != '>' {
				return
			}
		case strings.IndexByte(")]}", c) >= 0:
			if len(open) == 0 {
				fail(f.pos, "f-string: unmatched %q", c)
			}
			open = open[:len(open)-1] // a wrong bracket is found when the expression is parsed
		}
		f.pos++
	}
	fail(f.pos, "f-string: expecting '}'")
}

// skipString moves behind a string within an expression.
func (f *fscanner) skipString(q byte) {
	src, quote := f.src(), string(q)
	if strings.HasPrefix(src[f.pos:f.end], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	start := f.pos
	for f.pos += len(quote); f.pos < f.end; f.pos++ {
		if src[f.pos] == '\\' {
			fail(f.pos, "f-string expression part cannot include a backslash")
		}
		if strings.HasPrefix(src[f.pos:f.end], quote) {
			f.pos += len(quote)
			return
		}
	}
	fail(start, "f-string: unterminated string")
}
