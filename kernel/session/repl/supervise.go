package repl

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// Supervise runs a session at the process's terminal in a child process, and
// another one when that has died and left cells in its journal: after a fatal error
// of the Go runtime, which no code survives, a kill, or Ctrl-\. One that has run no
// cell has no successor, which would die as well. child makes the command, whose
// process runs a session with that journal; [Supervised] tells it when this process
// has died. The exit code is that of the last one.
func Supervise(ctx context.Context, journal string, child func() *exec.Cmd) (exit int, err error) {
	signals := make(chan os.Signal, 1) // the terminal sends them to the child, too
	signal.Notify(signals, os.Interrupt, syscall.SIGQUIT, syscall.SIGHUP)
	defer signal.Stop(signals)
	_ = os.Remove(journal) // of another session, if at all
	stdin := int(os.Stdin.Fd())
	before, stateErr := term.GetState(stdin)
	for kept := int64(0); ; {
		state, err := runChild(child())
		if err != nil {
			return 1, fmt.Errorf("start the session's process: %w", err)
		}
		if stateErr == nil {
			_ = term.Restore(stdin, before)
		}
		code, hangup := exitCode(state), 128+int(syscall.SIGHUP)
		info, err := os.Stat(journal)
		if err != nil || info.Size() == kept || code == hangup || ctx.Err() != nil {
			_ = os.Remove(journal)
			return code, nil
		}
		kept = info.Size()
		fmt.Fprintf(os.Stderr, "\nthe session's process ended: %v; another one takes its place\n", state)
	}
}

// lifeline is the descriptor of a child that ends with this process.
const lifeline = 3

// runChild runs a child that has a lifeline.
func runChild(cmd *exec.Cmd) (*os.ProcessState, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{r}
	err = cmd.Start()
	r.Close()
	if err != nil {
		return nil, err
	}
	_ = cmd.Wait() // its state says all
	return cmd.ProcessState, nil
}

// Supervised returns a context that ends with the process that supervises this one.
// Ctrl-\ ends this one at once, without the runtime's dump of all goroutines.
func Supervised(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	syscall.CloseOnExec(lifeline)
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(lifeline, "lifeline"))
		cancel()
	}()
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() {
		<-quit
		os.Exit(128 + int(syscall.SIGQUIT))
	}()
	return ctx, cancel
}

// exitCode is the code of a process as shells have it.
func exitCode(state *os.ProcessState) int {
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return state.ExitCode()
}
