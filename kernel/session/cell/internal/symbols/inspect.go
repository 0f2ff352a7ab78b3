package symbols

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"strings"

	"noema/kernel/session/cell/internal/source"
)

// Info is what is known of a name.
type Info struct {
	Name      string       // as in "strings.Cut", "strings.Reader.Read" or "x"
	Kind      string       // as of Item
	Signature string       // the declaration, as go doc prints it
	Comment   string       // the doc comment, or empty
	Object    types.Object // what the name stands for
	Source    string       // its source text, which the session adds if a cell declared it
}

// Inspect describes the name at the cursor, a byte offset. Where the cursor
// stands on none, but within a call's parentheses, it is the function called.
func (m *Importer) Inspect(text string, cursor int, s source.Scope) (Info, bool) {
	cursor = max(0, min(cursor, len(text)))
	all := source.Lex(text, scanner.ScanComments)
	name, ok := nameAt(all, cursor)
	if !ok {
		name, ok = callee(all, cursor)
	}
	if !ok || inside(all, name.Start) {
		return Info{}, false
	}
	cut, isKey := name.End, false
	if next := after(all, name); next.Tok == token.COLON {
		cut, isKey = next.End, true // the key of a literal is one only with its value
	}
	a := m.analyse(text, cut, isKey, s)
	if a == nil {
		return Info{}, false
	}
	id := a.identAt(a.pos - token.Pos(cut-name.End))
	if id == nil || id.Name != name.Lit {
		return Info{}, false
	}
	obj := a.info.ObjectOf(id)
	if obj == nil {
		obj = m.unimported(a, id)
	}
	if obj == nil {
		return Info{}, false
	}
	info := m.describe(obj)
	if of := a.of[obj]; of != nil {
		info.Object = of
	}
	return info, true
}

// nameAt is the name that the cursor stands on or right after.
func nameAt(all []source.Lexeme, cursor int) (source.Lexeme, bool) {
	for _, l := range all {
		if l.Tok == token.IDENT && l.Start <= cursor && cursor <= l.End {
			return l, true
		}
	}
	return source.Lexeme{}, false
}

// after is the token that follows one.
func after(all []source.Lexeme, one source.Lexeme) source.Lexeme {
	for _, l := range all {
		if l.Start >= one.End {
			return l
		}
	}
	return source.Lexeme{}
}

// callee is the name before the parenthesis that is open at the cursor.
func callee(all []source.Lexeme, cursor int) (source.Lexeme, bool) {
	depth := 0
	for i := len(all) - 1; i > 0; i-- {
		if all[i].End > cursor || all[i].Tok == token.SEMICOLON && all[i].Lit == "\n" && all[i].Start >= cursor {
			continue
		}
		switch all[i].Tok {
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth++
		case token.LBRACE, token.LBRACK:
			depth--
		case token.LPAREN:
			if depth--; depth < 0 {
				return all[i-1], all[i-1].Tok == token.IDENT
			}
		}
	}
	return source.Lexeme{}, false
}

// unimported finds a name in a package that the cell has not imported yet, or
// such a package itself.
func (m *Importer) unimported(a *analysis, id *ast.Ident) types.Object {
	var of types.Object
	ast.Inspect(a.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel == id {
			if x, ok := sel.X.(*ast.Ident); ok && a.info.Uses[x] == nil {
				if pkg := m.guess(x.Name); pkg != nil {
					of = pkg.Scope().Lookup(id.Name)
				}
			}
		}
		return of == nil
	})
	if of != nil && of.Exported() {
		return of
	}
	if pkg := m.guess(id.Name); pkg != nil {
		return types.NewPkgName(token.NoPos, nil, id.Name, pkg)
	}
	return nil
}

// describe puts together what the types and the sources say of an object.
func (m *Importer) describe(obj types.Object) Info {
	info := Info{Name: obj.Name(), Kind: kindOfObject(obj), Object: obj, Signature: declarationOf(obj)}
	path, key := m.place(obj)
	if path == "" {
		return info
	}
	if p, ok := obj.(*types.PkgName); ok {
		info.Signature = fmt.Sprintf("package %s // import %q", p.Imported().Name(), path)
	} else if pkg := obj.Pkg(); pkg != nil {
		info.Name = pkg.Name() + "." + key
	}
	m.mu.Lock()
	e := m.entry(path, key)
	m.mu.Unlock()
	if e[0] != "" {
		info.Signature = e[0]
	}
	info.Comment = strings.TrimSuffix(e[1], "\n")
	return info
}

// declarationOf writes an object's declaration from its type.
func declarationOf(obj types.Object) string {
	switch obj := obj.(type) {
	case *types.Builtin:
		return "func " + obj.Name()
	case *types.Var:
		if obj.IsField() {
			return obj.Name() + " " + types.TypeString(obj.Type(), qualify)
		}
	}
	return types.ObjectString(obj, qualify)
}

// place is where the sources speak of an object: its package and the key of
// its entry. What a cell declares has none.
func (m *Importer) place(obj types.Object) (path, key string) {
	if p, ok := obj.(*types.PkgName); ok {
		return p.Imported().Path(), ""
	}
	if obj.Pkg() == nil {
		return "builtin", obj.Name()
	}
	path = obj.Pkg().Path()
	if path == "main" {
		return "", ""
	}
	switch obj := obj.(type) {
	case *types.Func:
		if recv := obj.Signature().Recv(); recv != nil {
			return path, ownerName(recv.Type()) + "." + obj.Name()
		}
	case *types.Var:
		if obj.IsField() {
			return path, m.fieldOwner(obj) + "." + obj.Name()
		}
		if obj.Parent() != nil && obj.Parent() != obj.Pkg().Scope() && obj.Pkg().Scope().Lookup(obj.Name()) != obj {
			return "", "" // a parameter
		}
	}
	return path, obj.Name()
}

// ownerName is the name of the type that a method belongs to.
func ownerName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// fieldOwner is the name of the struct type that has the field.
func (m *Importer) fieldOwner(field *types.Var) string {
	pkg, err := m.Import(field.Pkg().Path())
	if err != nil {
		pkg = field.Pkg()
	}
	for _, name := range pkg.Scope().Names() {
		obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		s, ok := obj.Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for f := range s.Fields() {
			if f == field.Origin() {
				return name
			}
		}
	}
	return ""
}
