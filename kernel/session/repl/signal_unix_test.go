//go:build unix

package repl

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"noema/kernel/session/cell"
)

// kill sends a signal to the test's own process, where a REPL runs.
func kill(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(syscall.Getpid(), s); err != nil {
		t.Error(err)
	}
}

// TestInterruptEndsTheCell interrupts a cell in a pipe; the next one runs.
func TestInterruptEndsTheCell(t *testing.T) {
	out := &safeBuffer{}
	s := &scripted{Session: realSession(t), cells: map[string]func(context.Context, cell.Output) error{
		"wait\n": func(ctx context.Context, _ cell.Output) error {
			kill(t, syscall.SIGINT)
			<-ctx.Done()
			return &cell.Error{Kind: "interrupted", Faults: []cell.Fault{{Message: "interrupted"}}}
		},
		"print\n": func(ctx context.Context, out cell.Output) error {
			out.Stream("stdout", []byte("printed\n"))
			return ctx.Err()
		},
	}}
	exit, err := Run(t.Context(), s, Options{In: strings.NewReader("wait\nprint\n"), Out: out, Err: out})
	if got := out.String(); exit != 1 || err != nil || got != "interrupted\nprinted\n" {
		t.Errorf("exit %d, %v, prints %q", exit, err, got)
	}
}

// TestInterruptedReadLosesNoLine interrupts a cell that waits for a line; what
// comes later is the next cell.
func TestInterruptedReadLosesNoLine(t *testing.T) {
	in, feed := io.Pipe()
	out := &safeBuffer{}
	s := &scripted{Session: realSession(t), cells: map[string]func(context.Context, cell.Output) error{
		"ask\n": func(ctx context.Context, o cell.Output) error {
			kill(t, syscall.SIGINT)
			_, err := o.Input(ctx, "", false)
			go func() {
				_, _ = io.WriteString(feed, "print\n")
				_ = feed.Close()
			}()
			return err
		},
		"print\n": func(_ context.Context, o cell.Output) error {
			o.Stream("stdout", []byte("printed\n"))
			return nil
		},
	}}
	go func() { _, _ = io.WriteString(feed, "ask\n") }()
	exit, err := Run(t.Context(), s, Options{In: in, Out: out, Err: out})
	if got := out.String(); exit != 1 || err != nil || !strings.HasSuffix(got, "\nprinted\n") {
		t.Errorf("exit %d, %v, prints %q", exit, err, got)
	}
}

// waiting is an input on which nothing comes; it says that it is read.
type waiting struct{ begun chan struct{} }

func (w waiting) Read([]byte) (int, error) {
	close(w.begun)
	select {}
}

// TestSignalsEndAWait sends signals to a REPL that waits for input.
func TestSignalsEndAWait(t *testing.T) {
	for s, code := range map[syscall.Signal]int{syscall.SIGINT: exitInterrupted, syscall.SIGTERM: exitTerminated} {
		w := waiting{make(chan struct{})}
		go func() {
			<-w.begun
			kill(t, s)
		}()
		exit, err := Run(t.Context(), realSession(t), Options{In: w, Out: io.Discard, Err: io.Discard})
		if exit != code || err != nil {
			t.Errorf("%v: exit %d, %v, want %d", s, exit, err, code)
		}
	}
}

// TestShellCommandEndsAtInterrupt ends a command that would take a minute.
func TestShellCommandEndsAtInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := onWrite{cancel}
	r := &repl{o: Options{Out: out, Err: out}}
	if err := r.shellCommand(ctx, "echo begun; exec sleep 60"); !errors.Is(err, errInterrupted) {
		t.Errorf("ends with %v", err)
	}
}

// onWrite calls a function when something is written.
type onWrite struct{ call func() }

func (w onWrite) Write(p []byte) (int, error) {
	w.call()
	return len(p), nil
}
