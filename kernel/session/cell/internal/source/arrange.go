package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// arrange moves the declarations among the statements to the package's top and
// prepares the variables: each is declared there, and assigned where it stood.
func (r *cellReader) arrange(show bool) error {
	for _, d := range r.decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			if f.Name.Name == "init" {
				return r.fault(f.Name.Pos(), "unsupported", "a cell cannot have a function named init", "write its statements into the cell")
			}
			r.declared[f.Name.Name] = true
		}
	}
	for i, s := range r.body.Body.List {
		switch s := s.(type) {
		case *ast.DeclStmt:
			r.declaration(s.Decl.(*ast.GenDecl))
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				r.steps = append(r.steps, step{stmt: s})
			} else if err := r.define(s); err != nil {
				return err
			}
		case *ast.ExprStmt:
			if show && i == len(r.body.Body.List)-1 && !prints(s.X) {
				s.X = &ast.CallExpr{Fun: &ast.Ident{NamePos: s.Pos(), Name: ShowName}, Lparen: s.Pos(), Args: []ast.Expr{s.X}, Rparen: s.End()}
			}
			r.steps = append(r.steps, step{stmt: s})
		default:
			r.steps = append(r.steps, step{stmt: s})
		}
	}
	r.renameEarlier()
	var body []ast.Stmt
	for _, s := range r.steps {
		if s.stmt != nil {
			body = append(body, s.stmt)
		}
		body = append(body, s.extra...)
	}
	r.body.Body.List = body
	if len(r.steps) > 0 {
		r.unit.Run = runName
	}
	r.decls = append(r.decls, r.body)
	return nil
}

// prints says whether an expression is a call that prints or scans with package fmt: how
// many bytes or values that were is not what anyone wants to see.
func prints(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "fmt" && (strings.Contains(sel.Sel.Name, "rint") && sel.Sel.Name[0] != 'S' || strings.HasPrefix(sel.Sel.Name, "Scan"))
}

func (r *cellReader) fault(pos token.Pos, kind, message, hint string) error {
	p := r.fset.Position(pos)
	return &Errors{Kind: kind, Faults: []Fault{{p.Filename, p.Line, p.Column, message, hint}}}
}

// declaration takes a declaration of constants, types or variables.
func (r *cellReader) declaration(d *ast.GenDecl) {
	r.decls = append(r.decls, d)
	for _, name := range Declared(d) {
		r.declared[name] = true
	}
	if d.Tok == token.VAR {
		for _, s := range d.Specs {
			r.steps = append(r.steps, step{spec: s.(*ast.ValueSpec)})
		}
	}
}

// define makes a variable declaration of a short one. Names that the cell has
// declared before are assigned to.
func (r *cellReader) define(s *ast.AssignStmt) error {
	spec := &ast.ValueSpec{Values: s.Rhs}
	var extra []ast.Stmt
	fresh := false
	for _, l := range s.Lhs {
		id, ok := l.(*ast.Ident)
		if !ok {
			return r.fault(l.Pos(), "syntax error", "non-name on left side of :=", "")
		}
		if r.declared[id.Name] && id.Name != "_" {
			temporary := &ast.Ident{NamePos: id.Pos(), Name: id.Name + newSuffix + strconv.Itoa(len(r.steps))}
			spec.Names = append(spec.Names, temporary)
			extra = append(extra, &ast.AssignStmt{
				Lhs: []ast.Expr{id}, TokPos: id.Pos(), Tok: token.ASSIGN,
				Rhs: []ast.Expr{&ast.Ident{NamePos: id.Pos(), Name: temporary.Name}},
			})
			continue
		}
		fresh = fresh || id.Name != "_"
		spec.Names = append(spec.Names, id)
	}
	if !fresh {
		return r.fault(s.TokPos, "type error", "no new variables on left side of :=", "")
	}
	for _, id := range spec.Names {
		r.declared[id.Name] = true
	}
	r.decls = append(r.decls, &ast.GenDecl{TokPos: s.Pos(), Tok: token.VAR, Specs: []ast.Spec{spec}})
	r.steps = append(r.steps, step{spec: spec, extra: extra})
	return nil
}

// renameEarlier gives names their earlier meaning up to the statement that
// declares them anew, as in x := x + 1.
func (r *cellReader) renameEarlier() {
	pending := map[string]bool{}
	for _, s := range r.steps {
		for _, n := range names(s.spec) {
			pending[n] = true
		}
	}
	for _, s := range r.steps {
		if len(pending) == 0 {
			return
		}
		if s.spec == nil {
			rename(s.stmt, pending)
			continue
		}
		for _, v := range s.spec.Values {
			rename(v, pending)
		}
		if s.spec.Type != nil {
			rename(s.spec.Type, pending)
		}
		for _, n := range names(s.spec) {
			delete(pending, n)
		}
	}
}

func names(spec *ast.ValueSpec) (out []string) {
	if spec != nil {
		for _, n := range spec.Names {
			if n.Name != "_" && !strings.Contains(n.Name, newSuffix) {
				out = append(out, n.Name)
			}
		}
	}
	return out
}

// rename renames the identifiers of the given names that are not a field's or a
// method's.
func rename(n ast.Node, which map[string]bool) {
	skip := map[*ast.Ident]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			skip[n.Sel] = true
		case *ast.CompositeLit:
			if _, isMap := n.Type.(*ast.MapType); isMap {
				return true
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if id, ok := kv.Key.(*ast.Ident); ok {
						skip[id] = true
					}
				}
			}
		case *ast.StructType:
			for _, f := range n.Fields.List {
				for _, id := range f.Names {
					skip[id] = true
				}
			}
		case *ast.Ident:
			if which[n.Name] && !skip[n] {
				n.Name += oldSuffix
			}
		}
		return true
	})
}

// world puts what the cell names of earlier cells into its package's scope, and
// the imports that it names into the file.
func (r *cellReader) world(hooks *types.Package) {
	scope := r.unit.Package.Scope()
	scope.Insert(hooks.Scope().Lookup(ShowName))
	imported := importNames(r.decls, r.w.Importer)
	for _, d := range r.decls {
		if _, isFunc := d.(*ast.FuncDecl); !isFunc && r.again[d].Text == "" {
			continue
		}
		for _, name := range Declared(d) {
			r.declared[name] = true
		}
	}
	mentioned := r.mentioned()
	var specs []ast.Spec
	for name := range mentioned {
		earlier, isOld := strings.CutSuffix(name, oldSuffix)
		if _, here := imported[name]; here || r.declared[name] {
			continue
		}
		if o, ok := r.w.Objects[earlier]; ok && isOld {
			r.alias(name, o)
		} else if o, ok := r.w.Objects[name]; ok {
			scope.Insert(o)
		} else if path, ok := r.w.Imports[earlier]; ok {
			specs = append(specs, importSpec(name, path))
		}
	}
	for _, path := range r.w.Dot {
		here := slices.Contains(declaredImports(r.decls), Import{".", path})
		if !here && r.needsDot(path, mentioned) {
			specs = append(specs, importSpec(".", path))
		}
	}
	for _, s := range specs {
		r.unit.File.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{s}}}, r.unit.File.Decls...)
	}
	r.unit.Imports = declaredImports(r.decls)
	for i := range r.unit.Imports {
		r.unit.Imports[i].Name = importName(r.unit.Imports[i], r.w.Importer)
	}
}

// mentioned are the names in the cell.
func (r *cellReader) mentioned() map[string]bool {
	all := map[string]bool{}
	for _, d := range r.decls {
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				all[id.Name] = true
			}
			return true
		})
	}
	return all
}

// needsDot says whether the cell names something of a package imported with a
// dot that it does not declare itself.
func (r *cellReader) needsDot(path string, mentioned map[string]bool) bool {
	pkg, err := r.w.Importer.Import(path)
	if err != nil {
		return false
	}
	for name := range mentioned {
		if o := pkg.Scope().Lookup(name); o != nil && o.Exported() && !r.declared[name] && r.unit.Package.Scope().Lookup(name) == nil {
			return true
		}
	}
	return false
}

func importSpec(name, path string) *ast.ImportSpec {
	return &ast.ImportSpec{Name: ast.NewIdent(name), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)}}
}

// alias lets name stand for an object of an earlier cell whose own name the
// cell declares anew. Only variables can be told apart like that; a constant,
// type or function of the same name is out of reach then.
func (r *cellReader) alias(name string, o types.Object) {
	v, ok := o.(*types.Var)
	if !ok {
		return
	}
	if r.unit.Aliases == nil {
		r.unit.Aliases = types.NewPackage("main", "main")
	}
	stand := types.NewVar(token.NoPos, r.unit.Aliases, name, v.Type())
	r.unit.Aliases.Scope().Insert(stand)
	r.unit.Package.Scope().Insert(stand)
	r.unit.Earlier = append(r.unit.Earlier, [2]types.Object{stand, o})
}

// Declared are the names that a declaration puts into the package's scope.
func Declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// importNames maps the names of the imports among decls to paths.
func importNames(decls []ast.Decl, importer types.Importer) map[string]string {
	all := map[string]string{}
	for _, i := range declaredImports(decls) {
		all[importName(i, importer)] = i.Path
	}
	return all
}

// importName is the name by which an import is used.
func importName(i Import, importer types.Importer) string {
	if i.Name != "" {
		return i.Name
	}
	if pkg, err := importer.Import(i.Path); err == nil {
		return pkg.Name()
	}
	return i.Path[strings.LastIndexByte(i.Path, '/')+1:]
}

func declaredImports(decls []ast.Decl) (out []Import) {
	for _, d := range decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		for _, s := range g.Specs {
			spec := s.(*ast.ImportSpec)
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the checker says so
			}
			i := Import{Path: path}
			if spec.Name != nil {
				i.Name = spec.Name.Name
			}
			out = append(out, i)
		}
	}
	return out
}
