package cell

import (
	"fmt"
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
	for {
		select {
		case <-ticker.C:
		case <-s.over:
			return
		}
		ws, number, begun := s.present(), s.Count(), time.Now()
		if heapUsed() <= limit {
			allowed, of = limit, number
			ticker.Reset(watchEvery)
			continue
		}
		if !ws.machine.Busy() {
			continue
		}
		release := ws.machine.Hold()
		runtime.GC() // without what is garbage
		used := heapUsed()
		if number != of {
			allowed, of = max(limit, used+limit/64), number
		}
		if used > allowed {
			ws.stopForMemory(overMemory(limit, used))
			allowed = used + limit/64 // what was stopped takes a moment to let go
		}
		release()
		if used < limit-limit/8 {
			begun = time.Now() // nothing to wait for
		}
		ticker.Reset(max(watchEvery, time.Since(begun)))
	}
}

// heapUsed is how many bytes of the heap objects take, with those that are garbage.
func heapUsed() int64 {
	m := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(m)
	return int64(m[0].Value.Uint64())
}

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
	if ws.machine.Current() == nil {
		fmt.Fprintf(ws.stderr, "the goroutines of cells are stopped: %v\n", err)
	}
	ws.machine.StopAll(err)
}

// size formats a number of bytes.
func size(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
