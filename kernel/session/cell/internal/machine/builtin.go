package machine

import (
	"cmp"
	"fmt"
	"go/types"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// builtin compiles a call of a builtin function; i is nil if its result is not
// needed.
func (c *code) builtin(name string, args []ssa.Value, i *ssa.Call) op {
	var d loc
	if i != nil {
		d = c.loc(i)
	}
	switch name {
	case "len", "cap":
		return c.length(name, args[0], d)
	case "append":
		return c.appends(args, d)
	case "copy":
		return c.copied(args, d)
	case "delete":
		k, m, key := c.mapOf(args[0].Type()), c.loc(args[0]), c.index(args[1])
		return func(fr *frame) {
			if v := k.value(fr, m); !v.IsNil() {
				g := c.m.guard(v.UnsafePointer())
				g.write(v.UnsafePointer())
				defer g.written()
				v.SetMapIndex(k.key.value(&fr.regs[key]), reflect.Value{})
			}
		}
	case "clear":
		k, x := c.kind(args[0]), c.index(args[0])
		return func(fr *frame) {
			v := k.value(&fr.regs[x])
			if v.Kind() == reflect.Map {
				g := c.m.guard(v.UnsafePointer())
				g.write(v.UnsafePointer())
				defer g.written()
			}
			v.Clear()
		}
	case "close":
		ch := c.channelOf(args[0])
		return func(fr *frame) { ch.value(fr).Close() }
	case "min", "max":
		return c.extreme(name == "min", args, d)
	case "real", "imag", "complex":
		return c.complexes(name, args, d)
	case "print", "println":
		return c.prints(name, args)
	case "Sizeof": // of a type parameter; others are constants
		n := c.m.layouts.of(args[0].Type()).Size()
		return func(fr *frame) { *at[uintptr](fr, d) = n }
	case "panic": // deferred, or in a goroutine of its own
		value := c.loc(args[0])
		return func(fr *frame) { panic(newPanic(fr, *at[any](fr, value))) }
	case "recover":
		return func(fr *frame) {
			if v := fr.recovered(); i != nil {
				*at[any](fr, d) = v
			}
		}
	}
	return c.internal(name, args, i, d)
}

// internal compiles what go/ssa adds.
func (c *code) internal(name string, args []ssa.Value, i *ssa.Call, d loc) op {
	switch name {
	case "ssa:wrapnilchk":
		x, to := c.index(args[0]), c.index(i)
		return func(fr *frame) {
			if fr.regs[x].p == nil {
				panic(errNilDereference)
			}
			fr.regs[to] = fr.regs[x]
		}
	case "ssa:deferstack":
		return func(fr *frame) { *at[unsafe.Pointer](fr, d) = unsafe.Pointer(fr) }
	}
	panic(unsupported("the builtin function %s", name))
}

func (c *code) length(name string, x ssa.Value, d loc) op {
	l := c.loc(x)
	switch t := x.Type().Underlying().(type) {
	case *types.Basic:
		return func(fr *frame) { *at[int](fr, d) = len(*at[string](fr, l)) }
	case *types.Slice:
		if name == "cap" {
			return func(fr *frame) { *at[int](fr, d) = at[header](fr, l).cap }
		}
		return func(fr *frame) { *at[int](fr, d) = at[header](fr, l).len }
	case *types.Map:
		k := c.mapOf(x.Type())
		return func(fr *frame) { *at[int](fr, d) = k.value(fr, l).Len() }
	case *types.Chan:
		ch := c.channelOf(x)
		if name == "cap" {
			return func(fr *frame) { *at[int](fr, d) = ch.value(fr).Cap() }
		}
		return func(fr *frame) { *at[int](fr, d) = ch.value(fr).Len() }
	default:
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem().Underlying()
		}
		n := int(t.(*types.Array).Len())
		return func(fr *frame) { *at[int](fr, d) = n }
	}
}

func (c *code) appends(args []ssa.Value, d loc) op {
	s, rt := c.loc(args[0]), reflect.SliceOf(c.m.layouts.of(args[0].Type().Underlying().(*types.Slice).Elem()))
	if len(args) == 1 {
		return func(fr *frame) { *at[header](fr, d) = *at[header](fr, s) }
	}
	x := c.loc(args[1])
	if _, isString := args[1].Type().Underlying().(*types.Basic); isString {
		return func(fr *frame) {
			fr.allowAppend(rt.Elem(), at[header](fr, s), len(*at[string](fr, x)))
			*at[[]byte](fr, d) = append(*at[[]byte](fr, s), *at[string](fr, x)...)
		}
	}
	return func(fr *frame) {
		more := at[header](fr, x)
		if more.len == 0 {
			*at[header](fr, d) = *at[header](fr, s)
			return
		}
		fr.allowAppend(rt.Elem(), at[header](fr, s), more.len)
		to := reflect.NewAt(rt, unsafe.Pointer(at[header](fr, s))).Elem()
		*at[header](fr, d) = *(*header)(pointerTo(reflect.AppendSlice(to, reflect.NewAt(rt, unsafe.Pointer(more)).Elem())))
	}
}

func (c *code) copied(args []ssa.Value, d loc) op {
	to, from := c.loc(args[0]), c.loc(args[1])
	rt := reflect.SliceOf(c.m.layouts.of(args[0].Type().Underlying().(*types.Slice).Elem()))
	n := func(*frame, int) {}
	if d != 0 {
		n = func(fr *frame, n int) { *at[int](fr, d) = n }
	}
	if _, isString := args[1].Type().Underlying().(*types.Basic); isString {
		return func(fr *frame) { n(fr, copy(*at[[]byte](fr, to), *at[string](fr, from))) }
	}
	return func(fr *frame) {
		n(fr, reflect.Copy(reflect.NewAt(rt, unsafe.Pointer(at[header](fr, to))).Elem(),
			reflect.NewAt(rt, unsafe.Pointer(at[header](fr, from))).Elem()))
	}
}

func (c *code) extreme(least bool, args []ssa.Value, d loc) op {
	all := make([]loc, len(args))
	for i, a := range args {
		all[i] = c.loc(a)
	}
	return arithmeticOf(args[0].Type()).extreme(least, all, d)
}

func extremeOf[T cmp.Ordered](least bool, all []loc, d loc) op {
	return func(fr *frame) {
		best := *at[T](fr, all[0])
		for _, l := range all[1:] {
			if least {
				best = min(best, *at[T](fr, l))
			} else {
				best = max(best, *at[T](fr, l))
			}
		}
		*at[T](fr, d) = best
	}
}

func (c *code) complexes(name string, args []ssa.Value, d loc) op {
	x, half := c.loc(args[0]), shapeOf(args[0].Type())
	switch {
	case name == "complex" && half == shape4:
		y := c.loc(args[1])
		return func(fr *frame) { *at[complex64](fr, d) = complex(*at[float32](fr, x), *at[float32](fr, y)) }
	case name == "complex":
		y := c.loc(args[1])
		return func(fr *frame) { *at[complex128](fr, d) = complex(*at[float64](fr, x), *at[float64](fr, y)) }
	case half == shape8 && name == "real":
		return func(fr *frame) { *at[float32](fr, d) = real(*at[complex64](fr, x)) }
	case half == shape8:
		return func(fr *frame) { *at[float32](fr, d) = imag(*at[complex64](fr, x)) }
	case name == "real":
		return func(fr *frame) { *at[float64](fr, d) = real(*at[complex128](fr, x)) }
	}
	return func(fr *frame) { *at[float64](fr, d) = imag(*at[complex128](fr, x)) }
}

// prints compiles print and println, which write to the standard error.
func (c *code) prints(name string, args []ssa.Value) op {
	var texts []func(*frame) string
	for _, a := range args {
		k, r := c.kind(a), c.index(a)
		texts = append(texts, func(fr *frame) string { return printed(k.value(&fr.regs[r])) })
	}
	sep, end := "", ""
	if name == "println" {
		sep, end = " ", "\n"
	}
	return func(fr *frame) {
		var parts []string
		for _, text := range texts {
			parts = append(parts, text(fr))
		}
		if c.m.o.Print != nil {
			c.m.o.Print(strings.Join(parts, sep) + end)
		}
	}
}

// printed is a value as the runtime prints it.
func printed(v reflect.Value) string {
	switch {
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	case v.CanComplex():
		return strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits())
	case v.CanInt(), v.CanUint(), v.Kind() == reflect.Bool, v.Kind() == reflect.String:
		return fmt.Sprint(v.Interface())
	case v.Kind() == reflect.Slice:
		return fmt.Sprintf("[%d/%d]%#x", v.Len(), v.Cap(), v.Pointer())
	case v.Kind() == reflect.Interface:
		words := (*pair)(v.Addr().UnsafePointer())
		return fmt.Sprintf("(%#x,%#x)", uintptr(words.typ), uintptr(words.data))
	}
	return fmt.Sprintf("%#x", uintptr(v.UnsafePointer()))
}
