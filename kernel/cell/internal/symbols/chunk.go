package symbols

import (
	"go/scanner"
	"go/token"
	"math"
	"strings"
)

// lexeme is one token with its place in the text.
type lexeme struct {
	tok        token.Token
	lit        string
	start, end int
}

// lex splits a text into tokens, comments among them. What is no Go comes as
// ILLEGAL tokens.
func lex(text string) []lexeme {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, scanner.ScanComments)
	var all []lexeme
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
		all = append(all, lexeme{tok, lit, start, min(end, len(text))})
	}
}

// chunk is one part of a cell that stands on its own.
type chunk struct {
	kind       chunkKind
	start, end int
	limit      int // up to where what is typed still belongs to it
	lexemes    []lexeme
}

type chunkKind int

const (
	statements  chunkKind = iota // one statement, to stand in a function
	imports                      // an import declaration
	declaration                  // func, type
	clause                       // the package clause
)

// chunks splits a text, given as its tokens, into statements and declarations.
func chunks(all []lexeme) []chunk {
	var found []chunk
	depth, from := 0, 0
	add := func(to, limit int) {
		if part := all[from:to]; len(part) > 0 {
			found = append(found, chunk{kindOf(part), part[0].start, part[len(part)-1].end, limit, part})
		}
	}
	for i, l := range all {
		switch l.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth = max(0, depth-1)
		case token.SEMICOLON:
			if depth == 0 {
				add(i, l.start)
				from = i + 1
			}
		}
	}
	add(len(all), math.MaxInt)
	return found
}

// kindOf tells a declaration from a statement by its first tokens. A func with
// parentheses after it is a method if a name and parentheses follow those, and
// otherwise a literal.
func kindOf(part []lexeme) chunkKind {
	for len(part) > 0 && part[0].tok == token.COMMENT {
		part = part[1:]
	}
	if len(part) == 0 {
		return statements
	}
	switch part[0].tok {
	case token.PACKAGE:
		return clause
	case token.IMPORT:
		return imports
	case token.TYPE:
		return declaration
	case token.FUNC:
		rest := part[1:]
		if len(rest) > 0 && rest[0].tok == token.LPAREN {
			rest = rest[closing(rest)+1:]
		}
		if len(rest) > 1 && rest[0].tok == token.IDENT && (rest[1].tok == token.LPAREN || rest[1].tok == token.LBRACK) {
			return declaration
		}
	}
	return statements
}

// closing is the index of the token that closes the first one, or the last.
func closing(part []lexeme) int {
	depth := 0
	for i, l := range part {
		switch l.tok {
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

// deeper says that more than limit brackets are open somewhere.
func deeper(all []lexeme, limit int) bool {
	depth := 0
	for _, l := range all {
		switch l.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if depth++; depth > limit {
				return true
			}
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth = max(0, depth-1)
		}
	}
	return false
}

// closers are the texts that finish what the tokens have begun: brackets that
// are open, and the body that a for, if, switch or func still waits for.
func closers(part []lexeme) string {
	type level struct {
		close  string
		header bool // a body is to come on this level
	}
	stack := []level{{}}
	for _, l := range part {
		top := &stack[len(stack)-1]
		switch l.tok {
		case token.LPAREN:
			stack = append(stack, level{close: ")"})
		case token.LBRACK:
			stack = append(stack, level{close: "]"})
		case token.LBRACE:
			top.header = false
			stack = append(stack, level{close: "}"})
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case token.FOR, token.IF, token.SWITCH, token.SELECT, token.FUNC:
			top.header = true
		case token.SEMICOLON:
			if l.lit == "\n" {
				top.header = false
			}
		}
	}
	var b strings.Builder
	for i := len(stack) - 1; i >= 0; i-- {
		if stack[i].header {
			b.WriteString(" {}")
		}
		if i > 0 {
			b.WriteString(stack[i].close)
		}
	}
	return b.String()
}
