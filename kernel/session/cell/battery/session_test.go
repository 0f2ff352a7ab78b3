package battery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/session/cell"
)

// stuck is how long a cell may take that should end by itself.
const stuck = 2 * time.Minute

// recorder is a cell's output kept in memory.
type recorder struct {
	mu     sync.Mutex
	stdout bytes.Buffer
}

var _ cell.Output = (*recorder)(nil)

func (r *recorder) Show(string, display.Bundle) {}
func (r *recorder) Clear(bool)                  {}

func (r *recorder) Stream(name string, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == "stdout" {
		r.stdout.Write(text)
	}
}

func (r *recorder) Input(context.Context, string, bool) (string, error) {
	return "", errors.New("nobody to ask")
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stdout.String()
}

func (r *recorder) print(format string, args ...any) {
	r.Stream("stdout", fmt.Appendf(nil, format, args...))
}

// runSession runs the snippet's cells in a session of an engine and returns
// what they printed. The error is the first cell's that did not end as the
// snippet says; a panic that nothing recovered counts as output.
func (s *snippet) runSession(t testing.TB, engine string) (string, error) {
	t.Helper()
	session, err := cell.New(cell.Options{Engine: engine})
	must(t, err)
	defer session.Close()
	var out recorder
	for i, c := range s.Cells {
		if err := s.runCell(session, c, &out); err != nil {
			return out.text(), fmt.Errorf("cell %d: %w", i+1, err)
		}
	}
	return out.text(), nil
}

// runCell runs one cell and checks how it ends.
func (s *snippet) runCell(session *cell.Session, c cellText, out *recorder) error {
	limit := stuck
	if c.Interrupted {
		limit = 100 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	begun := time.Now()
	result, err := session.Run(ctx, c.Text, out)
	if took := time.Since(begun) - limit; took > time.Minute {
		return fmt.Errorf("went on for %v after it was interrupted", took)
	}
	var fault *cell.Error
	if err != nil && !errors.As(err, &fault) {
		return fmt.Errorf("gives %T, want *cell.Error: %w", err, err)
	}
	switch {
	case fault != nil && fault.Kind == "unsupported" && (c.Message == "" || !strings.Contains(err.Error(), c.Message)):
		return err
	case c.Interrupted && (err == nil || fault.Kind != "interrupted"):
		return fmt.Errorf("ends with %v, want an interrupt", err)
	case c.Fails && (err == nil || !strings.Contains(err.Error(), c.Message)):
		return fmt.Errorf("ends with %v, want an error with %q", err, c.Message)
	case c.Interrupted, c.Fails:
		return nil
	case err != nil && fault.Kind == "panic":
		out.print("panic: %s\n", strings.TrimPrefix(fault.Faults[0].Message, "panic: "))
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", fault.Kind, err)
	}
	if s.Shown != "" && len(result.Value) > 0 {
		out.print("%s\n", result.Value[display.PlainText])
	}
	return nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
