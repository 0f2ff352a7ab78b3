package jupyter

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"noema/kernel/session/cell"
)

// Session is the part of [cell.Session] that a kernel uses, from one goroutine.
type Session interface {
	cell.Face
	Forget(number int)
}

var _ Session = (*cell.Session)(nil)

// numbers maps the session's cell numbers to those that notebooks show. They
// differ: a session also counts user expressions and does not count cells that
// only have commands.
type numbers map[int]int

// run calls f and records that the cells it runs have the number shown.
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

// rename replaces the cell numbers in a text by the notebook's.
func (n numbers) rename(text string) string {
	return cellName.ReplaceAllStringFunc(text, func(name string) string {
		number, err := strconv.Atoi(name[len("cell "):])
		if shown, ok := n[number]; ok && err == nil {
			return fmt.Sprintf("cell %d", shown)
		}
		return name
	})
}
