package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/run/cluster"
	"noema/methods"
)

// JoinTokenVariable is the environment's variable with the secret that a coordinator and
// its workers share.
const JoinTokenVariable = "NOEMA_JOIN_TOKEN"

// crewFile is the file in the home that says what a coordinator is doing.
const crewFile = "cluster.json"

// crewOf is the coordinator that e wants, started by the first experiment that does; nil
// if e runs on this machine alone.
func (l *Lab) crewOf(e Experiment) (*cluster.Coordinator, error) {
	if e.Listen == "" && e.NATS == "" {
		if e.LocalWorkers != 0 || e.Audit != 0 {
			return nil, Misused(errors.New("declare experiment: local-workers and audit say nothing without listen or nats"))
		}
		return nil, nil
	}
	if e.Listen != "" && e.NATS != "" {
		return nil, Misused(errors.New("declare experiment: listen and nats are both given: leave out the one or the other"))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.crew != nil {
		return l.crew, nil
	}
	o := cluster.Options{
		Token: cluster.Token(os.Getenv(JoinTokenVariable)), Listen: e.Listen, URL: e.NATS, Here: e.LocalWorkers, Code: l.Code,
		Warn: func(text string) { fmt.Fprintln(l.o.Stderr, text) }, Status: filepath.Join(l.o.Home, crewFile),
	}
	switch {
	case e.LocalWorkers == 0:
		o.Here = -1
	case e.LocalWorkers < 0:
		o.Here = 0
	}
	line := "workers join by: noema worker --join %s"
	if o.Token == "" {
		o.Token = cluster.NewToken()
		line = "workers join by: " + JoinTokenVariable + "=" + string(o.Token) + " noema worker --join %s"
	}
	if err := o.Token.Check(); err != nil {
		return nil, Misused(fmt.Errorf("%s: %w", JoinTokenVariable, err))
	}
	if o.URL == "" {
		if _, _, err := cluster.ListenAddress(o.Listen); err != nil {
			return nil, Misused(err)
		}
		if o.Server = l.o.Queue; o.Server == nil {
			return nil, Misused(fmt.Errorf("listen %s: this noema is built without the NATS server that hands out trials: build one that has it (go build -tags queue -o noema ./kernel/cmd/noema), or give the URL of a running server as nats", files.Word(o.Listen)))
		}
	}
	crew, err := cluster.Start(l.o.Context(), o)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(l.o.Stderr, line+"\n", files.Word(crew.Address()))
	l.crew = crew
	return crew, nil
}

// Crew says what the coordinator that works in this home is doing; false if there is none.
func (l *Lab) Crew() (cluster.State, bool) {
	return cluster.ReadState(filepath.Join(l.o.Home, crewFile))
}

// ServedModel opens a local model to be served to other machines.
func (l *Lab) ServedModel(name string) (provider.Provider, error) {
	if !strings.HasPrefix(name, "local/") {
		return nil, Misused(fmt.Errorf("serve model %q: workers serve local models alone, as in local/smollm2-135m: the machine of the run asks the others, with its keys", name))
	}
	return l.Model(name, false, 0)
}

// NotHere marks the error of a local model that is not on this machine: a worker may serve
// it.
func NotHere(err error) error { return &notHere{err} }

// IsNotHere reports whether err, or one it wraps, is marked so.
func IsNotHere(err error) bool { return errors.As(err, new(*notHere)) }

type notHere struct{ error }

func (n *notHere) Unwrap() error { return n.error }

// OpenCode opens a method as a worker does: a built-in one by its name, and any other
// from its code, which write puts into an empty folder unless there is a copy.
func (l *Lab) OpenCode(ctx context.Context, c cluster.Code, write func(dir string) error) (methods.Method, error) {
	if c.Builtin {
		m, err := l.openMethod(ctx, c.Name, nil)
		if err == nil && !m.Plugin.Builtin {
			err = fmt.Errorf("open method %q: the coordinator has it built in, and this machine a plugin of that name: remove that", c.Name)
		}
		return m.Solver, err
	}
	if _, err := l.Copies().Keep(c.Digest, write); err != nil {
		return nil, err
	}
	src, err := l.Code(record.Plugin{Method: c.Name, Path: filepath.Base(c.File), Digest: c.Digest})
	if err != nil {
		return nil, err
	}
	m, err := l.OpenPlugin(ctx, src)
	return m.Solver, err
}
