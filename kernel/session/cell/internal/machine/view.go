package machine

import (
	"encoding/json"
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"noema/kernel/session/cell/internal/source"
)

// A viewing is the form in which a compiled function gets a cell's value. One that
// uses reflection would otherwise see a box:
//
//   - a function that prints gets a value that prints like the cell's; one that puts spaces
//     between operands, if neither is a string, gets the text of what is a string in the cell;
//   - one that fills in or walks a value gets its layout in memory;
//   - encoding/json gets a value with the cell's methods (see mirror);
//   - all others, such as containers, get the box and return it.
type viewing int

const (
	asBox viewing = iota
	asPrinted
	asOperand
	asPlain
	asJSON
	asJSONTarget
)

// refusal is the error for a function that cannot take a cell's value, because it
// would see the type without its name and methods.
func (m *Machine) refusal(o *types.Func, x any) error {
	d := m.boxed(m.unwrap(x))
	if d == nil {
		return nil
	}
	if strings.HasSuffix(o.Pkg().Path(), "/template") && withMethods(d.Type()) {
		return unsupported("a template over a cell's type with methods (%s)", typeName(d.Type()))
	}
	return nil
}

// byMethods are the methods of package reflect that would not find the methods of a
// cell's type, or its package.
var byMethods = []string{"PkgPath", "NumMethod", "Method", "MethodByName", "Implements", "AssignableTo", "ConvertibleTo", "CanConvert", "Convert"}

// refuseMethod refuses such a call for a type of cells.
func (m *Machine) refuseMethod(v any, name string) {
	rt, ok := v.(reflect.Type)
	if !ok || !slices.Contains(byMethods, name) {
		return
	}
	d := m.descriptorOf(rt)
	if d == nil {
		return
	}
	if name == "NumMethod" || name == "MethodByName" || name == "AssignableTo" {
		if t := d.Type(); m.methodless(t) {
			return
		}
	}
	panic(unsupported("the method %s of package reflect for the cell's type %s", name, typeName(d.Type())))
}

// methodless reports whether a type and the pointer to it have no methods.
func (m *Machine) methodless(t types.Type) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.program.MethodSets.MethodSet(t).Len()+m.program.MethodSets.MethodSet(types.NewPointer(t)).Len() == 0
}

// refuseValue refuses such calls on values.
func (m *Machine) refuseValue(n *native, o *types.Func) {
	if o.Pkg().Path() != "reflect" || !slices.Contains(byMethods, o.Name()) || len(n.params) == 0 {
		return
	}
	if n.params[0].rt != reflect.TypeFor[reflect.Value]() {
		return
	}
	fn := n.fn
	n.fn = reflect.MakeFunc(fn.Type(), func(in []reflect.Value) []reflect.Value {
		if v := in[0].Interface().(reflect.Value); v.IsValid() {
			m.refuseMethod(v.Type(), o.Name())
		}
		return fn.Call(in)
	})
}

// withMethods reports whether a type or a part of it has methods that a cell
// declared.
func withMethods(t types.Type) bool {
	return source.AnyPart(t, func(t types.Type) (found, done bool) {
		named, ok := t.(*types.Named)
		if !ok {
			return false, false
		}
		return isOwn(named) && named.NumMethods() > 0, !isOwn(named)
	})
}

// viewOf is the form in which a function gets its arguments of type any.
func viewOf(o *types.Func) viewing {
	name := o.Name()
	switch path := o.Pkg().Path(); {
	case path == "reflect" && name == "DeepEqual":
		return asBox
	case path == "fmt" && strings.Contains(strings.ToLower(name), "scan"):
		return asPlain
	case path == "encoding/json" && (strings.HasPrefix(name, "Marshal") || name == "Encode"):
		return asJSON
	case path == "encoding/json" && (name == "Unmarshal" || name == "Decode"):
		return asJSONTarget
	case path == "noema/methods", path == "noema/methods/phases" && name == "Start": // options are the fields of a struct
		return asPlain
	case path == "fmt" && (strings.HasSuffix(strings.ToLower(name), "print") || name == "Append"), path == "log" && slices.Contains([]string{"Print", "Fatal", "Panic"}, name):
		return asOperand
	case path == "fmt", path == "log", path == "log/slog", path == "testing", strings.HasPrefix(path, "noema/"):
		return asPrinted
	case path == "reflect", path == "sort", path == "runtime", strings.HasPrefix(path, "encoding/"), strings.HasSuffix(path, "/template"):
		return asPlain
	}
	return asBox
}

// Printed is a cell's value for compiled code that prints it.
type Printed struct {
	m *Machine
	x any
}

// Format prints the value as package fmt would if it knew its type.
func (p Printed) Format(s fmt.State, verb rune) { p.m.format(s, verb, p.x) }

// MarshalJSON is the value's JSON.
func (p Printed) MarshalJSON() ([]byte, error) { return p.m.marshal(p.x) }

// View converts a value to the form in which compiled code prints it.
func (m *Machine) View(x any) any {
	x = m.unwrap(x)
	if d := m.boxed(x); d != nil {
		if _, ok := d.has("Error"); ok && d.implements(errorInterface) {
			return m.wrapError(d, x)
		}
		return Printed{m, x}
	}
	if x != nil && m.holdsInterfaces(reflect.TypeOf(x)) {
		return Printed{m, x}
	}
	return x
}

var errorInterface = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// holdsInterfaces reports whether a value of an unnamed type may contain boxes.
func (m *Machine) holdsInterfaces(rt reflect.Type) bool {
	if known, ok := m.holding.Load(rt); ok {
		return known.(bool)
	}
	seen := map[reflect.Type]bool{}
	var holds func(reflect.Type) bool
	holds = func(rt reflect.Type) bool {
		if seen[rt] {
			return false
		}
		seen[rt] = true
		if _, own := m.layouts.named.Load(rt); !own && rt.Name() != "" || rt.NumMethod() > 0 && rt.Kind() != reflect.Interface {
			return rt.Kind() == reflect.Interface
		}
		switch rt.Kind() {
		case reflect.Interface:
			return true
		case reflect.Slice, reflect.Array, reflect.Pointer:
			return holds(rt.Elem())
		case reflect.Map:
			return holds(rt.Key()) || holds(rt.Elem())
		case reflect.Struct:
			for i := range rt.NumField() {
				if holds(rt.Field(i).Type) {
					return true
				}
			}
		}
		return false
	}
	found := holds(rt)
	m.holding.Store(rt, found)
	return found
}

// plain is a cell's value without its type's name and methods.
func (m *Machine) plain(x any) any {
	x = m.unwrap(x)
	if d := m.boxed(x); d != nil {
		return d.content(x).Interface()
	}
	return x
}

func (v viewing) of(m *Machine, x any) any {
	switch v {
	case asPrinted:
		return m.View(x)
	case asOperand:
		view := m.View(x)
		if d := m.boxed(m.unwrap(x)); d != nil && d.rt.Kind() == reflect.String {
			return fmt.Sprint(view)
		}
		return view
	case asPlain:
		return m.plain(x)
	case asJSON:
		return m.jsonView(x)
	}
	return x
}

// viewed wraps a compiled function so that it gets its arguments of type any in
// the form of viewOf. The lock is held.
func (m *Machine) viewed(n *native, o *types.Func, shift int) {
	how := viewOf(o)
	if how == asBox || n.threaded {
		return
	}
	sig := o.Signature()
	var at []int
	format := -1
	for i := range sig.Params().Len() {
		p := sig.Params().At(i)
		last := sig.Variadic() && i == sig.Params().Len()-1
		t := p.Type()
		if last {
			t = t.(*types.Slice).Elem()
		}
		if types.Identical(t, anyOf) {
			at = append(at, i+shift)
		}
		if p.Name() == "format" && sig.Variadic() {
			format = i + shift
		}
	}
	if len(at) == 0 {
		return
	}
	fn, variadic := n.fn, sig.Variadic()
	n.fn = reflect.MakeFunc(fn.Type(), func(in []reflect.Value) []reflect.Value {
		for _, i := range at {
			if variadic && i == len(in)-1 {
				in[i] = m.viewAll(how, in[i])
				continue
			}
			if how == asJSONTarget {
				return m.decode(fn, in, i)
			}
			x := in[i].Interface()
			if err := m.refusal(o, x); err != nil {
				panic(err)
			}
			x = how.of(m, x)
			in[i] = reflect.ValueOf(&x).Elem()
		}
		if format >= 0 && how == asPrinted {
			m.typeVerbs(in, format)
		}
		out := call(fn, in, variadic)
		if how == asJSON {
			unwrapJSON(out)
		}
		return out
	})
}

// unwrapJSON takes the view of a value out of an error of encoding/json.
func unwrapJSON(out []reflect.Value) {
	last := len(out) - 1
	if err, ok := out[last].Interface().(*json.MarshalerError); ok && err.Type == reflect.TypeFor[Printed]() {
		out[last] = reflect.ValueOf(&err.Err).Elem()
	}
}

// viewAll views the values of a ...any.
func (m *Machine) viewAll(how viewing, list reflect.Value) reflect.Value {
	all, ok := list.Interface().([]any)
	if !ok {
		return list
	}
	views := make([]any, len(all))
	for i, x := range all {
		views[i] = how.of(m, x)
	}
	return reflect.ValueOf(views)
}
