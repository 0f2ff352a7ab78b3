package battery

import (
	"fmt"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// chunk is one declaration or statement at the top of a cell.
type chunk struct {
	text    string
	tokens  []lexeme
	defines []string // names that it declares by := or var or const
}

type lexeme struct {
	tok token.Token
	lit string
}

// chunksOf cuts a cell's text where a declaration or statement at its top
// ends. It knows nothing of types, and is on purpose no relative of the
// session's own splitter.
func chunksOf(text string) []chunk {
	set := token.NewFileSet()
	file := set.AddFile("cell", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	var out []chunk
	var current []lexeme
	depth, start := 0, 0
	for {
		pos, tok, lit := s.Scan()
		at := file.Offset(pos)
		switch tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		if tok == token.EOF || tok == token.SEMICOLON && depth == 0 && !inHeader(current, lit) {
			if len(current) > 0 {
				c := chunk{text: strings.TrimSpace(text[start:at]), tokens: current}
				c.defines = c.names()
				out = append(out, c)
			}
			if tok == token.EOF {
				return out
			}
			start, current = min(at+1, len(text)), nil
			continue
		}
		current = append(current, lexeme{tok, lit})
	}
}

// inHeader says whether a semicolon stands in the header of a for, if or
// switch: such a one is written out and no closing brace comes before it.
func inHeader(before []lexeme, lit string) bool {
	if lit != ";" || len(before) == 0 || before[len(before)-1].tok == token.RBRACE {
		return false
	}
	first := before[0].tok
	if len(before) > 2 && before[1].tok == token.COLON {
		first = before[2].tok
	}
	return first == token.FOR || first == token.IF || first == token.SWITCH
}

// names are the variables and constants that a chunk declares. Of a group it
// takes every name that starts a line, which is all that the battery needs.
func (c chunk) names() (out []string) {
	switch c.tokens[0].tok {
	case token.VAR, token.CONST:
		fresh := true
		for i, l := range c.tokens[1:] {
			switch {
			case fresh && l.tok == token.IDENT:
				out = append(out, l.lit)
				fresh = c.tokens[1:][i+1].tok == token.COMMA
			case l.tok == token.SEMICOLON, l.tok == token.LPAREN && i == 0:
				fresh = true
			}
		}
		return out
	}
	for _, l := range c.tokens {
		switch l.tok {
		case token.IDENT:
			out = append(out, l.lit)
		case token.COMMA:
		case token.DEFINE:
			return out
		default:
			return nil
		}
	}
	return nil
}

// mentions says whether the chunk's text names one of names.
func (c chunk) mentions(names []string) bool {
	return slices.ContainsFunc(c.tokens, func(l lexeme) bool {
		return l.tok == token.IDENT && slices.Contains(names, l.lit)
	})
}

// declares says whether the chunk is a declaration that must stand outside of
// functions: a type, a function or a method, but no call of a function literal.
func (c chunk) declares() bool {
	switch c.tokens[0].tok {
	case token.TYPE:
		return true
	case token.FUNC:
	default:
		return false
	}
	if c.tokens[1].tok == token.IDENT {
		return true
	}
	depth := 0
	for i, l := range c.tokens[1:] {
		switch l.tok {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			depth--
		}
		if depth == 0 {
			after := c.tokens[i+2:]
			return len(after) > 1 && after[0].tok == token.IDENT && after[1].tok == token.LPAREN
		}
	}
	return false
}

// program is the snippet as a Go file of package pkg with a function Run: the
// declarations outside, the statements of each cell in a block of Run, one
// within the other, so that a later := hides an earlier one.
func (s *snippet) program(pkg string) string {
	cells := []string{s.Go}
	if s.Go == "" {
		cells = nil
		for _, c := range s.Cells {
			cells = append(cells, c.Text)
		}
	}
	var chunks [][]chunk
	for _, text := range cells {
		chunks = append(chunks, chunksOf(text))
	}
	hoist(chunks)
	var imports, decls, body strings.Builder
	seen := map[string]bool{}
	for i, cell := range chunks {
		if i > 0 {
			body.WriteString("{\n")
		}
		for _, c := range cell {
			switch {
			case c.tokens[0].tok == token.IMPORT:
				for _, spec := range importSpecs(c) {
					if !seen[spec] {
						fmt.Fprintln(&imports, "import", spec)
					}
					seen[spec] = true
				}
			case c.declares(), c.hoisted():
				fmt.Fprintf(&decls, "%s\n\n", c.text)
			default:
				fmt.Fprintf(&body, "%s\n", c.text)
				for _, n := range c.defines {
					if n != "_" && c.tokens[0].tok != token.CONST {
						fmt.Fprintf(&body, "_ = %s\n", n)
					}
				}
			}
		}
	}
	body.WriteString(strings.Repeat("}\n", max(len(chunks)-1, 0)))
	return fmt.Sprintf("package %s\n\n%s\n%sfunc Run() {\n%s}\n", pkg, &imports, &decls, &body)
}

// hoisted says whether hoist marked the chunk.
func (c chunk) hoisted() bool { return c.tokens[len(c.tokens)-1].tok == token.ILLEGAL }

// hoist marks the variables and constants that declarations outside of
// functions mention: they must stand there, too.
func hoist(cells [][]chunk) {
	for again := true; again; {
		again = false
		for _, outer := range cells {
			for _, d := range outer {
				if !d.declares() && !d.hoisted() {
					continue
				}
				for _, cell := range cells {
					for i, c := range cell {
						first := c.tokens[0].tok
						if (first == token.VAR || first == token.CONST) && !c.hoisted() && d.mentions(c.defines) {
							cell[i].tokens = append(slices.Clip(c.tokens), lexeme{tok: token.ILLEGAL})
							again = true
						}
					}
				}
			}
		}
	}
}

// importSpecs are the imports of an import declaration, each as `name "path"`.
func importSpecs(c chunk) (out []string) {
	name := ""
	for _, l := range c.tokens {
		switch l.tok {
		case token.IDENT:
			name = l.lit + " "
		case token.PERIOD:
			name = ". "
		case token.STRING:
			out = append(out, name+l.lit)
			name = ""
		}
	}
	return out
}
