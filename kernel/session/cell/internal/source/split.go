package source

import (
	"go/scanner"
	"go/token"
	"math"
)

// Lexeme is one token with its place in the text.
type Lexeme struct {
	Tok        token.Token
	Lit        string
	Start, End int
}

// Lex splits a text into tokens; mode is the scanner's. What is not Go comes as
// ILLEGAL tokens: the parser finds it again.
func Lex(text string, mode scanner.Mode) []Lexeme {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, mode)
	var all []Lexeme
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return all
		}
		start := file.Offset(pos)
		end := start
		switch {
		case tok == token.SEMICOLON && lit == "\n": // put in by the scanner
			if start == len(text) {
				continue // the line may go on
			}
		case tok.IsOperator():
			end += len(tok.String())
		default:
			end += len(lit)
		}
		all = append(all, Lexeme{tok, lit, start, min(end, len(text))})
	}
}

// Chunk is a statement or declaration at the top of a cell.
type Chunk struct {
	Kind       ChunkKind
	Start, End int
	Limit      int // up to where what is typed still belongs to it
	Lexemes    []Lexeme
}

// ChunkKind says where a chunk can stand.
type ChunkKind int

// The kinds of chunks.
const (
	Statement ChunkKind = iota // in a function, as what has no other kind
	Imports                    // an import declaration
	Function                   // a function or a method
	Type                       // a type, in a function or outside
	Clause                     // the package clause
)

// Chunks splits a text, given as its tokens, into statements and declarations.
func Chunks(all []Lexeme) []Chunk {
	var found []Chunk
	depth, from := 0, 0
	add := func(to, limit int) {
		if part := all[from:to]; len(part) > 0 {
			found = append(found, Chunk{kindOf(part), part[0].Start, part[len(part)-1].End, limit, part})
		}
	}
	for i, l := range all {
		switch l.Tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth = max(0, depth-1)
		case token.SEMICOLON:
			if depth == 0 {
				add(i, l.Start)
				from = i + 1
			}
		}
	}
	add(len(all), math.MaxInt)
	return found
}

// kindOf distinguishes a declaration from a statement by its first tokens. A
// func is a function if a name follows, and a method if a name and parentheses
// follow its own parentheses; otherwise it is a literal.
func kindOf(part []Lexeme) ChunkKind {
	for len(part) > 0 && part[0].Tok == token.COMMENT {
		part = part[1:]
	}
	if len(part) == 0 {
		return Statement
	}
	switch part[0].Tok {
	case token.PACKAGE:
		return Clause
	case token.IMPORT:
		return Imports
	case token.TYPE:
		return Type
	case token.FUNC:
		rest := part[1:]
		if len(rest) > 0 && rest[0].Tok == token.IDENT {
			return Function
		}
		if len(rest) > 0 && rest[0].Tok == token.LPAREN {
			rest = rest[closing(rest)+1:]
		}
		if len(rest) > 1 && rest[0].Tok == token.IDENT && rest[1].Tok == token.LPAREN {
			return Function
		}
	}
	return Statement
}

// closing is the index of the token that closes the first one, or the last.
func closing(part []Lexeme) int {
	depth := 0
	for i, l := range part {
		switch l.Tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(part) - 1
}

// outside are the chunks that cannot stand within a function, each with the
// semicolon that follows it.
func outside(text string, all []Lexeme) (out []Chunk) {
	for _, c := range Chunks(all) {
		if c.Kind == Imports || c.Kind == Function {
			if c.Limit < len(text) && text[c.Limit] == ';' {
				c.End = c.Limit + 1
			}
			out = append(out, c)
		}
	}
	return out
}

// MaxNesting is how deep brackets may nest: the checker's time grows with the
// square of it.
const MaxNesting = 400

// Nesting is the depth of a text's brackets, and where it is greatest.
func Nesting(all []Lexeme) (depth, at int) {
	now := 0
	for _, l := range all {
		switch l.Tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if now++; now > depth {
				depth, at = now, l.Start
			}
		case token.RPAREN, token.RBRACK, token.RBRACE:
			now = max(0, now-1)
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

// within says whether an offset is in one of the chunks. Offsets come in order.
func within(all []Chunk) func(int) bool {
	k := 0
	return func(offset int) bool {
		for k < len(all) && offset >= all[k].End {
			k++
		}
		return k < len(all) && offset >= all[k].Start
	}
}
