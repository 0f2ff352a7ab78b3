package machine

import (
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// invoker calls something with arguments in slots. deferred says that a defer
// of the caller makes the call.
type invoker func(th *Thread, caller *frame, deferred bool, args []slot) slot

var errNilDereference = runtimeError("invalid memory address or nil pointer dereference")

// call compiles a call whose result is needed at once.
func (c *code) call(i *ssa.Call) op {
	if b, ok := i.Call.Value.(*ssa.Builtin); ok {
		return c.builtin(b.Name(), i.Call.Args, i)
	}
	d := c.index(i)
	if fn, ok := i.Call.Value.(*ssa.Function); ok && !i.Call.IsInvoke() && fn.Blocks != nil {
		return c.direct(d, c.m.slotFor(fn), c.registersOf(i.Call.Args))
	}
	resolve, args := c.target(&i.Call)
	general := func(fr *frame) {
		call := resolve(fr)
		var few [6]slot
		values := few[:0]
		for _, r := range args {
			values = append(values, fr.regs[r])
		}
		fr.regs[d] = call(fr.thread, fr, false, values)
	}
	if _, known := i.Call.Value.(*ssa.Function); known || i.Call.IsInvoke() {
		return general
	}
	m, v := c.m, c.loc(i.Call.Value)
	return func(fr *frame) {
		cl := m.closureAt(*at[unsafe.Pointer](fr, v))
		if cl == nil {
			general(fr)
			return
		}
		callee := newFrame(fr.thread, fr, cl.slot.code.Load()) // without a copy of the arguments
		for k, r := range args {
			callee.regs[k] = fr.regs[r]
		}
		copy(callee.regs[len(args):], cl.free)
		callee.exec()
		fr.regs[d] = callee.take()
	}
}

func (c *code) registersOf(values []ssa.Value) []int {
	out := make([]int, len(values))
	for k, v := range values {
		out[k] = c.index(v)
	}
	return out
}

// direct calls a function of a cell.
func (c *code) direct(d int, s *slotOfCode, args []int) op {
	return func(fr *frame) {
		callee := newFrame(fr.thread, fr, s.code.Load())
		for k, r := range args {
			callee.regs[k] = fr.regs[r]
		}
		callee.exec()
		fr.regs[d] = callee.take()
	}
}

// target compiles what a call, go or defer calls: resolve finds it when the
// statement is executed, args are the registers of the arguments.
func (c *code) target(call *ssa.CallCommon) (resolve func(*frame) invoker, args []int) {
	args = c.registersOf(call.Args)
	if call.IsInvoke() {
		return c.invoke(call), args
	}
	if fn, ok := call.Value.(*ssa.Function); ok {
		call := c.m.static(fn)
		return func(*frame) invoker { return call }, args
	}
	v, rt, results := c.loc(call.Value), c.m.layouts.of(call.Value.Type()), c.resultKinds(call.Signature())
	kinds := c.m.kindsOf(call.Signature().Params())
	m, variadic := c.m, call.Signature().Variadic()
	return func(fr *frame) invoker {
		p := *at[unsafe.Pointer](fr, v)
		if p == nil {
			return nilCall
		}
		if cl := m.closureAt(p); cl != nil {
			return cl.invoke
		}
		return compiledCall(reflect.NewAt(rt, unsafe.Pointer(&p)).Elem(), kinds, results, variadic)
	}, args
}

func nilCall(*Thread, *frame, bool, []slot) slot { panic(errNilDereference) }

func (c *code) resultKinds(sig *types.Signature) []kind { return c.m.kindsOf(sig.Results()) }

// kindsOf are the kinds of a tuple's types. The lock is held.
func (m *Machine) kindsOf(t *types.Tuple) []kind {
	var out []kind
	for v := range t.Variables() {
		out = append(out, m.kindOf(v.Type()))
	}
	return out
}

// static is the invoker of a function known at compile time. The lock is held.
func (m *Machine) static(fn *ssa.Function) invoker {
	if fn.Blocks != nil {
		cl := closure{slot: m.slotFor(fn)}
		return cl.invoke
	}
	n := m.nativeOf(fn)
	if !n.threaded {
		return compiledCall(n.fn, n.params, n.results, n.variadic)
	}
	return func(th *Thread, _ *frame, _ bool, args []slot) slot {
		in := append([]reflect.Value{reflect.ValueOf(th)}, inputs(n.params, args)...)
		return outputs(n.results, call(n.fn, in, n.variadic))
	}
}

// invoke compiles the call of a method of an interface.
func (c *code) invoke(call *ssa.CallCommon) func(*frame) invoker {
	read, x := c.m.reader(call.Value.Type()), c.loc(call.Value)
	pkg, name := call.Method.Pkg(), call.Method.Name()
	kinds, results := c.m.kindsOf(call.Signature().Params()), c.resultKinds(call.Signature())
	m, variadic := c.m, call.Signature().Variadic()
	return func(fr *frame) invoker {
		v := read(unsafe.Pointer(at[any](fr, x)))
		if v == nil {
			panic(errNilDereference)
		}
		if d := m.boxed(v); d != nil {
			return d.bind(pkg, name, v)
		}
		m.refuseMethod(v, name)
		if fn := m.unlocker(v, name); fn.IsValid() {
			return compiledCall(fn, nil, nil, false)
		}
		return compiledCall(reflect.ValueOf(v).MethodByName(name), kinds, results, variadic)
	}
}

// bind is the invoker of a method of the type on a boxed value.
func (d *descriptor) bind(pkg *types.Package, name string, box any) invoker {
	s := d.method(pkg, name)
	return func(th *Thread, caller *frame, deferred bool, args []slot) slot {
		fr := newFrame(th, caller, s.code.Load())
		d.put(&fr.regs[0], box)
		copy(fr.regs[1:], args)
		fr.deferred = deferred
		fr.exec()
		return fr.take()
	}
}

// compiledCall calls a compiled function.
func compiledCall(fn reflect.Value, params, results []kind, variadic bool) invoker {
	return func(_ *Thread, _ *frame, _ bool, args []slot) slot {
		return outputs(results, call(fn, inputs(params, args), variadic))
	}
}

func call(fn reflect.Value, in []reflect.Value, variadic bool) []reflect.Value {
	if variadic {
		return fn.CallSlice(in)
	}
	return fn.Call(in)
}

func inputs(params []kind, args []slot) []reflect.Value {
	in := make([]reflect.Value, len(params), len(params)+1)
	for i, k := range params {
		in[i] = k.value(&args[i])
	}
	return in
}

// outputs puts the results of a compiled function into a slot.
func outputs(results []kind, out []reflect.Value) (s slot) {
	switch len(results) {
	case 0:
	case 1:
		results[0].set(&s, out[0])
	default:
		tuple := make([]slot, len(results))
		for i, k := range results {
			k.set(&tuple[i], out[i])
		}
		s.p = unsafe.Pointer(&tuple)
	}
	return s
}

// goes compiles a go statement.
func (c *code) goes(i *ssa.Go) op {
	start := c.bound(&i.Call)
	return func(fr *frame) {
		call := start(fr)
		fr.thread.Execution.Go(func(th *Thread) { call(th, nil, false) })
	}
}

// defers compiles a defer statement. The calls of a loop over a function are
// the enclosing function's, whose frame is in DeferStack.
func (c *code) defers(i *ssa.Defer) op {
	start := c.bound(&i.Call)
	stack := -1
	if i.DeferStack != nil {
		stack = c.index(i.DeferStack)
	}
	return func(fr *frame) {
		call, of := start(fr), fr
		if stack >= 0 && fr.regs[stack].p != nil {
			of = (*frame)(fr.regs[stack].p)
		}
		of.defers = &deferredCall{func(by *frame) { call(by.thread, by, true) }, of.defers}
	}
}

// bound compiles a call to be made later with the arguments of now.
func (c *code) bound(common *ssa.CallCommon) func(*frame) func(th *Thread, caller *frame, deferred bool) {
	if b, ok := common.Value.(*ssa.Builtin); ok {
		o := c.builtin(b.Name(), common.Args, nil)
		return func(fr *frame) func(*Thread, *frame, bool) {
			later := *fr
			later.regs = append([]slot(nil), fr.regs...)
			later.base = unsafe.Pointer(&later.regs[0])
			return func(th *Thread, by *frame, _ bool) {
				if b.Name() == "recover" && by != nil && by.panicking() {
					return // the panic calls it, not the deferred function
				}
				later.thread = th
				o(&later)
			}
		}
	}
	resolve, args := c.target(common)
	return func(fr *frame) func(*Thread, *frame, bool) {
		call := resolve(fr)
		values := make([]slot, len(args))
		for k, r := range args {
			values[k] = fr.regs[r]
		}
		return func(th *Thread, caller *frame, deferred bool) { call(th, caller, deferred, values) }
	}
}
