package cell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"noema/kernel/cell/internal/machine"
	"noema/kernel/display"
)

// patience is how long an interrupt waits for goroutines to end.
const patience = 500 * time.Millisecond

// maxLines bounds a text.
const maxLines = 100_000

// errInterrupted is why an execution was stopped from outside.
var errInterrupted = errors.New("interrupted")

// job is a text to run: a cell or a script.
type job struct {
	text   string
	source string // what faults call it
	script bool
}

// outcome is what the goroutine of a cell leaves behind.
type outcome struct {
	value display.Bundle
	err   error
}

// Run runs a cell and returns when its last statement has run. Goroutines that
// it started may go on; one that panics while the cell runs fails the cell.
// Run's error is an [*Error]. When ctx ends the cell is interrupted: Run
// returns within a second, and the session lives on.
//
// One cell runs at a time: a second Run waits for the first, or for its ctx.
// What out gets, it gets before Run returns.
func (s *Session) Run(ctx context.Context, text string, out Output) (*Result, error) {
	return s.run(ctx, job{text: text}, out)
}

// RunFile runs a script: a file of package main whose main is called. A script
// that ends by os.Exit(0) has no error, one that exits otherwise an [*Error] of
// the kind "exit" with its code. Package flag is new for every script.
func (s *Session) RunFile(ctx context.Context, path string, out Output) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fail(kindUnsupported, "read script: "+err.Error(), "")
	}
	_, err = s.run(ctx, job{text: string(text), source: filepath.Base(path), script: true}, out)
	var e *Error
	if errors.As(err, &e) && e.Kind == kindExit && e.Code == 0 {
		return nil
	}
	return err
}

func (s *Session) run(ctx context.Context, j job, out Output) (*Result, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fail(kindInterrupted, "interrupted before it ran", "")
	}
	defer func() { <-s.turn }()
	l, number, err := s.next()
	if err != nil {
		return nil, err
	}
	s.console.lead(out)
	defer s.console.lead(nil)
	defer s.console.flush()
	value, err := l.run(ctx, j, number)
	if err != nil {
		return nil, err
	}
	return &Result{Value: value}, nil
}

// next counts a cell.
func (s *Session) next() (*life, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, 0, fail(kindInterrupted, errClosed.Error(), "")
	}
	s.count++
	return s.life, s.count, nil
}

// run runs a text in a goroutine of its own and sees to its end.
func (l *life) run(ctx context.Context, j job, number int) (display.Bundle, error) {
	if err := check(j.text); err != nil {
		return nil, err
	}
	if j.source == "" {
		j.source = fmt.Sprintf("cell %d", number)
	}
	l.input.reset()
	e := l.machine.Begin(ctx, number)
	defer l.machine.End(e)
	defer l.shown.Delete(e)
	var o outcome
	over := e.Go(func(th *machine.Thread) { o.value, o.err = l.execute(th, j, number) })
	ended := false
	select {
	case <-over:
		ended = true
	case <-ctx.Done():
		e.Stop(errInterrupted, true)
	case <-e.Done():
	}
	ended = settle(e, over) || ended
	if reason := e.Reason(); reason != nil && (!ended || o.err == nil) {
		return nil, stoppedError(e, reason)
	}
	if !ended {
		return nil, stoppedError(e, errInterrupted)
	}
	return o.value, o.err
}

// settle waits for the goroutines of a stopped execution, which unwind, and for
// a moment for those of one that ended, which may be about to panic. It says
// whether the cell's own statements have ended.
func settle(e *machine.Execution, over <-chan struct{}) bool {
	wait := patience
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

// check refuses texts that no step below could place or read.
func check(text string) error {
	switch {
	case strings.Count(text, "\n") >= maxLines:
		return fail(kindUnsupported, fmt.Sprintf("the text has more than %d lines", maxLines), "split it")
	case !utf8.ValidString(text):
		return fail(kindSyntax, "the text is not UTF-8", "")
	}
	return nil
}

// execute compiles a cell, makes what it declares known, and runs its
// statements. It runs in the cell's own goroutine.
func (l *life) execute(th *machine.Thread, j job, number int) (display.Bundle, error) {
	call, err := l.compile(j, number)
	if err != nil {
		return nil, asError(err)
	}
	if call == nil || th.Reason() != nil {
		return nil, nil
	}
	call(th)
	if value, ok := l.shown.Load(th.Execution); ok {
		return value.(display.Bundle), nil
	}
	return nil, nil
}

// compile makes a text ready to be called.
func (l *life) compile(j job, number int) (func(*machine.Thread), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j.script {
		l.newFlags()
	}
	functions, err := l.prepare(j, number)
	if err != nil || len(functions) == 0 {
		return nil, err
	}
	return func(th *machine.Thread) {
		for _, fn := range functions {
			l.machine.Call(th, fn)
		}
	}, nil
}

// show keeps the value of a cell's last expression, in the form in which it is
// looked at: it may be changed later.
func (l *life) show(th *machine.Thread, values ...any) {
	views := make([]any, len(values))
	for i, v := range values {
		views[i] = l.machine.View(v)
	}
	if b := shown(views); b != nil {
		l.shown.Store(th.Execution, b)
	}
}

// shown is what the values of an expression look like. Of several, an error
// that is nil does not show.
func shown(values []any) display.Bundle {
	if n := len(values); n > 1 && values[n-1] == nil {
		values = values[:n-1]
	}
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == nil:
		return nil
	case len(values) == 1:
		return display.Of(values[0])
	}
	text := []byte{}
	for i, v := range values {
		if i > 0 {
			text = append(text, '\n')
		}
		text = append(text, display.Of(v)[display.PlainText]...)
	}
	return display.Text(string(text))
}
