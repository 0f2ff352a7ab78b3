package builtin

import (
	"reflect"

	"noema/kernel/lab"
	"noema/kernel/session/cell"
)

// SessionOptions are what a session of cells with a Lab starts with.
type SessionOptions struct {
	Lab     lab.Options // Context, Screen, Stdout and Stderr are the session's
	Args    []string    // os.Args of scripts, the script's name first
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
	var l *lab.Lab
	s, err := cell.New(cell.Options{
		Imports: []string{"fmt", ". noema/kernel/lab"},
		Symbols: map[string]map[string]reflect.Value{
			"noema/kernel/session/builtin/builtin": {"Open": reflect.ValueOf(func() *lab.Lab { return l })},
		},
		Args: o.Args, Capture: o.Capture, Dir: o.Dir, Memory: o.Memory, Engine: o.Engine,
	})
	if err != nil {
		return nil, nil, err
	}
	o.Lab.Context = s.Context
	o.Lab.Stdout, o.Lab.Stderr = s.Writers()
	if !o.Script {
		o.Lab.Screen = s.Screen()
	}
	if o.Lab.Redactor == nil {
		o.Lab.Redactor = Redactor()
	}
	l = lab.Open(o.Lab)
	if err := s.Declare("lab", l); err != nil {
		l.Close()
		s.Close()
		return nil, nil, err
	}
	return s, l, nil
}
