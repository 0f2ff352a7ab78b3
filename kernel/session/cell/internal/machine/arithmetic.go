package machine

import (
	"cmp"
	"go/token"
	"go/types"
	"runtime"
	"unsafe"

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

// arithmetic compiles what can be done with values of one basic kind. What is
// nil the kind cannot do.
type arithmetic struct {
	binary  func(o token.Token, d, x, y loc) op
	equals  func(x, y loc) func(*frame) bool
	unary   func(o token.Token, d, x loc) op
	convert func(to types.BasicKind, d, s loc) op
	extreme func(least bool, all []loc, d loc) op
	shift   func(left bool, d, x loc, count func(*frame) uint64) op
	integer func(l loc) func(*frame) int // the value sign extended
}

func ofInteger[T integer]() arithmetic {
	return arithmetic{integerOp[T], equal[T], integerUnary[T], numberFrom[T], extremeOf[T], shiftOp[T], integerAt[T]}
}

func ofFloat[T float32 | float64]() arithmetic {
	return arithmetic{binary: orderedOp[T], equals: equal[T], unary: negate[T], convert: numberFrom[T], extreme: extremeOf[T]}
}

func ofComplex[T complex64 | complex128]() arithmetic {
	return arithmetic{binary: numberOp[T], equals: equal[T], unary: negate[T], convert: complexFrom[T]}
}

// arithmetics are by kind.
var arithmetics = map[types.BasicKind]arithmetic{
	types.Int:        ofInteger[int](),
	types.Int8:       ofInteger[int8](),
	types.Int16:      ofInteger[int16](),
	types.Int32:      ofInteger[int32](),
	types.Int64:      ofInteger[int64](),
	types.Uint:       ofInteger[uint](),
	types.Uint8:      ofInteger[uint8](),
	types.Uint16:     ofInteger[uint16](),
	types.Uint32:     ofInteger[uint32](),
	types.Uint64:     ofInteger[uint64](),
	types.Uintptr:    ofInteger[uintptr](),
	types.Float32:    ofFloat[float32](),
	types.Float64:    ofFloat[float64](),
	types.Complex64:  ofComplex[complex64](),
	types.Complex128: ofComplex[complex128](),
	types.String:     {binary: stringOp, equals: equal[string], extreme: extremeOf[string]},
	types.Bool:       {equals: equal[bool]},
}

// arithmeticOf is that of a type, of untyped constants as of their default.
func arithmeticOf(t types.Type) arithmetic {
	if a, ok := arithmetics[basicKind(t)]; ok {
		return a
	}
	return arithmetic{equals: equal[unsafe.Pointer]} // of an unsafe.Pointer, or of nil
}

func (c *code) binary(i *ssa.BinOp) op {
	switch i.Op {
	case token.SHL, token.SHR:
		return arithmeticOf(i.X.Type()).shift(i.Op == token.SHL, c.loc(i), c.loc(i.X), c.count(i.Y))
	case token.EQL, token.NEQ:
		return c.equality(i)
	}
	return arithmeticOf(i.X.Type()).binary(i.Op, c.loc(i), c.loc(i.X), c.loc(i.Y))
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
		return func(fr *frame) {
			a, b := *at[string](fr, x), *at[string](fr, y)
			if len(a)+len(b) >= large {
				fr.thread.Allow(len(a) + len(b))
			}
			*at[string](fr, d) = a + b
		}
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

func integerUnary[T integer](o token.Token, d, x loc) op {
	if o == token.XOR {
		return func(fr *frame) { *at[T](fr, d) = ^*at[T](fr, x) }
	}
	return negate[T](o, d, x)
}

func negate[T number](_ token.Token, d, x loc) op {
	return func(fr *frame) { *at[T](fr, d) = -*at[T](fr, x) }
}

// runtimeError is an error of the Go runtime, as compiled code would panic with.
type runtimeError string

var _ runtime.Error = runtimeError("")

func (e runtimeError) Error() string { return "runtime error: " + string(e) }

// RuntimeError implements [runtime.Error].
func (runtimeError) RuntimeError() {}

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
	return arithmeticOf(v.Type()).integer(c.loc(v))
}

func integerAt[T integer](l loc) func(*frame) int {
	return func(fr *frame) int { return int(*at[T](fr, l)) }
}
