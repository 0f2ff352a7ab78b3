package cell

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"reflect"
	"strings"
	"time"

	"noema/kernel/session/cell/internal/machine"
	"noema/kernel/session/cell/internal/source"
)

// overrides replace functions of the standard library that would end the process,
// bypass the session's input and output, or ignore an interrupt. Otherwise they
// behave as the originals. A function whose first parameter is a thread receives
// the calling one.
func (ws *workspace) overrides(tables machine.Tables) machine.Tables {
	ws.newFlags()
	return machine.Tables{
		"noema/cell/hooks/hooks": {source.ShowName: reflect.ValueOf(ws.show)},
		"os/os": {
			"Exit":   reflect.ValueOf(ws.exit),
			"Args":   reflect.ValueOf(&ws.args).Elem(),
			"Stdout": reflect.ValueOf(&ws.out).Elem(),
			"Stderr": reflect.ValueOf(&ws.errs).Elem(),
		},
		"errors/errors":   {"As": reflect.ValueOf(func(err error, target any) bool { return ws.machine.As(err, target) })},
		"reflect/reflect": {"DeepEqual": reflect.ValueOf(func(x, y any) bool { return ws.machine.DeepEqual(x, y) })},
		"fmt/fmt":         ws.printFunctions(),
		"strings/strings": {"Repeat": reflect.ValueOf(func(th *machine.Thread, s string, n int) string {
			return repeat(th, strings.Repeat, s, n)
		})},
		"bytes/bytes": {"Repeat": reflect.ValueOf(func(th *machine.Thread, b []byte, n int) []byte {
			return repeat(th, bytes.Repeat, b, n)
		})},
		"time/time": {"Sleep": reflect.ValueOf(ws.sleep)},
		// The stack of a cell has a bound of its own; this one is the whole process's.
		"runtime/debug/debug": {
			"SetMaxStack": reflect.ValueOf(func(int) int { return 1 << 30 }),
			"Stack":       reflect.ValueOf(ws.stack),
			"PrintStack":  reflect.ValueOf(func(th *machine.Thread) { fmt.Fprintf(variable{&ws.errs}, "%s", ws.stack(th)) }),
		},
		"runtime/runtime": {
			"Breakpoint": reflect.ValueOf(func() {
				panic(errors.New("runtime.Breakpoint: a session has no debugger"))
			}),
			"Caller": reflect.ValueOf(ws.caller),
			"Stack":  reflect.ValueOf(func(th *machine.Thread, to []byte, _ bool) int { return copy(to, ws.stack(th)) }),
		},
		"log/log":   ws.logFunctions(tables["log/log"]),
		"flag/flag": ws.flagFunctions(tables["flag/flag"]),
	}
}

// printFunctions are the functions of package fmt that use os.Stdout and
// os.Stdin, here the session's.
func (ws *workspace) printFunctions() map[string]reflect.Value {
	out := variable{&ws.out}
	return map[string]reflect.Value{
		"Print":   reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fprint(out, a...) }),
		"Println": reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fprintln(out, a...) }),
		"Printf":  reflect.ValueOf(func(format string, a ...any) (int, error) { return fmt.Fprintf(out, format, a...) }),
		"Scan":    reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fscan(ws.input, a...) }),
		"Scanln":  reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fscanln(ws.input, a...) }),
		"Scanf":   reflect.ValueOf(func(format string, a ...any) (int, error) { return fmt.Fscanf(ws.input, format, a...) }),
	}
}

// caller is runtime.Caller for a cell. There are no program counters.
func (ws *workspace) caller(th *machine.Thread, skip int) (pc uintptr, file string, line int, ok bool) {
	trace := th.Trace()
	if skip < 0 || skip >= len(trace) {
		return 0, "", 0, false
	}
	at := ws.fset.Position(trace[skip].Pos)
	return 0, cmp.Or(at.Filename, "??"), at.Line, true
}

// stack is debug.Stack for a cell: the calls of its own functions.
func (ws *workspace) stack(th *machine.Thread) []byte {
	b := []byte("goroutine 1 [running]:\n")
	for _, f := range th.Trace() {
		at := ws.fset.Position(f.Pos)
		b = fmt.Appendf(b, "%s(...)\n\t%s:%d +0x0\n", f.Function, at.Filename, at.Line)
	}
	return b
}

// sleep is a time.Sleep that an interrupt ends.
func (ws *workspace) sleep(th *machine.Thread, d time.Duration) { th.Sleep(d) }

// repeat asks for what a function of the standard library takes at once. What
// overflows is the function's own panic.
func repeat[T string | []byte](th *machine.Thread, by func(T, int) T, of T, n int) T {
	if n > 0 && len(of) <= math.MaxInt/n {
		th.Allow(len(of) * n)
	}
	return by(of, n)
}

// exitStatus is the stop reason of an execution that called os.Exit.
type exitStatus int

func (exitStatus) Error() string { return "exit" }

// exit is os.Exit for a cell: it ends the cell and its goroutines and discards
// what they print from then on. It does not return.
func (ws *workspace) exit(th *machine.Thread, code int) {
	ws.flush()
	th.Stop(exitStatus(code), false)
	if ws.machine.Current() == th.Execution {
		ws.mute()
	}
	th.Check()
}

// logFunctions are the functions of package log, with a logger that prints to the
// cell.
func (ws *workspace) logFunctions(table map[string]reflect.Value) map[string]reflect.Value {
	logger := log.New(variable{&ws.errs}, "", log.LstdFlags)
	all := methodsAs(table, reflect.ValueOf(logger))
	fatal := func(print func(...any)) func(*machine.Thread, ...any) {
		return func(th *machine.Thread, v ...any) {
			for i := range v {
				v[i] = ws.machine.View(v[i])
			}
			print(v...)
			ws.exit(th, 1)
		}
	}
	all["Fatal"] = reflect.ValueOf(fatal(logger.Print))
	all["Fatalln"] = reflect.ValueOf(fatal(logger.Println))
	all["Fatalf"] = reflect.ValueOf(func(th *machine.Thread, format string, v ...any) {
		fatal(func(v ...any) { logger.Printf(format, v...) })(th, v...)
	})
	all["Default"] = reflect.ValueOf(func() *log.Logger { return logger })
	return all
}

// newFlags forgets all defined flags.
func (ws *workspace) newFlags() {
	name := ""
	if len(ws.args) > 0 {
		name = ws.args[0]
	}
	*ws.flags = *flag.NewFlagSet(name, flag.ContinueOnError)
	ws.flags.SetOutput(ws.stderr)
	ws.flags.Usage = func() {
		fmt.Fprintf(ws.stderr, "Usage of %s:\n", name)
		ws.flags.PrintDefaults()
	}
}

// flagFunctions are the functions of package flag on a flag set of the session,
// so that each script may define its own flags and a wrong one does not end the
// process.
func (ws *workspace) flagFunctions(table map[string]reflect.Value) map[string]reflect.Value {
	all := methodsAs(table, reflect.ValueOf(ws.flags))
	all["CommandLine"] = reflect.ValueOf(&ws.flags).Elem()
	all["Usage"] = reflect.ValueOf(&ws.flags.Usage).Elem()
	all["Parse"] = reflect.ValueOf(func(th *machine.Thread) {
		switch err := ws.flags.Parse(ws.args[min(1, len(ws.args)):]); {
		case errors.Is(err, flag.ErrHelp):
			ws.exit(th, 0)
		case err != nil:
			ws.exit(th, 2)
		}
	})
	all["NewFlagSet"] = reflect.ValueOf(func(name string, handling flag.ErrorHandling) *flag.FlagSet {
		if handling == flag.ExitOnError {
			handling = flag.PanicOnError
		}
		set := flag.NewFlagSet(name, handling)
		set.SetOutput(ws.stderr)
		return set
	})
	return all
}

// methodsAs finds, for each function of the table, the receiver's method of the
// same name and type: for log.Printf the method Printf of a logger.
func methodsAs(table map[string]reflect.Value, receiver reflect.Value) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for name, f := range table {
		if m := receiver.MethodByName(name); m.IsValid() && f.Kind() == reflect.Func && m.Type() == f.Type() {
			all[name] = m
		}
	}
	return all
}
