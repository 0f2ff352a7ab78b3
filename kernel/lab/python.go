package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"noema/kernel/task"
	"noema/methods"
	"noema/plugins"
)

// pythonVersion is that of the tool: whoever changes what programs may do changes it.
const pythonVersion = "1"

// pythonSpec describes the tool. It is pure: a program that reads a clock or draws numbers
// keeps what it printed first.
func pythonSpec() methods.ToolSpec {
	return methods.ToolSpec{
		Name: task.PythonTool, Pure: true,
		Description: "what a program of Python 3 prints: it runs for 10 seconds at most, with the standard library, without network, in an empty folder",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"program":{"type":"string"}},"required":["program"],"additionalProperties":false}`),
		Result:      json.RawMessage(`{"type":"string"}`),
	}
}

// withPython opens a task by open, with the tool python if options ask for it. It takes the
// option out. The Python of the machine is looked for at the first call that the store
// does not know, so that a replay needs none.
func withPython(options map[string]string, open func() (*Task, error)) (*Task, error) {
	wanted := options[task.PythonTool] // the option is called as the tool is
	delete(options, task.PythonTool)
	switch wanted {
	case "", "false":
		return open()
	case "true":
	default:
		return nil, Misused(fmt.Errorf("task option python=%s: use true or false", wanted))
	}
	t, err := open()
	if err != nil {
		return nil, err
	}
	find := sync.OnceValues(plugins.FindPython)
	t, err = task.WithTool(t, pythonSpec(), pythonVersion, "it has a tool that runs programs of Python", func(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
		return runPython(ctx, c, find)
	})
	if err != nil {
		return nil, Misused(err)
	}
	return t, nil
}

// runPython runs the program of a call. One that fails is a result that a model can read.
func runPython(ctx context.Context, c methods.ToolCall, find func() (*plugins.Python, error)) (methods.ToolResult, error) {
	var args struct{ Program *string }
	if err := json.Unmarshal(c.Arguments, &args); err != nil || args.Program == nil {
		return methods.ToolResult{Content: `python: want {"program": "…"}`, IsError: true}, nil
	}
	python, err := find()
	if err != nil {
		return methods.ToolResult{}, fmt.Errorf("run the tool python: %w", err)
	}
	printed, err := python.Run(ctx, *args.Program)
	if err != nil {
		return methods.ToolResult{}, err
	}
	if printed.Fault != "" {
		return methods.ToolResult{Content: printed.Output + printed.Fault, IsError: true}, nil
	}
	return methods.ToolResult{Content: printed.Output}, nil
}
