package builtin

import (
	"context"
	"reflect"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/session/cell"
)

// SessionOptions are what a session of cells with a Lab starts with.
type SessionOptions struct {
	Lab     lab.Options // Context, Screen, Stdout and Stderr are the session's
	Args    []string    // os.Args of scripts, the script's name first
	Output  cell.Output // where output goes while no cell runs; nil is the process's own
	Dir     string      // see cell.Options
	Capture bool        // see cell.Options
	Memory  int64       // see cell.Options
	Engine  string      // see cell.Options
	// Script says that results print as text, as they do in a compiled script,
	// in place of being shown.
	Script bool
}

// NewSession opens a session in which cells find the variable lab and the names
// of packages fmt and noema/kernel/lab, and a script finds its Lab by [Open]. The
// caller closes both.
func NewSession(o SessionOptions) (*cell.Session, *lab.Lab, error) {
	late := &lateSession{}
	o.Lab.Context = late.context
	o.Lab.Stdout, o.Lab.Stderr = lateWriter{late, false}, lateWriter{late, true}
	o.Lab.Screen = late
	if o.Script {
		o.Lab.Screen = nil
	}
	if o.Lab.Redactor == nil {
		o.Lab.Redactor = Redactor()
	}
	l := lab.Open(o.Lab)
	s, err := cell.New(cell.Options{
		Values:  map[string]any{"lab": l},
		Imports: []string{"fmt", ". noema/kernel/lab"},
		Symbols: map[string]map[string]reflect.Value{
			"noema/kernel/session/builtin/builtin": {"Open": reflect.ValueOf(func() *lab.Lab { return l })},
		},
		Args: o.Args, Output: o.Output, Capture: o.Capture, Dir: o.Dir, Memory: o.Memory, Engine: o.Engine,
	})
	if err != nil {
		return nil, nil, err
	}
	late.Session = s
	return s, l, nil
}

// lateSession is a session that its Lab knows before it is there.
type lateSession struct{ *cell.Session }

func (l *lateSession) context() context.Context { return l.Session.Context() }

// Show implements [display.Screen].
func (l *lateSession) Show(id string, b display.Bundle) { l.Screen().Show(id, b) }

// Clear implements [display.Screen].
func (l *lateSession) Clear(wait bool) { l.Screen().Clear(wait) }

// lateWriter writes to a stream of the session's.
type lateWriter struct {
	of   *lateSession
	errs bool
}

// Write implements [io.Writer].
func (w lateWriter) Write(p []byte) (int, error) {
	stdout, stderr := w.of.Writers()
	if w.errs {
		return stderr.Write(p)
	}
	return stdout.Write(p)
}
