package yaegi

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/printer"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"noema/kernel/session/cell/internal/source"
)

// lowering is the way of one unit into the interpreter.
type lowering struct {
	*Engine
	unit      *source.Unit
	info      *types.Info
	faults    []source.Fault
	count     int                              // of temporary names
	starts    int                              // functions named init
	hoisted   map[ast.Stmt]string              // statements to put before a labeled one
	comm      map[ast.Stmt]bool                // what a case of a select sends or receives
	direct    map[*ast.SelectorExpr]types.Type // what a promoted name is selected from
	inits     map[*types.Initializer]string    // of a script's variables, lowered
	boxes     map[ast.Expr]box                 // values that get into interfaces
	hosted    map[*ast.CallExpr]string         // calls that the host has in another form
	instances map[*ast.Ident]string            // of generic functions
	extra     []ast.Node                       // declarations of instances
	at        token.Pos                        // where the instance is that is looked at
	known     map[types.Object]types.Object    // types and methods of the unit that earlier cells have declared as they are
}

// name gives every package-level variable and function of the unit its name in the
// interpreter, which no other cell has: the interpreter mixes up names that are
// declared again. A variable of the same type as an earlier one is that one.
func (l *lowering) name(earlier map[types.Object]types.Object) {
	scope := l.unit.Package.Scope()
	for _, n := range scope.Names() {
		if o := scope.Lookup(n); o.Pkg() == l.unit.Package {
			l.names[o] = l.prefix(o.Pkg()) + n
		}
	}
	for o, old := range earlier {
		if _, ok := o.(*types.Var); ok {
			l.Same(o, old)
		}
	}
}

// prefix begins the names of a cell's package-level objects and of all its types.
func (e *Engine) prefix(pkg *types.Package) string { return fmt.Sprintf("c%d__", e.packages[pkg]) }

// own reports whether cells declare the object.
func (e *Engine) own(o types.Object) bool {
	return o != nil && o.Pkg() != nil && e.packages[o.Pkg()] > 0
}

// alias is the name under which the interpreter gets a compiled package.
func (e *Engine) alias(path string) string {
	if e.imported[path] == "" {
		e.imported[path] = fmt.Sprintf("p%d_", len(e.imported))
		e.pending = append(e.pending, path)
	}
	return e.imported[path]
}

// typeText is a type as the interpreter reads it.
func (e *Engine) typeText(t types.Type) string {
	text := types.TypeString(t, func(p *types.Package) string {
		if e.packages[p] > 0 {
			return e.prefix(p)
		}
		return e.alias(p.Path())
	})
	text = strings.ReplaceAll(text, "__.", "__")
	for _, i := range e.types {
		text = strings.ReplaceAll(text, i.text, i.name)
	}
	return text
}

// nameOf is an object's name in the interpreter.
func (e *Engine) nameOf(o types.Object) string {
	if name, ok := e.names[o]; ok {
		return name
	}
	switch o := o.(type) {
	case *types.PkgName:
		return e.alias(o.Imported().Path())
	case *types.TypeName:
		if l, ok := o.Type().(interface{ Obj() *types.TypeName }); e.own(o) && (!ok || l.Obj() != o) { // an instance's argument
			text := e.typeText(o.Type())
			if _, composed := o.Type().(interface{ Elem() types.Type }); composed && text[0] != '[' && text[0] != 'm' || strings.HasPrefix(text, "func(") {
				return "(" + text + ")"
			}
			return text
		}
		if _, param := o.Type().(*types.TypeParam); e.own(o) && !param {
			return e.prefix(o.Pkg()) + o.Name()
		}
	case *types.Var:
		if o.IsField() {
			return e.fieldName(o)
		}
		if e.own(o) && types.Universe.Lookup(o.Name()) != nil {
			return o.Name() + "_"
		}
	}
	if o.Pkg() != nil && !e.own(o) && o.Parent() == o.Pkg().Scope() && o.Pkg().Path() != "" {
		return e.alias(o.Pkg().Path()) + "." + o.Name()
	}
	return o.Name()
}

// fieldName is a field's name: an embedded one has that of its type.
func (e *Engine) fieldName(v *types.Var) string {
	if !v.Embedded() {
		return v.Name()
	}
	t := types.Unalias(v.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok && e.own(n.Obj()) {
		return e.nameOf(n.Obj())
	}
	return v.Name()
}

// temp is a name that nobody types.
func (l *lowering) temp() string {
	l.count++
	return fmt.Sprintf("t%d__", l.count)
}

// text prints a lowered node.
func (l *lowering) text(n any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, l.fset, n); err != nil {
		panic(err)
	}
	return b.String()
}

// raw is a piece of Go as a node, which prints as it stands.
func raw(format string, args ...any) *ast.Ident { return ast.NewIdent(fmt.Sprintf(format, args...)) }

// statement is a piece of Go as a statement.
func statement(format string, args ...any) ast.Stmt {
	return &ast.ExprStmt{X: raw(format, args...)}
}

// literal is a constant of a type as a literal; ok is false for one that has no
// exact one.
func (l *lowering) literal(v constant.Value, t types.Type) (text string, ok bool) {
	basic, isBasic := t.Underlying().(*types.Basic)
	if !isBasic {
		return "", false
	}
	switch info := basic.Info(); {
	case info&types.IsBoolean != 0:
		text = v.String()
	case info&types.IsString != 0:
		text = strconv.Quote(constant.StringVal(v))
	case info&types.IsInteger != 0:
		text = constant.ToInt(v).ExactString()
	case info&types.IsFloat != 0:
		f, _ := constant.Float64Val(v)
		text = strconv.FormatFloat(f, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
	case info&types.IsComplex != 0:
		re, _ := constant.Float64Val(constant.Real(v))
		im, _ := constant.Float64Val(constant.Imag(v))
		text = fmt.Sprintf("complex(%s, %s)", strconv.FormatFloat(re, 'g', -1, 64), strconv.FormatFloat(im, 'g', -1, 64))
	}
	if info := basic.Info(); info&types.IsUntyped != 0 || t == types.Typ[types.Int] || t == types.Typ[types.String] || t == types.Typ[types.Bool] || t == types.Typ[types.Float64] {
		return text, true
	}
	return fmt.Sprintf("%s(%s)", l.typeText(t), text), true
}

// Holds reports whether a value of the type may hold a function that calls the one of
// a cell, or a value of a type of a cell.
func (e *Engine) Holds(t types.Type, o types.Object) bool {
	of, isType := o.(*types.TypeName)
	return source.AnyPart(t, func(t types.Type) (found, done bool) {
		n, named := t.(*types.Named)
		switch u := t.Underlying().(type) {
		case *types.Signature:
			return !named || e.own(n.Obj()), true
		case *types.Interface:
			return u.Empty() || isType && (types.Implements(of.Type(), u) || types.Implements(types.NewPointer(of.Type()), u)), true
		}
		return named && isType && n.Obj() == of, named && !e.own(n.Obj())
	})
}

// Embeds reports whether a type of a cell is a struct that embeds one: the field has
// the name that the type has in its cell.
func (e *Engine) Embeds(t *types.TypeName) bool {
	s, ok := t.Type().Underlying().(*types.Struct)
	for i := 0; ok && i < s.NumFields(); i++ {
		if f := s.Field(i); f.Embedded() && e.fieldName(f) != f.Name() {
			return true
		}
	}
	return false
}

// Same gives a variable of a cell the memory of an earlier one.
func (e *Engine) Same(fresh, old types.Object) { e.names[fresh] = e.names[old] }
