package machine

import (
	"go/types"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"

	"noema/kernel/session/cell/internal/source"
)

// descriptor is the run-time information on a type of a cell: its methods, which
// its layout lacks. A layout that is of no other type stands for the type in
// interfaces, too. A value of another type, such as a slice of an interface of a
// cell, is there in a box: a struct with the value as its only field, whose tag has
// the descriptor's number. So types with the same layout differ, and boxes compare
// and hash as the values do.
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
	d.box = rt
	if !distinct(t) {
		d.box = reflect.StructOf([]reflect.StructField{{
			Name: "V", Type: rt, Tag: reflect.StructTag(`cell:"` + strconv.Itoa(m.numbered) + `"`),
		}})
	}
	m.descriptors.Set(t, d)
	m.boxes.Store(d.box, d)
	return d
}

// distinct reports whether no other type has the layout of a cell's type.
func distinct(t types.Type) bool {
	return !source.AnyPart(t, func(t types.Type) (found, done bool) {
		named, ok := t.(*types.Named)
		if i, is := t.Underlying().(*types.Interface); is && i.NumMethods() > 0 || ok && named.TypeArgs().Len() > 0 && !isOwn(named) {
			return true, true
		}
		return false, ok
	})
}

// boxed is the descriptor of a value of a cell's type, or nil for a compiled one.
func (m *Machine) boxed(x any) *descriptor {
	if x == nil {
		return nil
	}
	return m.descriptorOf(reflect.TypeOf(x))
}

// descriptorOf is the descriptor of the cell's type that rt stands for in
// interfaces, or nil.
func (m *Machine) descriptorOf(rt reflect.Type) *descriptor {
	if d, ok := m.boxes.Load(rt); ok {
		return d.(*descriptor)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var d *descriptor
	if t := m.layouts.typeOf(rt); t != nil {
		d = m.describe(t) // met by reflection alone
	}
	if d == nil || d.box != rt {
		m.boxes.Store(rt, (*descriptor)(nil))
		return nil
	}
	return d
}

// typeOf is the cell's type that rt stands for, or nil.
func (m *Machine) typeOf(rt reflect.Type) types.Type {
	if d := m.descriptorOf(rt); d != nil {
		return d.Type()
	}
	return nil
}

// content is the value that x, of this type, is or has in its box.
func (d *descriptor) content(x any) reflect.Value {
	if d.box == d.rt {
		return reflect.ValueOf(x)
	}
	return reflect.ValueOf(x).Field(0)
}

// put puts the value into a slot.
func (d *descriptor) put(s *slot, x any) { d.set(s, d.content(x)) }

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
