package source

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Read reads a cell or a script. The error is an *Errors. Hooks is what [Hooks]
// gave.
func Read(fset *token.FileSet, text string, w Environment, hooks *types.Package, o Options) (*Unit, error) {
	if o.Script {
		return readScript(fset, text, w, o)
	}
	how := adjustments{show: true, keys: map[token.Position][]string{}, imports: map[string]string{}}
	for {
		u, err := readCell(fset, text, w.withImports(how.imports), hooks, o, how)
		var faults *Errors
		switch {
		case errors.As(err, &faults) && faults.novalue() && how.show:
			how.show = false
		case faults != nil && (how.learn(faults) || how.add(faults, w)):
		case faults != nil:
			suggest(faults, w)
			return nil, faults
		default:
			for _, name := range slices.Sorted(maps.Keys(how.imports)) {
				u.Added = append(u.Added, Import{name, how.imports[name]})
			}
			u.Imports = append(u.Imports, u.Added...)
			return u, nil
		}
	}
}

// adjustments are what earlier attempts to read a cell have found out.
type adjustments struct {
	show bool // the last expression has a value to show
	// keys are field names to add to struct literals. In Go, only the package of an
	// unexported field can set it by position, and every cell is a package.
	keys    map[token.Position][]string
	imports map[string]string // to add: name -> path
}

// learn adds the literals that an attempt rejected. It reports whether there was a
// new one.
func (m adjustments) learn(faults *Errors) bool {
	before := len(m.keys)
	for at, names := range faults.unkeyed {
		m.keys[at] = names
	}
	return len(m.keys) > before
}

// novalue reports whether the last expression has no value to show.
func (e *Errors) novalue() bool {
	return slices.ContainsFunc(e.Faults, func(f Fault) bool {
		return strings.Contains(f.Message, "(no value) used as value")
	})
}

// cellReader reads one cell.
type cellReader struct {
	fset  *token.FileSet
	text  string
	w     Environment
	o     Options
	unit  *Unit
	files []*token.File // of the text and of Options.Again
	decls []ast.Decl
	body  *ast.FuncDecl
	steps []step // the statements in order
	again map[ast.Decl]Part

	declared map[string]bool // at the top of this cell
}

// step is a statement at the top of the cell, or a variable's declaration there.
type step struct {
	stmt  ast.Stmt
	spec  *ast.ValueSpec // of variables; stmt is nil
	extra []ast.Stmt     // assignments to variables that the cell declared before
}

func readCell(fset *token.FileSet, text string, w Environment, hooks *types.Package, o Options, how adjustments) (*Unit, error) {
	r := &cellReader{fset: fset, text: text, w: w, o: o, unit: &Unit{}, again: map[ast.Decl]Part{}, declared: map[string]bool{}}
	u, err := r.read(hooks, how)
	if err != nil { // nothing has a position in it
		for _, f := range r.files {
			fset.RemoveFile(f)
		}
	}
	return u, err
}

func (r *cellReader) read(hooks *types.Package, how adjustments) (*Unit, error) {
	if err := r.parse(); err != nil {
		return nil, err
	}
	if err := r.arrange(how.show); err != nil {
		return nil, err
	}
	r.nameFields(how.keys)
	r.unit.Package = types.NewPackage("main", "main")
	r.unit.File = &ast.File{Package: r.body.Pos(), Name: ast.NewIdent("main"), Decls: r.decls, FileStart: r.body.Pos(), FileEnd: r.body.End()}
	r.world(hooks)
	if err := check(r.fset, r.unit, r.w, r.o, true); err != nil {
		return nil, selecting(r.withUnkeyed(err), r.unit.File)
	}
	r.finish()
	return r.unit, nil
}

// parse parses the text twice: once for the declarations that must be at the top
// level, and once, as the body of a function, for the rest. Positions stay those
// of the text.
func (r *cellReader) parse() error {
	tokens := Lex(r.text, 0)
	if depth, at := Nesting(tokens); depth > MaxNesting {
		line, column := place(r.text, at)
		return &Errors{Kind: "syntax error", Faults: []Fault{{r.o.Source, line, column, fmt.Sprintf("brackets nest %d deep: the limit is %d", depth, MaxNesting), ""}}}
	}
	declarations := outside(r.text, tokens)
	in := within(declarations)
	var faults []Fault
	file, err := r.parsed("package main;", blanked(r.text, in), "")
	faults = append(faults, r.syntax(err)...)
	in = within(declarations)
	rest, err := r.parsed("package main;func "+runName+"(){", blanked(r.text, func(i int) bool { return !in(i) }), "\n}")
	faults = append(faults, r.syntax(err)...)
	if len(faults) > 0 {
		slices.SortStableFunc(faults, func(a, b Fault) int { return a.Line - b.Line })
		return &Errors{Kind: "syntax error", Faults: faults[:1]}
	}
	if len(rest.Decls) != 1 {
		line, column := 0, 0
		if len(rest.Decls) > 1 {
			p := r.fset.Position(rest.Decls[1].Pos())
			line, column = p.Line, p.Column
		}
		return &Errors{Kind: "syntax error", Faults: []Fault{{r.o.Source, line, column, "unexpected }: no bracket is open", ""}}}
	}
	r.decls = file.Decls
	r.body = rest.Decls[0].(*ast.FuncDecl)
	return r.parseAgain()
}

// parsed parses a text after a head, with positions relative to the text.
func (r *cellReader) parsed(head, text, tail string) (*ast.File, error) {
	return r.file(head + fmt.Sprintf("/*line %s:1:1*/", r.o.Source) + text + tail)
}

// file parses a text that begins with its package clause.
func (r *cellReader) file(text string) (*ast.File, error) {
	file, err := parser.ParseFile(r.fset, "cell", text, parser.SkipObjectResolution)
	if file != nil {
		if f := r.fset.File(file.FileStart); f != nil {
			r.files = append(r.files, f)
		}
	}
	return file, err
}

// parseAgain adds the declarations of earlier cells that are compiled again.
func (r *cellReader) parseAgain() error {
	for _, p := range r.o.Again {
		file, err := r.file(fmt.Sprintf("package main;/*line %s:%d:1*/%s", p.Source, p.Line, p.Text))
		if err != nil {
			return &Errors{Kind: "syntax error", Faults: r.syntax(err)}
		}
		for _, d := range file.Decls {
			r.again[d] = p
			r.decls = append(r.decls, d)
		}
	}
	return nil
}

// syntax converts errors of the parser to faults.
func (r *cellReader) syntax(err error) (out []Fault) {
	list, _ := errors.AsType[scanner.ErrorList](err)
	for _, e := range list {
		lines := strings.Count(r.text, "\n") + 1
		f := Fault{Source: e.Pos.Filename, Line: min(e.Pos.Line, lines), Column: e.Pos.Column, Message: e.Msg}
		if strings.Contains(e.Msg, "found 'EOF'") || e.Pos.Line > lines {
			f.Column = 0
		}
		f.Message = strings.ReplaceAll(f.Message, "found '}'", "found end of cell")
		if e.Pos.Line <= lines {
			f.Message = e.Msg
		}
		out = append(out, f)
	}
	return out
}

// place gives line and column of an offset.
func place(text string, offset int) (line, column int) {
	before := text[:offset]
	return strings.Count(before, "\n") + 1, offset - strings.LastIndexByte(before, '\n')
}

func readScript(fset *token.FileSet, text string, w Environment, o Options) (*Unit, error) {
	if depth, at := Nesting(Lex(text, 0)); depth > MaxNesting {
		line, column := place(text, at)
		return nil, &Errors{Kind: "syntax error", Faults: []Fault{{o.Source, line, column, fmt.Sprintf("brackets nest %d deep: the limit is %d", depth, MaxNesting), ""}}}
	}
	if _, err := parser.ParseFile(token.NewFileSet(), o.Source, text, parser.PackageClauseOnly); err != nil {
		return nil, &Errors{Kind: "syntax error", Faults: []Fault{{o.Source, 1, 1, "a script is a file of package main: this one begins without a package clause", "to run cells, use noema repl < FILE"}}}
	}
	file, err := parser.ParseFile(fset, o.Source, text, parser.SkipObjectResolution)
	if err != nil {
		r := &cellReader{text: text, o: o}
		faults := r.syntax(err)
		return nil, &Errors{Kind: "syntax error", Faults: faults}
	}
	if file.Name.Name != "main" {
		p := fset.Position(file.Name.Pos())
		return nil, &Errors{Kind: "type error", Faults: []Fault{{o.Source, p.Line, p.Column, fmt.Sprintf("package %s is not a main package", file.Name.Name), "start the script with package main"}}}
	}
	u := &Unit{Package: types.NewPackage("main", "main"), File: file, Run: "main"}
	if err := check(fset, u, w, o, false); err != nil {
		err = selecting(err, u.File)
		if faults, ok := errors.AsType[*Errors](err); ok {
			suggest(faults, w)
		}
		return nil, err
	}
	if u.Package.Scope().Lookup("main") == nil {
		return nil, &Errors{Kind: "type error", Faults: []Fault{{o.Source, 1, 1, "function main is undeclared in the main package", ""}}}
	}
	return u, nil
}
