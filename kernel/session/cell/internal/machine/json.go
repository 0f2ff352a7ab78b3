package machine

import (
	"encoding"
	"encoding/json"
	"fmt"
	"go/types"
	"reflect"
	"strings"
	"unsafe"

	"noema/kernel/session/cell/internal/source"
)

// jsonView is a value for encoding/json: as it stands in memory if that says
// all, else one that marshals itself.
func (m *Machine) jsonView(x any) any {
	x = m.unwrap(x)
	if d := m.boxed(x); d != nil && (m.holdsInterfaces(d.rt) || withMethods(d.Type()) || hidesEmbedded(d.Type())) {
		return Printed{m, x}
	} else if d != nil {
		return d.content(x).Interface()
	}
	if x != nil && m.holdsInterfaces(reflect.TypeOf(x)) {
		return Printed{m, x}
	}
	return x
}

// hidesEmbedded reports whether a part of a type is a struct with an embedded field
// that the layout does not embed.
func hidesEmbedded(t types.Type) bool {
	return source.AnyPart(t, func(t types.Type) (found, done bool) {
		named, ok := t.(*types.Named)
		if s, is := t.(*types.Struct); is {
			for f := range s.Fields() {
				found = found || f.Embedded()
			}
		}
		return found, ok && !isOwn(named)
	})
}

// marshal writes a value's JSON. What package json does by itself is left to
// it: the value is copied into a mirror, in whose type the parts that only a
// cell knows how to marshal are interfaces with what marshals itself.
func (m *Machine) marshal(x any) ([]byte, error) {
	v, err := m.mirrorDynamic(anyType, unsafe.Pointer(&x), 0)
	if err != nil || !v.IsValid() {
		return []byte("null"), err
	}
	return json.Marshal(v.Interface())
}

// marshaling is a value whose type in a cell has the method MarshalJSON.
type marshaling func() ([]byte, error)

// MarshalJSON implements [json.Marshaler].
func (f marshaling) MarshalJSON() ([]byte, error) { return f() }

// textMarshaling is a value whose type in a cell has the method MarshalText.
type textMarshaling func() ([]byte, error)

// MarshalText implements [encoding.TextMarshaler].
func (f textMarshaling) MarshalText() ([]byte, error) { return f() }

var _ encoding.TextMarshaler = textMarshaling(nil)

const maxJSONDepth = 1000

// mirror copies a value for package json. The result is invalid for nil.
func (m *Machine) mirror(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int) (reflect.Value, error) {
	if depth > maxJSONDepth {
		return reflect.Value{}, fmt.Errorf("json: unsupported value: encountered a cycle via %s", typeAt(t, rt))
	}
	if t == nil {
		t = m.typeOf(rt)
	}
	if t == nil && (rt.Name() != "" || rt.NumMethod() > 0) && rt.Kind() != reflect.Interface || isCompiled(t) {
		return reflect.NewAt(rt, at).Elem(), nil
	}
	if t != nil && !types.IsInterface(t) {
		if v := m.ownJSON(t, rt, at); v.IsValid() {
			return v, nil
		}
	}
	switch rt.Kind() {
	case reflect.Struct:
		return m.mirrorStruct(t, rt, at, depth)
	case reflect.Slice, reflect.Array:
		return m.mirrorList(t, rt, at, depth)
	case reflect.Map:
		return m.mirrorMap(t, rt, at, depth)
	case reflect.Interface:
		return m.mirrorDynamic(rt, at, depth)
	case reflect.Pointer:
		return m.mirrorPointer(t, rt, at, depth)
	}
	return reflect.NewAt(rt, at).Elem(), nil
}

func isCompiled(t types.Type) bool {
	if t == nil {
		return false
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && !isOwn(named) && !types.IsInterface(t)
}

// ownJSON is a value that marshals itself, if its type has a method for that.
func (m *Machine) ownJSON(t types.Type, rt reflect.Type, at unsafe.Pointer) reflect.Value {
	m.mu.Lock()
	own := m.layouts.own(t)
	var d *descriptor
	if own {
		d = m.describe(t)
	}
	m.mu.Unlock()
	if !own || rt.Kind() == reflect.Pointer && *(*unsafe.Pointer)(at) == nil {
		return reflect.Value{}
	}
	run := func(name string) func() ([]byte, error) {
		return func() ([]byte, error) {
			out := m.callMethod(d, reflect.NewAt(d.box, at).Elem().Interface(), name, nil)
			err, _ := out[1].Interface().(error)
			return out[0].Bytes(), err
		}
	}
	for _, name := range []string{"MarshalJSON", "MarshalText"} {
		sig, ok := d.has(name)
		if !ok || sig.Params().Len() != 0 || sig.Results().Len() != 2 {
			continue
		}
		if name == "MarshalJSON" {
			return reflect.ValueOf(marshaling(run(name)))
		}
		return reflect.ValueOf(textMarshaling(run(name)))
	}
	return reflect.Value{}
}

// mirrorStruct makes a struct whose fields hold the mirrors of the fields.
// Embedded structs stay embedded, so that their fields are promoted.
func (m *Machine) mirrorStruct(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int) (reflect.Value, error) {
	var fields []reflect.StructField
	var values []reflect.Value
	for i := range rt.NumField() {
		f := rt.Field(i)
		var ft types.Type
		embedded := f.Anonymous
		if t != nil {
			field := t.Underlying().(*types.Struct).Field(i)
			ft, embedded = field.Type(), field.Embedded()
		}
		if !f.IsExported() && !embedded {
			continue
		}
		p := unsafe.Add(at, f.Offset)
		v, err := m.mirror(ft, f.Type, p, depth+1)
		if err != nil {
			return reflect.Value{}, err
		}
		name, tag := f.Name, f.Tag
		if embedded {
			v, embedded = promotable(v, tag)
			if !embedded && !f.IsExported() {
				continue
			}
			name = strings.ToUpper(name[:1]) + name[1:]
		} else {
			v = optional(v, reflect.NewAt(f.Type, p).Elem(), tag)
		}
		held := anyType
		if v.IsValid() {
			held = v.Type()
		} else {
			v = reflect.Zero(anyType)
		}
		fields = append(fields, reflect.StructField{Name: name, Type: held, Tag: tag, Anonymous: embedded})
		values = append(values, v)
	}
	out := reflect.New(reflect.StructOf(fields)).Elem()
	for i, v := range values {
		out.Field(i).Set(v)
	}
	return out, nil
}

// promotable says whether the fields of an embedded value are promoted, and
// gives the struct: of a pointer, what it leads to.
func promotable(v reflect.Value, tag reflect.StructTag) (reflect.Value, bool) {
	name, _, _ := strings.Cut(tag.Get("json"), ",")
	s := v
	if s.IsValid() && s.Kind() == reflect.Pointer && !s.IsNil() {
		s = s.Elem()
	}
	if name != "" || !s.IsValid() || s.Kind() != reflect.Struct || s.NumMethod() > 0 {
		return v, false
	}
	return s, true
}

// optional makes a field that is to be left out when empty empty for package
// json, also where its mirror is of another type.
func optional(mirror, v reflect.Value, tag reflect.StructTag) reflect.Value {
	_, options, _ := strings.Cut(tag.Get("json"), ",")
	if !strings.Contains(options, "omit") || !mirror.IsValid() || mirror.Type() == v.Type() {
		return mirror
	}
	empty := v.IsZero()
	switch v.Kind() {
	case reflect.Struct:
		empty = empty && strings.Contains(options, "omitzero")
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		empty = v.Len() == 0
	}
	if empty {
		return reflect.Value{}
	}
	return mirror
}

func (m *Machine) mirrorList(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int) (reflect.Value, error) {
	v := reflect.NewAt(rt, at).Elem()
	if rt.Kind() == reflect.Slice && (v.IsNil() || rt.Elem().Kind() == reflect.Uint8) {
		return v, nil
	}
	out := make([]any, v.Len())
	for i := range out {
		e, err := m.mirror(elemOf(t), rt.Elem(), v.Index(i).Addr().UnsafePointer(), depth+1)
		if err != nil {
			return reflect.Value{}, err
		}
		if e.IsValid() {
			out[i] = e.Interface()
		}
	}
	return reflect.ValueOf(out), nil
}

func (m *Machine) mirrorMap(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int) (reflect.Value, error) {
	v := reflect.NewAt(rt, at).Elem()
	out := reflect.MakeMap(reflect.MapOf(rt.Key(), anyType))
	if v.IsNil() {
		return reflect.Zero(out.Type()), nil
	}
	for it := v.MapRange(); it.Next(); {
		e, err := m.mirror(elemOf(t), rt.Elem(), pointerTo(it.Value()), depth+1)
		if err != nil {
			return reflect.Value{}, err
		}
		held := reflect.Zero(anyType)
		if e.IsValid() {
			held = e
		}
		out.SetMapIndex(it.Key(), held)
	}
	return out, nil
}

func (m *Machine) mirrorDynamic(rt reflect.Type, at unsafe.Pointer, depth int) (reflect.Value, error) {
	v := reflect.NewAt(rt, at).Elem()
	if v.IsNil() {
		return reflect.Value{}, nil
	}
	x := m.unwrap(v.Elem().Interface())
	if d := m.boxed(x); d != nil {
		return m.mirror(d.Type(), d.rt, pointerTo(d.content(x)), depth+1)
	}
	return m.mirror(nil, reflect.TypeOf(x), pointerTo(reflect.ValueOf(x)), depth+1)
}

func (m *Machine) mirrorPointer(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int) (reflect.Value, error) {
	to := *(*unsafe.Pointer)(at)
	if to == nil {
		return reflect.Value{}, nil
	}
	v, err := m.mirror(elemOf(t), rt.Elem(), to, depth+1)
	if err != nil || !v.IsValid() || v.Kind() != reflect.Struct {
		return v, err
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p, nil
}
