package plugindev

import (
	"context"
	"fmt"

	"noema/kernel/task"
	"noema/methods"
	"noema/methods/methodtest"
)

// promptSeed is the seed of the trial that prompts are taken from.
const promptSeed = 1

// Prompts has a method answer the first sample of a task, and returns what it asked
// the model, calls for a method seed first; others are in the order of their paths.
func Prompts(ctx context.Context, m methods.Method, d methods.Description, t *task.Task, model methods.Model) ([]methodtest.Call, error) {
	p, _, err := t.Samples[0].Present(promptSeed, true)
	if err != nil {
		return nil, err
	}
	var options []methodtest.HostOption
	if t.Environment != nil {
		of, _, err := task.EnvironmentOf(t.Environment, "", p)
		if err != nil {
			return nil, err
		}
		p.Tools = of.Tools()
		options = append(options, methodtest.WithTools(methodtest.ToolFunc(of.Call)))
	}
	if p, err = t.Shown(p, d); err != nil {
		return nil, err
	}
	h := methodtest.NewHost(model, options...)
	if _, err := m.Solve(ctx, p, h); err != nil {
		return nil, fmt.Errorf("show prompts of %q: %w", d.Name, err)
	}
	calls := h.Transcript().Calls
	seeds, own := []methodtest.Call{}, []methodtest.Call{}
	for _, c := range calls {
		if c.Building != "" {
			seeds = append(seeds, c)
		} else {
			own = append(own, c)
		}
	}
	return append(seeds, own...), nil
}
