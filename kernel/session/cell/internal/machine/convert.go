package machine

import (
	"fmt"
	"go/types"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// convert compiles a conversion between basic types, of a string from and to
// bytes and runes, or, for source of the standard library, from and to an
// unsafe.Pointer.
func (c *code) convert(x ssa.Value, to ssa.Value) op {
	from, dest := x.Type().Underlying(), to.Type().Underlying()
	d, s := c.loc(to), c.loc(x)
	fromBasic, isFrom := from.(*types.Basic)
	destBasic, isDest := dest.(*types.Basic)
	switch {
	case isFrom && isDest && destBasic.Info()&types.IsString != 0:
		if fromBasic.Info()&types.IsString != 0 {
			return c.copies(to, x)
		}
		return c.runeString(x, fromBasic, d)
	case isFrom && fromBasic.Kind() == types.UnsafePointer && basicKind(dest) == types.Uintptr:
		return func(fr *frame) { *at[uintptr](fr, d) = uintptr(*at[unsafe.Pointer](fr, s)) }
	case isFrom && isDest && destBasic.Info()&types.IsNumeric != 0 && fromBasic.Info()&types.IsNumeric != 0:
		return arithmeticOf(from).convert(basicKind(dest), d, s)
	case isDest && destBasic.Info()&types.IsString != 0:
		return sliceString(from.(*types.Slice), d, s)
	case isDest && destBasic.Kind() == types.UnsafePointer, isFrom && fromBasic.Kind() == types.UnsafePointer:
		return c.copies(to, x)
	case isFrom && fromBasic.Info()&types.IsString != 0:
		return stringSlice(dest.(*types.Slice), d, s)
	}
	panic(unsupported("a conversion from %s to %s", x.Type(), to.Type()))
}

// runeString converts an integer to the string of that code point.
func (c *code) runeString(x ssa.Value, b *types.Basic, d loc) op {
	read, isUnsigned := c.integer(x), b.Info()&types.IsUnsigned != 0
	return func(fr *frame) {
		n := read(fr)
		if n > 0x10FFFF || n < 0 || isUnsigned && uint64(n) > 0x10FFFF {
			n = 0xFFFD
		}
		*at[string](fr, d) = string(rune(n))
	}
}

func sliceString(from *types.Slice, d, s loc) op {
	if shapeOf(from.Elem()) == shape1 {
		return func(fr *frame) { *at[string](fr, d) = string(*at[[]byte](fr, s)) }
	}
	return func(fr *frame) { *at[string](fr, d) = string(*at[[]rune](fr, s)) }
}

func stringSlice(to *types.Slice, d, s loc) op {
	if shapeOf(to.Elem()) == shape1 {
		return func(fr *frame) { *at[[]byte](fr, d) = []byte(*at[string](fr, s)) }
	}
	return func(fr *frame) { *at[[]rune](fr, d) = []rune(*at[string](fr, s)) }
}

// complexFrom converts complex numbers.
func complexFrom[F complex64 | complex128](to types.BasicKind, d, s loc) op {
	if to == types.Complex64 {
		return func(fr *frame) { *at[complex64](fr, d) = complex64(*at[F](fr, s)) }
	}
	return func(fr *frame) { *at[complex128](fr, d) = complex128(*at[F](fr, s)) }
}

// numberFrom converts integers and floats.
func numberFrom[F integer | float32 | float64](to types.BasicKind, d, s loc) op {
	switch to {
	case types.Int, types.Int64:
		return number2[F, int64](d, s)
	case types.Int8:
		return number2[F, int8](d, s)
	case types.Int16:
		return number2[F, int16](d, s)
	case types.Int32:
		return number2[F, int32](d, s)
	case types.Uint8:
		return number2[F, uint8](d, s)
	case types.Uint16:
		return number2[F, uint16](d, s)
	case types.Uint32:
		return number2[F, uint32](d, s)
	case types.Uint, types.Uint64, types.Uintptr:
		return number2[F, uint64](d, s)
	case types.Float32:
		return number2[F, float32](d, s)
	}
	return number2[F, float64](d, s)
}

func number2[F, T integer | float32 | float64](d, s loc) op {
	return func(fr *frame) { *at[T](fr, d) = T(*at[F](fr, s)) }
}

// arrayPointer converts a slice to a pointer to an array.
func (c *code) arrayPointer(i *ssa.SliceToArrayPointer) op {
	d, s := c.loc(i), c.loc(i.X)
	n := int(i.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array).Len())
	return func(fr *frame) {
		h := at[header](fr, s)
		if h.len < n {
			panic(runtimeError(fmt.Sprintf("cannot convert slice with length %d to array or pointer to array with length %d", h.len, n)))
		}
		*at[unsafe.Pointer](fr, d) = h.p
	}
}
