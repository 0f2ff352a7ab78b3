package symbols

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Scope is what a cell's text sees besides what it declares itself.
type Scope struct {
	Objects map[string]types.Object // the session's, by the names in the source
	Imports map[string]string       // name -> path of imports made before
	Dot     []string                // paths of dot imports made before
}

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
func (m *Importer) analyse(text string, cut int, wantName bool, s Scope) (a *analysis) {
	defer func() {
		// The checker is used here on texts that no compiler accepts. Should it
		// give up on one, there is nothing to complete.
		if recover() != nil {
			a = nil
		}
	}()
	all := lex(text)
	if deeper(all, maxDepth) {
		return nil
	}
	parts := split(text, all, cut, wantName)
	if parts.at.kind != declaration {
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
	at                    chunk // the one with the cut
	cut                   int
	last                  string // its text, finished
}

// maxDepth is how many brackets may stand in each other. The checker looks for
// a name in every block around it, so that it takes quadratic time on blocks in
// blocks, which nobody writes by hand.
const maxDepth = 500

// split sorts a text's chunks.
func split(text string, all []lexeme, cut int, wantName bool) parts {
	p := parts{cut: cut}
	found := false
	for _, c := range chunks(all) {
		body := text[c.start:c.end]
		switch {
		case c.start < cut && cut <= c.limit:
			found = true
			p.at, p.last = c, finish(text[c.start:cut], wantName)
		case c.kind == imports:
			p.imports = append(p.imports, body)
		case c.kind == declaration:
			p.decls = append(p.decls, body)
		case c.kind == statements && c.end <= cut:
			p.stmts = append(p.stmts, body)
		}
	}
	if !found {
		p.at = chunk{kind: statements, start: cut, end: cut}
		p.last = finish("", wantName)
	}
	return p
}

// finish makes a text that stops in the middle one that can be parsed.
func finish(text string, wantName bool) string {
	end := closers(lex(text))
	if wantName {
		text += placeholder
	}
	return text + end
}

// write puts the parts together as one file, and says where in it the last
// part begins.
func (p parts) write(s Scope) (text string, at int) {
	var b strings.Builder
	b.WriteString("package main\n")
	for _, name := range slices.Sorted(maps.Keys(s.Imports)) {
		fmt.Fprintf(&b, "import %s %q\n", name, s.Imports[name])
	}
	section := func(kind chunkKind, texts []string) {
		for _, text := range texts {
			b.WriteString(text + "\n")
		}
		if p.at.kind == kind {
			at = b.Len()
			b.WriteString(p.last + "\n")
		}
	}
	section(imports, p.imports)
	section(declaration, p.decls)
	b.WriteString("func _() {\n")
	section(statements, p.stmts)
	b.WriteString("}\n")
	return b.String(), at
}

// check type-checks the parts.
func (m *Importer) check(p parts, s Scope) *analysis {
	if p.at.kind == clause {
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
		pos: fset.File(file.FileStart).Pos(at + p.cut - p.at.start),
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
func (a *analysis) fill(m *Importer, s Scope) {
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
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				own[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					own[t.Name.Name] = true
				}
			}
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
