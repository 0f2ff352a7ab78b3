package machine

import (
	"go/types"
	"reflect"
	"unsafe"
)

// DeepEqual is reflect.DeepEqual for cells: it knows the types of cells apart
// and finds its way where memory has a stand-in for a type.
func (m *Machine) DeepEqual(x, y any) bool {
	x, y = m.unwrap(x), m.unwrap(y)
	if x == nil || y == nil {
		return x == y
	}
	if reflect.TypeOf(x) != reflect.TypeOf(y) {
		return false
	}
	d := deep{m, map[visit]bool{}}
	if own := m.boxed(x); own != nil {
		return d.equal(own.Type(), own.rt, pointerTo(content(x)), pointerTo(content(y)))
	}
	return d.equal(nil, reflect.TypeOf(x), pointerTo(reflect.ValueOf(x)), pointerTo(reflect.ValueOf(y)))
}

// visit is a comparison under way: values that lead back to themselves.
type visit struct {
	x, y unsafe.Pointer
	rt   reflect.Type
}

type deep struct {
	m    *Machine
	seen map[visit]bool
}

func (d deep) equal(t types.Type, rt reflect.Type, x, y unsafe.Pointer) bool {
	if isCompiled(t) || t == nil && !holdsInterfaces(rt, 0) {
		return reflect.DeepEqual(reflect.NewAt(rt, x).Elem().Interface(), reflect.NewAt(rt, y).Elem().Interface())
	}
	v, w := reflect.NewAt(rt, x).Elem(), reflect.NewAt(rt, y).Elem()
	switch rt.Kind() {
	case reflect.Struct:
		for i := range rt.NumField() {
			f := rt.Field(i)
			ft := fieldOf(t, i)
			if !d.equal(ft, d.m.full(ft, f.Type), unsafe.Add(x, f.Offset), unsafe.Add(y, f.Offset)) {
				return false
			}
		}
		return true
	case reflect.Array, reflect.Slice:
		return d.lists(elemOf(t), v, w)
	case reflect.Map:
		return d.maps(elemOf(t), v, w)
	case reflect.Interface:
		return d.interfaces(v, w)
	case reflect.Pointer, reflect.UnsafePointer:
		return d.pointers(elemOf(t), rt, *(*unsafe.Pointer)(x), *(*unsafe.Pointer)(y))
	case reflect.Func:
		return v.IsNil() && w.IsNil()
	}
	return v.Equal(w)
}

// fieldOf is the type of a struct's field; nil if the struct's is not known.
func fieldOf(t types.Type, i int) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying().(*types.Struct).Field(i).Type()
}

func (d deep) lists(et types.Type, v, w reflect.Value) bool {
	if v.Kind() == reflect.Slice && v.IsNil() != w.IsNil() || v.Len() != w.Len() {
		return false
	}
	er := d.m.full(et, v.Type().Elem())
	for i := range v.Len() {
		if !d.equal(et, er, v.Index(i).Addr().UnsafePointer(), w.Index(i).Addr().UnsafePointer()) {
			return false
		}
	}
	return true
}

func (d deep) maps(et types.Type, v, w reflect.Value) bool {
	if v.IsNil() != w.IsNil() || v.Len() != w.Len() {
		return false
	}
	er := d.m.full(et, v.Type().Elem())
	for it := v.MapRange(); it.Next(); {
		other := w.MapIndex(it.Key())
		if !other.IsValid() || !d.equal(et, er, pointerTo(it.Value()), pointerTo(other)) {
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
	if own := d.m.boxed(x); own != nil {
		return d.equal(own.Type(), own.rt, pointerTo(content(x)), pointerTo(content(y)))
	}
	return d.equal(nil, reflect.TypeOf(x), pointerTo(reflect.ValueOf(x)), pointerTo(reflect.ValueOf(y)))
}

func (d deep) pointers(et types.Type, rt reflect.Type, x, y unsafe.Pointer) bool {
	if x == y || x == nil || y == nil {
		return x == y
	}
	var er reflect.Type
	if rt.Kind() == reflect.Pointer {
		er = rt.Elem()
	}
	er = d.m.full(et, er)
	if er == nil {
		return false // where it leads to is not known
	}
	k := visit{x, y, er}
	if d.seen[k] {
		return true
	}
	d.seen[k] = true
	return d.equal(et, er, x, y)
}
