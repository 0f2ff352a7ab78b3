package methodtest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"noema/methods"
)

// hook sees calls before they are made; see [Before].
type hook func(context.Context, Step) error

// outcome is what one Solve came to.
type outcome struct {
	answer     methods.Answer
	err        error
	panicked   string // what it panicked with, and where
	hung       bool   // it did not return within the limit
	looped     bool   // it made more calls than the limit
	transcript Transcript
	host       *Host
}

// broken says what is wrong with o whatever was asked; empty if nothing is.
func (o outcome) broken() string {
	switch {
	case o.panicked != "":
		return "Solve panicked: " + o.panicked
	case o.looped:
		return "Solve goes on making calls: a limit on its retries is missing"
	case o.hung:
		return "Solve did not return"
	}
	return ""
}

// result is the answer or the error, for messages.
func (o outcome) result() string {
	if o.err != nil {
		return fmt.Sprintf("error %q", o.err)
	}
	return fmt.Sprintf("outcome %q with value %.80q", o.answer.Outcome, o.answer.Value)
}

// solve runs the case once with a fresh Host.
func (s *suite) solve(h hook) outcome {
	return s.solveWith(s.method, s.c.Problem, s.c.Model, h)
}

// solveWith runs m on p once. If Solve hangs, the check's context is cancelled,
// so that as much of it ends as can; the check has nothing more to learn. The
// context stays alive if Solve returns: what it left behind must not be ended
// for it.
func (s *suite) solveWith(m methods.Method, p methods.Problem, model methods.Model, h hook) outcome {
	if s.ctx.Err() != nil { // after a Solve that hung, or when the caller gave up
		return outcome{hung: true, host: NewHost(model)}
	}
	var looped atomic.Bool
	host := NewHost(model, WithTools(s.c.toolbox()), Before(func(ctx context.Context, step Step) error {
		if step.N > s.limits.calls {
			looped.Store(true)
			return fmt.Errorf("call %d: %w", step.N, methods.ErrBudget)
		}
		if h == nil {
			return nil
		}
		return h(ctx, step)
	}))
	timer := time.NewTimer(s.limits.solve)
	defer timer.Stop()
	var o outcome
	select {
	case o = <-start(s.ctx, m, p, host):
	case <-timer.C:
		s.cancel()
		o.hung = true
	}
	o.looped = looped.Load()
	o.transcript, o.host = host.Transcript(), host
	return o
}

// start runs Solve in a goroutine of its own and delivers what it came to.
func start(ctx context.Context, m methods.Method, p methods.Problem, h *Host) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if v := recover(); v != nil {
				o.panicked = fmt.Sprintf("%.300v, at %s", v, panicSite())
			}
			h.end()
			done <- o
		}()
		o.answer, o.err = m.Solve(ctx, p, h)
	}()
	return done
}

// panicSite is the line that panicked: in a stack, the frame below panic's own.
func panicSite() string {
	_, below, _ := strings.Cut(string(debug.Stack()), "\npanic(")
	lines := strings.Split(below, "\n")
	if len(lines) < 4 {
		return "an unknown line"
	}
	place, _, _ := strings.Cut(strings.TrimSpace(lines[3]), " +0x")
	return place
}

// longest is how long a call is kept waiting at most.
const longest = 4096 * time.Microsecond

// jitter is a hook that makes calls wait up to longest, by path and salt, so that
// concurrent calls finish in another order with each salt.
func jitter(salt byte) hook {
	return func(ctx context.Context, step Step) error { return wait(ctx, delay(salt, step)) }
}

// mirrored is jitter with the order of concurrent calls turned around: the one that is
// first there is last here.
func mirrored(salt byte) hook {
	return func(ctx context.Context, step Step) error { return wait(ctx, longest-delay(salt, step)) }
}

func delay(salt byte, step Step) time.Duration {
	h := fnv.New32a()
	h.Write([]byte{salt, byte(step.Draw)})
	h.Write([]byte(step.Path))
	return time.Duration(h.Sum32()) * time.Microsecond % longest
}

// wait returns after d, or with the context's error if that ends first.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// class names the error that err is to a caller.
func class(err error) string {
	if err == nil {
		return ""
	}
	for _, known := range []error{methods.ErrBudget, methods.ErrMiss, methods.ErrUnknownTool, methods.ErrProvider, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "another error"
}

// toolbox is the one of a new Solve.
func (c Case) toolbox() methods.Toolbox {
	if c.NewTools != nil {
		return c.NewTools()
	}
	return c.Tools
}
