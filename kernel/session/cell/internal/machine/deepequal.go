package machine

import (
	"reflect"
	"unsafe"
)

// DeepEqual is reflect.DeepEqual for cells: it looks into the wrappers of cells'
// values.
func (m *Machine) DeepEqual(x, y any) bool {
	return deep{m, map[visit]bool{}}.interfaces(reflect.ValueOf(&x).Elem(), reflect.ValueOf(&y).Elem())
}

// visit is a comparison under way: values that lead back to themselves.
type visit struct {
	x, y unsafe.Pointer
	n    int // of a slice's elements
	rt   reflect.Type
}

type deep struct {
	m    *Machine
	seen map[visit]bool
}

func (d deep) equal(rt reflect.Type, x, y unsafe.Pointer) bool {
	v, w := reflect.NewAt(rt, x).Elem(), reflect.NewAt(rt, y).Elem()
	if !d.m.holdsInterfaces(rt) {
		return reflect.DeepEqual(v.Interface(), w.Interface())
	}
	switch rt.Kind() {
	case reflect.Interface:
		return d.interfaces(v, w)
	case reflect.Struct:
		for i := range rt.NumField() {
			f := rt.Field(i)
			if !d.equal(f.Type, unsafe.Add(x, f.Offset), unsafe.Add(y, f.Offset)) {
				return false
			}
		}
		return true
	case reflect.Array:
		return d.lists(v, w)
	}
	// a slice, map or pointer
	k := visit{x: v.UnsafePointer(), y: w.UnsafePointer(), rt: rt}
	if rt.Kind() == reflect.Slice {
		k.n = v.Len()
	}
	switch {
	case v.IsNil() != w.IsNil() || rt.Kind() != reflect.Pointer && v.Len() != w.Len():
		return false
	case k.x == k.y || d.seen[k]:
		return true
	}
	d.seen[k] = true
	switch rt.Kind() {
	case reflect.Slice:
		return d.lists(v, w)
	case reflect.Map:
		return d.maps(v, w)
	}
	return d.equal(rt.Elem(), v.UnsafePointer(), w.UnsafePointer())
}

func (d deep) lists(v, w reflect.Value) bool {
	for i := range v.Len() {
		if !d.equal(v.Type().Elem(), v.Index(i).Addr().UnsafePointer(), w.Index(i).Addr().UnsafePointer()) {
			return false
		}
	}
	return true
}

func (d deep) maps(v, w reflect.Value) bool {
	for it := v.MapRange(); it.Next(); {
		other := w.MapIndex(it.Key())
		if !other.IsValid() || !d.equal(v.Type().Elem(), pointerTo(it.Value()), pointerTo(other)) {
			return false
		}
	}
	return true
}

func (d deep) interfaces(v, w reflect.Value) bool {
	if v.IsNil() || w.IsNil() {
		return v.IsNil() == w.IsNil()
	}
	x, y := d.m.unwrap(v.Elem().Interface()), d.m.unwrap(w.Elem().Interface())
	if reflect.TypeOf(x) != reflect.TypeOf(y) {
		return false
	}
	return d.equal(reflect.TypeOf(x), pointerTo(reflect.ValueOf(x)), pointerTo(reflect.ValueOf(y)))
}
