package machine

import (
	"context"
	"reflect"
)

// recoverer is a context of compiled code that recovers panics of what it calls
// with it, such as the method of an experiment.
type recoverer interface {
	context.Context
	RecoversPanics()
}

func recovers(in []reflect.Value) bool {
	if len(in) == 0 || in[0].Kind() != reflect.Interface || in[0].IsNil() {
		return false
	}
	_, ok := in[0].Interface().(recoverer)
	return ok
}

// Enter is for code that another engine executes: if ctx says that compiled code
// recovers panics of the call, the goroutines that it starts belong to the call. The
// caller ends it with leave, which panics if one of them did; nil if there is no such
// code or the goroutine is already known.
func (m *Machine) Enter(ctx context.Context) (leave func()) {
	if _, ok := ctx.(recoverer); !ok {
		return nil
	}
	id, th := goid(), m.foreign()
	th.entered = true
	if _, known := m.routines.LoadOrStore(id, th); known {
		return nil
	}
	m.threads.Add(1)
	th.begin()
	return func() {
		m.routines.Delete(id)
		m.threads.Add(-1)
		th.end()
	}
}

// begin gives the goroutines of a call whose panics are recovered an execution of
// their own: the panic of one of them ends this call, not the cell.
func (th *Thread) begin() {
	outer := th.Execution
	e := &Execution{Number: outer.Number, m: th.m, done: make(chan struct{}), grace: outer.grace, called: true, live: 1}
	e.ctx, e.cancel = context.WithCancel(context.WithoutCancel(outer.ctx))
	th.m.executions.Store(e, true)
	release := context.AfterFunc(outer.ctx, func() {
		if reason := outer.Reason(); reason != nil {
			e.Stop(reason, true)
		}
	})
	context.AfterFunc(e.ctx, func() { release() })
	th.Execution = e
}

// end ends what begin began. It panics if a goroutine of the call did.
func (th *Thread) end() {
	th.mu.Lock()
	th.called = false
	reason := th.reason
	th.mu.Unlock()
	th.left()
	if reason != nil {
		panic(&Panic{Value: reason})
	}
}

// fails ends the call by compiled code to which the execution belongs. It is false
// if there is none or it has returned.
func (e *Execution) fails(p *Panic) bool {
	e.mu.Lock()
	called := e.called
	e.mu.Unlock()
	if called {
		e.Stop(p, true)
	}
	return called
}
