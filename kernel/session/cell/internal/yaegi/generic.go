package yaegi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"noema/kernel/session/cell/internal/source"
	"noema/kernel/session/cell/internal/symbols"
)

// Sources has the source of compiled packages' generic functions.
type Sources interface {
	Source(*types.Package) *symbols.Source
}

// generic is the declaration of a generic function, or of a method of a generic type.
type generic struct {
	text string
	home *types.Package
	file *types.Scope // of its imports
}

// instance is a generic type with arguments, as go/types writes it, and as the
// interpreter has it.
type instance struct{ text, name string }

// remember keeps a generic declaration for its instances, and reports whether it is one.
func (l *lowering) remember(d ast.Decl) bool {
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		return false
	}
	o, ok := l.info.Defs[f.Name].(*types.Func)
	if !ok || o.Signature().TypeParams().Len()+o.Signature().RecvTypeParams().Len() == 0 {
		return false
	}
	if _, known := l.generics[o]; !known {
		l.generics[o] = generic{l.text(f), l.unit.Package, l.info.Scopes[l.unit.File]}
	}
	return true
}

// generic finds the declaration of a function or method.
func (l *lowering) generic(f *types.Func) (g generic, ok bool) {
	if g, ok = l.generics[f.Origin()]; ok {
		return g, ok
	}
	s := l.sources.Source(f.Pkg())
	if s == nil {
		return g, false
	}
	for _, file := range s.Files {
		for _, d := range file.Decls {
			if d, is := d.(*ast.FuncDecl); is && s.Info.Defs[d.Name] == types.Object(f.Origin()) {
				return generic{l.text(d), s.Package, s.Info.Scopes[file]}, true
			}
		}
	}
	return g, false
}

// sorts are functions of package slices that the host has, since others sort too slowly.
const sorts = "Sort SortFunc SortStableFunc"

// instantiated gives a generic function or type at a name its arguments.
func (l *lowering) instantiated(n *ast.Ident, i types.Instance) {
	if !l.at.IsValid() {
		l.at = n.Pos()
		defer func() { l.at = token.NoPos }()
	}
	switch o := l.info.Uses[n].(type) {
	case *types.TypeName:
		if t, ok := i.Type.(*types.Named); !ok || !l.instanceType(t) {
			l.wrong(n, "the generic type %s", n.Name)
		}
	case *types.Func:
		if o.Pkg().Path() == "slices" && strings.Contains(" "+sorts+" ", " "+o.Name()+" ") {
			l.instances[n] = hostName + "." + o.Name()
			return
		}
		var of []types.Type
		for t := range i.TypeArgs.Types() {
			of = append(of, t)
		}
		name, ok := l.instance(o, of, nil)
		if !ok {
			l.wrong(n, "the generic function %s", n.Name)
		}
		l.instances[n] = name
	}
}

// instance declares a generic function with types in the place of its parameters, or
// a method of such a type, checked anew. It is an ordinary one.
func (l *lowering) instance(f *types.Func, of []types.Type, recv *types.Named) (name string, ok bool) {
	key := fmt.Sprintf("%p", f.Origin())
	for _, t := range of {
		key += " " + l.typeText(t)
	}
	if name, ok := l.copies[key]; ok {
		return name, true
	}
	g, ok := l.generic(f)
	if !ok {
		return "", false
	}
	file, err := parser.ParseFile(l.fset, "generic", "package p\n"+g.text, parser.SkipObjectResolution)
	if err != nil {
		return "", false
	}
	d := file.Decls[0].(*ast.FuncDecl)
	params := &ast.FieldList{List: d.Type.Params.List}
	if recv != nil {
		params.List = append([]*ast.Field{d.Recv.List[0]}, params.List...)
	}
	literal := &ast.FuncLit{Type: &ast.FuncType{Params: params, Results: d.Type.Results}, Body: d.Body}
	name = f.Name()
	if recv == nil {
		name = fmt.Sprintf("g%d__%s", len(l.copies), f.Name())
	}
	l.copies[key] = name
	if types.CheckExpr(l.fset, l.scope(g, parameters(d), of), token.NoPos, literal, l.info) != nil {
		return "", false
	}
	d.Name, d.Type, d.Doc = raw("%s", name), &ast.FuncType{Params: d.Type.Params, Results: d.Type.Results}, nil
	l.extra = append(l.extra, d)
	l.walk(literal, nil, place{})
	return name, true
}

// parameters are the names of the type parameters of a function, or of a method's receiver.
func parameters(d *ast.FuncDecl) (names []string) {
	if d.Recv == nil {
		for _, f := range d.Type.TypeParams.List {
			for _, n := range f.Names {
				names = append(names, n.Name)
			}
		}
		return names
	}
	t := ast.Unparen(d.Recv.List[0].Type)
	if s, ok := t.(*ast.StarExpr); ok {
		t = ast.Unparen(s.X)
	}
	var list []ast.Expr
	switch t := t.(type) {
	case *ast.IndexExpr:
		list = []ast.Expr{t.Index}
	case *ast.IndexListExpr:
		list = t.Indices
	}
	for _, x := range list {
		names = append(names, x.(*ast.Ident).Name)
	}
	return names
}

// scope is a package with the names that a generic declaration sees, its parameters
// among them.
func (l *lowering) scope(g generic, names []string, of []types.Type) *types.Package {
	pkg := types.NewPackage(g.home.Path(), g.home.Name())
	l.packages[pkg] = len(l.packages) + 1
	for i, t := range of {
		if names[i] != "_" {
			pkg.Scope().Insert(types.NewTypeName(token.NoPos, pkg, names[i], t))
		}
	}
	for _, s := range []*types.Scope{g.file, g.home.Scope()} {
		for _, name := range s.Names() {
			o := s.Lookup(name)
			if p, ok := o.(*types.PkgName); ok { // go/types wants its own
				o = types.NewPkgName(token.NoPos, pkg, name, p.Imported())
			}
			pkg.Scope().Insert(o)
		}
	}
	return pkg
}

// instanceType declares a generic type with arguments and its methods.
func (l *lowering) instanceType(t *types.Named) bool {
	text := l.typeText(t)
	if !strings.HasSuffix(text, "]") {
		return true // known
	}
	circular := source.AnyPart(t.Underlying(), func(part types.Type) (found, done bool) {
		n, ok := part.(*types.Named)
		return ok && types.Identical(n, t), false
	})
	if circular || !l.own(t.Obj()) && t.NumMethods() > 0 {
		return false // the interpreter recurses without end in some circular types
	}
	i := instance{text, fmt.Sprintf("g%d__", len(l.types))}
	l.types = append(l.types, i)
	l.extra = append(l.extra, raw("type %s %s", i.name, l.typeText(t.Underlying())))
	var of []types.Type
	for arg := range t.TypeArgs().Types() {
		of = append(of, arg)
	}
	for m := range t.Methods() {
		if _, ok := l.instance(m, of, t); !ok {
			return false
		}
	}
	return true
}
