package machine

import (
	"go/types"
	"reflect"
	"unsafe"
)

// slot is a register. Which of its words count is said by the value's shape:
// scalars stand in n (and m), pointers in p, strings in p and n, slices in p, n
// and m, interfaces in q and p. A struct or an array is a block of its own that
// p leads to and that nobody changes once it is made.
type slot struct {
	q, p unsafe.Pointer
	n, m uint64
}

const slotSize = unsafe.Sizeof(slot{})

// shape says how a value of a type stands in a register.
type shape uint8

const (
	shape1 shape = iota // scalars of 1, 2, 4, 8 and 16 bytes
	shape2
	shape4
	shape8
	shape16
	shapeString
	shapePointer // pointers, maps, channels, functions
	shapeSlice
	shapeInterface
	shapeBlock // structs and arrays
	shapeTuple // several results: p leads to a []slot
)

// offset is where in a slot values of the shape begin.
func (s shape) offset() uintptr {
	switch s {
	case shape1, shape2, shape4, shape8, shape16:
		return unsafe.Offsetof(slot{}.n)
	case shapeInterface:
		return unsafe.Offsetof(slot{}.q)
	}
	return unsafe.Offsetof(slot{}.p)
}

// at is where in the slot a value of the shape lies in memory.
func (s *slot) at(sh shape) unsafe.Pointer {
	if sh == shapeBlock {
		return s.p
	}
	return unsafe.Add(unsafe.Pointer(s), sh.offset())
}

// shapeOf is the shape of the values of a type.
func shapeOf(t types.Type) shape {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicShape(u)
	case *types.Slice:
		return shapeSlice
	case *types.Interface:
		return shapeInterface
	case *types.Struct, *types.Array:
		return shapeBlock
	case *types.Tuple:
		return shapeTuple
	}
	return shapePointer
}

func basicShape(b *types.Basic) shape {
	switch b.Kind() {
	case types.Bool, types.UntypedBool, types.Int8, types.Uint8:
		return shape1
	case types.Int16, types.Uint16:
		return shape2
	case types.Int32, types.Uint32, types.Float32, types.UntypedRune:
		return shape4
	case types.Complex128, types.UntypedComplex:
		return shape16
	case types.String, types.UntypedString:
		return shapeString
	case types.UnsafePointer, types.UntypedNil:
		return shapePointer
	}
	return shape8 // complex64 too
}

// header is a slice in memory.
type header struct {
	p        unsafe.Pointer
	len, cap int
}

// pair is an interface in memory.
type pair struct{ typ, data unsafe.Pointer }

// loc is where a value begins in a frame: the register's offset and its shape's.
type loc uintptr

// at is the value of a frame at l.
func at[T any](fr *frame, l loc) *T { return (*T)(unsafe.Add(fr.base, l)) }

// load copies a value of shape sh and type rt from memory into a slot.
func (s *slot) load(sh shape, rt reflect.Type, from unsafe.Pointer) {
	_ = *(*byte)(from) // a nil pointer panics here as Go has it
	if sh == shapeBlock {
		s.p = reflect.New(rt).UnsafePointer()
	}
	assign(rt, s.at(sh), from)
}

// store copies the slot's value of shape sh and type rt to memory.
func (s *slot) store(sh shape, rt reflect.Type, to unsafe.Pointer) { assign(rt, to, s.at(sh)) }

// assign copies a value of type rt in memory.
func assign(rt reflect.Type, to, from unsafe.Pointer) {
	reflect.NewAt(rt, to).Elem().Set(reflect.NewAt(rt, from).Elem())
}

// kind is how values of a type are held: shape and type in memory.
type kind struct {
	shape shape
	rt    reflect.Type
}

// value is the slot's value for reflection. It must not be changed.
func (k kind) value(s *slot) reflect.Value { return reflect.NewAt(k.rt, s.at(k.shape)).Elem() }

// set puts a reflected value into a slot.
func (k kind) set(s *slot, v reflect.Value) {
	if k.shape == shapeBlock {
		s.p = reflect.New(k.rt).UnsafePointer()
	}
	reflect.NewAt(k.rt, s.at(k.shape)).Elem().Set(v)
}

// zero makes the slot the zero value.
func (k kind) zero(s *slot) {
	*s = slot{}
	if k.shape == shapeBlock {
		s.p = reflect.New(k.rt).UnsafePointer()
	}
}
