package yaegi

import (
	"go/ast"
	"go/token"
	"go/types"
)

// conversion is a value that gets another type, often without a conversion being
// written: in assignments, calls, returns, literals, comparisons, sends and indexes.
type conversion struct {
	x    ast.Expr
	from types.Type
	to   types.Type
	call *ast.CallExpr // of which x is an argument; nil otherwise
}

// conversions lists those that a node makes. Results are those of the function
// around.
func (l *lowering) conversions(n ast.Node, results *types.Tuple) (all []conversion) {
	add := func(x ast.Expr, to types.Type, call *ast.CallExpr) {
		if to != nil {
			all = append(all, conversion{x, l.info.TypeOf(x), to, call})
		}
	}
	list := func(xs []ast.Expr, to func(int) types.Type, call *ast.CallExpr) {
		if len(xs) == 1 {
			if tuple, ok := l.info.TypeOf(xs[0]).(*types.Tuple); ok {
				for i := range tuple.Len() {
					if t := to(i); t != nil {
						all = append(all, conversion{xs[0], tuple.At(i).Type(), t, call})
					}
				}
				return
			}
		}
		for i, x := range xs {
			add(x, to(i), call)
		}
	}
	switch n := n.(type) {
	case *ast.ReturnStmt:
		list(n.Results, func(i int) types.Type { return results.At(i).Type() }, nil)
	case *ast.AssignStmt:
		if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
			list(n.Rhs, func(i int) types.Type { return l.info.TypeOf(n.Lhs[i]) }, nil)
		}
	case *ast.ValueSpec:
		if n.Type != nil {
			list(n.Values, func(int) types.Type { return l.info.TypeOf(n.Type) }, nil)
		}
	case *ast.CallExpr:
		l.passed(n, list)
	case *ast.CompositeLit:
		l.elements(n, add)
	case *ast.SendStmt:
		add(n.Value, l.info.TypeOf(n.Chan).Underlying().(*types.Chan).Elem(), nil)
	case *ast.IndexExpr:
		if m, ok := l.info.TypeOf(n.X).Underlying().(*types.Map); ok {
			add(n.Index, m.Key(), nil)
		}
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			add(n.X, l.info.TypeOf(n.Y), nil)
			add(n.Y, l.info.TypeOf(n.X), nil)
		}
	case *ast.SwitchStmt:
		for _, s := range n.Body.List {
			for _, x := range s.(*ast.CaseClause).List {
				if n.Tag != nil {
					add(x, l.info.TypeOf(n.Tag), nil)
					add(n.Tag, l.info.TypeOf(x), nil)
				}
			}
		}
	}
	return all
}

// passed lists the conversions of a call's arguments, and of a conversion.
func (l *lowering) passed(n *ast.CallExpr, list func([]ast.Expr, func(int) types.Type, *ast.CallExpr)) {
	if tv := l.info.Types[n.Fun]; tv.IsType() {
		list(n.Args, func(int) types.Type { return tv.Type }, nil)
		return
	}
	switch l.builtin(n) {
	case "append":
		if s, ok := l.info.TypeOf(n.Args[0]).Underlying().(*types.Slice); ok && !n.Ellipsis.IsValid() {
			list(n.Args[1:], func(int) types.Type { return s.Elem() }, nil)
		}
		return
	case "panic", "print", "println":
		list(n.Args, func(int) types.Type { return types.Universe.Lookup("any").Type() }, nil)
		return
	case "delete":
		if m, ok := l.info.TypeOf(n.Args[0]).Underlying().(*types.Map); ok {
			list(n.Args[1:], func(int) types.Type { return m.Key() }, nil)
		}
		return
	}
	if sig, ok := l.info.TypeOf(n.Fun).Underlying().(*types.Signature); ok && l.builtin(n) == "" {
		list(n.Args, func(i int) types.Type { return paramType(sig, i, n.Ellipsis.IsValid()) }, n)
	}
}

// elements lists the conversions of a literal's elements.
func (l *lowering) elements(n *ast.CompositeLit, add func(ast.Expr, types.Type, *ast.CallExpr)) {
	t := l.info.TypeOf(n).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	for i, x := range n.Elts {
		var key ast.Expr
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			key, x = kv.Key, kv.Value
		}
		switch t := t.(type) {
		case *types.Struct:
			if id, ok := key.(*ast.Ident); ok {
				if f := l.info.Uses[id]; f != nil {
					add(x, f.Type(), nil)
				}
			} else {
				add(x, t.Field(i).Type(), nil)
			}
		case *types.Map:
			add(key, t.Key(), nil)
			add(x, t.Elem(), nil)
		case interface{ Elem() types.Type }:
			add(x, t.Elem(), nil)
		}
	}
}
