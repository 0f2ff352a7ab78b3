package task

import (
	"context"
	"fmt"
	"slices"

	"noema/methods"
)

// ToolFunc runs one tool.
type ToolFunc func(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error)

// PythonTool is the name of the tool that runs programs of Python, which any task can be
// given.
const PythonTool = "python"

// Missing says how a task gets a tool that it lacks; empty where its author alone can
// give it one.
func Missing(tool string) string {
	if tool == PythonTool {
		return ": add ?python=true to the task"
	}
	return ""
}

// WithTool returns t with one more tool, which every problem gets. The tool's version
// enters the task's, because other tools make another task; the note is for tables.
func WithTool(t *Task, spec methods.ToolSpec, version, note string, run ToolFunc) (*Task, error) {
	env, err := withTool(t.Environment, spec, run)
	if err != nil {
		return nil, fmt.Errorf("give task %q the tool %q: %w", t.Name, spec.Name, err)
	}
	with := *t
	with.Version += "+" + spec.Name + "=" + version
	with.Notes = append(slices.Clone(t.Notes), note)
	with.Environment = env
	return &with, nil
}

// beside is an environment with one tool beside others.
type beside struct {
	others Environment // may be nil
	spec   methods.ToolSpec
	run    ToolFunc
}

func withTool(others Environment, spec methods.ToolSpec, run ToolFunc) (Environment, error) {
	if others != nil && slices.ContainsFunc(others.Tools(), func(t methods.ToolSpec) bool { return t.Name == spec.Name }) {
		return nil, fmt.Errorf("the task has a tool %q of its own", spec.Name)
	}
	return beside{others, spec, run}, nil
}

// Tools implements [Environment].
func (b beside) Tools() []methods.ToolSpec {
	if b.others == nil {
		return []methods.ToolSpec{b.spec}
	}
	return append(slices.Clone(b.others.Tools()), b.spec)
}

// Of implements [PerTrial] for the other tools; see [EnvironmentOf].
func (b beside) Of(p methods.Problem) (Environment, error) {
	per, ok := b.others.(PerTrial)
	if !ok {
		return b, nil
	}
	others, err := per.Of(p)
	return beside{others, b.spec, b.run}, err
}

// Restore implements [Stateful] for the other tools.
func (b beside) Restore(c methods.ToolCall, r methods.ToolResult) error {
	if others, ok := b.others.(Stateful); ok && c.Name != b.spec.Name {
		return others.Restore(c, r)
	}
	return nil
}

// Prepare implements [Preparer] for the other tools.
func (b beside) Prepare(ctx context.Context, progress func(done, total int)) error {
	if p, ok := b.others.(Preparer); ok {
		return p.Prepare(ctx, progress)
	}
	return nil
}

// Call implements [Environment].
func (b beside) Call(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	switch {
	case c.Name == b.spec.Name:
		return b.run(ctx, c)
	case b.others == nil:
		return methods.ToolResult{}, fmt.Errorf("%w %q", methods.ErrUnknownTool, c.Name)
	}
	return b.others.Call(ctx, c)
}
