package pyexpr

import (
	"strconv"
	"strings"
)

func (p *parser) strings() node {
	first := p.peek()
	var parts []fpart
	var plain strings.Builder
	isF := false
	for p.peek().kind == tokString {
		t := p.take()
		prefix, body, from := splitLiteral(t)
		raw := strings.ContainsRune(prefix, 'r')
		switch {
		case strings.ContainsRune(prefix, 'b'):
			fail(t.pos, "bytes are not supported: write a string")
		case strings.ContainsRune(prefix, 'f'):
			isF = true
			f := &fscanner{p: p, pos: from, end: from + len(body), raw: raw}
			parts = append(parts, f.parts(0)...)
		default:
			lit := unescape(body, from, raw)
			plain.WriteString(lit)
			parts = append(parts, fpart{lit: lit})
		}
	}
	if !isF {
		return &constant{position(first.pos), Str(plain.String())}
	}
	return &formatted{position(first.pos), parts}
}

// splitLiteral is the lower-case prefix, what is between the quotes, and its
// offset.
func splitLiteral(t token) (prefix, body string, from int) {
	q := strings.IndexAny(t.text, `'"`)
	n := 1
	if rest := t.text[q:]; len(rest) >= 6 && strings.Count(rest[:3], rest[:1]) == 3 {
		n = 3
	}
	return strings.ToLower(t.text[:q]), t.text[q+n : len(t.text)-n], t.pos + q + n
}

// unescape decodes the escapes of a literal that starts at offset from.
func unescape(s string, from int, raw bool) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if raw {
		return s
	}
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(s, `\`)
		b.WriteString(text)
		if !found || rest == "" {
			return b.String()
		}
		r, _, tail, err := strconv.UnquoteChar(`\`+rest, 0)
		switch c := rest[0]; {
		case c == '\n':
			tail = rest[1:]
		case c == '\'' || c == '"':
			b.WriteByte(c)
			tail = rest[1:]
		case err == nil:
			b.WriteRune(r)
		case strings.IndexByte("xuUN01234567", c) >= 0:
			fail(from, `invalid or unsupported escape \%c: write the character, or \x, \u or \U and its digits`, c)
		default:
			b.WriteByte('\\') // unknown escapes keep their backslash
			tail = rest
		}
		s = tail
	}
}
