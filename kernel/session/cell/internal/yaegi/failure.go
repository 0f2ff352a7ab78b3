package yaegi

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"
)

// class is a type of cells that is an error.
type class struct {
	*Engine
	name   string // in the interpreter
	text   func(v any) string
	unwrap func(v any) error // nil if it has no such method
}

// failed is an error of a cell's type, which compares, prints and unwraps as it does in
// Go; the interpreter's own form of one does not.
type failed struct {
	value any
	class *class
}

var (
	_ error          = failed{}
	_ fmt.Formatter  = failed{}
	_ json.Marshaler = failed{}
)

// Error calls the cell's method.
func (f failed) Error() string { return f.class.text(f.value) }

// Unwrap calls the cell's method.
func (f failed) Unwrap() error {
	if f.class.unwrap == nil {
		return nil
	}
	return f.class.unwrap(f.value)
}

// Format implements [fmt.Formatter]: verbs that do not call Error would show the type.
func (f failed) Format(s fmt.State, verb rune) {
	switch verb {
	case 'v', 's', 'q', 'x', 'X':
		if !s.Flag('#') || verb != 'v' {
			fmt.Fprintf(s, fmt.FormatString(s, verb), errors.New(f.Error()))
			return
		}
	}
	f.class.refuse("the verb %%%c with an error of a cell's type", verb)
}

// MarshalJSON implements [json.Marshaler]: it would show the fields.
func (f failed) MarshalJSON() ([]byte, error) {
	f.class.refuse("JSON of an error of a cell's type")
	return nil, nil
}

// refuse ends the calling goroutine as refused. A panic would not do within compiled
// code that recovers from it.
func (e *Engine) refuse(format string, args ...any) {
	v := unsupported("yaegi goes wrong with " + fmt.Sprintf(format, args...))
	if th := e.machine.Thread(); th != nil {
		th.Exit(v)
	}
	panic(v)
}

// typed refuses an error of a cell's type where its type would be shown.
func (e *Engine) typed(v any) any {
	if _, ok := v.(failed); ok {
		e.refuse("the name of the type of an error")
	}
	return v
}

// fail makes an error of a value of a cell's type.
func (e *Engine) fail(name string, v any, text func(any) string) error {
	c, _ := e.classes.LoadOrStore(name, &class{Engine: e, name: name, text: text})
	return failed{v, c.(*class)}
}

// failOf is fail for a type with a method Unwrap.
func (e *Engine) failOf(name string, v any, text func(any) string, unwrap func(any) error) error {
	c, _ := e.classes.LoadOrStore(name, &class{e, name, text, unwrap})
	return failed{v, c.(*class)}
}

// as is errors.As for a type of cells.
func (e *Engine) as(err error, target any, name string) bool {
	to := reflect.ValueOf(target)
	if to.IsNil() {
		panic("errors: target cannot be nil")
	}
	for err != nil {
		if f, ok := err.(failed); ok && f.class.name == name {
			to.Elem().Set(reflect.ValueOf(f.value))
			return true
		}
		if all, ok := err.(interface{ Unwrap() []error }); ok {
			for _, err := range all.Unwrap() {
				if e.as(err, target, name) {
					return true
				}
			}
			return false
		}
		err = errors.Unwrap(err)
	}
	return false
}

// unmarshal is json.Unmarshal into a value of a cell's type.
func (e *Engine) unmarshal(data []byte, to any) error { return e.decoded(json.Unmarshal(data, to)) }

// decode is the method Decode of a decoder for such a value.
func (e *Engine) decode(d *json.Decoder, to any) error { return e.decoded(d.Decode(to)) }

// decoded refuses errors that name the type.
func (e *Engine) decoded(err error) error {
	var wrong *json.UnmarshalTypeError
	var invalid *json.InvalidUnmarshalError
	if errors.As(err, &wrong) || errors.As(err, &invalid) {
		panic(unsupported("yaegi goes wrong with an error of encoding/json that names a cell's type"))
	}
	return err
}

// typesHidden guards interfaces of which a call shows the type.
func (l *lowering) typesHidden(n *ast.CallExpr) {
	f, ok := l.callee0(n)
	if !ok || f.Pkg() == nil || l.own(f) {
		return
	}
	reflects := f.Pkg().Path() == "reflect" && (f.Name() == "TypeOf" || f.Name() == "ValueOf")
	for i, x := range n.Args {
		verb, known := l.printing(n, f, x)
		tv := l.info.Types[x]
		if tv.Type != nil && !tv.IsNil() && types.IsInterface(tv.Type) && (reflects || known && strings.HasSuffix(verb, "T")) {
			n.Args[i] = raw("%s.Typed(%s)", hostName, l.text(x))
			l.info.Types[n.Args[i]] = tv
		}
	}
}

// failure reports whether a type of cells can be an error here: it has the methods of
// one itself, and no others for which compiled functions look.
func (l *lowering) failure(t types.Type) bool {
	set := types.NewMethodSet(t)
	m := set.Lookup(nil, "Error")
	if m == nil || len(m.Index()) > 1 || m.Type().String() != "func() string" {
		return false
	}
	if u := set.Lookup(nil, "Unwrap"); u != nil && (len(u.Index()) > 1 || u.Type().String() != "func() error") {
		return false
	}
	return types.Comparable(t) && !has(t, "Format GoString Is As Timeout Temporary Display MarshalJSON MarshalText")
}

// failing is the function that makes an error of a value of a cell's type.
func (l *lowering) failing(t types.Type) string {
	v := l.typeText(t)
	name, unwrap := "Fail", ""
	if types.NewMethodSet(t).Lookup(nil, "Unwrap") != nil {
		name, unwrap = "FailOf", fmt.Sprintf(", func(v any) error {\nreturn v.(%s).Unwrap()\n}", v)
	}
	return fmt.Sprintf("func(v %s) error {\nreturn %s.%s(%q, v, func(v any) string {\nreturn v.(%s).Error()\n}%s)\n}", v, hostName, name, v, v, unwrap)
}
