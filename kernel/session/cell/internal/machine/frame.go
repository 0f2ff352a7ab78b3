package machine

import (
	"errors"
	"fmt"
	"go/token"
	"runtime"
	"unsafe"
)

// frame is one call of a function.
type frame struct {
	base     unsafe.Pointer // of regs
	regs     []slot
	code     *code
	thread   *Thread
	caller   *frame // in the same thread
	block    int
	pc       int
	depth    int
	deferred bool // called by a defer of the caller
	defers   *deferredCall
	panicked *Panic
	result   slot
}

// deferredCall is one of a frame's deferred calls, last in first out.
type deferredCall struct {
	run  func(fr *frame)
	next *deferredCall
}

// maxDepth is how many calls may be under way in one thread. Each takes about a
// kilobyte of the goroutine's stack.
const maxDepth = 100_000

var errOverflow = errors.New("stack overflow: the recursion is endless or deeper than 100,000 calls")

// newFrame makes a frame for a call of c, whose arguments are still to be set.
func newFrame(th *Thread, caller *frame, c *code) *frame {
	c.ready()
	var fr *frame
	if last := len(th.spare) - 1; last >= 0 && cap(th.spare[last].regs) > c.size {
		fr, th.spare = th.spare[last], th.spare[:last]
	} else {
		fr = &frame{regs: make([]slot, 0, c.size/8*8+8)} // some more, for another function
	}
	fr.code, fr.thread, fr.caller, fr.regs = c, th, caller, fr.regs[:c.size+1]
	copy(fr.regs[c.size-len(c.constants):], c.constants)
	fr.base = unsafe.Pointer(unsafe.SliceData(fr.regs))
	return fr
}

// maxSpare is how many frames a thread keeps for calls to come.
const maxSpare = 64

// take is the result of a frame that has run to its end, which may then serve another call.
// Nothing refers to it but deferred calls.
func (fr *frame) take() slot {
	result, th := fr.result, fr.thread
	if !fr.code.deferring && len(th.spare) < maxSpare {
		clear(fr.regs)
		*fr = frame{regs: fr.regs[:0]}
		th.spare = append(th.spare, fr)
	}
	return result
}

// exec runs the frame to its end and leaves the result in it.
func (fr *frame) exec() {
	th := fr.thread
	th.check()
	th.depth++
	if th.depth > maxDepth {
		panic(newPanic(fr, errOverflow))
	}
	fr.depth = th.depth
	above := th.top
	th.top = fr
	if fr.code.deferring {
		for !fr.attempt() {
			fr.block = fr.code.recovers
			if fr.block < 0 {
				fr.zeroResults()
				break
			}
		}
	} else {
		fr.run()
	}
	th.depth--
	th.top = above
}

// run executes from the frame's block on.
func (fr *frame) run() {
	blocks := fr.code.blocks
	for {
		b := &blocks[fr.block]
		for i, o := range b.ops {
			fr.pc = i
			o(fr)
		}
		fr.pc = len(b.ops)
		next := b.end(fr)
		if next < 0 {
			return
		}
		e := &b.edges[next]
		switch len(e.moves) {
		case 0:
		case 1:
			fr.regs[e.moves[0].to] = fr.regs[e.moves[0].from]
		default:
			fr.move(e.moves)
		}
		if e.to <= fr.block {
			fr.thread.check()
		}
		fr.block = e.to
	}
}

// move makes several moves as if at once.
func (fr *frame) move(moves []move) {
	var few [8]slot
	values := few[:0]
	for _, m := range moves {
		values = append(values, fr.regs[m.from])
	}
	for i, m := range moves {
		fr.regs[m.to] = values[i]
	}
}

// attempt runs a frame that may defer calls. It returns false after a panic
// that one of them recovered.
func (fr *frame) attempt() (done bool) {
	ended := false
	defer func() {
		if ended {
			return
		}
		r := recover()
		th := fr.thread
		if r != nil {
			fr.panicked = asPanic(fr, r)
		}
		th.depth, th.top = fr.depth, fr
		fr.runDefers() // panics again if nothing recovers; Goexit goes on by itself
	}()
	fr.run()
	if fr.defers != nil { // of a loop over a function: go/ssa has no instruction for them
		fr.runDefers()
	}
	ended = true
	return true
}

// runDefers makes the deferred calls.
func (fr *frame) runDefers() {
	for fr.defers != nil {
		d := fr.defers
		fr.defers = d.next
		fr.runDeferred(d)
	}
	if fr.panicking() {
		panic(fr.panicked)
	}
}

// runDeferred makes one deferred call; its panic replaces the current one.
func (fr *frame) runDeferred(d *deferredCall) {
	ended := false
	defer func() {
		if ended {
			return
		}
		if r := recover(); r != nil {
			fr.panicked = asPanic(fr, r)
			fr.thread.depth, fr.thread.top = fr.depth, fr
		}
	}()
	d.run(fr)
	ended = true
}

// panicking reports whether the frame ends by a panic that nothing has recovered.
func (fr *frame) panicking() bool { return fr.panicked != nil && !fr.panicked.recovered }

// recovered is the value of a call of recover in fr, which must be called by a
// defer of a frame that panics.
func (fr *frame) recovered() any {
	d := fr.caller
	if !fr.deferred || d == nil || !d.panicking() || d.panicked.stop {
		return nil
	}
	d.panicked.recovered = true
	return d.panicked.Value
}

// zeroResults is what a function without named results gives after a recovered
// panic.
func (fr *frame) zeroResults() {
	switch results := fr.code.results; len(results) {
	case 0:
	case 1:
		results[0].zero(&fr.result)
	default:
		tuple := make([]slot, len(results))
		for i, k := range results {
			k.zero(&tuple[i])
		}
		fr.result.p = unsafe.Pointer(&tuple)
	}
}

// Panic is a panic of a cell. Compiled code on the stack may recover it.
type Panic struct {
	Value any     // as the cell passed it: a value of a cell's type is in a box
	Trace []Frame // innermost first

	stop      bool // not a panic of the cell: the execution was stopped
	recovered bool
}

// Stopped reports whether it is not a panic of the cell: its execution was stopped.
func (p *Panic) Stopped() bool { return p.stop }

// Frame is a call on the stack.
type Frame struct {
	Function string
	Pos      token.Pos
}

// Error implements error, for compiled code that recovers the panic.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// maxTrace bounds the frames of a trace.
const maxTrace = 50

func newPanic(fr *frame, value any) *Panic {
	if value == nil {
		value = new(runtime.PanicNilError)
	}
	return &Panic{Value: value, Trace: fr.trace()}
}

// asPanic makes a panic of what was recovered in fr or in what it called.
func asPanic(fr *frame, r any) *Panic {
	if p, ok := r.(*Panic); ok {
		return p
	}
	from := fr
	if top := fr.thread.top; top != nil {
		from = top
	}
	return &Panic{Value: fr.thread.m.named(r), Trace: from.trace()}
}

// Trace lists the calls of the thread, innermost first.
func (th *Thread) Trace() []Frame {
	if th.top == nil {
		return nil
	}
	return th.top.trace()
}

// trace lists the calls from fr outwards.
func (fr *frame) trace() []Frame {
	var out []Frame
	for f := fr; f != nil && len(out) < maxTrace; f = f.caller {
		out = append(out, Frame{f.code.fn.String(), f.pos()})
		if d := f.caller; f.deferred && d != nil && d.panicked != nil {
			return append(append(out, Frame{Function: "panic"}), d.panicked.Trace...) // as in Go, to where the panic was
		}
	}
	return out
}

// pos is where the frame is.
func (fr *frame) pos() token.Pos {
	if fr.block >= len(fr.code.blocks) {
		return fr.code.fn.Pos()
	}
	b := fr.code.blocks[fr.block]
	for i := min(fr.pc, len(b.pos)-1); i >= 0; i-- {
		if b.pos[i].IsValid() {
			return b.pos[i]
		}
	}
	return fr.code.fn.Pos()
}
