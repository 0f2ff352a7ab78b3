package cell

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"time"
)

// watchEvery is how often a session looks at the memory of the process.
const watchEvery = 20 * time.Millisecond

// watch stops what cells run when the heap stays above the limit, until the
// session is closed. What earlier cells have stored stays: a cell that begins
// above the limit may take a little more, to let go of it.
func (s *Session) watch() {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	limit := s.o.Memory
	allowed, of := limit, 0
	stopped := int64(0) // the heap when what runs was stopped; 0 if it was not
	meter := newMeter()
	for {
		select {
		case <-ticker.C:
		case <-s.over:
			return
		}
		now := meter.heap()
		ws, begun := s.present(), time.Now()
		// On a busy machine this may be the first look: the process ends only if what runs was
		// asked to stop and has taken more since.
		if asked := stopped > 0 || !ws.machine.Busy(); asked && now > max(mostOver*limit, stopped+limit/4) {
			s.giveUp(overMemory(limit, now))
		}
		if now <= limit {
			allowed, of, stopped = limit, s.Count(), 0
			ticker.Reset(watchEvery)
			continue
		}
		if !ws.machine.Busy() {
			continue
		}
		release := ws.machine.Hold()
		number := s.Count() // of the cell that is held: before, another may have run
		runtime.GC()        // without what is garbage
		used := meter.heap()
		if number != of {
			allowed, of = max(limit, used+limit/64), number
		}
		if used > allowed {
			ws.stopForMemory(overMemory(limit, used))
			if stopped == 0 {
				stopped = used
			}
			allowed = used + limit/64 // what was stopped takes a moment to let go
		}
		release()
		if used < limit-limit/8 {
			begun = time.Now() // nothing to wait for
		}
		ticker.Reset(max(watchEvery, time.Since(begun)))
	}
}

// mostOver is at how many times the limit the process ends: what runs is then nothing
// that a stop could end, such as a function of the standard library that builds one
// large value.
const mostOver = 4

// giveUp ends the process. A journal tells the next one which cells are lost.
func (s *Session) giveUp(err *Error) {
	_, stderr := s.console.terminal()
	fmt.Fprintf(stderr, "noema: the session's process ends, because its cell does not: %v\n", err)
	os.Exit(1)
}

// meter measures the heap. It takes no memory to do so: who asks for any where there
// is none waits for the garbage collector.
type meter []metrics.Sample

func newMeter() meter { return meter{{Name: "/memory/classes/heap/objects:bytes"}} }

// heap is how many bytes of the heap objects take, with those that are garbage.
func (m meter) heap() int64 {
	metrics.Read(m)
	return int64(m[0].Value.Uint64())
}

func heapUsed() int64 { return newMeter().heap() }

// grow refuses n bytes that a cell asks for at once if they exceed the limit. The
// watch comes too late for these, and the Go runtime ends the process where the
// system refuses memory.
func grow(limit, n int64) error {
	if n <= limit && heapUsed()+n <= 2*limit {
		return nil
	}
	runtime.GC()
	if used := heapUsed(); used > limit-n {
		return overMemory(limit, used+n)
	}
	return nil
}

// growth is grow for the machine; nil without a limit.
func growth(limit int64) func(int64) error {
	if limit <= 0 {
		return nil
	}
	return func(n int64) error { return grow(limit, n) }
}

// overMemory is the error of a cell that needs more memory than the limit.
func overMemory(limit, need int64) *Error {
	return fail(kindMemory, fmt.Sprintf("memory: %s are needed, and the limit is %s", size(need), size(limit)),
		"assign nil to variables with large values, or start noema with a higher --memory")
}

// stopForMemory stops the running cell and all goroutines of cells.
func (ws *workspace) stopForMemory(err *Error) {
	alone := ws.machine.Current() == nil
	ws.machine.StopAll(err)
	if alone { // said once it is so: a cell that follows is not stopped by it
		fmt.Fprintf(ws.stderr, "the goroutines of cells are stopped: %v\n", err)
	}
}

// size formats a number of bytes.
func size(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
