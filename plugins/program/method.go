package program

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"noema/methods"
	"noema/plugins"
	"noema/plugins/internal/isolate"
	"noema/plugins/program/numbering"
)

// Method is a program as a method: one process for each trial. It serves one trial at a
// time, since all programs of a process reach the same endpoint.
type Method struct {
	source  plugins.Source
	scratch string // folder for what trials write
	address string // of the endpoint: host and port
	trial   atomic.Pointer[endpoint]
	one     sync.Mutex
	warm    *warm // the loaded program between trials, for a manifest with "solve"
}

var (
	_ methods.Method    = (*Method)(nil)
	_ methods.Describer = (*Method)(nil)
)

// port is where the endpoint is in a network of its own: the same in each execution, since
// programs may tell their models.
const port = "127.0.0.1:8089"

// Serve serves the program whose manifest is in the working directory as a method, until the
// kernel ends it. Only a process that a plugin host has started gets that far.
func Serve() error {
	manifest, err := filepath.EvalSymlinks(plugins.ManifestName) // the working directory has links to the program's folder
	if err != nil {
		return fmt.Errorf("serve program: %w", err)
	}
	src, err := plugins.At(filepath.Dir(manifest))
	if err != nil {
		return err
	}
	if src.Program == nil {
		return fmt.Errorf("serve program: its %s names no problem and no answer", plugins.ManifestName)
	}
	listen := "127.0.0.1:0"
	if os.Getenv(plugins.OwnNetwork) != "" {
		if err := isolate.OpenLoopback(); err != nil {
			return err
		}
		listen = port
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("serve program: %w", err)
	}
	m := &Method{source: src, scratch: filepath.Join(os.TempDir(), "program"), address: listener.Addr().String()}
	if err := errors.Join(os.MkdirAll(m.scratch, 0o700), numbering.Write(filepath.Join(m.scratch, "numbering"))); err != nil {
		return fmt.Errorf("serve program: %w", err)
	}
	go func() { _ = http.Serve(listener, m) }() // it ends with the process
	plugins.EndTogether()
	plugins.Serve(m)
	return nil
}

// Describe implements [methods.Describer]: a program answers whatever it is asked.
func (m *Method) Describe() methods.Description {
	return methods.Description{
		Name: m.source.Name, Version: "2", Summary: "a program: " + join(m.source.Starts), Tools: []string{methods.AnyTool},
	}
}

// ServeHTTP hands a request of the program to the endpoint of its trial.
func (m *Method) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := m.trial.Load()
	if e == nil {
		http.Error(w, "no trial is under way", http.StatusServiceUnavailable)
		return
	}
	e.ServeHTTP(w, r)
}

// Solve implements [methods.Method]: it runs the program once. A program that fails after a
// limit or its provider refused a call failed for that.
func (m *Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	m.one.Lock()
	defer m.one.Unlock()
	w, err := m.newWorld(p)
	if err != nil {
		return methods.Answer{}, err
	}
	defer w.remove()
	if m.source.Program.Solve != "" {
		if err := m.load(ctx, w); err != nil {
			return methods.Answer{}, err
		}
	}
	calls, end := context.WithCancel(ctx)
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e := newEndpoint(calls, p, h, newFolders(w.root), stop)
	e.models, e.noise = m.source.Program.Models, m.source.Program.Noise
	m.trial.Store(e)
	printed, err := m.run(running, w, p)
	m.trial.Store(nil)
	end()
	e.settle()
	if ctx.Err() != nil {
		return methods.Answer{}, context.Cause(ctx)
	}
	cause, limit := e.failure()
	switch {
	case limit: // whatever the program made of it
		return methods.Answer{}, cause
	case err != nil:
		return methods.Answer{}, errors.Join(cause, err)
	}
	return w.answer(e.folders, printed, p.Answer, cause)
}

// run carries the trial out and returns what holds its answer.
func (m *Method) run(ctx context.Context, w *world, p methods.Problem) ([]byte, error) {
	if m.source.Program.Solve != "" {
		return m.call(ctx, w, p)
	}
	return w.run(ctx, p)
}
