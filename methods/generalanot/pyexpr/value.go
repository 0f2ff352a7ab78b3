package pyexpr

import (
	"math/big"
	"unicode/utf8"
)

// Value is a Python value. Values never change, so they may be shared between
// evaluations that run at the same time. Make them with [FromGo] and
// read them with [ToGo] or [Repr].
type Value interface {
	class() *Type
}

type (
	// None is Python's None.
	None struct{}
	// Bool is True or False.
	Bool bool
	// Int is an integer within 64 bits.
	Int int64
	// Big is an integer beyond 64 bits.
	Big struct{ v *big.Int }
	// Float is a float.
	Float float64
	// Str is a string of Unicode text. Differs: no lone surrogates.
	Str string
	// List is a list.
	List struct{ items []Value }
	// Tuple is a tuple.
	Tuple struct{ items []Value }
	// Set is a set or a frozenset. Differs: it is walked in order of insertion.
	Set struct {
		d      Dict
		frozen bool
	}
	// Range is a range. Differs: its bounds lie within 64 bits.
	Range struct{ start, stop, step int64 }
	// View is what keys, values and items of a dict return.
	View struct {
		d    *Dict
		kind *Type
	}
	// Iter is a value that is walked once: a generator, zip, map and so on.
	Iter struct{ next iterator }
	// Func is a function: a builtin, a lambda or a method of a value.
	Func struct {
		name string
		call function
	}
	// Module is a name space: math.
	Module struct {
		name  string
		attrs map[string]Value
	}
	// Type is a class.
	Type struct {
		name string
		base *Type
	}
)

type function func(m *machine, args []Value, kw []keyword) Value

type keyword struct {
	name string
	val  Value
}

var (
	typeNone     = &Type{name: "NoneType"}
	typeInt      = &Type{name: "int"}
	typeBool     = &Type{name: "bool", base: typeInt}
	typeFloat    = &Type{name: "float"}
	typeStr      = &Type{name: "str"}
	typeList     = &Type{name: "list"}
	typeTuple    = &Type{name: "tuple"}
	typeDict     = &Type{name: "dict"}
	typeSet      = &Type{name: "set"}
	typeFrozen   = &Type{name: "frozenset"}
	typeCounter  = &Type{name: "collections.Counter", base: typeDict}
	typeRange    = &Type{name: "range"}
	typeType     = &Type{name: "type"}
	typeFunc     = &Type{name: "function"}
	typeModule   = &Type{name: "module"}
	typeKeys     = &Type{name: "dict_keys"}
	typeValues   = &Type{name: "dict_values"}
	typeItems    = &Type{name: "dict_items"}
	typeGen      = &Type{name: "iterator"}
	typeDate     = &Type{name: "datetime.date"}
	typeDateTime = &Type{name: "datetime.datetime", base: typeDate}
	typeTime     = &Type{name: "datetime.time"}
	typeDelta    = &Type{name: "datetime.timedelta"}
	typeMatch    = &Type{name: "re.Match"}
)

func (None) class() *Type    { return typeNone }
func (Bool) class() *Type    { return typeBool }
func (Int) class() *Type     { return typeInt }
func (*Big) class() *Type    { return typeInt }
func (Float) class() *Type   { return typeFloat }
func (Str) class() *Type     { return typeStr }
func (*List) class() *Type   { return typeList }
func (*Tuple) class() *Type  { return typeTuple }
func (*Range) class() *Type  { return typeRange }
func (v *View) class() *Type { return v.kind }
func (*Iter) class() *Type   { return typeGen }
func (*Func) class() *Type   { return typeFunc }
func (*Module) class() *Type { return typeModule }
func (*Type) class() *Type   { return typeType }

func (d *Dict) class() *Type {
	if d.counter {
		return typeCounter
	}
	return typeDict
}

func (s *Set) class() *Type {
	if s.frozen {
		return typeFrozen
	}
	return typeSet
}

func (t *Type) is(of *Type) bool {
	for ; t != nil; t = t.base {
		if t == of {
			return true
		}
	}
	return false
}

// className is how messages call the class of v.
func className(v Value) string { return v.class().name }

func truth(v Value) bool {
	switch x := v.(type) {
	case Bool:
		return bool(x)
	case Int:
		return x != 0
	case Float:
		return x != 0
	case Str:
		return x != ""
	case None:
		return false
	case *Delta:
		return x.days != 0 || x.micros != 0
	}
	if n, ok := length(v); ok {
		return n != 0
	}
	return true
}

// length is len(v) where v has one.
func length(v Value) (int, bool) {
	switch x := v.(type) {
	case Str:
		return utf8.RuneCountInString(string(x)), true
	case *List:
		return len(x.items), true
	case *Tuple:
		return len(x.items), true
	case *Dict:
		return len(x.entries), true
	case *Set:
		return len(x.d.entries), true
	case *Range:
		return x.len(), true
	case *View:
		return len(x.d.entries), true
	}
	return 0, false
}

// items is the content of a list or a tuple.
func items(v Value) ([]Value, bool) {
	switch x := v.(type) {
	case *List:
		return x.items, true
	case *Tuple:
		return x.items, true
	}
	return nil, false
}

func pair(a, b Value) *Tuple { return &Tuple{items: []Value{a, b}} }

// room charges for a list of n items and makes room for them.
func (m *machine) room(n int) []Value {
	m.alloc(48 + times(n, 16))
	return make([]Value, 0, n)
}

// str charges for a string that was already made.
func (m *machine) str(s string) Value {
	m.alloc(32 + len(s))
	return Str(s)
}
