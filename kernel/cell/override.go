package cell

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"reflect"
	"time"

	"noema/kernel/cell/internal/machine"
	"noema/kernel/cell/internal/source"
)

// overrides are the functions of the standard library that a cell gets in
// another form, because theirs would end the process, print past the session,
// read past it, or hold out against an interrupt. What each does is otherwise
// the same. Those that take a thread first get the calling one.
func (l *life) overrides(tables machine.Tables) machine.Tables {
	l.newFlags()
	return machine.Tables{
		"noema/cell/hooks/hooks": {source.ShowName: reflect.ValueOf(l.show)},
		"os/os": {
			"Exit":   reflect.ValueOf(l.exit),
			"Args":   reflect.ValueOf(&l.args).Elem(),
			"Stdout": reflect.ValueOf(&l.out).Elem(),
			"Stderr": reflect.ValueOf(&l.errs).Elem(),
		},
		"errors/errors":   {"As": reflect.ValueOf(func(err error, target any) bool { return l.machine.As(err, target) })},
		"reflect/reflect": {"DeepEqual": reflect.ValueOf(func(x, y any) bool { return l.machine.DeepEqual(x, y) })},
		"fmt/fmt":         l.printFunctions(),
		"time/time":       {"Sleep": reflect.ValueOf(l.sleep)},
		"log/log":         l.logFunctions(tables["log/log"]),
		"flag/flag":       l.flagFunctions(tables["flag/flag"]),
	}
}

// printFunctions are those of package fmt that print to os.Stdout and read from
// os.Stdin, which in a cell are the session's.
func (l *life) printFunctions() map[string]reflect.Value {
	out := variable{&l.out}
	return map[string]reflect.Value{
		"Print":   reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fprint(out, a...) }),
		"Println": reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fprintln(out, a...) }),
		"Printf":  reflect.ValueOf(func(format string, a ...any) (int, error) { return fmt.Fprintf(out, format, a...) }),
		"Scan":    reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fscan(l.input, a...) }),
		"Scanln":  reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fscanln(l.input, a...) }),
		"Scanf":   reflect.ValueOf(func(format string, a ...any) (int, error) { return fmt.Fscanf(l.input, format, a...) }),
	}
}

// sleep is time.Sleep that an interrupt ends.
func (l *life) sleep(th *machine.Thread, d time.Duration) { th.Sleep(d) }

// exitStatus is the reason of an execution that called os.Exit.
type exitStatus int

func (exitStatus) Error() string { return "exit" }

// exit is os.Exit for a cell: the cell and its goroutines end and nothing that
// they do or print from then on shows. It does not return.
func (l *life) exit(th *machine.Thread, code int) {
	l.flush()
	th.Stop(exitStatus(code), false)
	if l.machine.Current() == th.Execution {
		l.mute()
	}
	th.Check()
}

// logFunctions are those of package log on a logger that prints to the cell.
func (l *life) logFunctions(table map[string]reflect.Value) map[string]reflect.Value {
	logger := log.New(variable{&l.errs}, "", log.LstdFlags)
	all := methodsAs(table, reflect.ValueOf(logger))
	fatal := func(print func(...any)) func(*machine.Thread, ...any) {
		return func(th *machine.Thread, v ...any) {
			for i := range v {
				v[i] = l.machine.View(v[i])
			}
			print(v...)
			l.exit(th, 1)
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

// newFlags forgets the flags that were defined.
func (l *life) newFlags() {
	name := ""
	if len(l.args) > 0 {
		name = l.args[0]
	}
	*l.flags = *flag.NewFlagSet(name, flag.ContinueOnError)
	l.flags.SetOutput(l.stderr)
	l.flags.Usage = func() {
		fmt.Fprintf(l.stderr, "Usage of %s:\n", name)
		l.flags.PrintDefaults()
	}
}

// flagFunctions are those of package flag on a set of the session's own, so
// that each script may define its flags anew and a wrong one does not end the
// process.
func (l *life) flagFunctions(table map[string]reflect.Value) map[string]reflect.Value {
	all := methodsAs(table, reflect.ValueOf(l.flags))
	all["CommandLine"] = reflect.ValueOf(&l.flags).Elem()
	all["Usage"] = reflect.ValueOf(&l.flags.Usage).Elem()
	all["Parse"] = reflect.ValueOf(func(th *machine.Thread) {
		switch err := l.flags.Parse(l.args[min(1, len(l.args)):]); {
		case errors.Is(err, flag.ErrHelp):
			l.exit(th, 0)
		case err != nil:
			l.exit(th, 2)
		}
	})
	all["NewFlagSet"] = reflect.ValueOf(func(name string, handling flag.ErrorHandling) *flag.FlagSet {
		if handling == flag.ExitOnError {
			handling = flag.PanicOnError
		}
		set := flag.NewFlagSet(name, handling)
		set.SetOutput(l.stderr)
		return set
	})
	return all
}

// methodsAs gives for every function of the table the method of that name and
// type: log.Printf for the method Printf of a logger.
func methodsAs(table map[string]reflect.Value, receiver reflect.Value) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for name, f := range table {
		if m := receiver.MethodByName(name); m.IsValid() && f.Kind() == reflect.Func && m.Type() == f.Type() {
			all[name] = m
		}
	}
	return all
}
