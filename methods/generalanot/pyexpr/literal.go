package pyexpr

import (
	"strings"
	"unicode/utf8"
)

// strings parses one or more adjacent string literals.
func (p *parser) strings() node {
	first := p.peek()
	var parts []fpart
	isF := false
	for p.peek().kind == tokString {
		t := p.take()
		prefix, body, from := splitLiteral(t)
		raw := strings.ContainsRune(prefix, 'r')
		switch {
		case strings.ContainsRune(prefix, 'b'):
			fail(t.pos, "bytes are not supported")
		case strings.ContainsRune(prefix, 'f'):
			isF = true
			f := &fscanner{p: p, pos: from, end: from + len(body), raw: raw}
			parts = append(parts, f.parts(0)...)
		default:
			parts = append(parts, fpart{lit: unescape(body, from, raw)})
		}
	}
	if !isF {
		var all strings.Builder
		for _, part := range parts {
			all.WriteString(part.lit)
		}
		return &constant{position(first.pos), Str(all.String())}
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
	if raw || !strings.ContainsRune(s, '\\') {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		i += escape(&b, s[i:], from+i)
	}
	return b.String()
}

// escape decodes the escape that s starts with and returns its length.
func escape(b *strings.Builder, s string, pos int) int {
	c := s[1]
	if i := strings.IndexByte(`\'"abfnrtv`, c); i >= 0 {
		b.WriteByte("\\'\"\a\b\f\n\r\t\v"[i])
		return 2
	}
	switch c {
	case '\n':
		return 2
	case 'x':
		return hexEscape(b, s, 2, pos)
	case 'u':
		return hexEscape(b, s, 4, pos)
	case 'U':
		return hexEscape(b, s, 8, pos)
	case 'N':
		fail(pos, `\N escapes are not supported: write the character`)
	}
	if c < '0' || c > '7' {
		b.WriteByte('\\') // unknown escapes keep their backslash
		return 1
	}
	n, r := 1, rune(0)
	for ; n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7'; n++ {
		r = r*8 + rune(s[n]-'0')
	}
	b.WriteRune(r)
	return n
}

func hexEscape(b *strings.Builder, s string, digits, pos int) int {
	if len(s) < 2+digits {
		fail(pos, `truncated \%c escape`, s[1])
	}
	var r rune
	for _, c := range []byte(s[2 : 2+digits]) {
		d := strings.IndexByte("0123456789abcdef", lowerASCII(c))
		if d < 0 || r > utf8.MaxRune {
			fail(pos, `invalid \%c escape`, s[1])
		}
		r = r*16 + rune(d)
	}
	if r > utf8.MaxRune {
		fail(pos, `illegal Unicode character in \%c escape`, s[1])
	}
	if !utf8.ValidRune(r) {
		fail(pos, "lone surrogates are not supported")
	}
	b.WriteRune(r)
	return 2 + digits
}
