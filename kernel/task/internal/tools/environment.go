package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"noema/kernel/task"
	"noema/kernel/task/internal/words"
	"noema/methods"
)

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
