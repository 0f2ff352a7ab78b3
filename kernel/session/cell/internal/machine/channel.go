package machine

import (
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// channel is what it takes to work on a channel in a register.
type channel struct {
	rt   reflect.Type
	elem kind
	at   loc
}

func (c *code) channelOf(v ssa.Value) channel {
	t := v.Type().Underlying().(*types.Chan)
	k := c.m.kindOf(t.Elem())
	return channel{reflect.ChanOf(chanDirs[t.Dir()], k.rt), k, c.loc(v)}
}

func (ch channel) value(fr *frame) reflect.Value {
	return reflect.NewAt(ch.rt, unsafe.Pointer(at[unsafe.Pointer](fr, ch.at))).Elem()
}

func (c *code) makeChan(i *ssa.MakeChan) op {
	d, size := c.loc(i), c.integer(i.Size)
	rt := reflect.ChanOf(reflect.BothDir, c.m.layouts.of(i.Type().Underlying().(*types.Chan).Elem()))
	return func(fr *frame) {
		n := size(fr)
		if n < 0 {
			panic(plainError("makechan: size out of range"))
		}
		fr.thread.allow(rt.Elem(), n)
		*at[unsafe.Pointer](fr, d) = reflect.MakeChan(rt, n).UnsafePointer()
	}
}

// plainError is a run-time error whose text has no prefix.
type plainError string

func (e plainError) Error() string { return string(e) }

// RuntimeError implements [runtime.Error].
func (plainError) RuntimeError() {}

// wait makes one of several operations on channels, or none if not blocking and
// none is ready (-1). A stop of the execution ends it.
func (th *Thread) wait(cases []reflect.SelectCase, blocking bool) (chosen int, v reflect.Value, ok bool) {
	if !blocking {
		th.check()
		chosen, v, ok = reflect.Select(append(cases, reflect.SelectCase{Dir: reflect.SelectDefault}))
		if chosen == len(cases) {
			return -1, v, false
		}
		return chosen, v, ok
	}
	done := th.done
	if th.unwinding { // a deferred function may wait until its time is over
		over := make(chan struct{})
		defer afterGrace(th, over)()
		done = over
	}
	chosen, v, ok = reflect.Select(append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(done)}))
	if chosen == len(cases) {
		th.check()
		th.unwinding = true
		panic(&Panic{stop: true, Value: th.Reason()})
	}
	return chosen, v, ok
}

func (c *code) send(i *ssa.Send) op {
	ch, x := c.channelOf(i.Chan), c.index(i.X)
	return func(fr *frame) {
		to, v := ch.value(fr), ch.elem.value(&fr.regs[x])
		if !to.IsNil() && to.TrySend(v) {
			return
		}
		fr.thread.wait([]reflect.SelectCase{{Dir: reflect.SelectSend, Chan: to, Send: v}}, true)
	}
}

// receive compiles <-ch, with a second result if that is asked for.
func (c *code) receive(i *ssa.UnOp) op {
	ch, d := c.channelOf(i.X), c.index(i)
	get := func(fr *frame, s *slot) bool {
		from := ch.value(fr)
		v, ok := reflect.Value{}, false
		if !from.IsNil() {
			v, ok = from.TryRecv()
		}
		if !v.IsValid() {
			_, v, ok = fr.thread.wait([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: from}}, true)
		}
		ch.elem.set(s, v)
		return ok
	}
	return commaOk(i.CommaOk, d, get)
}

// selects compiles a select: a tuple of which case was taken, whether a receive
// got a value, and the received values.
func (c *code) selects(i *ssa.Select) op {
	type state struct {
		channel
		send int
	}
	states := make([]state, len(i.States))
	receives := 0
	for k, s := range i.States {
		states[k] = state{channel: c.channelOf(s.Chan), send: -1}
		if s.Dir == types.SendOnly {
			states[k].send = c.index(s.Send)
		} else {
			receives++
		}
	}
	d, blocking := c.index(i), i.Blocking
	return func(fr *frame) {
		cases := make([]reflect.SelectCase, len(states), len(states)+1)
		for k, s := range states {
			cases[k] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: s.value(fr)}
			if s.send >= 0 {
				cases[k].Dir, cases[k].Send = reflect.SelectSend, s.elem.value(&fr.regs[s.send])
			}
		}
		chosen, v, ok := fr.thread.wait(cases, blocking)
		tuple := make([]slot, 2, 2+receives)
		tuple[0].n = uint64(chosen)
		if ok {
			tuple[1].n = 1
		}
		for k, s := range states {
			if s.send >= 0 {
				continue
			}
			var got slot
			if k == chosen {
				s.elem.set(&got, v)
			} else {
				s.elem.zero(&got)
			}
			tuple = append(tuple, got)
		}
		fr.regs[d].p = unsafe.Pointer(&tuple)
	}
}
