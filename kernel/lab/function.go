package lab

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/methods"
	"noema/plugins"
)

// Solve is a method as a function: it may see the problem, and asks for model
// and tools through the host.
type Solve func(ctx context.Context, p Problem, h Host) (Answer, error)

// functionPath stands for a plugin's path in the records of methods that are
// functions of a script.
const functionPath = "function of a script"

// function is a Solve with its name, as a method. Code is the digest of its code, where that
// is known.
type function struct {
	methods.Function
	code string
}

var functionName = regexp.MustCompile(`^[a-z][a-z0-9-]*(@[A-Za-z0-9.-]+)?$`)

// AddMethod makes solve a method of this Lab, to be named in experiments like
// any other. It answers problems of the given kinds.
//
// A function runs in the kernel's process, with its rights and its fate; a
// plugin has a process of its own. Its identity, in records and root hashes, is
// its name alone, since a function's code cannot be digested: when its behaviour
// changes, name a version, as in "majority@2". A run with functions is never
// taken up where another execution left it, for the code may have changed.
func (l *Lab) AddMethod(name string, solve Solve, kinds ...AnswerKind) error {
	switch {
	case solve == nil:
		return Misused(fmt.Errorf("add method %q: the function is nil", name))
	case len(kinds) == 0:
		return Misused(fmt.Errorf("add method %q: say which kinds of answer it gives, such as Number", name))
	}
	return l.addFunction(name, function{methods.Function{Description: methods.Description{Answers: kinds}, Func: solve}, ""})
}

// AddFunctions makes the functions of another program, which listens at a Unix socket, methods
// of this Lab; see [plugins.Function]. Their code is part of their identity, so that a run
// with them goes on where it was interrupted.
func (l *Lab) AddFunctions(address string) error {
	all, err := plugins.Functions(l.o.Context(), address)
	if err != nil {
		return err
	}
	for _, f := range all {
		if err := l.addFunction(f.Description.Name, function{methods.Function{Description: f.Description, Func: f.Solve}, f.Code}); err != nil {
			return err
		}
	}
	return nil
}

// addFunction gives f a name, which may have a version.
func (l *Lab) addFunction(name string, f function) error {
	if !functionName.MatchString(name) {
		return Misused(fmt.Errorf("add method %q: a name has small letters, digits and -, and may have a version, as in my-method@2", name))
	}
	base, version, _ := strings.Cut(name, "@")
	if slices.Contains(l.o.Catalog.Methods(), base) {
		return Misused(fmt.Errorf("add method %q: a built-in method has this name", name))
	}
	if version == "" || version == "1" {
		name, version = base, "1"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f.Description.Name, f.Description.Version = base, version
	l.functions[name] = f
	return nil
}

// Solve implements [methods.Method]. A panic is the trial's failure alone.
func (f function) Solve(ctx context.Context, p Problem, h Host) (a Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("method %q panicked: %v", f.Description.Name, r)
		}
	}()
	return f.Func(recovering{ctx}, p, h)
}

// recovering is the context of a function. It tells the machine of cells that
// panics are recovered, also those of goroutines that the function started.
type recovering struct{ context.Context }

// RecoversPanics marks the context.
func (recovering) RecoversPanics() {}

func (f function) method() runner.Method {
	name := f.Description.Name
	if f.Description.Version != "1" {
		name += "@" + f.Description.Version
	}
	return runner.Method{
		Solver: f, Description: f.Description,
		Code:   f.code,
		Plugin: record.Plugin{Method: name, Path: functionPath, Digest: f.code, Isolation: "not isolated, and not repeated in a fresh process, as it runs in the program that compares it", Weak: true},
	}
}

// fleeting reports whether m is a function whose code is not known, and may have changed.
func fleeting(m runner.Method) bool { return m.Plugin.Path == functionPath && m.Code == "" }

func (l *Lab) function(name string) (function, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, ok := l.functions[name]
	return f, ok
}

func (l *Lab) functionNames() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sortedKeys(l.functions)
}
