package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/kernel/session/cell"
)

// sessionOptions are those of a session of cells of this command.
func (a *app) sessionOptions() builtin.SessionOptions {
	return builtin.SessionOptions{Lab: lab.Options{
		Home: a.home, PluginDirs: builtin.PluginDirs(a.pluginPath, a.home), Catalog: builtin.Catalog{}, Queue: a.queue, Debug: a.debug,
	}}
}

// script runs a file of Go and returns what main.go's exit codes need.
func (a *app) script(ctx context.Context, args []string, memory byteSize, engine engineName) error {
	o := a.sessionOptions()
	o.Args, o.Script, o.Memory, o.Engine = args, true, int64(memory), string(engine)
	session, l, err := builtin.NewSession(o)
	if err != nil {
		return err
	}
	defer session.Close()
	defer l.Close()
	err = session.RunFile(ctx, args[0], plainOutput{a.stdout, a.stderr, a.stdin})
	var e *cell.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &e):
		return err
	case e.Kind == "exit":
		return &codedError{code: e.Code}
	}
	fmt.Fprintln(a.stderr, e.Report())
	code := exitError
	if !slices.Contains([]string{"panic", "interrupted", "out of memory"}, e.Kind) {
		code = exitUsage
	}
	return &codedError{code: code}
}

// plainOutput is the output of a cell in a pipe or a terminal, as it comes.
type plainOutput struct {
	stdout, stderr io.Writer
	stdin          *lineReader
}

var _ cell.Output = plainOutput{}

// Stream implements [cell.Output].
func (o plainOutput) Stream(name string, text []byte) {
	w := o.stdout
	if name == "stderr" {
		w = o.stderr
	}
	_, _ = w.Write(text) // a reader that is gone ends the program by a signal
}

// Show implements [display.Screen]. What is shown again under an id is live and
// not for a pipe.
func (o plainOutput) Show(id string, b display.Bundle) {
	if id == "" {
		o.Stream("stdout", append(b[display.PlainText], '\n'))
	}
}

// Clear implements [display.Screen].
func (o plainOutput) Clear(bool) {}

// Input implements [cell.Output]: the next line of the standard input.
func (o plainOutput) Input(ctx context.Context, prompt string, _ bool) (string, error) {
	o.Stream("stdout", []byte(prompt))
	return o.stdin.line(ctx)
}
