package symbols

import (
	"cmp"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"noema/kernel/session/cell/internal/source"
)

// Item is one text that could stand at a place.
type Item struct {
	Text   string // what to insert
	Kind   string // "func", "var", "const", "type", "field", "method", "package", "keyword"
	Detail string // one line: a type or a signature
}

// Complete returns what could take the place of text[start:end], where end is
// the cursor, a byte offset: members after a dot, fields in a struct literal,
// import paths, or the names in scope, those of the innermost scope first.
// Names that begin with what was typed come alone; if there are none, those that
// do so in another case. Incomplete text is the normal case.
func (m *Importer) Complete(text string, cursor int, s source.Scope) (start, end int, items []Item) {
	cursor = max(0, min(cursor, len(text)))
	before := source.Lex(text[:cursor], scanner.ScanComments)
	if start, ok := importPath(text, cursor); ok {
		return start, cursor, narrow(m.pathItems(), text[start:cursor])
	}
	start = cursor
	if n := len(before); n > 0 && before[n-1].End == cursor {
		switch last := before[n-1]; {
		case last.Tok == token.IDENT, last.Tok.IsKeyword():
			start = last.Start
			before = before[:n-1]
		case last.Tok.IsLiteral(), last.Tok == token.COMMENT:
			return cursor, cursor, nil
		}
	}
	if inside(source.Lex(text, scanner.ScanComments), cursor) {
		return cursor, cursor, nil
	}
	// A keyword that is typed may yet become a name: x.fo, for.
	a := m.analyse(text[:start]+blank(text[start:cursor])+text[cursor:], start, true, s)
	if a == nil {
		return start, cursor, nil
	}
	if n := len(before); n > 0 && significant(before) == token.PERIOD {
		return start, cursor, narrow(m.members(a), text[start:cursor])
	}
	items = append(a.literalFields(), m.inScope(a, s)...)
	return start, cursor, narrow(items, text[start:cursor])
}

// blank keeps a text's length, so that the places after it stay.
func blank(text string) string { return strings.Repeat(" ", len(text)) }

// significant is the last token that is not a comment and was not put in.
func significant(all []source.Lexeme) token.Token {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Tok != token.COMMENT && (all[i].Tok != token.SEMICOLON || all[i].Lit != "\n") {
			return all[i].Tok
		}
	}
	return token.ILLEGAL
}

// inside says that the cursor stands within a literal or a comment.
func inside(all []source.Lexeme, cursor int) bool {
	for _, l := range all {
		open := l.Start < cursor && cursor < l.End
		switch l.Tok {
		case token.STRING, token.CHAR, token.INT, token.FLOAT, token.IMAG:
			if open || l.Start < cursor && cursor == l.End && unclosed(l) {
				return true
			}
		case token.COMMENT:
			if open || cursor == l.End && strings.HasPrefix(l.Lit, "//") {
				return true
			}
		}
	}
	return false
}

// unclosed says that a string literal lacks its end.
func unclosed(l source.Lexeme) bool {
	return l.Tok == token.STRING && (len(l.Lit) < 2 || l.Lit[len(l.Lit)-1] != l.Lit[0])
}

// importPath finds where the path begins that is being typed in an import.
func importPath(text string, cursor int) (start int, ok bool) {
	for _, c := range source.Chunks(source.Lex(text, scanner.ScanComments)) {
		if c.Kind != source.Imports {
			continue
		}
		for _, l := range c.Lexemes {
			if l.Tok == token.STRING && l.Start < cursor && (cursor < l.End || cursor == l.End && unclosed(l)) {
				return l.Start + 1, true
			}
		}
	}
	return 0, false
}

func (m *Importer) pathItems() []Item {
	var items []Item
	for _, p := range m.Paths() {
		doc, _, _ := strings.Cut(m.Doc(p, ""), "\n")
		items = append(items, Item{p, "package", doc})
	}
	return items
}

// narrow keeps the items that begin with what was typed.
func narrow(items []Item, prefix string) []Item {
	var exact, folded []Item
	seen := map[string]bool{}
	for _, it := range items {
		if seen[it.Text] {
			continue
		}
		seen[it.Text] = true
		switch {
		case strings.HasPrefix(it.Text, prefix):
			exact = append(exact, it)
		case len(it.Text) >= len(prefix) && strings.EqualFold(it.Text[:len(prefix)], prefix):
			folded = append(folded, it)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return folded
}

// members are what can follow the dot before the place.
func (m *Importer) members(a *analysis) []Item {
	var sel *ast.SelectorExpr
	ast.Inspect(a.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Pos() == a.pos {
			sel = s
		}
		return sel == nil
	})
	if sel == nil {
		return nil
	}
	if id, ok := sel.X.(*ast.Ident); ok {
		if p, ok := a.info.Uses[id].(*types.PkgName); ok {
			return m.exported(p.Imported())
		}
		if a.info.Uses[id] == nil {
			if pkg := m.guess(id.Name); pkg != nil {
				return m.exported(pkg)
			}
		}
	}
	tv, ok := a.info.Types[sel.X]
	if !ok || tv.Type == nil {
		return nil
	}
	return append(fieldItems(tv.Type), methodItems(tv.Type)...)
}

// guess finds the package that someone means who has not imported it yet.
func (m *Importer) guess(name string) *types.Package {
	for _, path := range m.Paths() {
		if path == name || strings.HasSuffix(path, "/"+name) {
			if pkg, err := m.Import(path); err == nil && pkg.Name() == name {
				return pkg
			}
		}
	}
	return nil
}

// exported are a package's names, without those that cells lack.
func (m *Importer) exported(p *types.Package) []Item {
	var items []Item
	for _, name := range p.Scope().Names() {
		if _, missing := m.Missing(p.Path(), name); !missing && token.IsExported(name) {
			items = append(items, itemOf(p.Scope().Lookup(name)))
		}
	}
	return items
}

func methodItems(t types.Type) []Item {
	var items []Item
	for _, s := range typeutil.IntuitiveMethodSet(t, nil) {
		if reachable(s.Obj()) {
			items = append(items, itemOf(s.Obj()))
		}
	}
	return items
}

// reachable says that a cell may name the field or method.
func reachable(obj types.Object) bool {
	return obj.Exported() || obj.Pkg() != nil && obj.Pkg().Path() == "main"
}

// fieldItems are a struct's fields and those that it has from embedded ones,
// the outer before the inner.
func fieldItems(t types.Type) []Item {
	var items []Item
	names, seen := map[string]bool{}, map[types.Type]bool{}
	for level := []types.Type{t}; len(level) > 0; {
		var next []types.Type
		for _, t := range level {
			s, ok := structOf(t)
			if !ok || seen[t] {
				continue
			}
			seen[t] = true
			for f := range s.Fields() {
				if f.Embedded() {
					next = append(next, f.Type())
				}
				if reachable(f) && !names[f.Name()] {
					names[f.Name()] = true
					items = append(items, itemOf(f))
				}
			}
		}
		level = next
	}
	return items
}

// structOf is the struct of a type or of what it points to.
func structOf(t types.Type) (*types.Struct, bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	return s, ok
}

// literalFields are the fields to set, if the place is where a struct literal
// has its keys.
func (a *analysis) literalFields() []Item {
	var lit *ast.CompositeLit
	ast.Inspect(a.file, func(n ast.Node) bool {
		if l, ok := n.(*ast.CompositeLit); ok && slices.ContainsFunc(l.Elts, func(e ast.Expr) bool { return e.Pos() == a.pos }) {
			lit = l
		}
		return true
	})
	if lit == nil || a.info.TypeOf(lit) == nil {
		return nil
	}
	s, ok := structOf(a.info.TypeOf(lit))
	if !ok {
		return nil
	}
	set := map[string]bool{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				set[id.Name] = true
			}
		}
	}
	var items []Item
	for f := range s.Fields() {
		if reachable(f) && !set[f.Name()] {
			items = append(items, itemOf(f))
		}
	}
	return items
}

// inScope are the names that can be used at the place, and the keywords.
func (m *Importer) inScope(a *analysis, s source.Scope) []Item {
	var items []Item
	scope := a.pkg.Scope().Innermost(a.pos)
	if scope == nil {
		scope = a.pkg.Scope()
	}
	for inner := scope; scope != nil; scope = scope.Parent() {
		for _, name := range scope.Names() {
			_, obj := inner.LookupParent(name, a.pos)
			if obj == nil || name == "_" || name == placeholder {
				continue
			}
			if obj.Pkg() != nil && scope == a.pkg.Scope() {
				if _, missing := m.Missing(obj.Pkg().Path(), name); missing {
					continue
				}
			}
			it := itemOf(obj)
			it.Text = name // of an import it is the cell's own
			items = append(items, it)
		}
	}
	for tok := token.BREAK; tok <= token.VAR; tok++ {
		items = append(items, Item{Text: tok.String(), Kind: "keyword"})
	}
	return items
}

// itemOf describes an object in one line.
func itemOf(obj types.Object) Item {
	it := Item{Text: obj.Name(), Kind: kindOfObject(obj)}
	switch obj := obj.(type) {
	case *types.PkgName:
		it.Detail = obj.Imported().Path()
	case *types.TypeName:
		it.Detail = brief(obj.Type())
	case *types.Const:
		it.Detail = types.TypeString(obj.Type(), qualify) + " = " + obj.Val().String()
	case *types.Func, *types.Var:
		it.Detail = types.TypeString(obj.Type(), qualify)
	}
	return it
}

// brief names a type's kind where its parts would fill the line.
func brief(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return "struct"
	case *types.Interface:
		return "interface"
	default:
		return cmp.Or(types.TypeString(u, qualify), "type")
	}
}

// kindOfObject is one of an Item's kinds.
func kindOfObject(obj types.Object) string {
	switch obj := obj.(type) {
	case *types.PkgName:
		return "package"
	case *types.TypeName:
		return "type"
	case *types.Const:
		return "const"
	case *types.Func:
		if obj.Signature().Recv() != nil {
			return "method"
		}
		return "func"
	case *types.Builtin:
		return "func"
	case *types.Var:
		if obj.IsField() {
			return "field"
		}
		return "var"
	}
	return "const" // nil
}
