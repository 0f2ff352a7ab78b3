package gateway

import (
	"context"
	"fmt"
	"time"

	"noema/cache"
	"noema/kernel/task"
	"noema/methods"
)

// toolResult answers a tool call, from the store or the environment.
func (g *Gateway) toolResult(ctx context.Context, key cache.Key, env task.Environment, c methods.ToolCall) (cache.ToolRecord, error) {
	if g.opts.Mode == Off {
		return g.runTool(ctx, env, c)
	}
	stored := func(ctx context.Context) (cache.ToolRecord, bool, error) {
		rec, found, err := lookup(ctx, g, key, g.opts.Store.ToolResult)
		if err != nil || !found || g.stale(key, rec.At) {
			return rec, false, err
		}
		g.count(func(s *Stats) { s.Cached++ })
		return rec, true, nil
	}
	if rec, found, err := stored(ctx); err != nil || found {
		return rec, restore(env, c, rec, err)
	}
	if g.opts.Mode == Replay {
		return cache.ToolRecord{}, fmt.Errorf("%w: tool %q with arguments %.200q", methods.ErrMiss, c.Name, c.Arguments)
	}
	rec, err := g.tools.do(ctx, key, func(ctx context.Context) (cache.ToolRecord, error) {
		// Another flight may have landed since the look above.
		if rec, found, err := stored(ctx); err != nil || found {
			return rec, err
		}
		rec, err := g.runTool(ctx, env, c)
		if err != nil {
			return rec, err
		}
		ctx = context.WithoutCancel(ctx) // it is done: keep it whoever has left
		g.first(g.done, key)
		return rec, g.storeError(ctx, g.opts.Store.PutToolResult(ctx, key, rec))
	})
	// The flight may have been that of an earlier execution of the trial, whose
	// environment is another.
	return rec, restore(env, c, rec, err)
}

func (g *Gateway) runTool(ctx context.Context, env task.Environment, c methods.ToolCall) (cache.ToolRecord, error) {
	start := time.Now()
	result, err := env.Call(ctx, c)
	if err != nil {
		return cache.ToolRecord{}, fmt.Errorf("run tool %q: %w", c.Name, g.opts.Redactor.Error(err))
	}
	g.count(func(s *Stats) { s.Tools++ })
	result.Content = g.opts.Redactor.Text(valid(result.Content))
	return cache.ToolRecord{Call: c, Result: result, At: start, Latency: time.Since(start)}, nil
}

// restore tells an environment with state what a call has done.
func restore(env task.Environment, c methods.ToolCall, rec cache.ToolRecord, err error) error {
	if s, ok := env.(task.Stateful); ok && err == nil {
		if err = s.Restore(c, rec.Result); err != nil {
			return fmt.Errorf("restore the effect of tool %q: %w", c.Name, err)
		}
	}
	return err
}
