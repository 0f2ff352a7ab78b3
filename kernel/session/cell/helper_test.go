package cell

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/kernel/base/display"
)

// recorder is an Output that keeps everything, in order.
type recorder struct {
	mu     sync.Mutex
	all    bytes.Buffer // "stdout" text plain, stderr in braces, shows in brackets
	err    bytes.Buffer
	lines  []string // answers to Input
	asked  int
	onText func(string)
}

var _ Output = (*recorder)(nil)

func (r *recorder) Stream(name string, text []byte) {
	r.mu.Lock()
	if name == "stderr" {
		r.err.Write(text)
	} else {
		r.all.Write(text)
	}
	seen := r.onText
	r.mu.Unlock()
	if seen != nil {
		seen(string(text))
	}
}

func (r *recorder) Show(id string, b display.Bundle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all.WriteString("[" + id + ":" + string(b[display.PlainText]) + "]")
}

func (r *recorder) Clear(bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all.WriteString("[clear]")
}

func (r *recorder) Input(ctx context.Context, _ string, _ bool) (string, error) {
	r.mu.Lock()
	r.asked++
	if len(r.lines) > 0 {
		line := r.lines[0]
		r.lines = r.lines[1:]
		r.mu.Unlock()
		return line, nil
	}
	r.mu.Unlock()
	if ctx == nil || r.lines == nil {
		return "", errors.New("nobody to ask")
	}
	<-ctx.Done()
	return "", ctx.Err()
}

func (r *recorder) stdout() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.String()
}

func (r *recorder) stderr() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err.String()
}

// newSession is a session with fmt imported, closed at the test's end.
func newSession(t testing.TB, change ...func(*Options)) *Session {
	t.Helper()
	o := Options{Imports: []string{"fmt"}}
	for _, f := range change {
		f(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// declared is a session in which cells find a variable.
func declared(t testing.TB, s *Session, name string, value any) *Session {
	t.Helper()
	if err := s.Declare(name, value); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a cell that must work and returns what it printed.
func run(t testing.TB, s *Session, text string) string {
	t.Helper()
	var out recorder
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := s.Run(ctx, text, &out); err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
	return out.stdout()
}

// value runs a cell that must work and returns the text of its last value.
func value(t testing.TB, s *Session, text string) string {
	t.Helper()
	r, err := s.Run(t.Context(), text, &recorder{})
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
	return string(r.Value[display.PlainText])
}

// fails runs a cell that must fail, and says how.
func fails(t testing.TB, s *Session, text, kind, message string) *Error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, err := s.Run(ctx, text, &recorder{})
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("ends with %T %v, want an *Error, in\n%.200s", err, err, text)
	}
	if e.Kind != kind || !strings.Contains(e.Error(), message) {
		t.Fatalf("ends with %s: %v, want %s with %q, in\n%.200s", e.Kind, e, kind, message, text)
	}
	return e
}

// interrupt runs a cell that does not end by itself, stops it once it has begun,
// and returns the error and how long the stop took.
func interrupt(t testing.TB, s *Session, text string) (*Error, time.Duration) {
	t.Helper()
	return interruptWith(t, s, text, nil)
}

func interruptWith(t testing.TB, s *Session, text string, lines []string) (*Error, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var once sync.Once
	var begun time.Time
	out := &recorder{lines: lines, onText: func(string) {
		once.Do(func() { begun = time.Now(); cancel() })
	}}
	_, err := s.Run(ctx, "fmt.Println(\"ready\")\n"+text, out)
	took := time.Since(begun)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("ends with %T %v, want an *Error, in\n%s", err, err, text)
	}
	return e, took
}
