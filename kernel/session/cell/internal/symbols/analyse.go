package symbols

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"noema/kernel/session/cell/internal/source"
)

// placeholder is put where a text stops in want of a name.
const placeholder = "noema__placeholder"

// analysis is a cell's text, cut off at a place and checked as far as it goes.
type analysis struct {
	file *ast.File
	pkg  *types.Package
	info *types.Info
	pos  token.Pos // of the place
	// of maps what stands in for the session's variables and constants to the
	// objects themselves, which may be visible only from some place on in their
	// own cell.
	of map[types.Object]types.Object
}

// analyse checks the text up to cut, and the declarations after it. The part
// that the cut goes through is finished with a placeholder, if a name is
// wanted there, and with closing brackets. Whatever is wrong in the text leaves
// holes in the result, and no error.
func (m *Importer) analyse(text string, cut int, wantName bool, s source.Scope) (a *analysis) {
	defer func() {
		// The checker is used here on texts that no compiler accepts. Should it
		// give up on one, there is nothing to complete.
		if recover() != nil {
			a = nil
		}
	}()
	all := source.Lex(text, scanner.ScanComments)
	if depth, _ := source.Nesting(all); depth > source.MaxNesting {
		return nil
	}
	parts := split(text, all, cut, wantName)
	if parts.at.Kind != source.Function && parts.at.Kind != source.Type {
		return m.check(parts, s)
	}
	// A func sees the variables of the statements around it.
	around := m.check(parts, s)
	objects := maps.Clone(s.Objects)
	if objects == nil {
		objects = map[string]types.Object{}
	}
	if around != nil {
		body := around.statementScope()
		for _, name := range body.Names() {
			objects[name] = body.Lookup(name)
		}
	}
	s.Objects = objects
	return m.check(parts, s)
}

// parts is a text in the order in which a file needs it.
type parts struct {
	imports, decls, stmts []string
	at                    source.Chunk // the one with the cut
	cut                   int
	last                  string // its text, finished
}

// split sorts a text's chunks.
func split(text string, all []source.Lexeme, cut int, wantName bool) parts {
	p := parts{cut: cut}
	found := false
	for _, c := range source.Chunks(all) {
		body := text[c.Start:c.End]
		switch {
		case c.Start < cut && cut <= c.Limit:
			found = true
			p.at, p.last = c, finish(text[c.Start:cut], wantName)
		case c.Kind == source.Imports:
			p.imports = append(p.imports, body)
		case c.Kind == source.Function || c.Kind == source.Type:
			p.decls = append(p.decls, body)
		case c.Kind == source.Statement && c.End <= cut:
			p.stmts = append(p.stmts, body)
		}
	}
	if !found {
		p.at = source.Chunk{Start: cut, End: cut}
		p.last = finish("", wantName)
	}
	return p
}

// finish makes a text that stops in the middle one that can be parsed.
func finish(text string, wantName bool) string {
	end := closers(source.Lex(text, scanner.ScanComments))
	if wantName {
		text += placeholder
	}
	return text + end
}

// write puts the parts together as one file, and says where in it the last
// part begins.
func (p parts) write(s source.Scope) (text string, at int) {
	var b strings.Builder
	b.WriteString("package main\n")
	for _, name := range slices.Sorted(maps.Keys(s.Imports)) {
		fmt.Fprintf(&b, "import %s %q\n", name, s.Imports[name])
	}
	section := func(texts []string, kinds ...source.ChunkKind) {
		for _, text := range texts {
			b.WriteString(text + "\n")
		}
		if slices.Contains(kinds, p.at.Kind) {
			at = b.Len()
			b.WriteString(p.last + "\n")
		}
	}
	section(p.imports, source.Imports)
	section(p.decls, source.Function, source.Type)
	b.WriteString("func _() {\n")
	section(p.stmts, source.Statement)
	b.WriteString("}\n")
	return b.String(), at
}

// check type-checks the parts.
func (m *Importer) check(p parts, s source.Scope) *analysis {
	if p.at.Kind == source.Clause {
		return nil
	}
	text, at := p.write(s)
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "", text, parser.AllErrors|parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	a := &analysis{
		file: file, of: map[types.Object]types.Object{}, pkg: types.NewPackage("main", "main"),
		pos: fset.File(file.FileStart).Pos(at + p.cut - p.at.Start),
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{}, Scopes: map[ast.Node]*types.Scope{},
		},
	}
	a.fill(m, s)
	config := types.Config{Importer: m, Error: func(error) {}, GoVersion: "go1.26"}
	_ = types.NewChecker(&config, fset, a.pkg, a.info).Files([]*ast.File{file})
	return a
}

// fill puts the session's objects and those of dot imports into the package,
// but for names that the text declares anew. What the session declared takes
// the place of what it imported with a dot.
func (a *analysis) fill(m *Importer, s source.Scope) {
	own := a.declared()
	for name, obj := range s.Objects {
		if own[name] {
			continue
		}
		switch obj := obj.(type) {
		case *types.Var:
			a.insert(types.NewVar(token.NoPos, a.pkg, name, obj.Type()), obj)
		case *types.Const:
			a.insert(types.NewConst(token.NoPos, a.pkg, name, obj.Type(), obj.Val()), obj)
		default:
			a.insert(obj, obj)
		}
	}
	for _, path := range s.Dot {
		pkg, err := m.Import(path)
		if err != nil {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			if obj := pkg.Scope().Lookup(name); obj.Exported() && !own[name] {
				a.pkg.Scope().Insert(obj)
			}
		}
	}
}

// insert puts an object that stands for another into the package.
func (a *analysis) insert(obj, of types.Object) {
	a.pkg.Scope().Insert(obj)
	a.of[obj] = of
}

// declared are the names of the text's funcs and types.
func (a *analysis) declared() map[string]bool {
	own := map[string]bool{}
	for _, decl := range a.file.Decls {
		for _, name := range source.Declared(decl) {
			own[name] = true
		}
	}
	return own
}

// statementScope is the scope of the function that holds the statements.
func (a *analysis) statementScope() *types.Scope {
	last := types.NewScope(nil, 0, 0, "")
	for _, decl := range a.file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "_" && a.info.Scopes[f.Type] != nil {
			last = a.info.Scopes[f.Type]
		}
	}
	return last
}

// identAt finds the name that ends or begins around a place of the checked
// file.
func (a *analysis) identAt(pos token.Pos) *ast.Ident {
	var found *ast.Ident
	ast.Inspect(a.file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Pos() <= pos && pos <= id.End() {
			found = id
		}
		return found == nil
	})
	return found
}

// qualify prints packages by their names, and nothing for the cell's own.
func qualify(p *types.Package) string {
	if p.Path() == "main" {
		return ""
	}
	return p.Name()
}

// closers are the texts that finish what the tokens have begun: brackets that
// are open, and the body that a for, if, switch or func still waits for.
func closers(part []source.Lexeme) string {
	type level struct {
		close  string
		header bool // a body is to come on this level
	}
	stack := []level{{}}
	for _, l := range part {
		top := &stack[len(stack)-1]
		switch l.Tok {
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
			if l.Lit == "\n" {
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
