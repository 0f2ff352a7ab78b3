package machine

import (
	"reflect"
	"runtime"
	"unsafe"
	"weak"

	"golang.org/x/tools/go/ssa"
)

// closure is a function value of a cell. In memory it is a Go function that
// compiled code can call; the machine finds the closure by that function's
// address and calls it directly.
type closure struct {
	slot *slotOfCode
	free []slot
}

func (cl *closure) invoke(th *Thread, caller *frame, deferred bool, args []slot) slot {
	fr := newFrame(th, caller, cl.slot.code.Load())
	copy(fr.regs, args)
	copy(fr.regs[len(args):], cl.free)
	fr.deferred = deferred
	fr.exec()
	return fr.take()
}

func (c *code) makeClosure(i *ssa.MakeClosure) op {
	d, free := c.loc(i), c.registersOf(i.Bindings)
	s, rt := c.m.slotFor(i.Fn.(*ssa.Function)), c.m.layouts.of(i.Type())
	return func(fr *frame) {
		values := make([]slot, len(free))
		for k, r := range free {
			values[k] = fr.regs[r]
		}
		*at[unsafe.Pointer](fr, d) = c.m.function(&closure{s, values}, rt)
	}
}

// functionValue is a declared function as a value. The lock is held.
func (m *Machine) functionValue(fn *ssa.Function) unsafe.Pointer {
	if fn.Blocks == nil {
		n := m.nativeOf(fn)
		if !n.threaded {
			return word(n.fn)
		}
		rt := m.layouts.of(fn.Signature)
		return word(reflect.MakeFunc(rt, func(in []reflect.Value) []reflect.Value {
			return call(n.fn, append([]reflect.Value{reflect.ValueOf(m.foreign())}, in...), n.variadic)
		}))
	}
	return m.function(&closure{slot: m.slotFor(fn)}, m.layouts.of(fn.Signature))
}

// function makes a Go function of a closure.
func (m *Machine) function(cl *closure, rt reflect.Type) unsafe.Pointer {
	fn := reflect.ValueOf(m.direct(cl, rt))
	if !fn.IsValid() {
		fn = reflect.MakeFunc(rt, func(in []reflect.Value) []reflect.Value { return m.callback(cl, in) })
	}
	p := word(fn)
	key, value := uintptr(p), weak.Make(cl)
	m.closures.Store(key, value)
	// Another function may have come to stand at the address by then.
	runtime.AddCleanup((*byte)(p), func(key uintptr) { m.closures.CompareAndDelete(key, value) }, key)
	return p
}

// word is what a variable that holds the function holds.
func word(fn reflect.Value) unsafe.Pointer { return *(*unsafe.Pointer)(pointerTo(fn)) }

// closureAt is the closure behind a function value, or nil for a compiled one.
func (m *Machine) closureAt(p unsafe.Pointer) *closure {
	v, ok := m.closures.Load(uintptr(p))
	if !ok {
		return nil
	}
	return v.(weak.Pointer[closure]).Value()
}

// direct is the Go function of a closure of those types by which package sort and others call
// a cell many times: reflection would take most of the time. It is nil for other types.
func (m *Machine) direct(cl *closure, rt reflect.Type) any {
	switch rt {
	case reflect.TypeFor[func(int, int) bool]():
		return func(i, j int) (is bool) {
			m.enter(cl, false, func(fr *frame) { fr.regs[0].n, fr.regs[1].n = uint64(i), uint64(j) }, func(s slot) { is = *(*bool)(s.at(shape1)) })
			return is
		}
	case reflect.TypeFor[func(int) bool]():
		return func(i int) (is bool) {
			m.enter(cl, false, func(fr *frame) { fr.regs[0].n = uint64(i) }, func(s slot) { is = *(*bool)(s.at(shape1)) })
			return is
		}
	}
	return nil
}

// foreign is a thread for a call that comes from compiled code. It belongs to
// the cell that runs.
func (m *Machine) foreign() *Thread {
	e := m.current.Load()
	if th := m.idle.Swap(nil); th != nil && e != nil && th.Execution == e {
		return th
	}
	if e == nil {
		e = &Execution{m: m, done: make(chan struct{}), grace: grace}
		e.ctx, e.cancel = backgroundContext()
	}
	return &Thread{Execution: e}
}

// guard marks a goroutine that [Machine.Guard] watches.
type guard struct{ thread *Thread } // of the outermost callback that panicked

// Guard calls f in the calling goroutine, which compiled code started, and
// returns the panic of a cell's function that f calls, or nil.
func (m *Machine) Guard(f func()) (p *Panic) {
	id, g := goid(), &guard{thread: &Thread{}}
	if _, ours := m.routines.LoadOrStore(id, g); !ours {
		defer m.routines.Delete(id)
	}
	defer func() {
		if r := recover(); r != nil {
			p = g.thread.panicOf(r)
		}
	}()
	f()
	return nil
}

// callback calls a closure for compiled code.
func (m *Machine) callback(cl *closure, in []reflect.Value) (out []reflect.Value) {
	var c *code
	m.enter(cl, recovers(in), func(fr *frame) {
		c = fr.code
		for i, v := range in {
			c.params[i].set(&fr.regs[i], v)
		}
	}, func(s slot) { // which reflection goes on to read
		out = make([]reflect.Value, len(c.results))
		for i, k := range c.results {
			at := &s
			if len(c.results) > 1 {
				at = &(*(*[]slot)(s.p))[i]
			}
			out[i] = k.value(at)
		}
	})
	return out
}

// enter runs a closure for compiled code, with what puts its arguments and takes its result.
// A panic goes on through compiled code where the machine or a guard is below it; in another
// goroutine that compiled code started it would end the process, and ends the goroutine
// instead, unless that code says that it recovers panics.
func (m *Machine) enter(cl *closure, recovered bool, put func(*frame), take func(slot)) {
	th := m.foreign()
	if th.nested.Add(1) > maxNested {
		th.nested.Add(-1)
		panic(errOverflow)
	}
	defer th.nested.Add(-1)
	if recovered {
		m.threads.Add(1)
		defer m.threads.Add(-1)
		th.begin()
		defer th.end()
	}
	ended := false
	defer func() {
		if ended || recovered {
			return
		}
		if g, ours := m.routines.Load(goid()); ours {
			if g, ok := g.(*guard); ok {
				g.thread = th
			}
			return
		}
		if r := recover(); r != nil {
			th.died(r)
			runtime.Goexit()
		}
	}()
	c := cl.slot.code.Load()
	fr := newFrame(th, nil, c)
	put(fr)
	copy(fr.regs[len(c.params):], cl.free)
	fr.exec()
	take(fr.take())
	ended = true
	if !recovered {
		m.idle.Store(th)
	}
}
