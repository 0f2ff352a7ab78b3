package pyexpr

import (
	"math/big"
	"regexp"
	"strconv"
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
)

type token struct {
	kind tokenKind
	text string
	pos  int // byte offset in the whole source
}

// lexer cuts a source into tokens as the parser asks for them. An f-string's
// expressions are cut by a lexer of their own that starts inside a bracket.
type lexer struct {
	src   string // the whole source, so that offsets are true
	pos   int
	end   int
	open  int // brackets to be closed: line breaks mean nothing within them
	begun bool
	ended bool // a line break has ended the expression
}

const decimals = "0123456789"

// next is the next token, of kind tokEnd at the end.
func (x *lexer) next() token {
	x.skip()
	if x.pos >= x.end {
		return token{tokEnd, "", x.end}
	}
	if x.ended {
		fail(x.pos, "the expression goes on after a line break: put it in parentheses")
	}
	x.begun = true
	c := x.src[x.pos]
	switch {
	case isDecimalDigit(c) || c == '.' && x.pos+1 < x.end && isDecimalDigit(x.src[x.pos+1]):
		return x.number()
	case c == '"' || c == '\'':
		return x.str(x.pos)
	case c == '_' || lowerASCII(c) >= 'a' && lowerASCII(c) <= 'z' || c >= utf8.RuneSelf:
		return x.name()
	}
	return x.operator()
}

func isDecimalDigit(c byte) bool { return c >= '0' && c <= '9' }

func lowerASCII(c byte) byte { return byte(unicode.ToLower(rune(c))) }

func (x *lexer) skip() {
	for x.pos < x.end {
		switch c := x.src[x.pos]; {
		case c == '\n' || c == '\r':
			x.ended = x.ended || x.begun && x.open == 0
		case c == '#':
			for x.pos+1 < x.end && x.src[x.pos+1] != '\n' {
				x.pos++
			}
		case c == '\\' && strings.HasPrefix(x.src[x.pos+1:x.end], "\n"): // the line goes on
			x.pos++
		case c != ' ' && c != '\t' && c != '\f':
			return
		}
		x.pos++
	}
}

// token ends the token that starts at x.pos.
func (x *lexer) token(kind tokenKind, end int) token {
	t := token{kind, x.src[x.pos:end], x.pos}
	x.pos = end
	return t
}

var numberForm = regexp.MustCompile(strings.ReplaceAll(
	`^(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:D(?:\.(?:D)?)?|\.D)(?:[eE][-+]?D)?)`, "D", `[0-9](?:_?[0-9])*`))

func (x *lexer) number() token {
	text := numberForm.FindString(x.src[x.pos:x.end])
	end := x.pos + len(text)
	if end < x.end {
		if c := x.src[end]; c == '_' || isDecimalDigit(c) || lowerASCII(c) >= 'a' && lowerASCII(c) <= 'z' || c >= utf8.RuneSelf {
			fail(end, "invalid number")
		}
	}
	return x.token(tokNumber, end)
}

func parseNumber(t token) Value {
	text, base := strings.ReplaceAll(t.text, "_", ""), 10
	switch {
	case len(text) > 1 && strings.IndexByte("xXoObB", text[1]) >= 0:
		base = 0 // by the prefix
	case strings.ContainsAny(text, ".eE"):
		f, _ := strconv.ParseFloat(text, 64) // out of range is infinity, as in Python
		return Float(f)
	case text[0] == '0' && strings.Trim(text, "0") != "":
		fail(t.pos, "leading zeros in decimal integer literals are not permitted")
	case len(text) > maxDigits:
		fail(t.pos, "an integer of more than %d digits", maxDigits)
	}
	z, _ := new(big.Int).SetString(text, base)
	return normal(z)
}

var nameForm = regexp.MustCompile(`^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{M}_]*`)

func (x *lexer) name() token {
	end := x.pos + len(nameForm.FindString(x.src[x.pos:x.end]))
	if end == x.pos {
		r, _ := utf8.DecodeRuneInString(x.src[x.pos:])
		fail(x.pos, "invalid character %q", r)
	}
	if end < x.end && (x.src[end] == '"' || x.src[end] == '\'') {
		switch strings.ToLower(x.src[x.pos:end]) {
		case "r", "u", "b", "f", "br", "rb", "fr", "rf":
			return x.str(end)
		}
	}
	return x.token(tokName, end)
}

// str reads a string whose opening quote is at quote.
func (x *lexer) str(quote int) token {
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
			return x.token(tokString, i+len(q))
		}
	}
	fail(x.pos, "unterminated string literal")
	return token{}
}

func (x *lexer) operator() token {
	rest := x.src[x.pos:x.end]
	for op := range strings.FieldsSeq("== != <= >= << >> ** //") {
		if strings.HasPrefix(rest, op) {
			return x.token(tokOp, x.pos+len(op))
		}
	}
	switch c := rest[0]; {
	case strings.IndexByte("([{", c) >= 0:
		x.open++
	case strings.IndexByte(")]}", c) >= 0:
		x.open--
	case strings.IndexByte("+-*/%<>=&|^~.,:!", c) < 0:
		fail(x.pos, "invalid character %q", rune(c))
	}
	return x.token(tokOp, x.pos+1)
}
