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
func (g *Gateway) toolResult(ctx context.Context, key cache.Key, env task.Environment, c methods.ToolCall) (cache.ToolRecord, bool, error) {
	if g.opts.Mode == Off {
		rec, err := runTool(ctx, env, c)
		return rec, err == nil, err
	}
	rec, found, err := lookup(ctx, g, key, g.opts.Store.ToolResult)
	if err != nil {
		return rec, false, err
	}
	if found && (g.opts.Mode != Refresh || g.asked(key)) {
		g.count(func(s *Stats) { s.Cached++ })
		return rec, false, nil
	}
	if g.opts.Mode == Replay {
		return rec, false, fmt.Errorf("%w: tool %q with arguments %.200q", methods.ErrMiss, c.Name, c.Arguments)
	}
	rec, err = g.tools.do(ctx, key, func(ctx context.Context) (cache.ToolRecord, error) {
		// Another flight may have landed since the look above.
		if rec, found, err := lookup(ctx, g, key, g.opts.Store.ToolResult); err != nil || found && (g.opts.Mode != Refresh || g.asked(key)) {
			return rec, err
		}
		rec, err := runTool(ctx, env, c)
		if err != nil {
			return rec, err
		}
		g.markAsked(key)
		return rec, g.opts.Store.PutToolResult(ctx, key, rec)
	})
	return rec, err == nil, err
}

func runTool(ctx context.Context, env task.Environment, c methods.ToolCall) (cache.ToolRecord, error) {
	start := time.Now()
	result, err := env.Call(ctx, c)
	if err != nil {
		return cache.ToolRecord{}, fmt.Errorf("run tool %q: %w", c.Name, err)
	}
	result.Content = valid(result.Content)
	return cache.ToolRecord{Call: c, Result: result, At: start, Latency: time.Since(start)}, nil
}
