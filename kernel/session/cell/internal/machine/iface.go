package machine

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// boxer makes a function that turns a value of type t in memory into an
// interface value: a box for a cell's type. Interfaces give what is in them.
func (m *Machine) boxer(t types.Type) func(unsafe.Pointer) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boxerLocked(t)
}

func (m *Machine) boxerLocked(t types.Type) func(unsafe.Pointer) any {
	if types.IsInterface(t) {
		read := m.reader(t)
		return func(p unsafe.Pointer) any { return read(p) }
	}
	rt := m.layouts.of(t)
	if m.layouts.own(t) {
		rt = m.describe(t).box
	}
	switch rt {
	case basicTypes[types.Int]:
		return boxBasic[int]
	case basicTypes[types.String]:
		return boxBasic[string]
	case basicTypes[types.Float64]:
		return boxBasic[float64]
	case basicTypes[types.Bool]:
		return boxBasic[bool]
	}
	for v := range m.o.StandIns {
		if reflect.TypeOf(v) == rt {
			return func(p unsafe.Pointer) any {
				x := reflect.NewAt(rt, p).Elem().Interface()
				if other, ok := m.o.StandIns[x]; ok {
					return other
				}
				return x
			}
		}
	}
	return func(p unsafe.Pointer) any { return reflect.NewAt(rt, p).Elem().Interface() }
}

func boxBasic[T any](p unsafe.Pointer) any { return *(*T)(p) }

// reader makes a function that reads an interface of type t from memory and
// takes a compiled wrapper off a cell's value. The lock is held.
func (m *Machine) reader(t types.Type) func(unsafe.Pointer) any {
	switch rt := m.layouts.of(t); rt {
	case anyType:
		return func(p unsafe.Pointer) any { return m.unwrap(*(*any)(p)) }
	case errorType:
		return func(p unsafe.Pointer) any { return m.unwrap(*(*error)(p)) }
	default:
		return func(p unsafe.Pointer) any {
			v := reflect.NewAt(rt, p).Elem()
			if v.IsNil() {
				return nil
			}
			return m.unwrap(v.Elem().Interface())
		}
	}
}

// writer makes a function that puts a value into memory as an interface of type
// t, in a wrapper where compiled code must find methods. The lock is held.
func (m *Machine) writer(t types.Type) func(unsafe.Pointer, any) {
	rt := m.layouts.of(t)
	if rt.NumMethod() == 0 {
		return func(p unsafe.Pointer, x any) { *(*any)(p) = x }
	}
	return func(p unsafe.Pointer, x any) {
		v := reflect.NewAt(rt, p).Elem()
		if x == nil {
			v.SetZero()
			return
		}
		v.Set(m.adapt(x, rt, t))
	}
}

func (c *code) makeInterface(i *ssa.MakeInterface) op {
	box, write := c.m.boxerLocked(i.X.Type()), c.m.writer(i.Type())
	d, x, sh := c.loc(i), c.index(i.X), shapeOf(i.X.Type())
	if c.m.layouts.of(i.Type()) == anyType {
		return func(fr *frame) { *at[any](fr, d) = box(fr.regs[x].at(sh)) }
	}
	return func(fr *frame) { write(unsafe.Pointer(at[any](fr, d)), box(fr.regs[x].at(sh))) }
}

func (c *code) changeInterface(i *ssa.ChangeInterface) op {
	from, to := c.m.layouts.of(i.X.Type()), c.m.layouts.of(i.Type())
	if from == to {
		return c.copies(i, i.X)
	}
	read, write := c.m.reader(i.X.Type()), c.m.writer(i.Type())
	d, x := c.loc(i), c.loc(i.X)
	return func(fr *frame) { write(unsafe.Pointer(at[any](fr, d)), read(unsafe.Pointer(at[any](fr, x)))) }
}

// typeAssert compiles x.(T), with a second result if that is asked for.
func (c *code) typeAssert(i *ssa.TypeAssert) op {
	read, x := c.m.reader(i.X.Type()), c.loc(i.X)
	t := i.AssertedType
	k := c.m.kindOf(t)
	matches, put := c.matcher(t), c.unboxer(t, k)
	source := i.X.Type()
	if i.CommaOk {
		d := c.index(i)
		return func(fr *frame) {
			v := read(unsafe.Pointer(at[any](fr, x)))
			tuple := make([]slot, 2)
			if v != nil && matches(v) {
				put(&tuple[0], v)
				tuple[1].n = 1
			} else {
				k.zero(&tuple[0])
			}
			fr.regs[d].p = unsafe.Pointer(&tuple)
		}
	}
	d := c.index(i)
	return func(fr *frame) {
		v := read(unsafe.Pointer(at[any](fr, x)))
		if v == nil || !matches(v) {
			panic(c.m.assertionError(source, t, v))
		}
		put(&fr.regs[d], v)
	}
}

// matcher says whether a value that is not nil is of type t, or has its
// methods if t is an interface.
func (c *code) matcher(t types.Type) func(any) bool {
	m := c.m
	if i, ok := t.Underlying().(*types.Interface); ok {
		rt := m.layouts.of(t)
		return func(v any) bool { return m.hasMethods(v, i, rt) }
	}
	rt := m.layouts.of(t)
	if m.layouts.own(t) {
		rt = m.describe(t).box
	}
	return func(v any) bool { return reflect.TypeOf(v) == rt }
}

// unboxer puts a value that matches t into a slot.
func (c *code) unboxer(t types.Type, k kind) func(*slot, any) {
	if types.IsInterface(t) {
		write := c.m.writer(t)
		return func(s *slot, v any) { write(s.at(shapeInterface), v) }
	}
	if c.m.layouts.own(t) {
		return c.m.describe(t).put
	}
	return func(s *slot, v any) { k.set(s, reflect.ValueOf(v)) }
}

// hasMethods says whether a value implements an interface, of which rt is the
// compiled form if it has one.
func (m *Machine) hasMethods(v any, i *types.Interface, rt reflect.Type) bool {
	if d := m.boxed(v); d != nil {
		return d.implements(i)
	}
	have := reflect.TypeOf(v)
	if rt.NumMethod() > 0 || i.NumMethods() == 0 {
		return have.Implements(rt)
	}
	for want := range i.Methods() {
		method, ok := have.MethodByName(want.Name())
		if !ok || !m.sameSignature(method.Type, want.Signature()) {
			return false
		}
	}
	return true
}

// sameSignature compares a compiled method, whose receiver comes first, with
// one of a cell's interface.
func (m *Machine) sameSignature(have reflect.Type, want *types.Signature) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.layouts.own(want) {
		return false
	}
	rt := m.layouts.of(want)
	if have.NumIn() != rt.NumIn()+1 || have.NumOut() != rt.NumOut() || have.IsVariadic() != rt.IsVariadic() {
		return false
	}
	for k := range rt.NumIn() {
		if have.In(k+1) != rt.In(k) {
			return false
		}
	}
	for k := range rt.NumOut() {
		if have.Out(k) != rt.Out(k) {
			return false
		}
	}
	return true
}

// assertionError is the panic of an assertion that does not hold.
func (m *Machine) assertionError(source, t types.Type, v any) error {
	name := func(t types.Type) string {
		if types.Identical(t, anyOf) {
			return "interface {}"
		}
		return typeName(t)
	}
	prefix := "interface conversion: "
	if types.IsInterface(t) {
		if v == nil {
			return assertion(fmt.Sprintf("%sinterface is nil, not %s", prefix, name(t)))
		}
		return assertion(fmt.Sprintf("%s%s is not %s: missing method %s", prefix, m.TypeName(v), name(t), m.missing(v, t)))
	}
	if v == nil {
		return assertion(fmt.Sprintf("%s%s is nil, not %s", prefix, name(source), name(t)))
	}
	text := fmt.Sprintf("%s%s is %s, not %s", prefix, name(source), m.TypeName(v), name(t))
	if m.TypeName(v) == name(t) {
		text += " (types from different scopes)"
	}
	return assertion(text)
}

// missing is the first method of t that v lacks.
func (m *Machine) missing(v any, t types.Type) string {
	i := t.Underlying().(*types.Interface)
	d := m.boxed(v)
	for want := range i.Methods() {
		if d != nil && d.method(want.Pkg(), want.Name()) != nil {
			continue
		}
		if d == nil {
			if _, ok := reflect.TypeOf(v).MethodByName(want.Name()); ok {
				continue
			}
		}
		return want.Name()
	}
	return ""
}

var anyOf = types.Universe.Lookup("any").Type()

// assertion is an error of the runtime about a type.
type assertion string

var _ runtime.Error = assertion("")

func (a assertion) Error() string { return string(a) }

// RuntimeError implements [runtime.Error].
func (assertion) RuntimeError() {}

// named is an error of the Go runtime about a box, in the words for what is in it.
func (m *Machine) named(r any) any {
	e, ok := r.(runtime.Error)
	if !ok || !strings.HasSuffix(e.Error(), "}") {
		return r
	}
	m.boxes.Range(func(box, d any) bool {
		text, ok := strings.CutSuffix(e.Error(), box.(reflect.Type).String())
		if ok = ok && d.(*descriptor) != nil; ok {
			r = assertion(text + typeName(d.(*descriptor).Type()))
		}
		return !ok
	})
	return r
}

// equality compiles == and !=.
func (c *code) equality(i *ssa.BinOp) op {
	equal := c.equals(i.X, i.Y)
	d := c.loc(i)
	if i.Op == token.NEQ {
		return func(fr *frame) { *at[bool](fr, d) = !equal(fr) }
	}
	return func(fr *frame) { *at[bool](fr, d) = equal(fr) }
}

func (c *code) equals(a, b ssa.Value) func(*frame) bool {
	x, y := c.loc(a), c.loc(b)
	switch t := a.Type().Underlying().(type) {
	case *types.Basic:
		return arithmeticOf(t).equals(x, y)
	case *types.Slice, *types.Map, *types.Signature, *types.Pointer, *types.Chan: // with nil, but for pointers and channels
		return equal[unsafe.Pointer](x, y)
	case *types.Interface:
		readX, readY := c.m.reader(a.Type()), c.m.reader(b.Type())
		return func(fr *frame) bool {
			return readX(unsafe.Pointer(at[any](fr, x))) == readY(unsafe.Pointer(at[any](fr, y)))
		}
	}
	rt := c.m.layouts.of(a.Type())
	return func(fr *frame) bool {
		return reflect.NewAt(rt, *at[unsafe.Pointer](fr, x)).Elem().Equal(reflect.NewAt(rt, *at[unsafe.Pointer](fr, y)).Elem())
	}
}

func equal[T comparable](x, y loc) func(*frame) bool {
	return func(fr *frame) bool { return *at[T](fr, x) == *at[T](fr, y) }
}
