// Command noema compares LLM reasoning methods side by side, keeps every
// answer, and replays experiments exactly. Run "noema help" for its verbs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"noema/kernel/lab"
	"noema/kernel/run/cluster"
	"noema/kernel/session/builtin"
	"noema/kernel/show/report"
)

// Exit codes, beside 0 for success.
const (
	exitError    = 1
	exitUsage    = 2
	exitFailed   = 3 // the run finished, but some trials failed
	exitDiverged = 4 // the replay is not the run, or a notebook shows something else
)

func main() { noema(queueServer()) }

// noema is the program, with what starts the server for workers; nil where it has none.
func noema(queue cluster.StartServer) {
	if builtin.Serve(os.Args[1:]) {
		return
	}
	builtin.TuneMemory()
	// The runtime ends with code 2, as for wrong usage, when memory is out and
	// after a panic; this has it end by SIGABRT, which shells show as 134.
	debug.SetTraceback("crash")
	guard := &signals{exit: os.Exit, stderr: os.Stderr}
	ctx, stop := guard.watch(context.Background())
	code := run(ctx, guard, queue, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one command line and returns its exit code. Output that was lost
// is an error, whatever else the command came to.
func run(ctx context.Context, guard *signals, queue cluster.StartServer, args []string, stdout, stderr io.Writer) int {
	out, lost, printed := outputTo(stdout)
	a := &app{stdout: out, printed: printed, stderr: stderr, stdin: newLineReader(os.Stdin), signals: guard, queue: queue}
	code := a.run(ctx, args)
	a.close()
	if err := lost(); err != nil {
		fmt.Fprintln(stderr, "noema:", err)
		return exitError
	}
	return code
}

// run executes the command line and prints its error.
func (a *app) run(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(a.moved(args))
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if wantsJSON(cmd, args) && !a.printed() {
		_ = report.JSON(a.stdout, a.asJSON(ctx, err)) // output that is lost is told by the caller
	}
	if exit, ok := errors.AsType[*codedError](err); ok {
		if exit.err != nil {
			fmt.Fprintln(a.stderr, "noema:", a.redactor.Text(report.Plain(exit.err.Error())))
		}
		return exit.code
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		fmt.Fprintln(a.stderr, "noema: interrupted")
		return exitError
	}
	fmt.Fprintln(a.stderr, "noema:", a.redactor.Text(report.Plain(err.Error())))
	if lab.IsMisuse(err) {
		return exitUsage
	}
	return exitError
}

// codedError carries an exit code; without err there is nothing more to say.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codedError) Unwrap() error { return e.err }

// usage marks err as a mistake in the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &codedError{code: exitUsage, err: err}
}
