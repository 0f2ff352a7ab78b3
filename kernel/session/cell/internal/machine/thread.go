package machine

import (
	"bytes"
	"context"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Execution is one run of a cell with the goroutines that it started, which may
// outlive the cell.
type Execution struct {
	Number int
	m      *Machine
	ctx    context.Context
	cancel context.CancelFunc
	paused atomic.Bool   // stopped or held: a thread that goes on looks why
	done   chan struct{} // closed at the stop
	grace  time.Duration // for deferred functions after the stop
	nested atomic.Int32  // callbacks from compiled code under way

	mu     sync.Mutex
	reason error
	at     time.Time     // of the stop
	held   chan struct{} // closed at the release; nil if not held
	called bool          // a call by compiled code that has not returned
	live   int
	gone   chan struct{} // closed when no goroutine is left; made by Gone
}

// grace is how long deferred functions may run after a stop.
const grace = 200 * time.Millisecond

// maxNested bounds how deep compiled code and cells may call each other.
const maxNested = 5_000

// Begin starts an execution and makes it the one to which callbacks from
// compiled code belong. It has the values of ctx but not its end; see Stop.
func (m *Machine) Begin(ctx context.Context, number int) *Execution {
	e := &Execution{Number: number, m: m, done: make(chan struct{}), grace: grace}
	e.ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	m.current.Store(e)
	m.executions.Store(e, true)
	return e
}

// StopAll stops every execution that has a goroutine.
func (m *Machine) StopAll(reason error) {
	m.executions.Range(func(e, _ any) bool {
		e.(*Execution).Stop(reason, true)
		return true
	})
}

// Busy reports whether a goroutine of cells runs.
func (m *Machine) Busy() (is bool) {
	m.executions.Range(func(any, any) bool {
		is = true
		return false
	})
	return is
}

// Hold makes the goroutines of cells wait, each at its next call or loop
// iteration, until release is called.
func (m *Machine) Hold() (release func()) {
	held := make(chan struct{})
	set := func(e *Execution, to chan struct{}) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.held = to
		e.paused.Store(to != nil || e.reason != nil)
	}
	var all []*Execution
	m.executions.Range(func(e, _ any) bool {
		all = append(all, e.(*Execution))
		set(e.(*Execution), held)
		return true
	})
	return func() {
		for _, e := range all {
			set(e, nil)
		}
		close(held)
	}
}

// End says that the execution's own statements are done; its goroutines go on.
func (m *Machine) End(e *Execution) {
	m.current.CompareAndSwap(e, nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live == 0 {
		e.cancel()
		m.executions.Delete(e)
	}
}

// Current is the execution that runs, or nil.
func (m *Machine) Current() *Execution { return m.current.Load() }

// Context ends when the execution is stopped, or has ended with all of its
// goroutines.
func (e *Execution) Context() context.Context { return e.ctx }

// Done is closed when the execution is stopped.
func (e *Execution) Done() <-chan struct{} { return e.done }

// Stop ends the execution's goroutines, each at its next call, loop iteration or
// channel operation. With grace, deferred functions have a short time to run. Only
// the first reason counts.
func (e *Execution) Stop(reason error, withGrace bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reason != nil {
		return
	}
	e.reason, e.at = reason, time.Now()
	if !withGrace {
		e.grace = 0
	}
	e.paused.Store(true)
	close(e.done)
	e.cancel()
}

// Reason is why the execution was stopped, or nil.
func (e *Execution) Reason() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reason
}

// Live is the number of goroutines of the execution.
func (e *Execution) Live() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live
}

// Gone is closed when no goroutine of the execution is left.
func (e *Execution) Gone() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone == nil {
		e.gone = make(chan struct{})
		if e.live == 0 {
			close(e.gone)
		}
	}
	return e.gone
}

// Go runs f in a goroutine of the execution. The channel is closed when it has
// ended and its panic, if any, has been reported.
func (e *Execution) Go(f func(*Thread)) <-chan struct{} {
	over := make(chan struct{})
	e.mu.Lock()
	if e.reason != nil && e.live == 0 {
		e.mu.Unlock()
		close(over)
		return over // a stopped execution starts nothing
	}
	e.live++
	e.mu.Unlock()
	e.m.threads.Add(1)
	go func() {
		id, th := goid(), &Thread{Execution: e}
		e.m.routines.Store(id, th)
		defer func() {
			e.m.routines.Delete(id)
			e.m.threads.Add(-1)
			e.left()
			close(over)
		}()
		defer func() {
			if r := recover(); r != nil {
				th.died(r)
			}
		}()
		f(th)
	}()
	return over
}

// left counts down when a goroutine ends.
func (e *Execution) left() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live--
	if e.live > 0 {
		return
	}
	if e.gone != nil {
		close(e.gone)
		e.gone = nil
	}
	if e.m.current.Load() != e {
		e.cancel()
		e.m.executions.Delete(e)
	}
}

// Thread is a goroutine that runs functions of cells. A function of the tables
// whose first parameter is a *Thread receives the calling one.
type Thread struct {
	*Execution
	depth     int
	top       *frame
	spare     []*frame // for calls to come
	unwinding bool
	entered   bool // compiled code started the goroutine; see [Machine.Enter]
}

// check ends the thread if its execution was stopped. Deferred functions run until
// the grace is over.
func (th *Thread) check() {
	if th.paused.Load() && !th.waited() {
		th.leave()
	}
}

// Check ends the calling thread if its execution was stopped.
func (th *Thread) Check() { th.check() }

// Thread is the calling goroutine's, for code that another engine executes. In a
// goroutine of compiled code it is one of the execution that runs; nil if none does.
func (m *Machine) Thread() *Thread {
	if th, ok := m.routines.Load(goid()); ok {
		return th.(*Thread)
	}
	if e := m.Current(); e != nil {
		return &Thread{Execution: e}
	}
	return nil
}

// Running reports, at the cost of two loads, whether the current execution was
// neither stopped nor held.
func (m *Machine) Running() bool {
	e := m.current.Load()
	return e != nil && !e.paused.Load()
}

// CheckOut is Check for code that unwinds panics slowly: a goroutine that the
// machine started ends without one.
func (th *Thread) CheckOut() { th.out(th.check) }

// AllowOut is Allow for such code.
func (th *Thread) AllowOut(bytes int) { th.out(func() { th.Allow(bytes) }) }

func (th *Thread) out(check func()) {
	defer func() {
		if r := recover(); r != nil {
			th.goexit()
			panic(r)
		}
	}()
	check()
}

// Exit ends the thread as a panic with the value v would.
func (th *Thread) Exit(v any) {
	th.died(v)
	th.goexit()
	panic(&Panic{stop: true, Value: v})
}

// goexit ends the goroutine if the machine started it.
func (th *Thread) goexit() {
	if th.entered {
		return
	}
	if _, ours := th.m.routines.Load(goid()); ours {
		runtime.Goexit()
	}
}

// waited waits for the release of a held execution. It is false if the execution
// was stopped.
func (th *Thread) waited() bool {
	th.mu.Lock()
	held := th.held
	th.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-th.done:
		}
	}
	return th.Reason() == nil
}

func (th *Thread) leave() {
	th.mu.Lock()
	over := time.Since(th.at) > th.grace
	th.mu.Unlock()
	if th.unwinding && !over {
		return
	}
	th.unwinding = true
	if over {
		th.dropDefers()
	}
	panic(&Panic{stop: true, Value: th.Reason()})
}

// dropDefers forgets the deferred calls of all frames: their time is over.
func (th *Thread) dropDefers() {
	for fr := th.top; fr != nil; fr = fr.caller {
		fr.defers = nil
	}
}

// Stopped reports whether a panic's value is a stop of the execution, which no
// recover may swallow.
func Stopped(v any) bool {
	p, ok := v.(*Panic)
	return ok && p.stop
}

// died reports the panic that ended the thread, unless that was a stop.
func (th *Thread) died(r any) {
	if p := th.panicOf(r); !p.stop && !th.fails(p) && th.m.o.Died != nil {
		th.m.o.Died(th.Execution, p)
	}
}

// panicOf is what was recovered as a panic, with where the thread is.
func (th *Thread) panicOf(r any) *Panic {
	p, ok := r.(*Panic)
	if !ok {
		p = &Panic{Value: r}
		if th.top != nil {
			p.Trace = th.top.trace()
		}
	}
	return p
}

// goid is the number of the calling goroutine, as its stack trace begins. It
// takes a microsecond and is asked only where a goroutine starts or panics.
func goid() uint64 {
	var buffer [64]byte
	text := bytes.TrimPrefix(buffer[:runtime.Stack(buffer[:], false)], []byte("goroutine "))
	id := uint64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	return id
}

// afterGrace closes over when the time of the thread's deferred functions is
// up. The returned function lets go of the timer.
func afterGrace(th *Thread, over chan struct{}) (release func()) {
	th.mu.Lock()
	left := th.grace - time.Since(th.at)
	th.mu.Unlock()
	timer := time.AfterFunc(max(0, left), func() { close(over) })
	return func() { timer.Stop() }
}

// Sleep waits for a time, or until the execution is stopped.
func (th *Thread) Sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	th.wait([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(timer.C)}}, true)
}
