package machine

import (
	"cmp"
	"go/token"
	"go/types"
	"runtime"

	"golang.org/x/tools/go/ssa"
)

type signed interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64
}

type unsigned interface {
	~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type integer interface{ signed | unsigned }

type number interface {
	integer | ~float32 | ~float64 | ~complex64 | ~complex128
}

func (c *code) binary(i *ssa.BinOp) op {
	switch i.Op {
	case token.SHL, token.SHR:
		return c.shift(i)
	case token.EQL, token.NEQ:
		return c.equality(i)
	}
	d, x, y := c.loc(i), c.loc(i.X), c.loc(i.Y)
	switch k := basicKind(i.X.Type()); k {
	case types.Int:
		return integerOp[int](i.Op, d, x, y)
	case types.Int8:
		return integerOp[int8](i.Op, d, x, y)
	case types.Int16:
		return integerOp[int16](i.Op, d, x, y)
	case types.Int32:
		return integerOp[int32](i.Op, d, x, y)
	case types.Int64:
		return integerOp[int64](i.Op, d, x, y)
	case types.Uint:
		return integerOp[uint](i.Op, d, x, y)
	case types.Uint8:
		return integerOp[uint8](i.Op, d, x, y)
	case types.Uint16:
		return integerOp[uint16](i.Op, d, x, y)
	case types.Uint32:
		return integerOp[uint32](i.Op, d, x, y)
	case types.Uint64:
		return integerOp[uint64](i.Op, d, x, y)
	case types.Uintptr:
		return integerOp[uintptr](i.Op, d, x, y)
	case types.String:
		return stringOp(i.Op, d, x, y)
	default:
		return floatOp(k, i.Op, d, x, y)
	}
}

func floatOp(k types.BasicKind, o token.Token, d, x, y loc) op {
	switch k {
	case types.Float32:
		return orderedOp[float32](o, d, x, y)
	case types.Float64:
		return orderedOp[float64](o, d, x, y)
	case types.Complex64:
		return numberOp[complex64](o, d, x, y)
	case types.Complex128:
		return numberOp[complex128](o, d, x, y)
	}
	panic(unsupported("operator %s on such values", o))
}

func integerOp[T integer](o token.Token, d, x, y loc) op {
	switch o {
	case token.REM:
		return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) % *at[T](fr, y) }
	case token.AND:
		return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) & *at[T](fr, y) }
	case token.OR:
		return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) | *at[T](fr, y) }
	case token.XOR:
		return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) ^ *at[T](fr, y) }
	case token.AND_NOT:
		return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) &^ *at[T](fr, y) }
	}
	return orderedOp[T](o, d, x, y)
}

func orderedOp[T integer | float32 | float64](o token.Token, d, x, y loc) op {
	if compare := compareOp[T](o, d, x, y); compare != nil {
		return compare
	}
	return numberOp[T](o, d, x, y)
}

func numberOp[T number](o token.Token, d, x, y loc) op {
	switch o {
	case token.ADD:
		return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) + *at[T](fr, y) }
	case token.SUB:
		return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) - *at[T](fr, y) }
	case token.MUL:
		return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) * *at[T](fr, y) }
	case token.QUO:
		return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) / *at[T](fr, y) }
	}
	panic(unsupported("operator %s on numbers", o))
}

func stringOp(o token.Token, d, x, y loc) op {
	if o == token.ADD {
		return func(fr *frame) { *at[string](fr, d) = *at[string](fr, x) + *at[string](fr, y) }
	}
	if compare := compareOp[string](o, d, x, y); compare != nil {
		return compare
	}
	panic(unsupported("operator %s on strings", o))
}

func compareOp[T cmp.Ordered](o token.Token, d, x, y loc) op {
	switch o {
	case token.LSS:
		return func(fr *frame) { *at[bool](fr, d) = *at[T](fr, x) < *at[T](fr, y) }
	case token.LEQ:
		return func(fr *frame) { *at[bool](fr, d) = *at[T](fr, x) <= *at[T](fr, y) }
	case token.GTR:
		return func(fr *frame) { *at[bool](fr, d) = *at[T](fr, x) > *at[T](fr, y) }
	case token.GEQ:
		return func(fr *frame) { *at[bool](fr, d) = *at[T](fr, x) >= *at[T](fr, y) }
	}
	return nil
}

func unaryOf(o token.Token, k types.BasicKind, d, x loc) op {
	switch k {
	case types.Int:
		return integerUnary[int](o, d, x)
	case types.Int8:
		return integerUnary[int8](o, d, x)
	case types.Int16:
		return integerUnary[int16](o, d, x)
	case types.Int32:
		return integerUnary[int32](o, d, x)
	case types.Int64:
		return integerUnary[int64](o, d, x)
	case types.Uint:
		return integerUnary[uint](o, d, x)
	case types.Uint8:
		return integerUnary[uint8](o, d, x)
	case types.Uint16:
		return integerUnary[uint16](o, d, x)
	case types.Uint32:
		return integerUnary[uint32](o, d, x)
	case types.Uint64:
		return integerUnary[uint64](o, d, x)
	case types.Uintptr:
		return integerUnary[uintptr](o, d, x)
	case types.Float32:
		return negate[float32](d, x)
	case types.Float64:
		return negate[float64](d, x)
	case types.Complex64:
		return negate[complex64](d, x)
	case types.Complex128:
		return negate[complex128](d, x)
	}
	panic(unsupported("operator %s on such a value", o))
}

func integerUnary[T integer](o token.Token, d, x loc) op {
	if o == token.XOR {
		return func(fr *frame) { *at[T](fr, d) = ^*at[T](fr, x) }
	}
	return negate[T](d, x)
}

func negate[T number](d, x loc) op {
	return func(fr *frame) { *at[T](fr, d) = -*at[T](fr, x) }
}

// runtimeError is an error of the Go runtime, as compiled code would panic with.
type runtimeError string

var _ runtime.Error = runtimeError("")

func (e runtimeError) Error() string { return "runtime error: " + string(e) }

// RuntimeError implements [runtime.Error].
func (runtimeError) RuntimeError() {}

func (c *code) shift(i *ssa.BinOp) op {
	count := c.count(i.Y)
	d, x := c.loc(i), c.loc(i.X)
	left := i.Op == token.SHL
	switch basicKind(i.X.Type()) {
	case types.Int:
		return shiftOp[int](left, d, x, count)
	case types.Int8:
		return shiftOp[int8](left, d, x, count)
	case types.Int16:
		return shiftOp[int16](left, d, x, count)
	case types.Int32:
		return shiftOp[int32](left, d, x, count)
	case types.Int64:
		return shiftOp[int64](left, d, x, count)
	case types.Uint:
		return shiftOp[uint](left, d, x, count)
	case types.Uint8:
		return shiftOp[uint8](left, d, x, count)
	case types.Uint16:
		return shiftOp[uint16](left, d, x, count)
	case types.Uint32:
		return shiftOp[uint32](left, d, x, count)
	case types.Uint64:
		return shiftOp[uint64](left, d, x, count)
	}
	return shiftOp[uintptr](left, d, x, count)
}

func shiftOp[T integer](left bool, d, x loc, count func(*frame) uint64) op {
	if left {
		return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) << count(fr) }
	}
	return func(fr *frame) { *at[T](fr, d) = *at[T](fr, x) >> count(fr) }
}

// count reads a shift count.
func (c *code) count(v ssa.Value) func(*frame) uint64 {
	read, b := c.integer(v), v.Type().Underlying().(*types.Basic)
	if b.Info()&types.IsUnsigned != 0 {
		return func(fr *frame) uint64 { return uint64(read(fr)) }
	}
	return func(fr *frame) uint64 {
		n := read(fr)
		if n < 0 {
			panic(runtimeError("negative shift amount"))
		}
		return uint64(n)
	}
}

// integer reads a value of any integer type, sign extended, as an int.
func (c *code) integer(v ssa.Value) func(*frame) int {
	l := c.loc(v)
	switch basicKind(v.Type()) {
	case types.Int8:
		return integerAt[int8](l)
	case types.Int16:
		return integerAt[int16](l)
	case types.Int32:
		return integerAt[int32](l)
	case types.Uint8:
		return integerAt[uint8](l)
	case types.Uint16:
		return integerAt[uint16](l)
	case types.Uint32:
		return integerAt[uint32](l)
	}
	return integerAt[int](l)
}

func integerAt[T integer](l loc) func(*frame) int {
	return func(fr *frame) int { return int(*at[T](fr, l)) }
}
