package source

import (
	"go/ast"
)

// Trim lets go of the bodies of functions once they are compiled, which would
// stay in memory with the functions. Those of generic functions are needed for
// each instance.
func (u *Unit) Trim() {
	for _, d := range u.File.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || isGeneric(f) {
			continue
		}
		var bodies []**ast.BlockStmt
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				bodies = append(bodies, &n.Body)
			case *ast.RangeStmt: // a body of a range over a function
				bodies = append(bodies, &n.Body)
			}
			return true
		})
		f.Body = nil
		for _, b := range bodies {
			*b = nil
		}
	}
}

// isGeneric reports whether a function has type parameters, or its receiver.
func isGeneric(f *ast.FuncDecl) bool {
	generic := f.Type.TypeParams != nil
	if f.Recv != nil {
		ast.Inspect(f.Recv, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.IndexExpr, *ast.IndexListExpr:
				generic = true
			}
			return true
		})
	}
	return generic
}
