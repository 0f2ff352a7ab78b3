package methodtest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"noema/methods"
)

// ModelFunc is a model made of one function, for scripting replies. It must be
// safe for concurrent use.
type ModelFunc func(ctx context.Context, r methods.Request) (methods.Completion, error)

var _ methods.Model = ModelFunc(nil)

// Complete calls f.
func (f ModelFunc) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	return f(ctx, r)
}

// Reply is a model that gives the same text to every request.
func Reply(text string) ModelFunc {
	return func(context.Context, methods.Request) (methods.Completion, error) {
		return methods.Completion{Text: text, Finish: methods.FinishStop, Usage: methods.Usage{Calls: 1}}, nil
	}
}

// ToolFunc is a toolbox made of one function, with the same rule.
type ToolFunc func(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error)

var _ methods.Toolbox = ToolFunc(nil)

// CallTool calls f.
func (f ToolFunc) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	return f(ctx, c)
}

// Step is a model or tool call that is about to be made.
type Step struct {
	N    int    // which call of the trial this is, from 1, in order of arrival
	Path string // its call path
	Draw int    // of a model call
	Tool bool   // a tool call, not a model call
}

// Host is a [methods.Host] for one trial that records all it is asked. It
// honours contexts: a call with a cancelled one fails with the context's
// error. Method seeds are kept in memory, for this trial alone.
type Host struct {
	model  methods.Model
	tools  methods.Toolbox
	before func(context.Context, Step) error

	mu     sync.Mutex
	steps  int
	record Transcript
	seeds  map[methods.SeedKey]*seed
	ended  bool
	late   []string
}

var _ methods.Host = (*Host)(nil)

// HostOption sets up a Host.
type HostOption func(*Host)

// WithTools gives the Host a toolbox. Without one every tool is unknown.
func WithTools(t methods.Toolbox) HostOption { return func(h *Host) { h.tools = t } }

// Before has hook see each call before it is made. The hook may wait, and if
// it returns an error the call fails with that error.
func Before(hook func(context.Context, Step) error) HostOption {
	return func(h *Host) { h.before = hook }
}

// NewHost is a Host whose model calls go to model.
func NewHost(model methods.Model, options ...HostOption) *Host {
	h := &Host{model: model, seeds: map[methods.SeedKey]*seed{}}
	for _, o := range options {
		o(h)
	}
	return h
}

// Transcript is what the Host has recorded so far.
func (h *Host) Transcript() Transcript {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := Transcript{slices.Clone(h.record.Calls), slices.Clone(h.record.Tools), slices.Clone(h.record.Events)}
	t.sort()
	return t
}

// Complete asks the model and records the call.
func (h *Host) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	tidyRequest(&r) // a copy, since a method may go on to change its own
	call := Call{Request: r, Building: building(ctx)}
	call.Err = h.step(ctx, Step{Path: r.Path, Draw: r.Draw})
	if call.Err == nil {
		call.Completion, call.Err = h.model.Complete(ctx, r)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.record.Calls = append(h.record.Calls, call)
	return call.Completion, call.Err
}

// CallTool runs the tool and records the call.
func (h *Host) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	c.Arguments = tidyJSON(c.Arguments)
	use := ToolUse{Call: c, Building: building(ctx)}
	use.Err = h.step(ctx, Step{Path: c.Path, Tool: true})
	switch {
	case use.Err != nil:
	case h.tools == nil:
		use.Err = fmt.Errorf("call tool %q: %w", c.Name, methods.ErrUnknownTool)
	default:
		use.Result, use.Err = h.tools.CallTool(ctx, c)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.record.Tools = append(h.record.Tools, use)
	return use.Result, use.Err
}

// Emit records e.
func (h *Host) Emit(e methods.Event) {
	e.Data = tidyJSON(e.Data)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteLate("event " + e.Path)
	h.record.Events = append(h.record.Events, e)
}

// step counts a call and asks the hook.
func (h *Host) step(ctx context.Context, s Step) error {
	h.mu.Lock()
	h.steps++
	s.N = h.steps
	h.noteLate("call " + s.Path)
	h.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.before != nil {
		return h.before(ctx, s)
	}
	return nil
}

// noteLate remembers a use of the Host after the method returned.
func (h *Host) noteLate(what string) {
	if h.ended {
		h.late = append(h.late, what)
	}
}

// end says that the method has returned.
func (h *Host) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
}

// lateUses lists what was asked after the method returned.
func (h *Host) lateUses() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.late)
}

// seed is a method seed that is built or being built.
type seed struct {
	done  chan struct{}
	value []byte
	err   error
}

// Seed builds at most once per key; others that ask meanwhile wait. A build
// that failed may be tried again.
func (h *Host) Seed(ctx context.Context, key methods.SeedKey, build func(context.Context) ([]byte, error)) ([]byte, error) {
	h.mu.Lock()
	s, known := h.seeds[key]
	if !known {
		s = &seed{done: make(chan struct{})}
		h.seeds[key] = s
	}
	h.mu.Unlock()
	if known {
		select {
		case <-s.done:
			return slices.Clone(s.value), s.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.err = fmt.Errorf("build seed %q: the build panicked", key.Kind) // unless it gets past the next line
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if s.err != nil {
			delete(h.seeds, key)
		}
		close(s.done)
	}()
	s.value, s.err = build(context.WithValue(ctx, buildKey{}, key.Kind))
	return slices.Clone(s.value), s.err
}

// buildKey marks the context of calls that build a method seed.
type buildKey struct{}

func building(ctx context.Context) string {
	kind, _ := ctx.Value(buildKey{}).(string)
	return kind
}
