package yaegi

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"

	"noema/kernel/session/cell/internal/source"
)

// joinCall begins a call of the host's that joins strings. Like the operator in whose
// place it stands, it runs no code of cells.
const joinCall = hostName + ".Join("

// isString reports whether values of a type are strings.
func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// joined is the sum of two strings.
func (l *lowering) joined(n *ast.BinaryExpr) string {
	t := types.Default(l.info.TypeOf(n))
	if types.Identical(t, types.Typ[types.String]) {
		return fmt.Sprintf("%s%s, %s)", joinCall, l.text(n.X), l.text(n.Y))
	}
	return fmt.Sprintf("%s(%sstring(%s), string(%s)))", l.typeText(t), joinCall, l.text(n.X), l.text(n.Y))
}

// room is the call that asks for the memory of n values of a size.
func room(n string, size int64) string {
	return fmt.Sprintf("%s.Room(int64(%s), %d)", hostName, n, size)
}

// extended is an append of a slice's elements or a string's bytes.
func (l *lowering) extended(n *ast.CallExpr) string {
	to, more := l.info.TypeOf(n), types.Default(l.info.TypeOf(n.Args[1]))
	if b, ok := more.(*types.Basic); ok && b.Kind() == types.UntypedNil {
		more = to
	}
	t := l.typeText(to)
	ask := room("len(to)+len(more)", sizeof(to.Underlying().(*types.Slice).Elem()))
	return fmt.Sprintf("func(to %s, more %s) %s {\nif len(to)+len(more) > cap(to) {\n%s\n}\nreturn append(to, more...)\n}(%s, %s)",
		t, l.typeText(more), t, ask, l.text(n.Args[0]), l.text(n.Args[1]))
}

// made is how many bytes an element of what make makes takes.
func (l *lowering) made(t types.Type) int64 {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return sizeof(t.Elem())
	case *types.Map:
		return sizeof(t.Key()) + sizeof(t.Elem())
	case *types.Chan:
		return sizeof(t.Elem())
	}
	return 0 // a type parameter's
}

// small reports whether a constant number of elements is.
func small(v constant.Value) bool {
	n, exact := constant.Int64Val(constant.ToInt(v))
	return exact && n < 1<<10
}

// sizeof is how many bytes a value takes, at most 1<<50; 0 if a type parameter in it
// says that only later, which go/types answers with a panic.
func sizeof(t types.Type) (bytes int64) {
	defer func() {
		if recover() != nil {
			bytes = 0
		}
	}()
	if bytes = types.SizesFor("gc", "amd64").Sizeof(t); bytes < 0 || bytes > 1<<50 {
		bytes = 1 << 50
	}
	return bytes
}

// fits refuses types whose values exceed the limit on memory: the interpreter makes one
// for each variable before anything runs.
func (l *lowering) fits() error {
	for x, tv := range l.info.Types {
		if _, array := x.(*ast.ArrayType); !array || !tv.IsType() {
			continue
		}
		if _, array := tv.Type.Underlying().(*types.Array); !array {
			continue
		}
		if err := l.machine.Grow(sizeof(tv.Type)); err != nil {
			p := l.fset.Position(x.Pos())
			return &source.Errors{Kind: "unsupported", Faults: []source.Fault{{
				Source: p.Filename, Line: p.Line, Column: p.Column, Message: fmt.Sprintf("a value of type %s: %v", tv.Type, err),
			}}}
		}
	}
	return nil
}
