package machine

import (
	"errors"
	"fmt"
	"go/types"
	"reflect"
)

// adapter lets compiled code call the methods of a cell's value: it is yaegi's
// wrapper for one interface, a struct with the value and a function per method.
type adapter struct {
	wrapper reflect.Type
	richer  []reflect.Type // with further methods, for types that have them
}

// adapt converts a value to rt, an interface with methods. t is the checker's type
// of the interface, or nil if unknown.
func (m *Machine) adapt(x any, rt reflect.Type, t types.Type) reflect.Value {
	d := m.boxed(x)
	if d == nil {
		return reflect.ValueOf(x)
	}
	if rt == errorType {
		return reflect.ValueOf(m.wrapError(d, x))
	}
	a := m.adapterOf(rt, t)
	if a == nil {
		panic(unsupported("a value of type %s as a %s of compiled code", typeName(d.Type()), rt))
	}
	wrapper := a.wrapper
	for _, richer := range a.richer {
		if d.fills(richer) {
			wrapper = richer
		}
	}
	w := reflect.New(wrapper).Elem()
	w.Field(0).Set(reflect.ValueOf(&x).Elem())
	for i := 1; i < w.NumField(); i++ {
		f := wrapper.Field(i)
		name := f.Name[1:]
		w.Field(i).Set(reflect.MakeFunc(f.Type, func(in []reflect.Value) []reflect.Value {
			return m.callMethod(d, x, name, in)
		}))
	}
	return w
}

// fills reports whether the type has all methods of a wrapper.
func (d *descriptor) fills(wrapper reflect.Type) bool {
	for i := 1; i < wrapper.NumField(); i++ {
		if _, ok := d.has(wrapper.Field(i).Name[1:]); !ok {
			return false
		}
	}
	return true
}

// adapterOf finds the wrapper of an interface, or nil.
func (m *Machine) adapterOf(rt reflect.Type, t types.Type) *adapter {
	if a, ok := m.adapters.Load(rt); ok {
		return a.(*adapter)
	}
	path, name := rt.PkgPath(), rt.Name()
	if named, ok := types.Unalias(t).(*types.Named); ok && t != nil && named.Obj().Pkg() != nil {
		path, name = named.Obj().Pkg().Path(), named.Obj().Name()
	}
	v, ok := m.layouts.tables[path]["_"+name]
	if !ok {
		return nil
	}
	a := &adapter{wrapper: v.Type().Elem(), richer: m.richer[v.Type().Elem()]}
	m.adapters.Store(rt, a)
	return a
}

// callMethod calls a method of a boxed value for compiled code.
func (m *Machine) callMethod(d *descriptor, x any, name string, in []reflect.Value) []reflect.Value {
	s := d.method(nil, name)
	if s == nil {
		panic(fmt.Errorf("call %s: type %s does not have this method", name, typeName(d.Type())))
	}
	return m.callback(&closure{slot: s}, append([]reflect.Value{d.content(x)}, in...))
}

// unwrap takes the wrapper off a cell's value.
func (m *Machine) unwrap(x any) any {
	switch w := x.(type) {
	case nil:
		return nil
	case interface{ boxOf() any }:
		return w.boxOf()
	}
	rt := reflect.TypeOf(x)
	if rt.Kind() == reflect.Struct {
		if _, ok := m.wrappers.Load(rt); ok {
			return reflect.ValueOf(x).Field(0).Interface()
		}
	}
	return x
}

// cellError is a cell's error as compiled code sees it. Two are equal if the values
// are.
type cellError struct {
	m *Machine
	d *descriptor
	x any
}

// joinedError is one that unwraps to several.
type joinedError struct{ cellError }

func (m *Machine) wrapError(d *descriptor, x any) error {
	e := cellError{m, d, x}
	if sig, ok := d.has("Unwrap"); ok && sig.Results().Len() == 1 {
		if _, several := sig.Results().At(0).Type().Underlying().(*types.Slice); several {
			return joinedError{e}
		}
	}
	return e
}

func (e cellError) boxOf() any { return e.x }

// Error implements error.
func (e cellError) Error() string {
	return e.m.callMethod(e.d, e.x, "Error", nil)[0].String()
}

// Format prints as the cell's own value would.
func (e cellError) Format(s fmt.State, verb rune) { e.m.format(s, verb, e.x) }

// Unwrap gives what the value's own Unwrap gives.
func (e cellError) Unwrap() error {
	if sig, ok := e.d.has("Unwrap"); ok && sig.Params().Len() == 0 && sig.Results().Len() == 1 {
		err, _ := e.m.callMethod(e.d, e.x, "Unwrap", nil)[0].Interface().(error)
		return err
	}
	return nil
}

// Is asks the value's own Is.
func (e cellError) Is(target error) bool {
	if sig, ok := e.d.has("Is"); ok && sig.Params().Len() == 1 && sig.Results().Len() == 1 {
		return e.m.callMethod(e.d, e.x, "Is", []reflect.Value{reflect.ValueOf(&target).Elem()})[0].Bool()
	}
	return false
}

// Unwrap gives what the value's own Unwrap gives.
func (e joinedError) Unwrap() []error {
	all, _ := e.m.callMethod(e.d, e.x, "Unwrap", nil)[0].Interface().([]error)
	return all
}

// As is errors.As for cells: target is a pointer to a variable of any type,
// also one that only cells know.
func (m *Machine) As(err error, target any) bool {
	d := m.boxed(target)
	if d == nil {
		return errors.As(err, target)
	}
	p, ok := d.Type().Underlying().(*types.Pointer)
	if !ok {
		panic("errors: target must be a non-nil pointer")
	}
	address := d.content(target).UnsafePointer()
	if address == nil {
		panic("errors: target must be a non-nil pointer")
	}
	m.mu.Lock()
	c := &code{m: m}
	k := m.kindOf(p.Elem())
	matches, put := c.matcher(p.Elem()), c.unboxer(p.Elem(), k)
	m.mu.Unlock()
	return m.as(err, target, func(x any) bool {
		if x == nil || !matches(x) {
			return false
		}
		var s slot
		put(&s, x)
		s.store(k.shape, k.rt, address)
		return true
	})
}

// as walks the tree of errors.
func (m *Machine) as(err error, target any, try func(any) bool) bool {
	for err != nil {
		x := m.unwrap(err)
		if try(x) {
			return true
		}
		if e, ok := err.(interface{ asOf(any) bool }); ok && e.asOf(target) {
			return true
		}
		switch e := err.(type) {
		case interface{ Unwrap() []error }:
			for _, err := range e.Unwrap() {
				if m.as(err, target, try) {
					return true
				}
			}
			return false
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		default:
			return false
		}
	}
	return false
}

// asOf asks the value's own As.
func (e cellError) asOf(target any) bool {
	if sig, ok := e.d.has("As"); ok && sig.Params().Len() == 1 && sig.Results().Len() == 1 {
		return e.m.callMethod(e.d, e.x, "As", []reflect.Value{reflect.ValueOf(&target).Elem()})[0].Bool()
	}
	return false
}
