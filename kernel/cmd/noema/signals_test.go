package main

import (
	"context"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// sent is a signal at a time.
type sent struct {
	after time.Duration
	sig   os.Signal
}

func TestSignals(t *testing.T) {
	const term, soon = syscall.SIGTERM, 50 * time.Millisecond
	for _, c := range []struct {
		name             string
		session          bool
		sent             []sent
		cancelled, ended time.Duration // after the start; 0 is never
	}{
		{"one", false, []sent{{soon, os.Interrupt}}, soon, soon + grace},
		{"twice at once", false, []sent{{soon, term}, {2 * soon, term}}, soon, soon + grace},
		{"two", false, []sent{{soon, os.Interrupt}, {time.Second, term}}, soon, time.Second},
		{"interrupt of a session", true, []sent{{soon, os.Interrupt}, {time.Second, os.Interrupt}}, 0, 0},
		{"end of a session", true, []sent{{soon, os.Interrupt}, {time.Second, term}}, time.Second, time.Second + grace},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cancelled, ended time.Duration
				begin := time.Now()
				s := &signals{stderr: io.Discard, exit: func(int) {
					ended = time.Since(begin)
					runtime.Goexit()
				}}
				if c.session {
					s.leaveInterrupts()
				}
				came, over := make(chan os.Signal, 8), make(chan struct{})
				ctx, cancel := context.WithCancel(t.Context())
				context.AfterFunc(ctx, func() { cancelled = time.Since(begin) })
				go s.guard(came, over, cancel)
				for _, next := range c.sent {
					time.AfterFunc(next.after, func() { came <- next.sig })
				}
				<-time.After(3 * time.Second)
				synctest.Wait()
				if cancelled != c.cancelled || ended != c.ended {
					t.Errorf("cancelled after %v and ended after %v, want %v and %v", cancelled, ended, c.cancelled, c.ended)
				}
				close(over)
			})
		})
	}
}
