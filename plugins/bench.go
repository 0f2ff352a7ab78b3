package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"noema/methods"
	"noema/plugins/internal/wire"
)

// bench is the method that plugins made with this package have beside their
// own, so that the cost of a call can be measured in their very process.
type bench struct{}

// Solve makes the calls that the options ask for, and answers their number.
func (bench) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	var want wire.Bench
	if err := json.Unmarshal(p.Options, &want); err != nil {
		return methods.Answer{}, fmt.Errorf("bench: read options: %w", err)
	}
	var next atomic.Int64
	var fault atomic.Pointer[error]
	var callers sync.WaitGroup
	for range want.Callers {
		callers.Go(func() {
			for next.Add(1) <= int64(want.Calls) {
				_, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query), Path: benchPath})
				if err != nil {
					fault.Store(&err)
					return
				}
			}
		})
	}
	callers.Wait()
	if err := fault.Load(); err != nil {
		return methods.Answer{}, fmt.Errorf("bench: %w", *err)
	}
	return methods.NumberAnswer(float64(want.Calls)), nil
}

const benchPath = "bench"

// CallCost is what calls from a plugin to the kernel cost, the answers taking no
// time.
type CallCost struct {
	Callers   int           // calls at once
	PerCall   time.Duration // the time that many took, over how many they were
	PerSecond float64
}

// BenchPrompt is the size of the prompts and replies of a Bench, in bytes.
const BenchPrompt = 2 << 10

// Bench measures calls from the plugin's process, so many of them at once. It
// is an error if the plugin has no bench: one that is not made with this
// package need not.
func (p *Plugin) Bench(ctx context.Context, calls, callers int) (CallCost, error) {
	options, err := json.Marshal(wire.Bench{Calls: calls, Callers: callers})
	if err != nil { // two numbers always encode
		panic(err)
	}
	text := strings.Repeat("word ", BenchPrompt/5)
	h := &benchHost{reply: text}
	problem := methods.Problem{
		ID: wire.BenchID, Query: text, Options: options, Answer: methods.AnswerSpec{Kind: methods.Number},
	}
	begun := time.Now()
	_, err = p.Solve(ctx, problem, h)
	took := time.Since(begun)
	if made := h.calls.Load(); made < int64(calls) {
		return CallCost{}, fmt.Errorf("bench plugin %q: it made %d of %d calls: %w", p.source.Name, made, calls, cmp.Or(err, errNoBench))
	}
	return CallCost{
		Callers: callers, PerCall: took / time.Duration(calls),
		PerSecond: float64(calls) / took.Seconds(),
	}, err
}

// errNoBench is the cause when the plugin saw no failure.
var errNoBench = errors.New("its SDK has no benchmark")

// benchHost answers at once.
type benchHost struct {
	reply string
	calls atomic.Int64
}

// Complete implements methods.Host.
func (h *benchHost) Complete(_ context.Context, r methods.Request) (methods.Completion, error) {
	if r.Path == benchPath {
		h.calls.Add(1)
	}
	return methods.Completion{Text: h.reply, Finish: methods.FinishStop, Usage: methods.Usage{Calls: 1}}, nil
}

// CallTool implements methods.Host.
func (h *benchHost) CallTool(context.Context, methods.ToolCall) (methods.ToolResult, error) {
	return methods.ToolResult{}, methods.ErrUnknownTool
}

// Seed implements methods.Host.
func (h *benchHost) Seed(ctx context.Context, _ methods.SeedKey, build func(context.Context) ([]byte, error)) ([]byte, error) {
	return build(ctx)
}

// Emit implements methods.Host.
func (h *benchHost) Emit(methods.Event) {}
