package symbols

import (
	"context"
	"maps"
	"reflect"

	"github.com/traefik/yaegi/stdlib"

	"noema/methods"
)

// describedMethod lets an interpreted method that describes itself be seen as a
// Describer by compiled code. A wrapper has the methods of its interface and no
// others, so an optional second interface takes a wrapper of its own.
type describedMethod struct {
	IValue    any
	WSolve    func(context.Context, methods.Problem, methods.Host) (methods.Answer, error)
	WDescribe func() methods.Description
}

var (
	_ methods.Method    = describedMethod{}
	_ methods.Describer = describedMethod{}
)

// Solve is that of the interpreted type.
func (w describedMethod) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	return w.WSolve(ctx, p, h)
}

// Describe is that of the interpreted type.
func (w describedMethod) Describe() methods.Description { return w.WDescribe() }

// mapTypes says which wrappers with further methods the interpreter may use in
// place of the plain ones, if the interpreted type has those methods.
func mapTypes() map[reflect.Value][]reflect.Type {
	all := maps.Clone(stdlib.MapTypes)
	all[reflect.ValueOf((*wrap_noema_methods_Method)(nil))] = []reflect.Type{reflect.TypeFor[describedMethod]()}
	return all
}
