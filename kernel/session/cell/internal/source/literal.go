package source

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// withUnkeyed adds to an error the struct literals that it is about because they
// set unexported fields of an earlier cell's type by their place.
func (r *cellReader) withUnkeyed(err error) error {
	var faults *Errors
	if !errors.As(err, &faults) || !strings.Contains(err.Error(), "implicit assignment to unexported field") {
		return err
	}
	faults.unkeyed = map[token.Position][]string{}
	ast.Inspect(r.unit.File, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || len(lit.Elts) == 0 {
			return true
		}
		if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); keyed {
			return true
		}
		t := r.unit.Info.TypeOf(lit)
		if t == nil {
			return true
		}
		if p, ok := t.Underlying().(*types.Pointer); ok { // an element &T{...} written as {...}
			t = p.Elem()
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok || s.NumFields() != len(lit.Elts) {
			return true
		}
		var names []string
		foreign := false
		for f := range s.Fields() {
			names = append(names, f.Name())
			foreign = foreign || !f.Exported() && f.Pkg() != r.unit.Package && f.Pkg().Path() == r.unit.Package.Path()
		}
		if foreign {
			faults.unkeyed[r.fset.Position(lit.Lbrace)] = names
		}
		return true
	})
	return err
}

// nameFields writes the names of the fields into literals.
func (r *cellReader) nameFields(keys map[token.Position][]string) {
	if len(keys) == 0 {
		return
	}
	for _, d := range r.decls {
		ast.Inspect(d, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			for i, name := range keys[r.fset.Position(lit.Lbrace)] {
				e := lit.Elts[i]
				lit.Elts[i] = &ast.KeyValueExpr{Key: &ast.Ident{NamePos: e.Pos(), Name: name}, Colon: e.Pos(), Value: e}
			}
			return true
		})
	}
}
