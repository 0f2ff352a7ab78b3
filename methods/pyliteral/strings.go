package pyliteral

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// atString reports whether a string begins here, prefix included.
func (p *parser) atString() bool {
	_, n := p.prefix()
	return n >= 0
}

// prefix returns the lower-case string prefix and the length of it, or -1 if
// no string begins here.
func (p *parser) prefix() (string, int) {
	for n := range 3 {
		if p.pos+n >= len(p.src) {
			break
		}
		if c := p.src[p.pos+n]; c == '\'' || c == '"' {
			switch s := strings.ToLower(p.src[p.pos : p.pos+n]); s {
			case "", "u", "b", "r", "br", "rb":
				return s, n
			}
			break
		}
	}
	return "", -1
}

// stringChain reads adjacent strings, which Python joins.
func (p *parser) stringChain() (string, error) {
	var b strings.Builder
	for p.atString() {
		prefix, n := p.prefix()
		p.pos += n
		if err := p.str(&b, strings.Contains(prefix, "r"), strings.Contains(prefix, "b")); err != nil {
			return "", err
		}
		p.space()
	}
	return b.String(), nil
}

// str reads one string from its opening quote on.
func (p *parser) str(b *strings.Builder, raw, bytes bool) error {
	start, quote := p.pos, p.src[p.pos:p.pos+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.src[p.pos:], triple) {
		quote = triple
	}
	p.pos += len(quote)
	for p.pos < len(p.src) {
		if strings.HasPrefix(p.src[p.pos:], quote) {
			p.pos += len(quote)
			return nil
		}
		c := p.src[p.pos]
		switch {
		case c == '\\' && raw:
			p.rawPair(b)
		case c == '\\':
			if err := p.escape(b, bytes); err != nil {
				return err
			}
		case c == '\n' && len(quote) == 1:
			return p.fault("a line ends inside a string")
		default:
			p.char(b)
		}
	}
	p.pos = start
	return p.fault("a string does not end")
}

// char copies one character; bytes that are no UTF-8 become U+FFFD, so that
// every value can be written as JSON.
func (p *parser) char(b *strings.Builder) {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	b.WriteRune(r)
	p.pos += n
}

// rawPair copies a backslash and the character after it, which even in a raw
// string cannot end it.
func (p *parser) rawPair(b *strings.Builder) {
	b.WriteByte('\\')
	if p.pos++; p.pos < len(p.src) {
		p.char(b)
	}
}

// simple escapes and what they stand for.
const (
	escapeNames  = `\'"abfnrtv`
	escapeValues = "\\'\"\a\b\f\n\r\t\v"
)

func (p *parser) escape(b *strings.Builder, bytes bool) error {
	p.pos++
	if p.pos == len(p.src) {
		return p.fault("a string does not end")
	}
	c := p.src[p.pos]
	if i := strings.IndexByte(escapeNames, c); i >= 0 {
		b.WriteByte(escapeValues[i])
		p.pos++
		return nil
	}
	switch {
	case c == '\n':
		p.pos++
		return nil
	case '0' <= c && c <= '7':
		p.octal(b)
		return nil
	case c == 'x':
		return p.hex(b, 2)
	case c == 'u' && !bytes:
		return p.hex(b, 4)
	case c == 'U' && !bytes:
		return p.hex(b, 8)
	case c == 'N' && !bytes:
		return p.fault(`\N{...} is not supported`)
	}
	b.WriteByte('\\') // Python keeps unknown escapes as they are
	p.char(b)
	return nil
}

func (p *parser) octal(b *strings.Builder) {
	r := rune(0)
	for n := 0; n < 3 && p.pos < len(p.src) && '0' <= p.src[p.pos] && p.src[p.pos] <= '7'; n++ {
		r = r*8 + rune(p.src[p.pos]-'0')
		p.pos++
	}
	b.WriteRune(r)
}

// hex reads the digits after \x, \u or \U.
func (p *parser) hex(b *strings.Builder, digits int) error {
	from, to := p.pos+1, p.pos+1+digits
	if to > len(p.src) {
		return p.fault("an escape of %d hex digits is cut off", digits)
	}
	n, err := strconv.ParseUint(p.src[from:to], 16, 32)
	if err != nil || n > utf8.MaxRune {
		return p.fault("%q is no character", p.src[from:to])
	}
	b.WriteRune(rune(n))
	p.pos = to
	return nil
}
