package yaegi

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"noema/kernel/session/cell/internal/source"
)

// refuse finds what the interpreter does wrong, by what go/types knows of it.
func (l *lowering) refuse() error {
	for _, d := range l.unit.File.Decls {
		l.remember(d)
	}
	for _, d := range l.unit.File.Decls {
		if !l.remember(d) {
			l.walk(d, nil, place{})
		}
	}
	if len(l.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(l.faults, func(a, b source.Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &source.Errors{Kind: "unsupported", Faults: l.faults[:1]}
}

// wrong adds a fault.
func (l *lowering) wrong(n ast.Node, format string, args ...any) {
	at := n.Pos()
	if l.at.IsValid() {
		at = l.at
	}
	p := l.fset.Position(at)
	l.faults = append(l.faults, source.Fault{
		Source: p.Filename, Line: p.Line, Column: p.Column,
		Message: "yaegi goes wrong with " + fmt.Sprintf(format, args...), Hint: Cure,
	})
}

// place is where a node stands.
type place struct {
	parent  ast.Node
	results *types.Tuple // of the function around
	loop    bool         // within a loop of that function
}

// walk looks at a node and its parts.
func (l *lowering) walk(n, parent ast.Node, at place) {
	at.parent = parent
	l.node(n, at)
	switch n := n.(type) {
	case *ast.FuncDecl:
		at = place{}
		if f, ok := l.info.Defs[n.Name].(*types.Func); ok {
			at.results = f.Signature().Results()
		}
	case *ast.FuncLit:
		at = place{results: l.info.TypeOf(n).(*types.Signature).Results()}
	case *ast.ForStmt, *ast.RangeStmt:
		at.loop = true
	}
	for _, c := range l.conversions(n, at.results) {
		l.conversion(c)
	}
	ast.Inspect(n, func(child ast.Node) bool {
		if child == n || child == nil {
			return child != nil
		}
		l.walk(child, n, at)
		return false
	})
}

// node looks at one node.
func (l *lowering) node(n ast.Node, at place) {
	switch n := n.(type) {
	case *ast.Ident:
		l.identifier(n)
	case *ast.SelectorExpr:
		l.selector(n, at.parent)
	case *ast.RangeStmt:
		l.ranged(n)
	case *ast.GoStmt:
		if name := l.builtin(n.Call); name != "" {
			l.wrong(n, "%s as a goroutine", name)
		}
	case *ast.DeferStmt:
		l.postponed(n.Call, at)
	case *ast.TypeAssertExpr:
		if n.Type != nil {
			l.asserted(n, l.info.TypeOf(n.X), l.info.TypeOf(n.Type))
		}
	case *ast.TypeSwitchStmt:
		l.typeSwitch(n)
	case *ast.CallExpr:
		l.called(n)
	case *ast.IndexExpr:
		if m, ok := l.info.TypeOf(n.X).Underlying().(*types.Map); ok && types.IsInterface(m.Key()) && !types.Comparable(l.info.TypeOf(n.Index)) {
			l.wrong(n, "a key that cannot be compared")
		}
	case *ast.UnaryExpr:
		if b, ok := l.info.TypeOf(n).Underlying().(*types.Basic); ok && n.Op == token.SUB && b.Info()&types.IsComplex != 0 && l.info.Types[n].Value == nil {
			l.wrong(n, "the sign of a complex number")
		}
	case *ast.BinaryExpr:
		l.comparison(n)
		l.nested(n, at.parent)
	case *ast.StructType:
		for _, f := range n.Fields.List {
			if len(f.Names) == 0 && types.IsInterface(l.info.TypeOf(f.Type)) {
				l.wrong(f, "an interface embedded in a struct")
			}
		}
	case *ast.SwitchStmt:
		l.cases(n)
	}
}

// postponed refuses what defer does not do as it should.
func (l *lowering) postponed(call *ast.CallExpr, at place) {
	builtin := l.builtin(call)
	literal, isLiteral := ast.Unparen(call.Fun).(*ast.FuncLit)
	switch {
	case (isLiteral || builtin != "") && at.loop:
		l.wrong(call, "a function literal or builtin function that is deferred in a loop")
	case builtin == "panic" || builtin == "recover":
		l.wrong(call, "%s that is deferred", builtin)
	case isLiteral:
		ast.Inspect(literal.Body, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && l.builtin(c) == "panic" {
				l.wrong(c, "a panic in a deferred function")
			}
			return true
		})
	}
}

// called refuses calls of builtin functions.
func (l *lowering) called(n *ast.CallExpr) {
	switch name := l.builtin(n); name {
	case "min", "max":
		if b, ok := l.info.TypeOf(n).Underlying().(*types.Basic); ok && b.Info()&types.IsFloat != 0 && l.info.Types[n].Value == nil {
			l.wrong(n, "%s of floating-point numbers", name)
		}
	case "new":
		if !l.info.Types[n.Args[0]].IsType() {
			l.wrong(n, "new of a value")
		}
	case "print", "println":
		for _, x := range n.Args {
			b, ok := l.info.TypeOf(x).(*types.Basic)
			if !ok || b.Info()&(types.IsInteger|types.IsString|types.IsBoolean) == 0 {
				l.wrong(x, "%s of a %s", name, l.show(l.info.TypeOf(x)))
			}
		}
	}
}

// introspective are functions that look at compiled code or the runtime's memory,
// which here are the interpreter's.
var introspective = map[string]string{
	"runtime":       "Caller Stack ReadMemStats GC",
	"runtime/debug": "SetMaxStack SetGCPercent SetPanicOnFault SetTraceback Stack PrintStack",
	"testing":       "Benchmark",
}

// identifier refuses what looks at the interpreter, and declares instances.
func (l *lowering) identifier(n *ast.Ident) {
	if i, ok := l.info.Instances[n]; ok {
		l.instantiated(n, i)
		return
	}
	if o := l.info.Uses[n]; o != nil && o.Pkg() != nil && !o.Exported() && !l.own(o) && o.Parent() == o.Pkg().Scope() && l.names[o] == "" && o.Pkg().Path() != "noema/cell/hooks" {
		l.wrong(n, "%s of package %s", n.Name, o.Pkg().Name())
	}
	if f, ok := l.info.Uses[n].(*types.Func); ok && f.Pkg() != nil && slices.Contains(strings.Fields(introspective[f.Pkg().Path()]), f.Name()) {
		l.wrong(n, "%s.%s, which would look at the interpreter", f.Pkg().Name(), f.Name())
	}
}

// selector refuses methods of interfaces as values, whose nil would panic later, and
// promoted ones that get their receiver as a parameter.
func (l *lowering) selector(n *ast.SelectorExpr, parent ast.Node) {
	s := l.info.Selections[n]
	if call, ok := parent.(*ast.CallExpr); s == nil || s.Kind() == types.FieldVal || ok && call.Fun == n && s.Kind() == types.MethodVal {
		return
	}
	if types.IsInterface(s.Obj().(*types.Func).Signature().Recv().Type()) || s.Kind() == types.MethodExpr && len(s.Index()) > 1 {
		l.wrong(n, "a method of an interface or of an embedded field as a value (%s)", n.Sel.Name)
	}
}

func (l *lowering) ranged(n *ast.RangeStmt) {
	if _, ok := l.info.TypeOf(n.X).Underlying().(*types.Signature); ok && leaves(n.Body) {
		l.wrong(n, "range over a function that a return, goto, defer or label leaves")
	}
	for _, x := range []ast.Expr{n.Key, n.Value} {
		if _, ok := x.(*ast.Ident); x != nil && !ok {
			l.wrong(x, "range into what is not a variable")
		}
	}
}

// asserted refuses assertions to types of cells and to interfaces.
func (l *lowering) asserted(n ast.Node, from, to types.Type) {
	if to == nil {
		return
	}
	if l.owns(to) || types.IsInterface(to) {
		l.wrong(n, "the question whether an interface holds a %s", l.show(to))
	} else if l.owns(from) {
		l.wrong(n, "the question what an interface of a cell holds")
	}
}

func (l *lowering) typeSwitch(n *ast.TypeSwitchStmt) {
	var x ast.Expr
	switch a := n.Assign.(type) {
	case *ast.ExprStmt:
		x = a.X.(*ast.TypeAssertExpr).X
	case *ast.AssignStmt:
		x = a.Rhs[0].(*ast.TypeAssertExpr).X
	}
	for _, s := range n.Body.List {
		for _, t := range s.(*ast.CaseClause).List {
			if !l.info.Types[t].IsNil() {
				l.asserted(t, l.info.TypeOf(x), l.info.TypeOf(t))
			}
		}
	}
}

// nested refuses && and || with calls within other expressions.
func (l *lowering) nested(n *ast.BinaryExpr, parent ast.Node) {
	if n.Op != token.LAND && n.Op != token.LOR || !l.calls(n) {
		return
	}
	switch parent.(type) {
	case *ast.CallExpr, *ast.IndexExpr:
		l.wrong(n, "%s with calls as an argument", n.Op)
	}
}

// comparison refuses those of interfaces, except with nil.
func (l *lowering) comparison(n *ast.BinaryExpr) {
	if n.Op != token.EQL && n.Op != token.NEQ || l.info.Types[n.X].IsNil() || l.info.Types[n.Y].IsNil() {
		return
	}
	x, y := l.info.TypeOf(n.X), l.info.TypeOf(n.Y)
	if types.IsInterface(x) != types.IsInterface(y) || types.IsInterface(x) && (l.owns(x) || l.owns(y)) {
		l.wrong(n, "a comparison of interfaces")
	}
}

// cases refuses switches over interfaces, and a default case that is not the last
// beside a fallthrough.
func (l *lowering) cases(n *ast.SwitchStmt) {
	if n.Tag != nil && types.IsInterface(l.info.TypeOf(n.Tag)) {
		l.wrong(n, "a switch over an interface")
	}
	through, early := false, false
	for i, s := range n.Body.List {
		clause := s.(*ast.CaseClause)
		early = early || clause.List == nil && i < len(n.Body.List)-1
		for _, s := range clause.Body {
			if b, ok := s.(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
				through = true
			}
		}
	}
	if through && early {
		l.wrong(n, "fallthrough in a switch whose default case is not the last")
	}
}

// callee0 is the function that a call names.
func (l *lowering) callee0(call *ast.CallExpr) (*types.Func, bool) {
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil, false
	}
	f, ok := l.info.Uses[id].(*types.Func)
	return f, ok
}

// owns reports whether a type is of cells or has one as a part. A struct without a
// name counts: the interpreter renames its fields.
func (l *lowering) owns(t types.Type) bool {
	return source.AnyPart(t, func(t types.Type) (found, done bool) {
		switch u := t.(type) {
		case *types.Named:
			return l.own(u.Obj()), true
		case *types.Struct:
			return u.NumFields() > 0, true
		}
		return false, false
	})
}

// show is a type as the cell writes it.
func (l *lowering) show(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if l.packages[p] > 0 {
			return ""
		}
		return p.Name()
	})
}
