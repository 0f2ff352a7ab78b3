package aot_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"sync"
	"testing"

	"noema/methods"
	"noema/methods/aot"
	"noema/methods/decimal"
	"noema/methods/methodtest"
)

const twoNumbers = `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`

// tools are the test problem's: arithmetic, a text, and some with effects.
func tools() []methods.ToolSpec {
	number, text := json.RawMessage(`{"type":"number"}`), json.RawMessage(`{"type":"string"}`)
	var specs []methods.ToolSpec
	for _, name := range []string{"add", "subtract", "multiply", "divide"} {
		specs = append(specs, methods.ToolSpec{Name: name, Parameters: json.RawMessage(twoNumbers), Result: number, Pure: true})
	}
	room := json.RawMessage(`{"type":"object","properties":{"room":{"type":"string","minLength":1},"nights":{"type":"integer","minimum":1}},"required":["room"]}`)
	return append(specs,
		methods.ToolSpec{Name: "weekday", Parameters: json.RawMessage(`{"type":"object","properties":{"date":{"type":"string"}},"required":["date"]}`), Result: text, Pure: true},
		methods.ToolSpec{Name: "book", Parameters: room, Result: text},
		methods.ToolSpec{Name: "cancel", Parameters: json.RawMessage(`{"type":"object","properties":{"booking":{"type":"string"}},"required":["booking"]}`)},
	)
}

// desk runs the tools and remembers the calls.
type desk struct {
	mu    sync.Mutex
	calls []string                                // path and arguments
	fail  func(methods.ToolCall) (string, bool)   // an error result in the place of the real one; may be nil
	hook  func(context.Context, methods.ToolCall) // before each call; may be nil
}

func (d *desk) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	if d.hook != nil {
		d.hook(ctx, c)
	}
	if err := ctx.Err(); err != nil {
		return methods.ToolResult{}, err
	}
	d.mu.Lock()
	d.calls = append(d.calls, c.Path+" "+c.Name+" "+string(c.Arguments))
	d.mu.Unlock()
	if d.fail != nil {
		if text, ok := d.fail(c); ok {
			return methods.ToolResult{Content: text, IsError: true}, nil
		}
	}
	return serve(c)
}

func serve(c methods.ToolCall) (methods.ToolResult, error) {
	var args struct {
		A, B    json.Number
		Room    string
		Booking string
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return methods.ToolResult{}, err
	}
	switch c.Name {
	case "weekday":
		return methods.ToolResult{Content: "Friday"}, nil
	case "book":
		return methods.ToolResult{Content: "booking of " + args.Room}, nil
	case "cancel":
		return methods.ToolResult{Content: "ok"}, nil
	}
	a, err1 := decimal.Parse(string(args.A))
	b, err2 := decimal.Parse(string(args.B))
	if err := errors.Join(err1, err2); err != nil {
		return methods.ToolResult{}, err
	}
	r := new(big.Rat)
	switch c.Name {
	case "add":
		r.Add(a, b)
	case "subtract":
		r.Sub(a, b)
	case "multiply":
		r.Mul(a, b)
	case "divide":
		if b.Sign() == 0 {
			return methods.ToolResult{Content: "division by zero", IsError: true}, nil
		}
		r.Quo(a, b)
	default:
		return methods.ToolResult{}, methods.ErrUnknownTool
	}
	text, _ := decimal.Format(r)
	return methods.ToolResult{Content: text}, nil
}

// made returns the calls so far, sorted.
func (d *desk) made() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	calls := slices.Clone(d.calls)
	slices.Sort(calls)
	return calls
}

func parse(t testing.TB, text string) aot.Plan {
	t.Helper()
	plan, faults := aot.ParsePlan([]byte(text))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return plan
}

// seedPlan is the example of seed 002, for (15+7)*3-10.
const seedPlan = `{"atoms": [
 {"id": 1, "kind": "tool", "name": "add", "input": {"a": 15, "b": 7}},
 {"id": 2, "kind": "tool", "name": "multiply", "input": {"a": "<result_of_1>", "b": 3}},
 {"id": 3, "kind": "tool", "name": "subtract", "input": {"a": "<result_of_2>", "b": 10}},
 {"id": 4, "kind": "final", "name": "report", "dependsOn": [3]}]}`

func problem(kind methods.AnswerKind, options string) methods.Problem {
	return methods.Problem{
		ID: "A1", Query: "(15+7)*3-10", Tools: tools(), Seed: 11, Options: json.RawMessage(options),
		Answer: methods.AnswerSpec{Kind: kind, Labels: []string{"Friday", "Monday"}},
	}
}

func solve(t *testing.T, p methods.Problem, model methods.Model, d *desk) (methods.Answer, methodtest.Transcript) {
	t.Helper()
	h := methodtest.NewHost(model, methodtest.WithTools(d))
	a, err := aot.New().Solve(t.Context(), p, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Answer.Check(a); err != nil {
		t.Error(err)
	}
	return a, h.Transcript()
}
