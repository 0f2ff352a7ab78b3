// Package tools runs tools over the data of one problem: each is a function of the
// data and of its arguments, which are checked against its schema first.
package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"noema/kernel/task"
	"noema/kernel/task/internal/words"
	"noema/methods"
	"noema/methods/reply"
)

// What one call may take and give, in bytes.
const (
	MaxArguments = 64 << 10
	MaxResult    = 256 << 10
)

// Tool is a tool over data of type D.
type Tool[D any] struct {
	Name, Description  string
	Parameters, Result string // JSON Schemas
	Run                func(data D, arguments json.RawMessage) (any, error)
	Impure             bool // what it says depends on more than data and arguments, or it changes something
}

// Of makes Run of a function with typed arguments.
func Of[D, A any](run func(data D, arguments A) (any, error)) func(D, json.RawMessage) (any, error) {
	return func(data D, raw json.RawMessage) (any, error) {
		var a A
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, err
		}
		return run(data, a)
	}
}

// Set is the tools of an environment.
type Set[D any] struct {
	specs   []methods.ToolSpec
	tools   map[string]Tool[D]
	accepts map[string]*reply.Validator
}

// NewSet prepares tools. It panics if a schema cannot be read: schemas are constants.
func NewSet[D any](list ...Tool[D]) *Set[D] {
	s := &Set[D]{tools: map[string]Tool[D]{}, accepts: map[string]*reply.Validator{}}
	for _, t := range list {
		accepts, err := reply.NewValidator(json.RawMessage(t.Parameters))
		if err != nil {
			panic(fmt.Sprintf("prepare tool %q: %v", t.Name, err))
		}
		s.tools[t.Name], s.accepts[t.Name] = t, accepts
		s.specs = append(s.specs, methods.ToolSpec{
			Name: t.Name, Description: t.Description, Pure: !t.Impure,
			Parameters: json.RawMessage(t.Parameters), Result: json.RawMessage(t.Result),
		})
	}
	return s
}

// Specs describes the tools in their order.
func (s *Set[D]) Specs() []methods.ToolSpec { return s.specs }

// Call runs a tool. What is wrong with the arguments, and what the tool cannot
// do, is an error result that says what to do instead; an error is a tool that
// does not exist.
func (s *Set[D]) Call(data D, c methods.ToolCall) (methods.ToolResult, error) {
	t, ok := s.tools[c.Name]
	if !ok {
		return methods.ToolResult{}, fmt.Errorf("%w %q", methods.ErrUnknownTool, c.Name)
	}
	result, err := s.run(t, data, c.Arguments)
	if err != nil {
		return methods.ToolResult{Content: c.Name + ": " + err.Error(), IsError: true}, nil
	}
	return methods.ToolResult{Content: string(result)}, nil
}

func (s *Set[D]) run(t Tool[D], data D, arguments json.RawMessage) (json.RawMessage, error) {
	if len(arguments) == 0 {
		arguments = json.RawMessage(`{}`)
	}
	if len(arguments) > MaxArguments {
		return nil, fmt.Errorf("the arguments have %d bytes, more than the maximum of %d: shorten them", len(arguments), MaxArguments)
	}
	if err := s.accepts[t.Name].Check(arguments); err != nil {
		return nil, fmt.Errorf("wrong arguments: %w", err)
	}
	value, err := t.Run(data, arguments)
	if err != nil {
		return nil, err
	}
	raw, err := methods.EncodeJSON(value)
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	if n := len(raw) + 1; n > MaxResult { // with the line's end
		return nil, fmt.Errorf("the result has %d bytes, more than the maximum of %d: narrow the arguments", n, MaxResult)
	}
	return raw, nil
}

// Environment offers tools over what a problem's context holds. By itself it
// lists the tools: they run in the environment that Of returns.
type Environment[D any] struct {
	Task, Holds string // the task's name, and what its tools read, such as items
	Set         func() *Set[D]
	Read        func(context json.RawMessage) (D, error)
}

// Tools implements [task.Environment].
func (e *Environment[D]) Tools() []methods.ToolSpec { return e.Set().Specs() }

// Call refuses: without a problem there is nothing to read.
func (e *Environment[D]) Call(context.Context, methods.ToolCall) (methods.ToolResult, error) {
	return methods.ToolResult{}, fmt.Errorf("call a tool of %s: its tools read a problem's %s: use the environment that Of returns", e.Task, e.Holds)
}

// Of implements [task.PerTrial].
func (e *Environment[D]) Of(p methods.Problem) (task.Environment, error) {
	if len(p.Context) == 0 {
		return nil, fmt.Errorf("the tools of %s work on a sample's %s, and there are none", e.Task, e.Holds)
	}
	data, err := e.Read(p.Context)
	if err != nil {
		return nil, fmt.Errorf("the tools of %s work on a sample's %s, and these are not: %w", e.Task, e.Holds, words.Of(err))
	}
	return session[D]{e.Set(), data}, nil
}

// session is the tools over the data of one problem.
type session[D any] struct {
	*Set[D]
	data D
}

// Tools implements [task.Environment].
func (s session[D]) Tools() []methods.ToolSpec { return s.Specs() }

// Call implements [task.Environment].
func (s session[D]) Call(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return methods.ToolResult{}, err
	}
	return s.Set.Call(s.data, c)
}
