package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// Times around a signal. A command has two seconds to end, whatever it does.
const (
	grace = 1800 * time.Millisecond
	// echo is how soon a second signal is still the first: timeout(1) and some
	// terminals send it to the process and again to its group.
	echo = 150 * time.Millisecond
)

// signals ends the program on SIGINT and SIGTERM. The first cancels the context;
// a second one, or the grace that has passed, ends the process at once: work that
// looks at no context, such as a library that parses a file, cannot hold it.
type signals struct {
	interrupts atomic.Bool // SIGINT is for the session, which handles it
	exit       func(code int)
	stderr     io.Writer
}

// leaveInterrupts leaves SIGINT to a session, in which it ends a cell.
func (s *signals) leaveInterrupts() { s.interrupts.Store(true) }

// watch returns a context that ends with the first signal.
func (s *signals) watch(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	came := make(chan os.Signal, 8)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	go s.guard(came, over, cancel)
	if parent, err := strconv.Atoi(os.Getenv(parentVariable)); err == nil {
		signal.Ignore(syscall.SIGPIPE) // of what it prints for a program that is gone
		go follow(parent, came, over)
	}
	return ctx, func() {
		signal.Stop(came)
		close(over)
		cancel()
	}
}

// parentPoll is how often the command looks whether the program that started it is there.
const parentPoll = 100 * time.Millisecond

// follow sends a signal once this process has another parent.
func follow(parent int, came chan<- os.Signal, over <-chan struct{}) {
	tick := time.NewTicker(parentPoll)
	defer tick.Stop()
	for os.Getppid() == parent {
		select {
		case <-over:
			return
		case <-tick.C:
		}
	}
	came <- syscall.SIGTERM
}

func (s *signals) guard(came <-chan os.Signal, over <-chan struct{}, cancel context.CancelFunc) {
	var first time.Time
	var late <-chan time.Time
	for {
		select {
		case <-over:
			return
		case sig := <-came:
			switch {
			case sig == os.Interrupt && s.interrupts.Load():
			case late == nil:
				cancel()
				first, late = time.Now(), time.After(grace)
			case time.Since(first) > echo:
				s.exit(exitError)
			}
		case <-late:
			fmt.Fprintln(s.stderr, "noema: interrupted: ended at once, because the command did not end by itself; no finished trial is lost")
			s.exit(exitError)
		}
	}
}
