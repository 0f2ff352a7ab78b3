package repl

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"noema/kernel/base/display"
	"noema/kernel/session/cell"
)

// scripted is a session whose cells are functions of the test, by their text.
type scripted struct {
	*cell.Session
	cells map[string]func(ctx context.Context, out cell.Output) error
	count int
}

func (s *scripted) Count() int { return s.count }

func (s *scripted) Run(ctx context.Context, text string, out cell.Output) (*cell.Result, error) {
	s.count++
	f, ok := s.cells[text]
	if !ok {
		return nil, fmt.Errorf("no cell %q", text)
	}
	return &cell.Result{}, f(ctx, out)
}

// realSession is a session of cells that ends with the test.
func realSession(t *testing.T) *cell.Session {
	t.Helper()
	s, err := cell.New(cell.Options{Imports: []string{"fmt"}})
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

// plainText is a bundle of a text.
func plainText(text string) display.Bundle {
	return display.Bundle{display.PlainText: []byte(text)}
}

// safeBuffer is a buffer for several goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
