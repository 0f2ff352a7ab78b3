package cell

import (
	"cmp"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Complete returns the candidates for the name at the cursor, a byte offset in the
// text of a cell.
func (s *Session) Complete(text string, cursor int) (c Completions) {
	defer func() {
		if recover() != nil { // the checker may panic on an unfinished text
			c = Completions{Start: cursor, End: cursor}
		}
	}()
	ws := s.present()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	c.Start, c.End, c.Items = ws.importer.Complete(text, cursor, ws.names.Scope)
	return c
}

// Inspect describes the name at the cursor, a byte offset in the text of a
// cell, or the function in whose call the cursor stands.
func (s *Session) Inspect(text string, cursor int) (d Doc, ok bool) {
	defer func() {
		if recover() != nil { // as in Complete
			d, ok = Doc{}, false
		}
	}()
	ws := s.present()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	d, ok = ws.importer.Inspect(text, cursor, ws.names.Scope)
	if own := ws.names.of(d); ok && own != nil {
		d.Source = own.Source
	}
	return d, ok
}

// of is the definition of an inspected name.
func (n *namespace) of(info Doc) *definition {
	if d := n.definitions[info.Name]; d != nil {
		return d
	}
	for _, d := range n.definitions {
		if info.Object != nil && d.Object == info.Object {
			return d
		}
	}
	return nil
}

// Variables lists predeclared names and those that cells declared, sorted by name
// and without methods.
func (s *Session) Variables() []Variable {
	ws := s.present()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	all := []Variable{}
	for name, d := range ws.names.definitions {
		if typeOfMethod(name) != "" {
			continue
		}
		v := Variable{Name: name, Kind: kindOf(d.Object), Cell: d.number}
		if t := d.Object.Type(); t != nil {
			v.Type = typeText(d.Object)
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b Variable) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func kindOf(o types.Object) string {
	switch o.(type) {
	case *types.Func:
		return "func"
	case *types.TypeName:
		return "type"
	case *types.Const:
		return "const"
	}
	return "var"
}

// typeText is an object's type as cells write it: cells' types without a package,
// others with the package's name. For a type it is the underlying type.
func typeText(o types.Object) string {
	t := o.Type()
	if _, isType := o.(*types.TypeName); isType {
		t = t.Underlying()
	}
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == "main" {
			return ""
		}
		return p.Name()
	})
}

// IsComplete reports whether a text can be run as a cell, or needs more lines: a
// bracket, a comment or a raw string is open, or the last line ends within an
// expression. It does not check types.
func (s *Session) IsComplete(text string) Completeness {
	return completeness(text)
}

func completeness(text string) Completeness {
	open, last, broken := []token.Token{}, token.ILLEGAL, ""
	scan(text, func(tok token.Token) {
		switch tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, tok)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if n := len(open); n == 0 || closes[open[n-1]] != tok {
				broken = "invalid"
			} else {
				open = open[:n-1]
			}
		}
		if tok != token.COMMENT {
			last = tok
		}
	}, func(message string) {
		switch {
		case strings.Contains(message, "not terminated") && openEnded(message):
			broken = cmp.Or(broken, "incomplete")
		default:
			broken = "invalid"
		}
	})
	switch {
	case broken == "invalid":
		return Completeness{Status: "invalid"}
	case broken == "incomplete", len(open) > 0:
		return Completeness{Status: "incomplete", Indent: strings.Repeat("\t", len(open))}
	case continues(last):
		return Completeness{Status: "incomplete", Indent: "\t"}
	}
	return Completeness{Status: "complete"}
}

// closes maps opening brackets to closing ones.
var closes = map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE}

// openEnded reports whether the unterminated text may end on a later line.
func openEnded(message string) bool {
	return strings.Contains(message, "comment") || strings.Contains(message, "raw string")
}

// continues reports whether a text that ends with the token is incomplete.
func continues(last token.Token) bool {
	switch last {
	case token.INC, token.DEC:
		return false
	case token.COMMA, token.PERIOD, token.FUNC, token.TYPE, token.VAR, token.CONST, token.IMPORT, token.ELSE:
		return true
	}
	return last.IsOperator() && last.Precedence() > token.LowestPrec || last == token.ASSIGN || last == token.DEFINE
}

// scan calls each with the tokens of a text, without automatic semicolons, and
// fault with the scanner's messages.
func scan(text string, each func(token.Token), fault func(message string)) {
	set := token.NewFileSet()
	var s scanner.Scanner
	s.Init(set.AddFile("", -1, len(text)), []byte(text), func(_ token.Position, message string) { fault(message) }, scanner.ScanComments)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return
		}
		if tok != token.SEMICOLON || lit == ";" {
			each(tok)
		}
	}
}
