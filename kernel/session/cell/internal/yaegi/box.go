package yaegi

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// box is how a value gets into an interface: by a function of its own, whose variable
// nothing else changes. The interpreter's interface would hold the variable itself.
type box struct {
	function string
	to       types.Type
}

// looked are methods for which compiled functions look in an interface that does not
// have them.
const looked = "Error String Format GoString Unwrap Is As Timeout Temporary " +
	"WriteTo ReadFrom WriteString WriteByte ReadByte ReadRune UnreadByte UnreadRune Close Flush Seek ReadAt WriteAt Hijack " +
	"MarshalJSON MarshalText MarshalBinary UnmarshalJSON UnmarshalText UnmarshalBinary GobEncode GobDecode Scan Value Display Describe"

// conversion refuses values of cells' types in interfaces of which the interpreter
// loses the type or a method, and boxes the others.
func (l *lowering) conversion(c conversion) {
	if c.from == nil || !types.IsInterface(c.to) || !l.owns(c.from) {
		return
	}
	if types.IsInterface(c.from) {
		if !l.owns(c.to) {
			l.wrong(c.x, "what an interface of a cell holds in another (%s in %s)", l.show(c.from), l.show(c.to))
		}
		return
	}
	if c.call != nil && c.to.Underlying().(*types.Interface).Empty() && l.taken(c) {
		return
	}
	to, isNamed := types.Unalias(c.to).(*types.Named)
	_, several := l.info.TypeOf(c.x).(*types.Tuple)
	switch {
	case !isNamed || several || to.Underlying().(*types.Interface).Empty():
	case l.promotes(c):
		return
	case l.own(to.Obj()):
		if !fresh(c.x) {
			l.boxes[c.x] = box{fmt.Sprintf("func(v %s) %s {\nreturn v\n}", l.typeText(c.from), l.typeText(c.to)), c.to}
		}
		return
	case to.Obj().Pkg() == nil: // error
		if l.failure(c.from) {
			l.boxes[c.x] = box{l.failing(c.from), c.to}
			return
		}
	case l.accepted(c, to):
		l.boxes[c.x] = box{fmt.Sprintf("func(v %s) %s {\nreturn v\n}", l.typeText(c.from), l.typeText(c.to)), c.to}
		return
	}
	l.wrong(c.x, "a value of the cell's type %s in an interface (%s)", l.show(c.from), l.show(c.to))
}

// promotes refuses methods that the interpreter does not find through an interface.
func (l *lowering) promotes(c conversion) bool {
	for m := range c.to.Underlying().(*types.Interface).Methods() {
		if _, index, _ := types.LookupFieldOrMethod(c.from, true, m.Pkg(), m.Name()); len(index) > 1 {
			l.wrong(c.x, "the promoted method %s of a %s in the interface %s", m.Name(), l.show(c.from), l.show(c.to))
			return true
		}
	}
	return false
}

// fresh reports whether an expression makes a new value.
func fresh(x ast.Expr) bool {
	x = ast.Unparen(x)
	if u, ok := x.(*ast.UnaryExpr); ok {
		x = u.X
	}
	_, ok := x.(*ast.CompositeLit)
	return ok
}

// accepted reports whether a value is the argument of a compiled function that only
// calls the methods of its interface.
func (l *lowering) accepted(c conversion, to *types.Named) bool {
	if c.call == nil {
		return false
	}
	f, ok := l.callee0(c.call)
	if !ok || f.Pkg() == nil || l.own(f) || f.Pkg().Path() == "errors" {
		return false
	}
	var more []string
	for _, name := range strings.Fields(looked) {
		if o, _, _ := types.LookupFieldOrMethod(to, false, nil, name); o == nil {
			more = append(more, name)
		}
	}
	return !has(c.from, strings.Join(more, " "))
}

// boxed puts a lowered value into its interface, if it is to be in one.
func (l *lowering) boxed(was, now ast.Expr) ast.Expr {
	b, ok := l.boxes[was]
	if !ok {
		return now
	}
	delete(l.boxes, was)
	x := raw("%s(%s)", b.function, l.text(now))
	l.info.Types[x] = types.TypeAndValue{Type: b.to}
	return x
}

// hostedCall lowers calls of compiled functions that the host has in another form.
func (l *lowering) hostedCall(n *ast.CallExpr) {
	name, ok := l.hosted[n]
	if !ok {
		return
	}
	switch name {
	case "Decode":
		n.Args = append([]ast.Expr{n.Fun.(*ast.SelectorExpr).X}, n.Args...)
	case "As":
		of := l.info.TypeOf(n.Args[1]).Underlying().(*types.Pointer).Elem()
		n.Args = append(n.Args, raw("%q", l.typeText(of)))
	}
	n.Fun = raw("%s.%s", hostName, name)
	delete(l.hosted, n)
}

// methodValue lowers a method that is not called where it stands to a function that
// keeps the receiver of now; a method of a type gets it as the first parameter.
func (l *lowering) methodValue(c *astutil.Cursor, n *ast.SelectorExpr) {
	s := l.info.Selections[n]
	if call, ok := c.Parent().(*ast.CallExpr); s == nil || s.Kind() == types.FieldVal || ok && call.Fun == n && s.Kind() == types.MethodVal {
		return
	}
	sig := l.info.TypeOf(n).(*types.Signature)
	var params []*types.Var
	var args []string
	for i := range sig.Params().Len() {
		name := fmt.Sprintf("a%d", i)
		params, args = append(params, types.NewParam(0, nil, name, sig.Params().At(i).Type())), append(args, name)
	}
	head := l.typeText(types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic()))
	if sig.Variadic() {
		args[len(args)-1] += "..."
	}
	back := ""
	if sig.Results().Len() > 0 {
		back = "return "
	}
	if s.Kind() == types.MethodExpr {
		l.put(c, raw("%s {\n%s%s.%s(%s)\n}", head, back, args[0], n.Sel.Name, strings.Join(args[1:], ", ")))
		return
	}
	var operand ast.Expr
	var of types.Type
	l.receiver(n, s, func(x ast.Expr, t types.Type) ast.Expr {
		operand, of = x, t
		return x
	})
	l.put(c, raw("func(r %s) %s {\nreturn %s {\n%sr.%s(%s)\n}\n}(%s)", l.typeText(of), l.typeText(sig), head, back, n.Sel.Name, strings.Join(args, ", "), l.text(operand)))
}
