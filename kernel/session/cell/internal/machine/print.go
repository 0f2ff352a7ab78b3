package machine

import (
	"fmt"
	"go/types"
	"reflect"
	"regexp"
	"strings"
	"unsafe"
)

// aliases are the names for which fmt writes others.
var aliases = regexp.MustCompile(`(^|[^.\w])(byte|rune)\b`)

// typeName is a type's name as fmt's %T gives it.
func typeName(t types.Type) string {
	text := types.TypeString(t, func(p *types.Package) string { return p.Name() })
	text = aliases.ReplaceAllStringFunc(text, func(found string) string {
		return strings.NewReplacer("byte", "uint8", "rune", "int32").Replace(found)
	})
	if !strings.ContainsAny(text, ", {") && !strings.Contains(text, "any") {
		return text
	}
	text = strings.NewReplacer("interface{}", "interface {}", "struct{}", "struct {}").Replace(text)
	if text == "any" || strings.HasSuffix(text, "]any") {
		text = strings.TrimSuffix(text, "any") + "interface {}"
	}
	if named, ok := t.(*types.Named); ok && named.TypeArgs().Len() > 0 {
		text = strings.ReplaceAll(text, ", ", ",")
	}
	return text
}

// TypeName is the name of a value's type as fmt's %T gives it.
func (m *Machine) TypeName(x any) string {
	x = m.unwrap(x)
	if d := m.boxed(x); d != nil {
		return typeName(d.Type())
	}
	if x == nil {
		return "<nil>"
	}
	return reflect.TypeOf(x).String()
}

// format prints a value as package fmt would if it knew the cells' types.
func (m *Machine) format(s fmt.State, verb rune, x any) {
	x = m.unwrap(x)
	p := &printer{m: m, state: s, verb: verb, plus: s.Flag('+'), sharp: s.Flag('#')}
	if x == nil {
		p.leaf(nil)
		return
	}
	p.dynamic(nil, anyType, unsafe.Pointer(&x), -1, true)
}

// printer walks a value in memory. Where t is nil the value's form in memory is
// all that is known.
type printer struct {
	m           *Machine
	state       fmt.State
	verb        rune
	plus, sharp bool
}

func (p *printer) write(s string) { _, _ = p.state.Write([]byte(s)) } // to a buffer of fmt

// goSyntax says whether the verb is %#v.
func (p *printer) goSyntax() bool { return p.verb == 'v' && p.sharp }

// leaf prints a value of compiled types with the directive at hand.
func (p *printer) leaf(x any) { fmt.Fprintf(p.state, fmt.FormatString(p.state, p.verb), x) }

func (p *printer) value(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int, exported bool) {
	if t == nil {
		t = p.m.typeOf(rt)
	}
	if t == nil && (rt.Name() != "" || rt.NumMethod() > 0) && rt.Kind() != reflect.Interface {
		p.compiled(rt, at, exported)
		return
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && t != nil && !isOwn(named) && !types.IsInterface(t) {
		p.compiled(rt, at, exported)
		return
	}
	if t != nil && exported && p.byMethod(t, rt, at) {
		return
	}
	switch rt.Kind() {
	case reflect.Struct:
		p.structure(t, rt, at, depth, exported)
	case reflect.Map:
		p.mapping(t, rt, at, depth, exported)
	case reflect.Slice, reflect.Array:
		p.list(t, rt, at, depth, exported)
	case reflect.Interface:
		p.dynamic(t, rt, at, depth, exported)
	case reflect.Pointer, reflect.UnsafePointer:
		p.pointer(t, rt, at, depth, exported)
	default:
		if p.goSyntax() && (rt.Kind() == reflect.Func || rt.Kind() == reflect.Chan) {
			p.address(t, *(*unsafe.Pointer)(at))
			return
		}
		p.leaf(reflect.NewAt(rt, at).Elem().Interface())
	}
}

// compiled leaves a value to fmt, which must not see methods of what is in an
// unexported field.
func (p *printer) compiled(rt reflect.Type, at unsafe.Pointer, exported bool) {
	if exported {
		p.leaf(reflect.NewAt(rt, at).Elem().Interface())
		return
	}
	hidden := reflect.StructOf([]reflect.StructField{{Name: "x", PkgPath: CellPath, Type: rt}})
	p.leaf(reflect.NewAt(hidden, at).Elem().Field(0))
}

// byMethod prints with a method of the value's, as fmt does: Format, GoString,
// Error, String.
func (p *printer) byMethod(t types.Type, rt reflect.Type, at unsafe.Pointer) (done bool) {
	p.m.mu.Lock()
	if !p.m.layouts.own(t) || types.IsInterface(t) {
		p.m.mu.Unlock()
		return false
	}
	d := p.m.describe(t)
	p.m.mu.Unlock()
	box := func() any { return reflect.NewAt(d.box, at).Elem().Interface() }
	for _, name := range p.methods() {
		if !d.isPrinting(name) {
			continue
		}
		defer p.caught(name, rt, at, &done)
		if name == "Format" {
			state := p.state
			p.m.callMethod(d, box(), name, []reflect.Value{reflect.ValueOf(&state).Elem(), reflect.ValueOf(p.verb)})
			return true
		}
		text := p.m.callMethod(d, box(), name, nil)[0].String()
		if name == "GoString" {
			p.write(text)
		} else {
			p.leaf(text)
		}
		return true
	}
	return false
}

// methods are those that fmt would try with the verb.
func (p *printer) methods() []string {
	switch {
	case p.goSyntax():
		return []string{"Format", "GoString"}
	case strings.ContainsRune("vsxXq", p.verb):
		return []string{"Format", "Error", "String"}
	}
	return []string{"Format"}
}

// isPrinting says whether the type has the method with the signature that fmt
// looks for.
func (d *descriptor) isPrinting(name string) bool {
	sig, ok := d.has(name)
	if !ok {
		return false
	}
	if name == "Format" {
		return sig.Params().Len() == 2 && sig.Results().Len() == 0 && sig.Params().At(0).Type().String() == "fmt.State"
	}
	return sig.Params().Len() == 0 && sig.Results().Len() == 1 && types.Identical(sig.Results().At(0).Type(), types.Typ[types.String])
}

// caught does with a panic of a method what fmt does.
func (p *printer) caught(name string, rt reflect.Type, at unsafe.Pointer, done *bool) {
	r := recover()
	if r == nil {
		return
	}
	if e, ok := r.(*Panic); ok && e.stop {
		panic(r)
	}
	*done = true
	if rt.Kind() == reflect.Pointer && *(*unsafe.Pointer)(at) == nil {
		p.write("<nil>")
		return
	}
	p.write(fmt.Sprintf("%%!%c(PANIC=%s method: %v)", p.verb, name, r))
}

// typeAt is the type that %#v writes before a value.
func typeAt(t types.Type, rt reflect.Type) string {
	if t == nil {
		return rt.String()
	}
	return typeName(t)
}

func (p *printer) structure(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int, exported bool) {
	if p.goSyntax() {
		p.write(typeAt(t, rt))
	}
	p.write("{")
	for i := range rt.NumField() {
		if i > 0 {
			p.write(p.between())
		}
		f := rt.Field(i)
		ft, name := types.Type(nil), f.Name
		if t != nil {
			field := t.Underlying().(*types.Struct).Field(i)
			ft, name = field.Type(), field.Name()
		}
		if p.plus || p.goSyntax() {
			p.write(name + ":")
		}
		p.value(ft, f.Type, unsafe.Add(at, f.Offset), depth+1, exported && f.IsExported())
	}
	p.write("}")
}

// between is what stands between the parts of a struct, list or map.
func (p *printer) between() string {
	if p.goSyntax() {
		return ", "
	}
	return " "
}

func (p *printer) list(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int, exported bool) {
	v := reflect.NewAt(rt, at).Elem()
	if rt.Elem().Kind() == reflect.Uint8 && strings.ContainsRune("sqxX", p.verb) {
		p.leaf(v.Bytes())
		return
	}
	open, end := "[", "]"
	if p.goSyntax() {
		if rt.Kind() == reflect.Slice && v.IsNil() {
			p.write(typeAt(t, rt) + "(nil)")
			return
		}
		open, end = typeAt(t, rt)+"{", "}"
	}
	et := elemOf(t)
	p.write(open)
	for i := range v.Len() {
		if i > 0 {
			p.write(p.between())
		}
		p.value(et, rt.Elem(), v.Index(i).Addr().UnsafePointer(), depth+1, exported)
	}
	p.write(end)
}

// elemOf is the type of the elements of a slice, array, map or pointer.
func elemOf(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if e, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
		return e.Elem()
	}
	return nil
}

func (p *printer) mapping(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int, exported bool) {
	v := reflect.NewAt(rt, at).Elem()
	open, end := "map[", "]"
	if p.goSyntax() {
		if v.IsNil() {
			p.write(typeAt(t, rt) + "(nil)")
			return
		}
		open, end = typeAt(t, rt)+"{", "}"
	}
	et, kt := elemOf(t), types.Type(nil)
	if t != nil {
		kt = t.Underlying().(*types.Map).Key()
	}
	p.write(open)
	for i, key := range p.sorted(v) {
		if i > 0 {
			p.write(p.between())
		}
		p.value(kt, rt.Key(), pointerTo(key), depth+1, exported)
		p.write(":")
		p.value(et, rt.Elem(), pointerTo(v.MapIndex(key)), depth+1, exported)
	}
	p.write(end)
}

// dynamic prints what is in an interface.
func (p *printer) dynamic(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int, exported bool) {
	var x any
	if v := reflect.NewAt(rt, at).Elem(); !v.IsNil() {
		x = p.m.unwrap(v.Elem().Interface())
	}
	d := p.m.boxed(x)
	switch {
	case x == nil && p.goSyntax():
		p.write(typeAt(t, rt) + "(nil)")
	case x == nil:
		p.write("<nil>")
	case d != nil:
		p.value(d.Type(), d.rt, pointerTo(d.content(x)), depth+1, exported)
	default:
		p.value(nil, reflect.TypeOf(x), pointerTo(reflect.ValueOf(x)), depth+1, exported)
	}
}

func (p *printer) pointer(t types.Type, rt reflect.Type, at unsafe.Pointer, depth int, exported bool) {
	to := *(*unsafe.Pointer)(at)
	et := elemOf(t)
	if to != nil && depth == 0 && rt.Kind() == reflect.Pointer {
		switch rt.Elem().Kind() {
		case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
			p.write("&")
			p.value(et, rt.Elem(), to, depth+1, exported)
			return
		}
	}
	if strings.ContainsRune("vpbodxX", p.verb) {
		p.address(t, to)
		return
	}
	p.write(fmt.Sprintf("%%!%c(%s=", p.verb, typeAt(t, rt)))
	(&printer{m: p.m, state: p.state, verb: 'v'}).value(t, rt, at, 0, exported)
	p.write(")")
}

// address prints a pointer as a number.
func (p *printer) address(t types.Type, to unsafe.Pointer) {
	if p.goSyntax() && t != nil {
		if to == nil {
			p.write("(" + typeName(t) + ")(nil)")
			return
		}
		p.write(fmt.Sprintf("(%s)(%p)", typeName(t), to))
		return
	}
	p.leaf(to)
}
