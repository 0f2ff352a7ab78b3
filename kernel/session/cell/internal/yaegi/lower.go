package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// entryName ends the name of the function that runs a unit.
const entryName = "run__"

// lower rewrites the unit and prints it: the declarations, and the expression
// whose value is the function that runs it, empty if there is none.
func (l *lowering) lower() (declarations, entry string) {
	body := l.lowered(l.unit.File)
	var b strings.Builder
	b.WriteString("package main\n\n")
	run := l.variables(&b)
	b.WriteString(body)
	switch {
	case l.unit.Run == "main":
		entry = l.prefix(l.unit.Package) + entryName
		fmt.Fprintf(&b, "\nfunc %s() {\n%s%s()\n}\n", entry, run, l.prefix(l.unit.Package)+"main")
	case l.unit.Run != "":
		entry = l.prefix(l.unit.Package) + entryName
		fmt.Fprintf(&b, "\nfunc %s() {\n%s%s()\n}\n", entry, run, l.prefix(l.unit.Package)+l.unit.Run)
	case run != "":
		entry = l.prefix(l.unit.Package) + entryName
		fmt.Fprintf(&b, "\nfunc %s() {\n%s}\n", entry, run)
	}
	return b.String(), entry
}

// variables declares the unit's variables without values, and returns the
// statements that give them those.
func (l *lowering) variables(b *strings.Builder) (run string) {
	var s strings.Builder
	scope := l.unit.Package.Scope()
	for _, n := range scope.Names() {
		v, ok := scope.Lookup(n).(*types.Var)
		if !ok || v.Pkg() != l.unit.Package {
			continue
		}
		if l.names[v] == l.prefix(v.Pkg())+n {
			fmt.Fprintf(b, "var %s %s\n", l.names[v], l.typeText(v.Type()))
		} else {
			fmt.Fprintf(&s, "%s = *new(%s)\n", l.names[v], l.typeText(v.Type()))
		}
	}
	for _, i := range l.info.InitOrder {
		var to []string
		for _, v := range i.Lhs {
			name := "_"
			if v.Name() != "_" {
				name = l.nameOf(v)
			}
			to = append(to, name)
		}
		fmt.Fprintf(&s, "%s = %s\n", strings.Join(to, ", "), l.inits[i])
	}
	for i := range l.starts {
		fmt.Fprintf(&s, "%sinit%d()\n", l.prefix(l.unit.Package), i)
	}
	return s.String()
}

// lowered is the text of the unit's types and functions.
func (l *lowering) lowered(f *ast.File) string {
	var b strings.Builder
	for _, i := range l.info.InitOrder {
		holder := &ast.ParenExpr{X: i.Rhs}
		l.rewrite(holder)
		l.inits[i] = l.text(holder.X)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok != token.TYPE || l.aliased(d) {
				continue
			}
		case *ast.FuncDecl:
			if d.Name.Name == "_" || l.remember(d) || l.known[l.info.Defs[d.Name]] != nil {
				continue
			}
			if d.Recv == nil && d.Name.Name == "init" {
				d.Name = raw("%sinit%d", l.prefix(l.unit.Package), l.starts)
				l.starts++
			}
		}
		begins := ""
		if f, ok := d.(*ast.FuncDecl); ok {
			begins = mark(l.beginning(f))
		}
		l.rewrite(d)
		b.WriteString(begins + l.text(d) + "\n\n")
	}
	for _, d := range l.extra {
		l.rewrite(d)
		b.WriteString(mark(f.Pos()) + l.text(d) + "\n\n")
	}
	return b.String()
}

// aliased makes types that earlier cells have declared as they are other names of
// those, and leaves out generic types and constraints. It reports whether none are left.
func (l *lowering) aliased(d *ast.GenDecl) bool {
	d.Specs = slices.DeleteFunc(d.Specs, func(s ast.Spec) bool {
		spec := s.(*ast.TypeSpec)
		if old := l.known[l.info.Defs[spec.Name]]; old != nil {
			spec.Assign, spec.Type = spec.Pos(), raw("%s", l.nameOf(old))
		}
		i, ok := l.info.Defs[spec.Name].Type().Underlying().(*types.Interface)
		return spec.TypeParams != nil || ok && !i.IsMethodSet()
	})
	return len(d.Specs) == 0
}

// rewrite lowers a node, its parts first.
func (l *lowering) rewrite(n ast.Node) {
	apply := func(step func(*astutil.Cursor) bool, done func(deeper bool) bool) astutil.ApplyFunc {
		return func(c *astutil.Cursor) bool {
			deeper := step(c)
			if x, ok := c.Node().(ast.Expr); ok && done(deeper) && l.boxes[x].function != "" {
				l.put(c, x)
			}
			return deeper
		}
	}
	astutil.Apply(n, apply(l.before, func(deeper bool) bool { return !deeper }), apply(l.after, func(bool) bool { return true }))
}

// put replaces a node; an expression keeps its type, or gets into its interface.
func (l *lowering) put(c *astutil.Cursor, fresh ast.Node) {
	if x, ok := c.Node().(ast.Expr); ok {
		l.info.Types[fresh.(ast.Expr)] = l.info.Types[x]
		fresh = l.boxed(x, fresh.(ast.Expr))
	}
	c.Replace(fresh)
}

// before lowers what needs its parts as they stood: constants and names.
func (l *lowering) before(c *astutil.Cursor) bool {
	switch n := c.Node().(type) {
	case *ast.CommClause:
		if n.Comm != nil {
			l.comm[n.Comm] = true
		}
	case *ast.Ident:
		l.ident(n)
		return false
	case *ast.IndexExpr, *ast.IndexListExpr:
		if tv := l.info.Types[n.(ast.Expr)]; tv.IsType() {
			l.put(c, raw("%s", l.typeText(tv.Type)))
			return false
		}
	case ast.Expr:
		if tv := l.info.Types[n]; tv.Value != nil {
			if text, ok := l.literal(tv.Value, tv.Type); ok {
				l.put(c, raw("%s", text))
				return false
			}
		}
	}
	if s, ok := c.Node().(*ast.SelectorExpr); ok {
		if id, ok := s.X.(*ast.Ident); ok {
			if _, ok := l.info.Uses[id].(*types.PkgName); ok {
				l.ident(s.Sel)
				whole := raw("%s", s.Sel.Name)
				l.info.Uses[whole] = l.info.Uses[s.Sel]
				l.put(c, whole)
				return false
			}
		}
		l.path(s)
	}
	return true
}

// path names the embedded fields that a selector leaves out: the interpreter may
// find another name at a greater depth.
func (l *lowering) path(n *ast.SelectorExpr) {
	s := l.info.Selections[n]
	if s == nil || len(s.Index()) < 2 || s.Kind() == types.MethodExpr {
		return
	}
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		f := t.Underlying().(*types.Struct).Field(i)
		t = f.Type()
		name := raw("%s", f.Name())
		l.info.Uses[name] = f
		n.X = &ast.SelectorExpr{X: n.X, Sel: name}
		l.info.Types[n.X] = types.TypeAndValue{Type: t}
	}
	l.direct[n] = t
}

// ident renames.
func (l *lowering) ident(n *ast.Ident) {
	if tv, ok := l.info.Types[n]; ok && tv.Value != nil {
		if text, ok := l.literal(tv.Value, tv.Type); ok {
			n.Name = text
			return
		}
	}
	if name, ok := l.instances[n]; ok {
		n.Name = name
		return
	}
	o := l.info.Uses[n]
	if o == nil {
		o = l.info.Defs[n]
	}
	if o == nil || n.Name == "_" {
		return
	}
	n.Name = l.nameOf(o)
}

// after lowers what has its parts lowered.
func (l *lowering) after(c *astutil.Cursor) bool {
	switch n := c.Node().(type) {
	case *ast.FuncDecl:
		l.begin(n.Type, n.Body)
	case *ast.FuncLit:
		l.begin(n.Type, n.Body)
		l.literalFunc(c, n)
	case *ast.CallExpr:
		l.call(c, n)
	case *ast.SelectorExpr:
		l.methodValue(c, n)
	case *ast.UnaryExpr:
		l.receives(c, n)
		if n.Op == token.SUB && l.isFloat(n.X) {
			l.put(c, raw("(%s(-1) * %s)", l.typeText(l.info.TypeOf(n)), l.text(n.X)))
		}
	case *ast.BinaryExpr:
		l.binary(c, n)
	case ast.Stmt:
		l.stmt(c, n)
	}
	return true
}

// stmt lowers a statement.
func (l *lowering) stmt(c *astutil.Cursor, n ast.Stmt) {
	switch n := n.(type) {
	case *ast.ForStmt:
		prepend(n.Body, turn)
		l.forLoop(c, n)
	case *ast.RangeStmt:
		prepend(n.Body, turn)
		l.rangeLoop(c, n)
	case *ast.LabeledStmt:
		l.labeled(c, n)
	case *ast.SwitchStmt:
		l.exprSwitch(c, n)
	case *ast.TypeSwitchStmt:
		if n.Init != nil {
			before := l.simple(n.Init)
			n.Init = nil
			l.hoist(c, n, before)
		}
	case *ast.IfStmt:
		if n.Init != nil {
			before := l.simple(n.Init)
			n.Init = nil
			l.hoist(c, n, before)
		}
	case *ast.GoStmt:
		l.later(c, n.Call, false)
	case *ast.DeferStmt:
		l.later(c, n.Call, true)
	case *ast.SendStmt:
		l.send(c, n)
	case *ast.SelectStmt:
		l.choice(c, n)
	case *ast.AssignStmt:
		if c.Index() >= 0 {
			c.Replace(statement("%s", l.simple(n)))
		}
	case *ast.DeclStmt:
		c.Replace(statement("%s", l.declaration(n.Decl.(*ast.GenDecl))))
	case *ast.ReturnStmt:
		c.Replace(statement("%s", l.results(n)))
	}
}

// literalFunc makes a function literal in a frame of its own. The interpreter
// deadlocks when a deferred function calls one of the deferring function's, and
// lets one that is an argument share the variables of later iterations.
func (l *lowering) literalFunc(c *astutil.Cursor, n *ast.FuncLit) {
	if p, ok := c.Parent().(*ast.CallExpr); ok && p.Fun == n {
		return
	}
	l.put(c, raw("%s", l.framed(l.text(n.Type), mark(n.Pos())+l.text(n))))
}

// framed is an expression that makes a function in a frame of its own.
func (l *lowering) framed(typ, literal string) string {
	t, u := l.temp(), l.temp()
	return fmt.Sprintf("func() %s {\n%s := %s\n%s := %s\nreturn %s\n}()", typ, t, literal, u, t, u)
}

// isFloat reports whether an expression is a floating-point number, of which the
// interpreter computes -x as 0-x.
func (l *lowering) isFloat(x ast.Expr) bool {
	b, ok := l.info.TypeOf(x).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

// binary spells out && and || with calls, which the interpreter misorders within
// other expressions, checks counts of shifts, and has strings joined where the limit on
// memory counts.
func (l *lowering) binary(c *astutil.Cursor, n *ast.BinaryExpr) {
	switch n.Op {
	case token.ADD:
		if isString(l.info.TypeOf(n)) {
			l.put(c, raw("%s", l.joined(n)))
		}
	case token.LAND, token.LOR:
		if !l.calls(n.Y) && !l.calls(n.X) {
			return
		}
		t, not := "bool", "!"
		if n.Op == token.LOR {
			not = ""
		}
		if b, ok := l.info.TypeOf(n).(*types.Basic); !ok || b.Info()&types.IsUntyped == 0 {
			t = l.typeText(l.info.TypeOf(n))
		}
		l.put(c, raw("func() %s {\nif %s(%s) {\nreturn %v\n}\nreturn %s\n}()", t, not, l.text(n.X), n.Op == token.LOR, l.text(n.Y)))
	case token.SHL, token.SHR:
		if b, ok := l.info.TypeOf(n.Y).Underlying().(*types.Basic); ok && b.Info()&types.IsUnsigned == 0 && l.info.Types[n.Y].Value == nil {
			n.Y = raw("%s.Shift(int64(%s))", hostName, l.text(n.Y))
		}
	}
}

// zero gives named results their zero values: the interpreter leaves in them what
// the last call from the same place returned.
func (l *lowering) zero(t *ast.FuncType, body *ast.BlockStmt) {
	if t.Results == nil || body == nil {
		return
	}
	for _, f := range t.Results.List {
		for _, n := range f.Names {
			if n.Name != "_" {
				prepend(body, fmt.Sprintf("%s = *new(%s)", n.Name, l.text(f.Type)))
			}
		}
	}
}

// begin begins the body of a function. One with a context may be a method of an
// experiment, whose panics are its trial's.
func (l *lowering) begin(t *ast.FuncType, body *ast.BlockStmt) {
	if body != nil {
		l.nameParameters(t)
		prepend(body, hostName+".Check()")
		if loops(body) {
			prepend(body, turns+" := 0")
		}
	}
	l.zero(t, body)
	if body == nil || len(t.Params.List) == 0 {
		return
	}
	first := t.Params.List[0]
	if of := l.info.TypeOf(first.Type); of == nil || of.String() != "context.Context" {
		return
	}
	leave := l.temp()
	prepend(body, fmt.Sprintf("%s := %s.Enter(%s)\ndefer func() {\nif %s != nil {\n%s.Leave(%s, recover())\n}\n}()",
		leave, hostName, first.Names[0].Name, leave, hostName, leave))
}

// nameParameters names those without one: where compiled code calls the function, the
// interpreter puts an argument that has no name in the place of another.
func (l *lowering) nameParameters(t *ast.FuncType) {
	for _, f := range t.Params.List {
		if len(f.Names) == 0 {
			f.Names = []*ast.Ident{raw("%s", l.temp())}
		}
		for i, n := range f.Names {
			if n.Name == "_" {
				f.Names[i] = raw("%s", l.temp())
			}
		}
	}
}

// turns is the variable of a function that counts the turns of its loops, and turn the
// look, in some of them, whether the execution was stopped: a call of the host takes
// longer than what most loops do.
const (
	turns = "k__"
	turn  = turns + "++\nif " + turns + " > 255 {\n" + turns + " = 0\n" + hostName + ".Check()\n}"
)

// loops reports whether a lowered body has a loop.
func loops(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			found = true
		}
		return !found
	})
	return found
}
