package machine

import (
	"go/types"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
)

// descriptor is the run-time information on a type of a cell: its name and
// methods, which its layout lacks. In an interface, a value of such a type is in a
// box: a struct with the value as its only field, whose tag has the descriptor's
// number. So types with the same layout differ, and boxes compare and hash as the
// values do.
type descriptor struct {
	kind
	m       *Machine
	box     reflect.Type
	methods sync.Map // method name -> *slotOfCode

	current atomic.Pointer[types.Type] // the newest definition of the type
}

// Type is the type as the checker has it.
func (d *descriptor) Type() types.Type { return *d.current.Load() }

// describe returns the descriptor of a type. The lock is held.
func (m *Machine) describe(t types.Type) *descriptor {
	t = types.Unalias(t)
	if d, ok := m.descriptors.At(t).(*descriptor); ok {
		return d
	}
	m.numbered++
	rt := m.layouts.of(t)
	d := &descriptor{kind: kind{shapeOf(t), rt}, m: m}
	d.current.Store(&t)
	d.box = reflect.StructOf([]reflect.StructField{{
		Name: "V", Type: rt, Tag: reflect.StructTag(`cell:"` + strconv.Itoa(m.numbered) + `"`),
	}})
	m.descriptors.Set(t, d)
	m.boxes.Store(d.box, d)
	return d
}

// boxed is the descriptor of a boxed value, or nil for a compiled one.
func (m *Machine) boxed(x any) *descriptor {
	if x == nil {
		return nil
	}
	rt := reflect.TypeOf(x)
	if rt.Kind() != reflect.Struct {
		return nil
	}
	if d, ok := m.boxes.Load(rt); ok {
		return d.(*descriptor)
	}
	return nil
}

// content is the value in a box.
func content(x any) reflect.Value { return reflect.ValueOf(x).Field(0) }

// put puts the value in a box into a slot.
func (d *descriptor) put(s *slot, x any) { d.set(s, content(x)) }

// method is the code of a method of the type, or nil if it has none of that
// name. pkg matters for unexported names.
func (d *descriptor) method(pkg *types.Package, name string) *slotOfCode {
	if c, ok := d.methods.Load(name); ok {
		return c.(*slotOfCode)
	}
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	t := d.Type()
	sel := d.m.program.MethodSets.MethodSet(t).Lookup(pkg, name)
	if sel == nil {
		return nil
	}
	fn := d.m.program.MethodValue(sel)
	if fn == nil {
		return nil
	}
	c := d.m.slotFor(fn)
	d.methods.Store(name, c)
	return c
}

// has looks up an exported method.
func (d *descriptor) has(name string) (*types.Signature, bool) {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	sel := d.m.program.MethodSets.MethodSet(d.Type()).Lookup(nil, name)
	if sel == nil {
		return nil, false
	}
	return sel.Type().(*types.Signature), true
}

// implements reports whether the type has the methods of an interface.
func (d *descriptor) implements(i *types.Interface) bool {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	return types.Implements(d.Type(), i)
}
