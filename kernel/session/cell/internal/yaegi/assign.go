package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// simple is the text of a simple statement. Assignments are spelled out: what is
// assigned is in a temporary variable first, because the interpreter otherwise
// writes the results of calls, literals and receptions to the memory of a variable
// of an earlier iteration, or gives a variable new memory that pointers to it and
// function literals do not know.
func (l *lowering) simple(s ast.Stmt) string {
	a, ok := s.(*ast.AssignStmt)
	if !ok {
		return l.text(s)
	}
	var lines []string
	switch {
	case a.Tok == token.ADD_ASSIGN && isString(l.info.TypeOf(a.Lhs[0])):
		to := l.text(l.place(&lines, a.Lhs[0]))
		right := l.hold(&lines, a.Rhs[0], nil)
		lines = append(lines, room(fmt.Sprintf("len(%s)+len(%s)", to, right), 1), fmt.Sprintf("%s += %s", to, right))
	case a.Tok != token.ASSIGN && a.Tok != token.DEFINE:
		right := l.hold(&lines, a.Rhs[0], nil)
		lines = append(lines, fmt.Sprintf("%s %s %s", l.text(a.Lhs[0]), a.Tok, right))
	case len(a.Lhs) != len(a.Rhs):
		var temps []string
		for _, x := range a.Lhs {
			if l.text(x) == "_" {
				temps = append(temps, "_")
				continue
			}
			temps = append(temps, l.temp())
		}
		to := l.targets(&lines, a)
		if strings.Trim(strings.Join(temps, ""), "_") == "" {
			return strings.Join(append(lines, l.text(a)), "\n")
		}
		lines = append(lines, fmt.Sprintf("%s := %s", strings.Join(temps, ", "), l.text(a.Rhs[0])))
		for i, x := range a.Lhs {
			if temps[i] != "_" {
				lines = append(lines, fmt.Sprintf("%s %s %s", to[i], l.token(a, x), temps[i]))
			}
		}
	default:
		to := l.targets(&lines, a)
		from := l.several(&lines, a.Rhs, func(i int) types.Type { return l.info.TypeOf(a.Lhs[i]) })
		for i, x := range a.Lhs {
			lines = append(lines, fmt.Sprintf("%s %s %s", to[i], l.token(a, x), from[i]))
		}
	}
	return strings.Join(lines, "\n")
}

// token is ":=" for a variable that the assignment declares, else "=".
func (l *lowering) token(a *ast.AssignStmt, x ast.Expr) token.Token {
	if id, ok := x.(*ast.Ident); ok && a.Tok == token.DEFINE && l.info.Defs[id] != nil && id.Name != "_" {
		return token.DEFINE
	}
	return token.ASSIGN
}

// hold is a text for a value that has been evaluated by the lines.
func (l *lowering) hold(lines *[]string, x ast.Expr, t types.Type) string {
	return l.held(lines, x, t, false)
}

// held is hold, for an assignment of several values, where not even a variable is
// taken as it is.
func (l *lowering) held(lines *[]string, x ast.Expr, t types.Type, several bool) string {
	tv := l.info.Types[x]
	if tv.Value != nil || tv.IsNil() {
		return l.text(x)
	}
	if _, ok := x.(*ast.Ident); ok && !several && !strings.ContainsAny(l.text(x), "(.{") {
		return l.text(x)
	}
	if basic, ok := tv.Type.(*types.Basic); ok && basic.Info()&types.IsUntyped != 0 && t != nil {
		return l.text(x)
	}
	name := l.temp()
	*lines = append(*lines, fmt.Sprintf("%s := %s", name, l.text(x)))
	return name
}

// several holds several values: like the compiler, calls first.
func (l *lowering) several(lines *[]string, xs []ast.Expr, to func(int) types.Type) []string {
	all := make([]string, len(xs))
	for _, calling := range []bool{true, false} {
		for i, x := range xs {
			if l.calls(x) == calling {
				all[i] = l.held(lines, x, to(i), len(xs) > 1)
			}
		}
	}
	return all
}

// targets are the left sides of an assignment. Their operands are evaluated before
// anything is assigned.
func (l *lowering) targets(lines *[]string, a *ast.AssignStmt) []string {
	var all []string
	for _, x := range a.Lhs {
		if len(a.Lhs) > 1 || l.calls(x) || l.calls(a.Rhs[0]) {
			x = l.place(lines, x)
		}
		all = append(all, l.text(x))
	}
	return all
}

// place evaluates the operands of what is assigned to.
func (l *lowering) place(lines *[]string, x ast.Expr) ast.Expr {
	keep := func(x ast.Expr) ast.Expr {
		if l.info.Types[x].Value != nil {
			return x
		}
		name := l.temp()
		*lines = append(*lines, fmt.Sprintf("%s := %s", name, l.text(x)))
		return raw("%s", name)
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return l.place(lines, x.X)
	case *ast.StarExpr:
		return &ast.StarExpr{X: keep(x.X)}
	case *ast.SelectorExpr:
		if _, pointer := l.info.TypeOf(x.X).Underlying().(*types.Pointer); pointer {
			return &ast.SelectorExpr{X: keep(x.X), Sel: x.Sel}
		}
		return &ast.SelectorExpr{X: l.place(lines, x.X), Sel: x.Sel}
	case *ast.IndexExpr:
		if _, array := l.info.TypeOf(x.X).Underlying().(*types.Array); array {
			return &ast.IndexExpr{X: l.place(lines, x.X), Index: keep(x.Index)}
		}
		return &ast.IndexExpr{X: keep(x.X), Index: keep(x.Index)}
	}
	return x
}

// calls reports whether an expression may run code of cells or receive.
func (l *lowering) calls(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.Ident:
			found = found || strings.Contains(strings.ReplaceAll(n.Name, joinCall, ""), "(")
		}
		return true
	})
	return found
}

// declaration is a declaration of local variables.
func (l *lowering) declaration(d *ast.GenDecl) string {
	var lines []string
	for _, s := range d.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok || d.Tok != token.VAR {
			if d.Tok == token.CONST {
				continue // all uses are literals
			}
			return l.text(d)
		}
		if len(spec.Values) == 0 {
			lines = append(lines, "var "+l.text(spec))
			continue
		}
		a := &ast.AssignStmt{Tok: token.DEFINE, Rhs: spec.Values}
		for _, n := range spec.Names {
			a.Lhs = append(a.Lhs, n)
		}
		if spec.Type == nil {
			lines = append(lines, l.simple(a))
			continue
		}
		lines = append(lines, l.typedVariables(a, spec))
	}
	return strings.Join(lines, "\n")
}

// typedVariables is a declaration of variables with a type and values.
func (l *lowering) typedVariables(a *ast.AssignStmt, spec *ast.ValueSpec) string {
	var lines, from []string
	if len(a.Lhs) == len(a.Rhs) {
		from = l.several(&lines, a.Rhs, func(int) types.Type { return l.info.TypeOf(spec.Type) })
	} else {
		for range a.Lhs {
			from = append(from, l.temp())
		}
		lines = append(lines, fmt.Sprintf("%s := %s", strings.Join(from, ", "), l.text(a.Rhs[0])))
	}
	for i, n := range spec.Names {
		lines = append(lines, fmt.Sprintf("var %s %s = %s", n.Name, l.text(spec.Type), from[i]))
	}
	return strings.Join(lines, "\n")
}

// results is a return of values, each in a variable first.
func (l *lowering) results(n *ast.ReturnStmt) string {
	var lines, all []string
	if len(n.Results) == 1 {
		if _, tuple := l.info.TypeOf(n.Results[0]).(*types.Tuple); tuple {
			return l.text(n)
		}
	}
	all = l.several(&lines, n.Results, func(int) types.Type { return nil })
	lines = append(lines, "return "+strings.Join(all, ", "))
	return strings.Join(lines, "\n")
}
