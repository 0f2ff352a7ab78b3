package machine

import (
	"fmt"
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// elem is what a pointer leads to.
func elem(t types.Type) types.Type { return t.Underlying().(*types.Pointer).Elem() }

func (c *code) alloc(i *ssa.Alloc) op {
	d, rt := c.loc(i), c.m.layouts.of(elem(i.Type()))
	if rt.Size() >= large {
		return func(fr *frame) {
			fr.thread.allow(rt, 1)
			*at[unsafe.Pointer](fr, d) = reflect.New(rt).UnsafePointer()
		}
	}
	return func(fr *frame) { *at[unsafe.Pointer](fr, d) = reflect.New(rt).UnsafePointer() }
}

func (c *code) fieldAddr(i *ssa.FieldAddr) op {
	d, x := c.loc(i), c.loc(i.X)
	offset := c.m.layouts.of(elem(i.X.Type())).Field(i.Field).Offset
	return func(fr *frame) {
		p := *at[unsafe.Pointer](fr, x)
		_ = *(*byte)(p) // the nil check
		*at[unsafe.Pointer](fr, d) = unsafe.Add(p, offset)
	}
}

func (c *code) field(i *ssa.Field) op {
	d, x, k := c.index(i), c.index(i.X), c.kind(i)
	offset := c.m.layouts.of(i.X.Type()).Field(i.Field).Offset
	return func(fr *frame) { fr.regs[d].load(k.shape, k.rt, unsafe.Add(fr.regs[x].p, offset)) }
}

// outOfRange is the panic of an index.
func outOfRange(i, n int) runtimeError {
	if i < 0 {
		return runtimeError(fmt.Sprintf("index out of range [%d]", i))
	}
	return runtimeError(fmt.Sprintf("index out of range [%d] with length %d", i, n))
}

func (c *code) indexAddr(i *ssa.IndexAddr) op {
	d, x, index := c.loc(i), c.loc(i.X), c.integer(i.Index)
	if p, ok := i.X.Type().Underlying().(*types.Pointer); ok {
		array := p.Elem().Underlying().(*types.Array)
		n, size := int(array.Len()), c.m.layouts.of(array.Elem()).Size()
		return func(fr *frame) {
			base, k := *at[unsafe.Pointer](fr, x), index(fr)
			_ = *(*byte)(base)
			if uint(k) >= uint(n) {
				panic(outOfRange(k, n))
			}
			*at[unsafe.Pointer](fr, d) = unsafe.Add(base, uintptr(k)*size)
		}
	}
	size := c.m.layouts.of(i.X.Type().Underlying().(*types.Slice).Elem()).Size()
	return func(fr *frame) {
		h, k := at[header](fr, x), index(fr)
		if uint(k) >= uint(h.len) {
			panic(outOfRange(k, h.len))
		}
		*at[unsafe.Pointer](fr, d) = unsafe.Add(h.p, uintptr(k)*size)
	}
}

// indexes compiles the index of a string or an array that has no address.
func (c *code) indexes(i *ssa.Index) op {
	x, index := c.loc(i.X), c.integer(i.Index)
	if _, ok := i.X.Type().Underlying().(*types.Basic); ok {
		d := c.loc(i)
		return func(fr *frame) {
			s, k := *at[string](fr, x), index(fr)
			if uint(k) >= uint(len(s)) {
				panic(outOfRange(k, len(s)))
			}
			*at[uint8](fr, d) = s[k]
		}
	}
	array := i.X.Type().Underlying().(*types.Array)
	d, k, n := c.index(i), c.kind(i), int(array.Len())
	size := c.m.layouts.of(array.Elem()).Size()
	return func(fr *frame) {
		j := index(fr)
		if uint(j) >= uint(n) {
			panic(outOfRange(j, n))
		}
		fr.regs[d].load(k.shape, k.rt, unsafe.Add(*at[unsafe.Pointer](fr, x), uintptr(j)*size))
	}
}

// slice compiles x[low:high:max].
func (c *code) slice(i *ssa.Slice) op {
	d, x := c.loc(i), c.loc(i.X)
	bound := func(v ssa.Value) func(*frame) int {
		if v == nil {
			return nil
		}
		return c.integer(v)
	}
	low, high, maximum := bound(i.Low), bound(i.High), bound(i.Max)
	switch t := i.X.Type().Underlying().(type) {
	case *types.Basic:
		return func(fr *frame) {
			s := *at[string](fr, x)
			lo, hi := 0, len(s)
			lo, hi = bounds(fr, low, high, lo, hi)
			*at[string](fr, d) = s[lo:hi]
		}
	case *types.Pointer:
		array := t.Elem().Underlying().(*types.Array)
		n, size := int(array.Len()), c.m.layouts.of(array.Elem()).Size()
		check := arrayBound(i, n, size, high, maximum)
		return func(fr *frame) {
			p := *at[unsafe.Pointer](fr, x)
			_ = *(*byte)(p)
			check(fr)
			*at[header](fr, d) = cut(fr, header{p, n, n}, size, low, high, maximum)
		}
	}
	size := c.m.layouts.of(i.X.Type().Underlying().(*types.Slice).Elem()).Size()
	return func(fr *frame) { *at[header](fr, d) = cut(fr, *at[header](fr, x), size, low, high, maximum) }
}

// arrayBound checks the upper bound of an array's slice, where the runtime's words
// are not those for a slice. A make with a constant capacity is one too.
func arrayBound(i *ssa.Slice, n int, size uintptr, high, maximum func(*frame) int) func(*frame) {
	last, colons := high, ":"
	if maximum != nil {
		last, colons = maximum, "::"
	}
	made, ok := i.X.(*ssa.Alloc)
	makes := ok && made.Comment == "makeslice"
	return func(fr *frame) {
		if last == nil {
			return
		}
		switch end := last(fr); {
		case makes:
			checkMake(end, n, size)
		case end > n:
			panic(runtimeError(fmt.Sprintf("slice bounds out of range [%s%d] with length %d", colons, end, n)))
		}
	}
}

func bounds(fr *frame, low, high func(*frame) int, lo, hi int) (int, int) {
	if low != nil {
		lo = low(fr)
	}
	if high != nil {
		hi = high(fr)
	}
	return lo, hi
}

// cut slices a slice.
func cut(fr *frame, h header, size uintptr, low, high, maximum func(*frame) int) header {
	lo, hi := bounds(fr, low, high, 0, h.len)
	top := h.cap
	if maximum != nil {
		top = maximum(fr)
	}
	// A slice of empty structs has the compiler check the bounds, and panic with
	// its words, at no cost.
	limits := make([]struct{}, h.len, h.cap)
	if maximum != nil {
		_ = limits[lo:hi:top]
	} else {
		_ = limits[lo:hi]
	}
	p := h.p
	if top > lo {
		p = unsafe.Add(p, uintptr(lo)*size)
	}
	return header{p, hi - lo, top - lo}
}
