package source

import (
	"go/scanner"
	"go/token"
)

// stretch is a part of a text that stands at its top: an import or a function's
// declaration, which cannot stand within a function. What is between two such
// is statements, and declarations that can.
type stretch struct {
	from, to int // byte offsets; to is behind the last token
	imports  bool
}

// lexeme is a token with its place.
type lexeme struct {
	tok  token.Token
	lit  string
	from int
	to   int
}

// lex reads the tokens of a text, without comments. Faults of the scanner are
// left to the parser, which finds them again.
func lex(text string) []lexeme {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), func(token.Position, string) {}, 0)
	var all []lexeme
	for {
		pos, tok, lit := s.Scan()
		from := file.Offset(pos)
		if tok == token.EOF {
			return all
		}
		to := from + len(lit)
		if lit == "" || !tok.IsLiteral() && !tok.IsKeyword() {
			to = from + len(tok.String())
		}
		if tok == token.SEMICOLON && lit == "\n" {
			to = from
		}
		all = append(all, lexeme{tok, lit, from, to})
	}
}

// stretches finds the imports and function declarations of a text.
func stretches(all []lexeme) []stretch {
	var out []stretch
	start := true // at the beginning of a statement at the top
	depth := 0
	for i := 0; i < len(all); i++ {
		l := all[i]
		if start && depth == 0 && (l.tok == token.IMPORT || l.tok == token.FUNC && declares(all[i+1:])) {
			end := ends(all, i)
			out = append(out, stretch{l.from, all[end].to, l.tok == token.IMPORT})
			i = end
			start = true
			continue
		}
		switch l.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		start = l.tok == token.SEMICOLON && depth == 0
	}
	return out
}

// ends is the index of the last token of the declaration that begins at i.
func ends(all []lexeme, i int) int {
	depth := 0
	for k := i; k < len(all); k++ {
		switch all[k].tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth == 0 {
				return max(i, k-1)
			}
		}
	}
	return len(all) - 1
}

// declares says whether func is followed by what follows it in a declaration: a
// name, or a receiver, a name and parameters. A literal is followed by neither.
func declares(after []lexeme) bool {
	if len(after) == 0 {
		return false
	}
	if after[0].tok == token.IDENT {
		return true
	}
	depth := 0
	for i, l := range after {
		switch l.tok {
		case token.LPAREN, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACK:
			depth--
		}
		if depth == 0 {
			rest := after[i+1:]
			return len(rest) > 1 && rest[0].tok == token.IDENT && rest[1].tok == token.LPAREN
		}
	}
	return false
}

// maxNesting is how deep brackets may nest: the checker's time grows with the
// square of it.
const maxNesting = 400

// nesting is the depth of a text's brackets, and where it is greatest.
func nesting(all []lexeme) (depth, at int) {
	now := 0
	for _, l := range all {
		switch l.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if now++; now > depth {
				depth, at = now, l.from
			}
		case token.RPAREN, token.RBRACK, token.RBRACE:
			now--
		}
	}
	return depth, at
}

// blanked is a text of which only the bytes in keep are left; the others are
// spaces, and ends of lines stay.
func blanked(text string, keep func(offset int) bool) string {
	out := []byte(text)
	for i, b := range out {
		if b != '\n' && !keep(i) {
			out[i] = ' '
		}
	}
	return string(out)
}

// within says whether an offset is in one of the stretches.
func within(all []stretch) func(int) bool {
	k := 0
	return func(offset int) bool {
		for k < len(all) && offset >= all[k].to {
			k++
		}
		return k < len(all) && offset >= all[k].from
	}
}
