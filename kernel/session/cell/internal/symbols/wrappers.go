package symbols

import (
	"context"
	"maps"
	"reflect"

	"github.com/traefik/yaegi/stdlib"

	"noema/methods"
)

// describedMethod wraps a cell's method that also implements Describer. A wrapper
// has only the methods of its interface, so an optional second interface needs a
// wrapper of its own.
type describedMethod struct {
	IValue    any
	WSolve    func(context.Context, methods.Problem, methods.Host) (methods.Answer, error)
	WDescribe func() methods.Description
}

var (
	_ methods.Method    = describedMethod{}
	_ methods.Describer = describedMethod{}
)

// Solve calls the cell's method.
func (w describedMethod) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	return w.WSolve(ctx, p, h)
}

// Describe calls the cell's method.
func (w describedMethod) Describe() methods.Description { return w.WDescribe() }

// mapTypes maps wrappers to others with further methods, for types that have
// those.
func mapTypes() map[reflect.Value][]reflect.Type {
	all := maps.Clone(stdlib.MapTypes)
	all[reflect.ValueOf((*wrap_noema_methods_Method)(nil))] = []reflect.Type{reflect.TypeFor[describedMethod]()}
	return all
}
