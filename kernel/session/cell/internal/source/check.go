package source

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"runtime"
	"slices"
	"strings"
)

// check type-checks a unit. Only in a script, unused imports are errors.
func check(fset *token.FileSet, u *Unit, w Environment, o Options, cell bool) error {
	unused := func(message string) bool {
		return strings.HasSuffix(message, "imported and not used") || strings.Contains(message, "imported as") && strings.HasSuffix(message, "and not used")
	}
	var err error
	u.Info, err = Check(fset, u.Package, []*ast.File{u.File}, "go1.26", w, func(message string) bool { return cell && unused(message) })
	return err
}

// Check type-checks the files of a package for the machine. The error is an
// *Errors, without those whose message ignore accepts; ignore may be nil.
func Check(fset *token.FileSet, pkg *types.Package, files []*ast.File, goVersion string, w Environment, ignore func(message string) bool) (*types.Info, error) {
	info := NewInfo()
	var faults []Fault
	config := types.Config{
		GoVersion: goVersion, Importer: w.Importer, Sizes: types.SizesFor("gc", runtime.GOARCH),
		Error: func(err error) {
			var e types.Error
			if !errors.As(err, &e) || strings.HasPrefix(e.Msg, "\t") || ignore != nil && ignore(e.Msg) {
				return
			}
			faults = append(faults, faultOf(fset, e))
		},
	}
	// The faults come by Error.
	_ = types.NewChecker(&config, fset, pkg, info).Files(files)
	if len(faults) > 0 {
		return info, &Errors{Kind: "type error", Faults: faults}
	}
	return info, refuse(fset, pkg, info, w)
}

// faultOf converts an error, without generated names.
func faultOf(fset *token.FileSet, e types.Error) Fault {
	p := fset.Position(e.Pos)
	message := strings.ReplaceAll(e.Msg, oldSuffix, "")
	if i := strings.Index(message, newSuffix); i >= 0 {
		message = message[:i] + strings.TrimLeft(message[i+len(newSuffix):], "0123456789")
	}
	message = strings.TrimPrefix(message, "could not import C (no metadata for C)")
	if rest, ok := strings.CutPrefix(message, "could not import "); ok {
		if _, why, found := strings.Cut(rest, " ("); found {
			message = strings.TrimSuffix(why, ")")
		}
	}
	return Fault{Source: p.Filename, Line: p.Line, Column: p.Column, Message: message}
}

// refuse finds names of compiled packages that cells do not have.
func refuse(fset *token.FileSet, of *types.Package, info *types.Info, w Environment) error {
	var faults []Fault
	for id, o := range info.Uses {
		pkg := o.Pkg()
		if pkg == nil || pkg == of || pkg.Scope().Lookup(o.Name()) != o || pkg.Path() == "main" {
			continue
		}
		if w.Missing == nil {
			continue
		}
		if hint, missing := w.Missing(pkg.Path(), o.Name()); missing {
			p := fset.Position(id.Pos())
			faults = append(faults, Fault{p.Filename, p.Line, p.Column, fmt.Sprintf("%s.%s is not available in cells", pkg.Name(), o.Name()), hint})
		}
	}
	if len(faults) == 0 {
		return nil
	}
	slices.SortFunc(faults, func(a, b Fault) int { return (a.Line-b.Line)*1000 + a.Column - b.Column })
	return &Errors{Kind: "unsupported", Faults: faults}
}

// finish replaces the declarations of variables among the statements by
// assignments, and lists the definitions.
func (r *cellReader) finish() {
	r.unit.Info.InitOrder = nil // they are assigned in the order of the text
	var body []ast.Stmt
	for _, s := range r.steps {
		switch {
		case s.stmt != nil:
			body = append(body, s.stmt)
		case len(s.spec.Values) > 0:
			body = append(body, r.assignment(s.spec))
		}
		body = append(body, s.extra...)
	}
	r.body.Body.List = body
	r.definitions()
}

// assignment is the assignment that a declaration of variables makes.
func (r *cellReader) assignment(spec *ast.ValueSpec) ast.Stmt {
	out := &ast.AssignStmt{Tok: token.ASSIGN, TokPos: spec.Pos(), Rhs: spec.Values}
	for _, n := range spec.Names {
		id := &ast.Ident{NamePos: n.Pos(), Name: n.Name}
		if n.Name != "_" {
			r.unit.Info.Uses[id] = r.unit.Info.Defs[n]
		}
		out.Lhs = append(out.Lhs, id)
	}
	return out
}

// definitions lists the declarations at the top level.
func (r *cellReader) definitions() {
	for _, d := range r.decls {
		if d == ast.Decl(r.body) {
			continue
		}
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d) + "." + name
			}
			if d.Name.Name != "_" {
				r.addDefinition(name, d.Name, d)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					r.addDefinition(s.Name.Name, s.Name, d)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.Name != "_" && !strings.Contains(n.Name, newSuffix) {
							r.addDefinition(n.Name, n, d)
						}
					}
				}
			}
		}
	}
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	if id := base(d.Recv.List[0].Type); id != nil {
		return id.Name
	}
	return ""
}

func (r *cellReader) addDefinition(name string, id *ast.Ident, d ast.Decl) {
	def := Definition{Name: name, Object: r.unit.Info.Defs[id]}
	p := r.fset.Position(d.Pos())
	def.Line = p.Line
	if part, ok := r.again[d]; ok {
		def.Part, def.Source = true, part.Text
	} else {
		def.Source = r.sourceOf(d)
	}
	seen := map[string]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		if u, ok := n.(*ast.Ident); ok && u != id && !seen[u.Name] {
			seen[u.Name] = true
			def.Uses = append(def.Uses, strings.TrimSuffix(u.Name, oldSuffix))
		}
		return true
	})
	r.unit.Defines = append(r.unit.Defines, def)
}

// sourceOf is the text of a declaration.
func (r *cellReader) sourceOf(d ast.Decl) string {
	from, to := r.fset.Position(d.Pos()), r.fset.Position(d.End())
	start, end := offset(r.text, from.Line, from.Column), offset(r.text, to.Line, to.Column)
	if start < 0 || end < start || end > len(r.text) {
		return ""
	}
	return r.text[start:end]
}

// offset finds a line's column in a text.
func offset(text string, line, column int) int {
	at := 0
	for range line - 1 {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	return at + column - 1
}
