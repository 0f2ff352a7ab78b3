package machine

import (
	"go/constant"
	"go/token"
	"go/types"
	"sync"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// op executes one instruction.
type op func(fr *frame)

// code is a function ready to run. Its registers are its parameters, captured
// variables, the values of its instructions, and its constants, in this order.
type code struct {
	m         *Machine
	fn        *ssa.Function
	once      sync.Once
	failed    error
	registers map[ssa.Value]int
	size      int
	constants []slot // the last registers
	blocks    []block
	recovers  int // the block in which a recovered panic goes on; -1 if there is none
	deferring bool
	params    []kind
	results   []kind
}

// block is a basic block.
type block struct {
	ops   []op
	pos   []token.Pos // of the ops and of the end
	end   func(fr *frame) int
	edges []edge
}

// edge leads to a block; moves are what its phis take along.
type edge struct {
	to    int
	moves []move
}

type move struct{ to, from int }

func newCode(m *Machine, fn *ssa.Function) *code { return &code{m: m, fn: fn} }

// ready compiles the function when it is first needed.
func (c *code) ready() *code {
	c.once.Do(func() {
		c.m.mu.Lock()
		defer c.m.mu.Unlock()
		defer func() {
			if r := recover(); r != nil {
				err, ok := r.(unsupportedError)
				if !ok {
					panic(r)
				}
				c.failed = err
			}
		}()
		c.compile()
	})
	if c.failed != nil {
		panic(c.failed)
	}
	return c
}

func (c *code) compile() {
	fn := c.fn
	if fn.Blocks == nil {
		panic(unsupported("%s", fn.String()))
	}
	c.registers = map[ssa.Value]int{}
	for _, p := range fn.Params {
		c.register(p)
	}
	for _, v := range fn.FreeVars {
		c.register(v)
	}
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if v, ok := i.(ssa.Value); ok {
				c.register(v)
			}
			if _, ok := i.(*ssa.Defer); ok {
				c.deferring = true
			}
		}
	}
	for _, p := range fn.Params {
		c.params = append(c.params, c.kind(p))
	}
	c.results = c.m.kindsOf(fn.Signature.Results())
	c.blocks = make([]block, len(fn.Blocks))
	for i, b := range fn.Blocks {
		c.blocks[i] = c.block(b)
	}
	c.recovers = -1
	if fn.Recover != nil {
		c.recovers = fn.Recover.Index
	}
	c.deferStacks()
	c.size = len(c.registers)
	c.registers = nil
	c.m.trim(fn)
}

// deferStacks looks for defer statements in ranges over functions. Their calls run
// when the function has ended, too late for named results.
func (c *code) deferStacks() {
	runs, stack := false, false
	for _, b := range c.fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Call:
				stack = stack || isBuiltin(i, "ssa:deferstack")
			case *ssa.RunDefers:
				runs = true
			}
		}
	}
	if !stack {
		return
	}
	c.deferring = true
	results := c.fn.Signature.Results()
	if !runs && results.Len() > 0 && results.At(0).Name() != "" {
		panic(unsupported("a defer in a range over a function, in a function with named results,"))
	}
}

func isBuiltin(call *ssa.Call, name string) bool {
	b, ok := call.Call.Value.(*ssa.Builtin)
	return ok && b.Name() == name
}

func (c *code) register(v ssa.Value) { c.registers[v] = len(c.registers) }

func (c *code) block(b *ssa.BasicBlock) block {
	var out block
	for _, i := range b.Instrs {
		switch i := i.(type) {
		case *ssa.Phi, *ssa.DebugRef:
		case *ssa.Jump:
			out.end = func(*frame) int { return 0 }
			out.pos = append(out.pos, i.Pos())
		case *ssa.If:
			cond := c.loc(i.Cond)
			out.end = func(fr *frame) int {
				if *at[bool](fr, cond) {
					return 0
				}
				return 1
			}
			out.pos = append(out.pos, i.Pos())
		case *ssa.Return:
			out.end = c.returns(i)
			out.pos = append(out.pos, i.Pos())
		case *ssa.Panic:
			value := c.loc(i.X)
			out.end = func(fr *frame) int { panic(newPanic(fr, *at[any](fr, value))) }
			out.pos = append(out.pos, i.Pos())
		default:
			out.ops = append(out.ops, c.instruction(i))
			out.pos = append(out.pos, i.Pos())
		}
	}
	for _, s := range b.Succs {
		out.edges = append(out.edges, c.edge(b, s))
	}
	return out
}

// edge collects the values that the phis of a block take from one of its
// predecessors. Two edges between the same blocks take the same.
func (c *code) edge(from, to *ssa.BasicBlock) edge {
	e := edge{to: to.Index}
	which := 0
	for i, p := range to.Preds {
		if p == from {
			which = i
		}
	}
	for _, i := range to.Instrs {
		phi, ok := i.(*ssa.Phi)
		if !ok {
			break
		}
		e.moves = append(e.moves, move{c.index(phi), c.index(phi.Edges[which])})
	}
	return e
}

func (c *code) returns(i *ssa.Return) func(*frame) int {
	switch len(i.Results) {
	case 0:
		return func(*frame) int { return -1 }
	case 1:
		r := c.index(i.Results[0])
		return func(fr *frame) int {
			fr.result = fr.regs[r]
			return -1
		}
	}
	all := make([]int, len(i.Results))
	for k, r := range i.Results {
		all[k] = c.index(r)
	}
	return func(fr *frame) int {
		tuple := make([]slot, len(all))
		for k, r := range all {
			tuple[k] = fr.regs[r]
		}
		fr.result.p = unsafe.Pointer(&tuple)
		return -1
	}
}

// index is the register of a value. Constants, globals and functions get one at
// their first use.
func (c *code) index(v ssa.Value) int {
	if i, ok := c.registers[v]; ok {
		return i
	}
	var s slot
	switch v := v.(type) {
	case *ssa.Const:
		s = c.constant(v)
	case *ssa.Global:
		s.p = c.m.global(v)
	case *ssa.Function:
		s.p = c.m.functionValue(v)
	default:
		panic(unsupported("%s as a value", v))
	}
	i := len(c.registers)
	c.registers[v] = i
	c.constants = append(c.constants, s)
	return i
}

// loc is the location of a value in its register.
func (c *code) loc(v ssa.Value) loc {
	return loc(uintptr(c.index(v))*slotSize + shapeOf(v.Type()).offset())
}

// kind is the kind of a value.
func (c *code) kind(v ssa.Value) kind { return c.m.kindOf(v.Type()) }

// constant makes the slot of a constant.
func (c *code) constant(v *ssa.Const) (s slot) {
	t, ok := v.Type().Underlying().(*types.Basic)
	if v.Value == nil || !ok {
		if _, tuple := v.Type().(*types.Tuple); !tuple {
			c.m.kindOf(v.Type()).zero(&s)
		}
		return s
	}
	switch info := t.Info(); {
	case info&types.IsBoolean != 0:
		if constant.BoolVal(v.Value) {
			s.n = 1
		}
	case info&types.IsString != 0:
		*(*string)(unsafe.Pointer(&s.p)) = constant.StringVal(v.Value)
	case info&types.IsInteger != 0:
		s.n = uint64(v.Int64())
		if info&types.IsUnsigned != 0 {
			s.n = v.Uint64()
		}
	case t.Kind() == types.Float32:
		f, _ := constant.Float32Val(v.Value)
		*(*float32)(unsafe.Pointer(&s.n)) = f
	case info&types.IsFloat != 0:
		*(*float64)(unsafe.Pointer(&s.n)) = v.Float64()
	case t.Kind() == types.Complex64:
		*(*complex64)(unsafe.Pointer(&s.n)) = complex64(v.Complex128())
	case info&types.IsComplex != 0:
		*(*complex128)(unsafe.Pointer(&s.n)) = v.Complex128()
	}
	return s
}
