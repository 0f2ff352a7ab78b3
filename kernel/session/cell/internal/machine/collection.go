package machine

import (
	"go/types"
	"math"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

func (c *code) makeSlice(i *ssa.MakeSlice) op {
	d, length, capacity := c.loc(i), c.integer(i.Len), c.integer(i.Cap)
	rt := reflect.SliceOf(c.m.layouts.of(i.Type().Underlying().(*types.Slice).Elem()))
	return func(fr *frame) {
		n, top := length(fr), capacity(fr)
		checkMake(n, top, rt.Elem().Size())
		fr.thread.allow(rt.Elem(), top)
		*at[header](fr, d) = *(*header)(pointerTo(reflect.MakeSlice(rt, n, top)))
	}
}

// checkMake panics if no slice of elements of a size can have the length and capacity.
func checkMake(length, capacity int, size uintptr) {
	switch {
	case length < 0 || uint64(length) > 1<<47 && size > 0:
		panic(runtimeError("makeslice: len out of range"))
	case capacity < length:
		panic(runtimeError("makeslice: cap out of range"))
	}
}

// large is how many bytes are asked for.
const large = 1 << 20

// allow ends the execution if it may not have n values of a type.
func (th *Thread) allow(rt reflect.Type, n int) {
	grow, each := th.m.o.Grow, uint64(rt.Size())
	if grow == nil || each == 0 || uint64(n) < large/each {
		return
	}
	bytes := int64(math.MaxInt64)
	if uint64(n) <= math.MaxInt64/each {
		bytes = int64(uint64(n) * each)
	}
	if err := grow(bytes); err != nil {
		th.Stop(err, true)
		th.check()
		panic(runtimeError(err.Error())) // in a deferred function
	}
}

// allowAppend asks for what the slice grows to with n more elements.
func (fr *frame) allowAppend(rt reflect.Type, to *header, n int) {
	if to.len+n < 0 {
		panic(runtimeError("growslice: len out of range"))
	}
	if to.len+n > to.cap {
		fr.thread.allow(rt, to.len+n)
	}
}

// Allow ends the execution if it may not have so many bytes more.
func (th *Thread) Allow(bytes int) { th.allow(reflect.TypeFor[byte](), bytes) }

// pointerTo is the address of a copy of a reflected value.
func pointerTo(v reflect.Value) unsafe.Pointer {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.UnsafePointer()
}

// mapKinds is what it takes to work on a map.
type mapKinds struct {
	m        *Machine
	rt       reflect.Type
	key, val kind
}

func (c *code) mapOf(t types.Type) mapKinds {
	m := t.Underlying().(*types.Map)
	k, v := c.m.kindOf(m.Key()), c.m.kindOf(m.Elem())
	return mapKinds{c.m, reflect.MapOf(k.rt, v.rt), k, v}
}

// value is a map in a register, for reflection.
func (k mapKinds) value(fr *frame, l loc) reflect.Value {
	return reflect.NewAt(k.rt, unsafe.Pointer(at[unsafe.Pointer](fr, l))).Elem()
}

func (c *code) makeMap(i *ssa.MakeMap) op {
	d, k := c.loc(i), c.mapOf(i.Type())
	reserve := func(*frame) int { return 0 }
	if i.Reserve != nil {
		reserve = c.integer(i.Reserve)
	}
	return func(fr *frame) {
		*at[unsafe.Pointer](fr, d) = reflect.MakeMapWithSize(k.rt, max(0, min(reserve(fr), 1<<24))).UnsafePointer()
	}
}

// lookup compiles m[k].
func (c *code) lookup(i *ssa.Lookup) op {
	k, x, key, d := c.mapOf(i.X.Type()), c.loc(i.X), c.index(i.Index), c.index(i)
	get := func(fr *frame, s *slot) bool {
		p := *at[unsafe.Pointer](fr, x)
		g := c.m.guard(p)
		g.read(p)
		defer g.done()
		v := k.value(fr, x).MapIndex(k.key.value(&fr.regs[key]))
		if !v.IsValid() {
			k.val.zero(s)
			return false
		}
		k.val.set(s, v)
		return true
	}
	return commaOk(i.CommaOk, d, get)
}

// commaOk compiles what puts a value into a slot and reports whether there is one; with
// both, the result at d is a tuple of them.
func commaOk(both bool, d int, get func(*frame, *slot) bool) op {
	if !both {
		return func(fr *frame) { get(fr, &fr.regs[d]) }
	}
	return func(fr *frame) {
		tuple := make([]slot, 2)
		if get(fr, &tuple[0]) {
			tuple[1].n = 1
		}
		fr.regs[d].p = unsafe.Pointer(&tuple)
	}
}

func (c *code) mapUpdate(i *ssa.MapUpdate) op {
	k, x, key, val := c.mapOf(i.Map.Type()), c.loc(i.Map), c.index(i.Key), c.index(i.Value)
	return func(fr *frame) {
		p := *at[unsafe.Pointer](fr, x)
		g := c.m.guard(p)
		g.write(p)
		defer g.written()
		k.value(fr, x).SetMapIndex(k.key.value(&fr.regs[key]), k.val.value(&fr.regs[val]))
	}
}

// iterator gives the next key and value of a range over a map or a string.
type iterator interface {
	next(tuple []slot)
}

func (c *code) ranges(i *ssa.Range) op {
	d, x := c.loc(i), c.loc(i.X)
	if _, ok := i.X.Type().Underlying().(*types.Basic); ok {
		return func(fr *frame) {
			var it iterator = &stringIterator{text: *at[string](fr, x)}
			*at[unsafe.Pointer](fr, d) = unsafe.Pointer(&it)
		}
	}
	k := c.mapOf(i.X.Type())
	return func(fr *frame) {
		m := k.value(fr, x)
		var it iterator = &mapIterator{k, m.UnsafePointer(), reflect.ValueOf(m.Interface()).MapRange()}
		*at[unsafe.Pointer](fr, d) = unsafe.Pointer(&it)
	}
}

func (c *code) next(i *ssa.Next) op {
	d, x := c.index(i), c.loc(i.Iter)
	return func(fr *frame) {
		tuple := make([]slot, 3)
		(*(*iterator)(*at[unsafe.Pointer](fr, x))).next(tuple)
		fr.regs[d].p = unsafe.Pointer(&tuple)
	}
}

type mapIterator struct {
	mapKinds
	of   unsafe.Pointer
	iter *reflect.MapIter
}

func (it *mapIterator) next(tuple []slot) {
	g := it.m.guard(it.of)
	g.read(it.of)
	defer g.done()
	if !it.iter.Next() {
		it.key.zero(&tuple[1])
		it.val.zero(&tuple[2])
		return
	}
	tuple[0].n = 1
	it.key.set(&tuple[1], it.iter.Key())
	it.val.set(&tuple[2], it.iter.Value())
}

type stringIterator struct {
	text string
	at   int
}

func (it *stringIterator) next(tuple []slot) {
	if it.at >= len(it.text) {
		return
	}
	r, size := utf8.DecodeRuneInString(it.text[it.at:])
	tuple[0].n, tuple[1].n, tuple[2].n = 1, uint64(it.at), uint64(uint32(r))
	it.at += size
}
