package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/files"
	"noema/kernel/session/cell"
	"noema/methods"
	"noema/plugins"
)

// serveFile runs a file of Go as a session's script. Its main calls plugins.Serve,
// which serves its method as that of a compiled plugin. The result is the
// process's exit code.
func serveFile(path string) int {
	var session *cell.Session
	serve := func(m methods.Method) { plugins.Serve(guarded{m, func(f func()) error { return session.Guard(f) }}) }
	session, err := cell.New(cell.Options{
		Args: []string{path}, Memory: fileMemory, Engine: engineOf(path),
		Symbols: map[string]map[string]reflect.Value{"noema/plugins/plugins": {"Serve": reflect.ValueOf(serve)}},
	})
	if err == nil {
		defer session.Close()
		session.Fallback(logOutput{os.Stderr})
		err = session.RunFile(context.Background(), path, logOutput{os.Stderr})
	}
	var e *cell.Error
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &e):
		fmt.Fprintln(os.Stderr, err)
	case e.Kind == "exit":
		return e.Code
	case e.Kind == "unsupported" && engineOf(path) != "": // its hint is for sessions
		fmt.Fprintf(os.Stderr, "%s\nor leave out the line //noema:engine, which chooses the engine of this file\n", e.Report())
	case e.Kind == "out of memory": // its hint is for cells
		fmt.Fprintln(os.Stderr, e)
	default:
		fmt.Fprintln(os.Stderr, e.Report())
	}
	return 2 // as a compiled program after a panic
}

// engineLine names the engine of a file, at the beginning of a line of it. It is the
// file's, so that the digest of its code covers it.
var engineLine = regexp.MustCompile(`(?m)^//noema:engine (\S+)\s*$`)

// engineOf is the engine that a file asks for; empty for the default.
func engineOf(path string) string {
	text, err := files.Read(path, files.MaxText)
	if found := engineLine.FindSubmatch(text); err == nil && found != nil {
		return string(found[1])
	}
	return "" // a file that cannot be read is told when it is run
}

// fileMemory bounds, in bytes, what the code of a file allocates at once. It is the
// default of [plugins.Limits], which bounds the process.
const fileMemory = 4 << 30

// guarded is an interpreted method whose panic fails its trial alone.
type guarded struct {
	methods.Method
	guard func(func()) error
}

// Describe implements [methods.Describer].
func (g guarded) Describe() methods.Description {
	if d, ok := g.Method.(methods.Describer); ok {
		return d.Describe()
	}
	return methods.Description{}
}

// Solve implements [methods.Method].
func (g guarded) Solve(ctx context.Context, p methods.Problem, h methods.Host) (a methods.Answer, err error) {
	fault := g.guard(func() { a, err = g.Method.Solve(ctx, p, h) })
	var e *cell.Error
	if !errors.As(fault, &e) {
		return a, err
	}
	if e.Kind == "interrupted" {
		select {} // the process is about to end, and says why
	}
	panic(filePanic{e})
}

// filePanic is the panic of an interpreted method. Its text and stack are those of
// the file.
type filePanic struct{ fault *cell.Error }

// Error says what happened, and where in the file.
func (p filePanic) Error() string {
	f := p.fault.Faults[0]
	return f.At() + f.Message
}

// Stack is where the file panicked; see [plugins.Serve].
func (p filePanic) Stack() []byte { return []byte(strings.Join(p.fault.Trace, "\n") + "\n") }

// logOutput is the output of a file's code: the plugin's log.
type logOutput struct{ log *os.File }

var _ cell.Output = logOutput{}

// Stream implements [cell.Output].
func (o logOutput) Stream(_ string, text []byte) { _, _ = o.log.Write(text) }

// Show implements [display.Screen].
func (o logOutput) Show(_ string, b display.Bundle) { o.Stream("", append(b[display.PlainText], '\n')) }

// Clear implements [display.Screen].
func (logOutput) Clear(bool) {}

// Input implements [cell.Output].
func (logOutput) Input(context.Context, string, bool) (string, error) {
	return "", errors.New("read input: a method cannot read input")
}
