package methodtest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"noema/methods"
)

// cancelled: when the context is cancelled, before Solve starts or while its
// n-th call waits for a reply, Solve returns within 100 ms, or twice what it took to
// make that call, and not with an answer that claims to be a result. A busy machine
// delays both, and anything, so that being late counts only three times in a row.
func (s *suite) cancelled() {
	const attempts = 3
	for _, n := range append([]int{0}, s.points()...) {
		var fault string
		for left := attempts; left > 0; left-- {
			var late bool
			fault, late = s.cancelAt(n)
			if !late {
				break
			}
		}
		if fault != "" {
			s.fault("%s", fault)
			return
		}
	}
}

// cancelAt cancels while the n-th call waits, or before Solve if n is 0. It
// returns what was wrong, and whether that was only a delay.
func (s *suite) cancelAt(n int) (fault string, late bool) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	stuck := newBlock(n)
	defer stuck.open()
	when := fmt.Sprintf("cancelled during call %d: ", n)
	if n == 0 {
		when = "cancelled before Solve: "
		cancel()
	}
	began, most := time.Now(), s.limits.cancel
	done := start(ctx, s.method, s.c.Problem, NewHost(s.c.Model, WithTools(s.c.toolbox()), Before(stuck.wait)))
	if n > 0 {
		if o, early := s.reach(stuck, done); early {
			return o.broken(), false // it needed fewer calls this time, panicked or hangs
		}
		most = max(most, 2*time.Since(began))
		cancel()
	}
	began = time.Now()
	o, ended := await(done, s.limits.solve)
	if !ended {
		stuck.open()
		await(done, s.limits.linger) // so that it does not disturb what comes next
		return fmt.Sprintf("%sSolve had not returned after %v", when, s.limits.solve), false
	}
	if took := time.Since(began); took > most {
		return fmt.Sprintf("%sSolve returned after %v, not within %v", when, took.Round(time.Millisecond), most.Round(time.Millisecond)), true
	}
	if b := o.broken(); b != "" {
		return when + b, false
	}
	if o.err == nil && n > 0 && o.answer.Outcome == methods.Answered {
		return when + "want an error or another outcome, got " + o.result(), false
	}
	return "", false
}

// await waits for a Solve, and reports whether it has ended in time.
func await(done <-chan outcome, d time.Duration) (outcome, bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case o := <-done:
		return o, true
	case <-timer.C:
		return outcome{}, false
	}
}

// block makes the n-th call and those after it wait for their context.
type block struct {
	n       int
	arrived func()
	open    func() // lets go of calls whose context never ends
	at      chan struct{}
	opened  chan struct{}
}

func newBlock(n int) *block {
	b := &block{n: n, at: make(chan struct{}), opened: make(chan struct{})}
	b.arrived = sync.OnceFunc(func() { close(b.at) })
	b.open = sync.OnceFunc(func() { close(b.opened) })
	return b
}

func (b *block) wait(ctx context.Context, step Step) error {
	if step.N < b.n {
		return nil
	}
	b.arrived()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-b.opened:
		return fmt.Errorf("call %d: %w", step.N, context.Canceled)
	}
}

// reach waits for the call that b blocks. If Solve is done before, or hangs,
// it returns what that came to, and true.
func (s *suite) reach(b *block, done <-chan outcome) (outcome, bool) {
	timer := time.NewTimer(s.limits.solve)
	defer timer.Stop()
	select {
	case <-b.at:
		return outcome{}, false
	case o := <-done:
		return o, true
	case <-timer.C:
		return outcome{hung: true}, true
	}
}

// leak: no goroutine that a Solve started outlives it, whether it ended well,
// by a failing call or by cancellation, and none uses the Host afterwards. The
// contexts of Solves that were not cancelled stay alive meanwhile.
//
// Goroutines are told apart by a profiler label, which each inherits from the
// one that started it: other tests in the process do not matter, nor do the
// goroutines that a plugin's host keeps, since the first round is not labelled.
func (s *suite) leak() {
	const rounds = 3
	s.endings()
	id := fmt.Sprintf("%016x", rand.Uint64()) // any that no other check has
	var hosts []*Host
	pprof.Do(s.ctx, pprof.Labels(leakLabel, id), func(context.Context) {
		for range rounds {
			hosts = append(hosts, s.endings()...)
		}
	})
	if left := s.remaining(id); len(left) > 0 {
		s.fault("%d goroutines are left after %d Solves, such as %s", len(left), rounds*3, left[0])
	}
	for _, h := range hosts {
		if late := h.lateUses(); len(late) > 0 {
			s.fault("the Host was used after Solve had returned: %s", late[0])
			return
		}
	}
}

const leakLabel = "noema-methodtest"

// endings runs the case to its three ends: well, failed and cancelled.
func (s *suite) endings() []*Host {
	well := s.solve(nil)
	bad := s.solve(failing(methods.ErrProvider, func(step Step) bool { return step.N > 1 }))
	s.cancelAt(min(2, len(well.transcript.Calls)))
	return []*Host{well.host, bad.host}
}

// remaining waits until no goroutine carries the label, and returns those that
// still do at the limit.
func (s *suite) remaining(id string) []string {
	deadline := time.NewTimer(s.limits.linger)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		left := labelled(id)
		if len(left) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return left
		}
	}
}

// labelled lists the goroutines with the label, each by its stack in short.
func labelled(id string) []string {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return []string{"unknown: " + err.Error()}
	}
	var found []string
	want := fmt.Sprintf("%q:%q", leakLabel, id)
	for block := range strings.SplitSeq(profile.String(), "\n\n") {
		head, stack, _ := strings.Cut(block, "\n")
		if !strings.Contains(stack, want) {
			continue
		}
		var count int
		if _, err := fmt.Sscanf(head, "%d @", &count); err != nil {
			// The profile's first block begins with a line of its own. A count
			// that cannot be read at all is taken for one.
			_, _ = fmt.Sscanf(stack, "%d @", &count)
		}
		for range max(1, count) {
			found = append(found, ownFrame(stack))
		}
	}
	return found
}

// ownFrame is the first frame of a stack that is not the runtime's.
func ownFrame(stack string) string {
	for line := range strings.Lines(stack) {
		parts := strings.Fields(line)
		if len(parts) >= 4 && parts[0] == "#" && strings.Contains(parts[2], ".") && !isRuntime(parts[2]) {
			return parts[2] + " at " + parts[3]
		}
	}
	return "one in the runtime"
}

func isRuntime(function string) bool {
	for _, prefix := range []string{"runtime.", "internal/", "sync.", "time."} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}
