package jupyter

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"noema/kernel/cell"
	"noema/kernel/display"
)

// Session is what a kernel needs of a session of cells; [cell.Session] is one.
// Run and RunFile are called by one goroutine, the rest by it too.
type Session interface {
	Run(ctx context.Context, text string, out cell.Output) (*cell.Result, error)
	RunFile(ctx context.Context, path string, out cell.Output) error
	Complete(text string, cursor int) cell.Completions
	Inspect(text string, cursor int) (cell.Doc, bool)
	IsComplete(text string) cell.Completeness
	Variables() []cell.Variable
	Count() int
	Reset() error
}

var _ Session = (*cell.Session)(nil)

// Relay is an output for what cells print and show while none runs, by
// goroutines that outlive their cell: it goes to the last cell. A Relay is made
// before the session, whose Options.Output it is, and given to the kernel in
// [Options]. Until the kernel runs, and after it, the output is lost.
type Relay struct {
	mu sync.RWMutex
	to cell.Output
}

var _ cell.Output = (*Relay)(nil)

func (r *Relay) lead(to cell.Output) {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.to = to
	}
}

func (r *Relay) output() cell.Output {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.to == nil {
		return quiet{}
	}
	return r.to
}

// Stream implements [cell.Output].
func (r *Relay) Stream(name string, text []byte) { r.output().Stream(name, text) }

// Show implements [display.Screen].
func (r *Relay) Show(id string, b display.Bundle) { r.output().Show(id, b) }

// Clear implements [display.Screen].
func (r *Relay) Clear(wait bool) { r.output().Clear(wait) }

// Input implements [cell.Output]: nobody is asked between cells.
func (r *Relay) Input(context.Context, string, bool) (string, error) {
	return "", errors.New("read input: no cell runs")
}

// numbers translates the session's numbers of cells to those that notebooks
// show in brackets. They differ: a session also counts the expressions of a
// request, and does not count cells of nothing but commands.
type numbers map[int]int

// run notes under which number of the notebook's the session runs what f has it
// run.
func (n numbers) run(s Session, shown int, f func() error) error {
	before := s.Count()
	err := f()
	for i := before + 1; i <= s.Count(); i++ {
		n[i] = shown
	}
	var e *cell.Error
	if !errors.As(err, &e) {
		return err
	}
	renamed := *e
	renamed.Faults, renamed.Trace = nil, nil
	for _, f := range e.Faults {
		f.Source, f.Message, f.Hint = n.rename(f.Source), n.rename(f.Message), n.rename(f.Hint)
		renamed.Faults = append(renamed.Faults, f)
	}
	for _, frame := range e.Trace {
		renamed.Trace = append(renamed.Trace, n.rename(frame))
	}
	return &renamed
}

var cellName = regexp.MustCompile(`\bcell (\d+)\b`)

// rename puts the notebook's numbers into a text that names cells.
func (n numbers) rename(text string) string {
	return cellName.ReplaceAllStringFunc(text, func(name string) string {
		number, err := strconv.Atoi(name[len("cell "):])
		if shown, ok := n[number]; ok && err == nil {
			return fmt.Sprintf("cell %d", shown)
		}
		return name
	})
}
