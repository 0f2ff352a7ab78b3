package machine

import (
	"encoding/json"
	"go/types"
	"reflect"
	"unsafe"
)

// decode runs a function of encoding/json that fills in what in[i] leads to.
// Parts with an UnmarshalJSON of the cell's are filled in by that.
func (m *Machine) decode(fn reflect.Value, in []reflect.Value, i int) []reflect.Value {
	x := m.unwrap(in[i].Interface())
	d := m.boxed(x)
	target := m.plain(x)
	if d != nil {
		if p, ok := d.Type().Underlying().(*types.Pointer); ok && m.special(p.Elem(), map[types.Type]bool{}) {
			target = &decoding{m, p.Elem(), d.content(x).UnsafePointer()}
		}
	}
	in[i] = reflect.ValueOf(&target).Elem()
	return call(fn, in, false)
}

// special says whether a type has parts that package json alone would decode
// wrongly.
func (m *Machine) special(t types.Type, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return false
	}
	seen[t] = true
	m.mu.Lock()
	own := m.layouts.own(t)
	m.mu.Unlock()
	if !own {
		return false
	}
	if m.hasOn(t, "UnmarshalJSON") || m.hasOn(t, "UnmarshalText") {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if f.Embedded() && !f.Exported() || m.special(f.Type(), seen) {
				return true
			}
		}
	case *types.Map:
		return m.special(u.Key(), seen) || m.special(u.Elem(), seen)
	case interface{ Elem() types.Type }:
		return m.special(u.Elem(), seen)
	}
	return false
}

// hasOn says whether a pointer to the type has a method.
func (m *Machine) hasOn(t types.Type, name string) bool {
	m.mu.Lock()
	d := m.describe(types.NewPointer(t))
	m.mu.Unlock()
	_, ok := d.has(name)
	return ok
}

// decoding fills in a value in memory from its JSON.
type decoding struct {
	m  *Machine
	t  types.Type
	at unsafe.Pointer
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *decoding) UnmarshalJSON(text []byte) error { return d.m.unmarshal(text, d.t, d.at) }

// layout is the form in memory of a type.
func (m *Machine) layout(t types.Type) reflect.Type {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.layouts.of(t)
}

func (m *Machine) unmarshal(text []byte, t types.Type, at unsafe.Pointer) error {
	rt := m.layout(t)
	if !m.special(t, map[types.Type]bool{}) {
		return json.Unmarshal(text, reflect.NewAt(rt, at).Interface())
	}
	for _, name := range []string{"UnmarshalJSON", "UnmarshalText"} {
		if m.hasOn(t, name) && string(text) != "null" {
			return m.unmarshalBy(name, text, t, at)
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if string(text) == "null" {
			*(*unsafe.Pointer)(at) = nil
			return nil
		}
		if *(*unsafe.Pointer)(at) == nil {
			*(*unsafe.Pointer)(at) = reflect.New(m.layout(u.Elem())).UnsafePointer()
		}
		return m.unmarshal(text, u.Elem(), *(*unsafe.Pointer)(at))
	case *types.Slice:
		return m.unmarshalList(text, u, at)
	case *types.Map:
		return m.unmarshalMap(text, u, at)
	case *types.Struct:
		return m.unmarshalStruct(text, u, rt, at)
	}
	return json.Unmarshal(text, reflect.NewAt(rt, at).Interface())
}

func (m *Machine) unmarshalBy(name string, text []byte, t types.Type, at unsafe.Pointer) error {
	if name == "UnmarshalText" {
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		text = []byte(s)
	}
	m.mu.Lock()
	d := m.describe(types.NewPointer(t))
	m.mu.Unlock()
	box := reflect.NewAt(d.box, unsafe.Pointer(&at)).Elem().Interface()
	err, _ := m.callMethod(d, box, name, []reflect.Value{reflect.ValueOf(text)})[0].Interface().(error)
	return err
}

func (m *Machine) unmarshalList(text []byte, t *types.Slice, at unsafe.Pointer) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	er := m.layout(t.Elem())
	list := reflect.MakeSlice(reflect.SliceOf(er), len(raw), len(raw))
	if raw == nil {
		list = reflect.Zero(reflect.SliceOf(er))
	}
	for i, part := range raw {
		if err := m.unmarshal(part, t.Elem(), list.Index(i).Addr().UnsafePointer()); err != nil {
			return err
		}
	}
	*(*header)(at) = *(*header)(pointerTo(list))
	return nil
}

func (m *Machine) unmarshalMap(text []byte, t *types.Map, at unsafe.Pointer) error {
	kt, er := m.layout(t.Key()), m.layout(t.Elem())
	raw := reflect.New(reflect.MapOf(kt, reflect.TypeFor[json.RawMessage]()))
	if err := json.Unmarshal(text, raw.Interface()); err != nil {
		return err
	}
	out := reflect.MakeMap(reflect.MapOf(kt, er))
	for it := raw.Elem().MapRange(); it.Next(); {
		e := reflect.New(er)
		if err := m.unmarshal(it.Value().Bytes(), t.Elem(), e.UnsafePointer()); err != nil {
			return err
		}
		out.SetMapIndex(it.Key(), e.Elem())
	}
	*(*unsafe.Pointer)(at) = out.UnsafePointer()
	return nil
}

// unmarshalStruct decodes each field from its raw text. Which text belongs to
// which field is found out by package json, on a struct of the same tags.
func (m *Machine) unmarshalStruct(text []byte, t *types.Struct, rt reflect.Type, at unsafe.Pointer) error {
	var fields []reflect.StructField
	var of []int
	for i := range t.NumFields() {
		f := t.Field(i)
		if f.Embedded() && reflect.StructTag(t.Tag(i)).Get("json") == "" {
			if _, ok := f.Type().Underlying().(*types.Struct); ok {
				if err := m.unmarshal(text, f.Type(), unsafe.Add(at, rt.Field(i).Offset)); err != nil {
					return err
				}
				continue
			}
		}
		if !f.Exported() {
			continue
		}
		fields = append(fields, reflect.StructField{Name: f.Name(), Type: reflect.TypeFor[json.RawMessage](), Tag: reflect.StructTag(t.Tag(i))})
		of = append(of, i)
	}
	raw := reflect.New(reflect.StructOf(fields))
	if err := json.Unmarshal(text, raw.Interface()); err != nil {
		return err
	}
	for k, i := range of {
		part := raw.Elem().Field(k).Bytes()
		if len(part) == 0 {
			continue
		}
		if err := m.unmarshal(part, t.Field(i).Type(), unsafe.Add(at, rt.Field(i).Offset)); err != nil {
			return err
		}
	}
	return nil
}
