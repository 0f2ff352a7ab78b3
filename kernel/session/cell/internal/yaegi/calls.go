package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// builtin is the name of the builtin function that a call calls, or "".
func (l *lowering) builtin(call *ast.CallExpr) string {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return ""
	}
	if b, ok := l.info.Uses[id].(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

// call lowers calls of builtin functions.
func (l *lowering) call(c *astutil.Cursor, n *ast.CallExpr) {
	switch name := l.builtin(n); name {
	case "recover":
		l.put(c, raw("%s.Recover(recover())", hostName))
	case "panic":
		n.Fun = raw("%s.Panic", hostName)
	case "print", "println":
		n.Fun = raw("%s.%s", hostName, strings.ToUpper(name[:1])+name[1:])
	case "clear":
		n.Fun = raw("%s.Clear", hostName)
	case "min", "max":
		l.put(c, raw("%s", l.extreme(name, n)))
	case "append":
		switch {
		case n.Ellipsis.IsValid():
			if _, ok := l.info.TypeOf(n).Underlying().(*types.Slice); ok {
				l.put(c, raw("%s", l.extended(n)))
			}
		case len(n.Args) > 2:
			l.put(c, raw("%s", l.appended(n)))
		}
	case "make":
		size := l.made(l.info.TypeOf(n))
		for i, x := range n.Args[1:] {
			if tv := l.info.Types[x]; tv.Value == nil || !small(tv.Value) {
				n.Args[i+1] = raw("%s", room(l.text(x), size))
			}
		}
	case "":
		l.copied(n)
		l.hostedCall(n)
		l.typesHidden(n)
	}
}

// zeros guards numbers that a cell's function gets: the interpreter does not pass
// on the sign of a zero.
func (l *lowering) zeros(n *ast.CallExpr, sig *types.Signature) {
	if f, ok := l.callee0(n); !ok || !l.own(f) {
		return
	}
	for i, x := range n.Args {
		t := paramType(sig, i, n.Ellipsis.IsValid())
		if t == nil || l.info.Types[x].Value != nil {
			continue
		}
		if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsFloat != 0 {
			fresh := raw("%s(%s.Float(float64(%s)))", l.typeText(t), hostName, l.text(x))
			l.info.Types[fresh] = l.info.Types[x]
			n.Args[i] = fresh
		}
	}
}

// appended is an append of several values, which the interpreter evaluates while
// it appends.
func (l *lowering) appended(n *ast.CallExpr) string {
	t := l.info.TypeOf(n)
	elem := l.typeText(t.Underlying().(*types.Slice).Elem())
	params, names, args := []string{"to " + l.typeText(t)}, []string{"to"}, []string{l.text(n.Args[0])}
	for i, x := range n.Args[1:] {
		p := fmt.Sprintf("v%d", i)
		params, names, args = append(params, p+" "+elem), append(names, p), append(args, l.text(x))
	}
	return fmt.Sprintf("func(%s) %s {\nreturn append(%s)\n}(%s)", strings.Join(params, ", "), l.typeText(t), strings.Join(names, ", "), strings.Join(args, ", "))
}

// copied takes the values of arguments that become interfaces before later ones
// are evaluated, which may change them.
func (l *lowering) copied(n *ast.CallExpr) {
	sig, ok := l.info.TypeOf(n.Fun).Underlying().(*types.Signature)
	if !ok {
		return
	}
	l.zeros(n, sig)
	last := -1
	for i, x := range n.Args {
		if l.calls(x) {
			last = i
		}
	}
	for i := range last {
		x := n.Args[i]
		from, to := l.info.Types[x], paramType(sig, i, n.Ellipsis.IsValid())
		if from.Value == nil && !from.IsNil() && !l.calls(x) && to != nil && types.IsInterface(to) && !types.IsInterface(from.Type) {
			fresh := raw("func() %s {\nreturn %s\n}()", l.typeText(from.Type), l.text(x))
			l.info.Types[fresh] = from
			n.Args[i] = fresh
		}
	}
}

// extreme is min or max of several values, which the interpreter does not have.
func (l *lowering) extreme(name string, n *ast.CallExpr) string {
	t := l.typeText(l.info.TypeOf(n))
	var params, args []string
	body := ""
	for i, x := range n.Args {
		p := fmt.Sprintf("v%d", i)
		params, args = append(params, p), append(args, l.text(x))
		if i > 0 {
			op := map[string]string{"min": "<", "max": ">"}[name]
			body += fmt.Sprintf("if %s %s v0 {\nv0 = %s\n}\n", p, op, p)
		}
	}
	return fmt.Sprintf("func(%s %s) %s {\n%sreturn v0\n}(%s)", strings.Join(params, ", "), t, t, body, strings.Join(args, ", "))
}

// later lowers go and defer: what is called, its receiver and its arguments are
// evaluated now, where the interpreter would see later changes.
func (l *lowering) later(c *astutil.Cursor, call *ast.CallExpr, deferred bool) {
	var before []string
	keep := func(x ast.Expr, t types.Type) ast.Expr {
		tv := l.info.Types[x]
		if _, isInterface := t.Underlying().(*types.Interface); !isInterface && (tv.Value != nil || tv.IsNil()) {
			return x
		}
		name := l.temp()
		if types.Identical(tv.Type, t) {
			before = append(before, fmt.Sprintf("%s_ := %s", name, l.text(x)))
		} else {
			before = append(before, fmt.Sprintf("var %s_ %s = %s", name, l.typeText(t), l.text(x)))
		}
		before = append(before, fmt.Sprintf("%s := %s_", name, name))
		return raw("%s", name)
	}
	_, isLiteral := ast.Unparen(call.Fun).(*ast.FuncLit)
	sig, _ := l.info.TypeOf(call.Fun).(*types.Signature)
	builtin := sig == nil || l.builtin(call) != ""
	if !builtin && !isLiteral {
		call.Fun = l.callee(ast.Unparen(call.Fun), keep)
	}
	for i, x := range call.Args {
		t := l.info.TypeOf(x)
		if !builtin {
			t = paramType(sig, i, call.Ellipsis.IsValid())
		}
		call.Args[i] = keep(x, t)
	}
	switch {
	case !deferred:
		f := l.temp()
		before = append(before, fmt.Sprintf("%s := %s", f, l.framed("func()", "func() {\n"+l.text(call)+"\n}")), fmt.Sprintf("%s.Go(%s)", hostName, f))
	case builtin:
		before = append(before, fmt.Sprintf("defer func() {\n%s\n}()", l.text(call)))
	default:
		before = append(before, "defer "+l.text(call))
	}
	c.Replace(statement("%s", strings.Join(before, "\n")))
}

// paramType is the type of a call's parameter at an index.
func paramType(sig *types.Signature, i int, ellipsis bool) types.Type {
	n := sig.Params().Len()
	switch {
	case sig.Variadic() && i >= n-1:
		t := sig.Params().At(n - 1).Type()
		if ellipsis {
			return t
		}
		if s, ok := t.Underlying().(*types.Slice); ok {
			return s.Elem()
		}
		return nil
	case i < n:
		return sig.Params().At(i).Type()
	}
	return nil
}

// callee evaluates what is called: a function value, or a method's receiver.
func (l *lowering) callee(fun ast.Expr, keep func(ast.Expr, types.Type) ast.Expr) ast.Expr {
	switch f := fun.(type) {
	case *ast.Ident:
		if _, ok := l.info.Uses[f].(*types.Func); ok {
			return fun
		}
	case *ast.IndexExpr, *ast.IndexListExpr:
		return fun // an instance of a generic function, or refused
	case *ast.SelectorExpr:
		s := l.info.Selections[f]
		if s == nil {
			return fun // of a package
		}
		if s.Kind() == types.MethodVal {
			f.X = l.receiver(f, s, keep)
			return f
		}
	}
	return keep(fun, l.info.TypeOf(fun))
}

// receiver evaluates a method's receiver: the address of a variable, or a copy.
func (l *lowering) receiver(f *ast.SelectorExpr, s *types.Selection, keep func(ast.Expr, types.Type) ast.Expr) ast.Expr {
	from := s.Recv()
	if t := l.direct[f]; t != nil {
		from = t
	}
	_, pointer := from.Underlying().(*types.Pointer)
	recv := s.Obj().(*types.Func).Signature().Recv().Type()
	_, byPointer := recv.(*types.Pointer)
	switch {
	case byPointer && !pointer:
		x := &ast.UnaryExpr{Op: token.AND, X: f.X}
		t := types.NewPointer(from)
		l.info.Types[x] = types.TypeAndValue{Type: t}
		return keep(x, t)
	case !byPointer && pointer && !types.IsInterface(recv):
		x := &ast.StarExpr{X: f.X}
		t := from.Underlying().(*types.Pointer).Elem()
		l.info.Types[x] = types.TypeAndValue{Type: t}
		return keep(x, t)
	}
	return keep(f.X, from)
}
