package cell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"noema/kernel/base/display"
	"noema/kernel/base/files"
	"noema/kernel/session/cell/internal/machine"
)

// interruptGrace is how long an interrupt waits for goroutines to end.
const interruptGrace = 500 * time.Millisecond

// maxLines bounds the lines of a text.
const maxLines = 100_000

// errInterrupted is the reason of an execution that was stopped from outside.
var errInterrupted = errors.New("interrupted")

// job is a text to run: a cell or a script.
type job struct {
	text   string
	source string // its name in faults
	dir    string // of a script
	script bool
}

// outcome is the result of a cell's goroutine.
type outcome struct {
	value display.Bundle
	err   error
}

// Run runs a cell and returns when its last statement has run. Goroutines that
// it started may continue; if one panics while the cell runs, the cell fails.
// Run's error is an [*Error]. When ctx ends the cell is interrupted: Run returns
// within a second, and the session remains usable.
//
// One cell runs at a time: a second Run waits for the first, or for its ctx.
// All output reaches out before Run returns.
func (s *Session) Run(ctx context.Context, text string, out Output) (*Result, error) {
	return s.run(ctx, job{text: text}, out)
}

// RunFile runs a script, a file of package main. After os.Exit(0) the error is
// nil; after another code it is an [*Error] of kind "exit". Every script starts
// with no flags defined.
func (s *Session) RunFile(ctx context.Context, path string, out Output) error {
	text, err := files.Read(path, files.MaxText)
	if err != nil {
		return fail(kindUnsupported, "read script: "+err.Error(), "")
	}
	_, err = s.run(ctx, job{text: string(text), source: filepath.Base(path), dir: filepath.Dir(path), script: true}, out)
	var e *Error
	if errors.As(err, &e) && e.Kind == kindExit && e.Code == 0 {
		return nil
	}
	return err
}

func (s *Session) run(ctx context.Context, j job, out Output) (*Result, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // which a free turn may hide
		return nil, fail(kindInterrupted, "interrupted before the cell started", "")
	}
	ws, number, err := s.next()
	if err != nil {
		return nil, err
	}
	s.console.direct(out)
	defer s.console.direct(nil)
	defer s.console.flush()
	value, err := ws.run(ctx, j, number)
	if err != nil {
		return nil, err
	}
	return &Result{Value: value}, nil
}

// next returns the workspace and number of the next cell.
func (s *Session) next() (*workspace, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, 0, fail(kindInterrupted, errClosed.Error(), "")
	}
	s.count++
	return s.workspace, s.count, nil
}

// run runs a text in a goroutine of its own and waits for its end.
func (ws *workspace) run(ctx context.Context, j job, number int) (display.Bundle, error) {
	if err := CheckText(j.text); err != nil {
		return nil, err
	}
	if j.source == "" {
		j.source = fmt.Sprintf("cell %d", number)
	}
	ws.input.reset()
	e := ws.machine.Begin(ctx, number)
	defer ws.machine.End(e)
	defer ws.shown.Delete(e)
	var o outcome
	over := e.Go(func(th *machine.Thread) { o.value, o.err = ws.execute(th, j, number) })
	ended := false
	select {
	case <-over:
		ended = true
	case <-ctx.Done():
		e.Stop(errInterrupted, true)
	case <-e.Done():
	}
	ended = awaitEnd(e, over) || ended
	if reason := e.Reason(); reason != nil && (!ended || o.err == nil) {
		return nil, stoppedError(e, reason)
	}
	if !ended {
		return nil, stoppedError(e, errInterrupted)
	}
	return o.value, o.err
}

// awaitEnd waits for the goroutines of a stopped execution to unwind, or, briefly,
// for those of a finished one that may be about to panic. It reports whether the
// cell's own statements have ended.
func awaitEnd(e *machine.Execution, over <-chan struct{}) bool {
	wait := interruptGrace
	if e.Reason() == nil {
		wait = 5 * time.Millisecond
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-e.Gone():
	case <-timer.C:
	}
	select {
	case <-over:
		return true
	default:
		return false
	}
}

// maxText bounds the bytes of a cell or script, which take some hundred times as many to
// check and compile.
const maxText = 2 << 20

// CheckText rejects texts that later steps could not read.
func CheckText(text string) error {
	switch {
	case len(text) > maxText:
		return fail(kindUnsupported, fmt.Sprintf("the text has %.1f MiB: a cell or script may have %d", float64(len(text))/(1<<20), maxText>>20), "read data from a file")
	case strings.Count(text, "\n") >= maxLines:
		return fail(kindUnsupported, fmt.Sprintf("the text has more than %d lines", maxLines), "split it")
	case !utf8.ValidString(text):
		return fail(kindSyntax, "the text is not UTF-8", "")
	}
	return nil
}

// execute compiles a cell, records its declarations, and runs its statements. It
// runs in the cell's own goroutine.
func (ws *workspace) execute(th *machine.Thread, j job, number int) (display.Bundle, error) {
	call, err := ws.compile(j, number)
	if err != nil {
		return nil, asError(err)
	}
	if call == nil || th.Reason() != nil {
		return nil, nil
	}
	call(th)
	if value, ok := ws.shown.Load(th.Execution); ok {
		return value.(display.Bundle), nil
	}
	return nil, nil
}

// compile returns a function that runs the text.
func (ws *workspace) compile(j job, number int) (func(*machine.Thread), error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if j.script {
		ws.newFlags()
		ws.importer.Stand(j.dir)
	}
	steps, err := ws.prepare(j, number)
	if err != nil || len(steps) == 0 {
		return nil, err
	}
	return func(th *machine.Thread) {
		for _, step := range steps {
			step(th)
		}
	}, nil
}

// show keeps the display of a cell's last expression; the value itself may change
// later.
func (ws *workspace) show(th *machine.Thread, values ...any) {
	views := make([]any, len(values))
	for i, v := range values {
		views[i] = ws.machine.View(v)
	}
	if b := shown(views); b != nil {
		ws.shown.Store(th.Execution, b)
	}
}

// shown is the display of an expression's values. A nil error after other values
// is left out, and so are nil pointers before an error.
func shown(values []any) display.Bundle {
	if n := len(values); n > 1 && values[n-1] == nil {
		values = values[:n-1]
	} else if n > 1 {
		if _, failed := values[n-1].(error); failed {
			values = slices.DeleteFunc(values, isNil)
		}
	}
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == nil:
		return nil
	case len(values) == 1:
		return display.Of(values[0])
	}
	text := []byte{}
	for i, v := range values {
		one := display.Of(v)[display.PlainText]
		if _, failed := v.(error); failed && bytes.HasPrefix(text, one) {
			continue // the value before shows it
		}
		if i > 0 {
			text = append(text, '\n')
		}
		text = append(text, one...)
	}
	return display.Text(string(text))
}

// isNil reports whether a value is nil or a nil pointer, which has nothing to show.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}
