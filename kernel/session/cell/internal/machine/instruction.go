package machine

import (
	"go/token"
	"go/types"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// instruction compiles one instruction that is not a jump.
func (c *code) instruction(i ssa.Instruction) op {
	switch i := i.(type) {
	case *ssa.UnOp:
		return c.unary(i)
	case *ssa.BinOp:
		return c.binary(i)
	case *ssa.Convert:
		return c.convert(i.X, i)
	case *ssa.ChangeType:
		return c.copies(i, i.X)
	case *ssa.ChangeInterface:
		return c.changeInterface(i)
	case *ssa.MakeInterface:
		return c.makeInterface(i)
	case *ssa.TypeAssert:
		return c.typeAssert(i)
	case *ssa.Extract:
		return c.extract(i)
	case *ssa.Call:
		return c.call(i)
	case *ssa.Go:
		return c.goes(i)
	case *ssa.Defer:
		return c.defers(i)
	case *ssa.RunDefers:
		return func(fr *frame) { fr.runDefers() }
	case *ssa.MakeClosure:
		return c.makeClosure(i)
	}
	if o := c.memory(i); o != nil {
		return o
	}
	return c.collection(i)
}

// memory compiles what works on addresses.
func (c *code) memory(i ssa.Instruction) op {
	switch i := i.(type) {
	case *ssa.Alloc:
		return c.alloc(i)
	case *ssa.Store:
		return c.stores(i)
	case *ssa.FieldAddr:
		return c.fieldAddr(i)
	case *ssa.Field:
		return c.field(i)
	case *ssa.IndexAddr:
		return c.indexAddr(i)
	case *ssa.Index:
		return c.indexes(i)
	case *ssa.Slice:
		return c.slice(i)
	case *ssa.SliceToArrayPointer:
		return c.arrayPointer(i)
	}
	return nil
}

// collection compiles what works on slices, maps and channels.
func (c *code) collection(i ssa.Instruction) op {
	switch i := i.(type) {
	case *ssa.MakeSlice:
		return c.makeSlice(i)
	case *ssa.MakeMap:
		return c.makeMap(i)
	case *ssa.MakeChan:
		return c.makeChan(i)
	case *ssa.Lookup:
		return c.lookup(i)
	case *ssa.MapUpdate:
		return c.mapUpdate(i)
	case *ssa.Range:
		return c.ranges(i)
	case *ssa.Next:
		return c.next(i)
	case *ssa.Send:
		return c.send(i)
	case *ssa.Select:
		return c.selects(i)
	}
	panic(unsupported("%s", i))
}

func (c *code) copies(to, from ssa.Value) op {
	d, s := c.index(to), c.index(from)
	return func(fr *frame) { fr.regs[d] = fr.regs[s] }
}

func (c *code) extract(i *ssa.Extract) op {
	d, s, n := c.index(i), c.index(i.Tuple), i.Index
	return func(fr *frame) { fr.regs[d] = (*(*[]slot)(fr.regs[s].p))[n] }
}

// unary compiles loads, receives and the operators - ! ^.
func (c *code) unary(i *ssa.UnOp) op {
	switch i.Op {
	case token.MUL:
		return c.loads(i)
	case token.ARROW:
		return c.receive(i)
	case token.NOT:
		d, x := c.loc(i), c.loc(i.X)
		return func(fr *frame) { *at[bool](fr, d) = !*at[bool](fr, x) }
	}
	return arithmeticOf(i.X.Type()).unary(i.Op, c.loc(i), c.loc(i.X))
}

// basicKind is the kind of a basic type, untyped ones as their default.
func basicKind(t types.Type) types.BasicKind {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return types.Invalid
	}
	return types.Default(b).Underlying().(*types.Basic).Kind()
}

// access compiles loads and stores of values that fill one register.
type access struct {
	load  func(d, from loc) op
	store func(to, v loc) op
}

func accessOf[T any]() access {
	return access{
		load: func(d, from loc) op {
			return func(fr *frame) { *at[T](fr, d) = *(*T)(*at[unsafe.Pointer](fr, from)) }
		},
		store: func(to, v loc) op {
			return func(fr *frame) { *(*T)(*at[unsafe.Pointer](fr, to)) = *at[T](fr, v) }
		},
	}
}

// accesses are by shape; values of other shapes are copied as they need.
var accesses = map[shape]access{
	shape1:         accessOf[uint8](),
	shape2:         accessOf[uint16](),
	shape4:         accessOf[uint32](),
	shape8:         accessOf[uint64](),
	shapeString:    accessOf[string](),
	shapePointer:   accessOf[unsafe.Pointer](),
	shapeSlice:     accessOf[header](),
	shapeInterface: accessOf[pair](),
}

func (c *code) loads(i *ssa.UnOp) op {
	k := c.kind(i)
	d, a := c.loc(i), c.loc(i.X)
	if whole, ok := accesses[k.shape]; ok {
		return whole.load(d, a)
	}
	r := c.index(i)
	return func(fr *frame) { fr.regs[r].load(k.shape, k.rt, *at[unsafe.Pointer](fr, a)) }
}

func (c *code) stores(i *ssa.Store) op {
	if f, ok := i.Addr.(*ssa.FieldAddr); ok && elem(f.X.Type()).Underlying().(*types.Struct).Field(f.Field).Name() == "_" {
		return func(*frame) {} // a blank field stays zero
	}
	k := c.kind(i.Val)
	a, v := c.loc(i.Addr), c.loc(i.Val)
	if whole, ok := accesses[k.shape]; ok {
		return whole.store(a, v)
	}
	r := c.index(i.Val)
	return func(fr *frame) {
		to := *at[unsafe.Pointer](fr, a)
		_ = *(*byte)(to)
		fr.regs[r].store(k.shape, k.rt, to)
	}
}
