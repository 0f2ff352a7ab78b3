package arithmetic

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"

	"noema/kernel/task"
	"noema/methods"
	"noema/methods/decimal"
)

// Environment runs the arithmetic tools. Arguments are JSON numbers, read as
// exact decimals. A result is a bare decimal, such as 56 or 2.5, so that the
// next tool can take it as it is; for the same reason a quotient that has no
// finite decimal form is rounded to [decimal.Digits] significant digits without
// a mark, as its description says. What cannot be computed is an error result.
type Environment struct{}

var _ task.Environment = Environment{}

// Tools lists add, subtract, multiply, divide, remainder and round.
func (Environment) Tools() []methods.ToolSpec {
	const two = `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`
	const places = `{"type":"object","properties":{"x":{"type":"number"},"places":{"type":"integer","minimum":-300,"maximum":300}},"required":["x","places"],"additionalProperties":false}`
	of := func(name, doc, parameters string) methods.ToolSpec {
		return methods.ToolSpec{Name: name, Description: doc, Parameters: json.RawMessage(parameters), Result: json.RawMessage(`{"type":"number"}`), Pure: true}
	}
	return []methods.ToolSpec{
		of("add", "a + b, exactly", two),
		of("subtract", "a - b, exactly", two),
		of("multiply", "a × b, exactly", two),
		of("divide", fmt.Sprintf("a ÷ b; a quotient without a finite decimal form is rounded to %d significant digits; b must not be 0", decimal.Digits), two),
		of("remainder", "what is left of a after taking away b as often as it fits; b must not be 0", two),
		of("round", "x rounded to so many decimal places, half away from zero", places),
	}
}

// arguments are those of all tools.
type arguments struct {
	A, B, X json.Number
	Places  int
}

// Call implements [task.Environment]. It fails only for an unknown tool.
func (Environment) Call(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	var args arguments
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return failure(fmt.Errorf("read arguments: %w", err)), nil
	}
	x, err := compute(c.Name, args)
	if err != nil {
		return failure(err), nil
	}
	if x == nil {
		return methods.ToolResult{}, fmt.Errorf("%w %q", methods.ErrUnknownTool, c.Name)
	}
	text, _ := decimal.Format(x)
	if _, err := decimal.Parse(text); err != nil {
		return failure(fmt.Errorf("the result is too long: %w", err)), nil
	}
	return methods.ToolResult{Content: text}, nil
}

func failure(err error) methods.ToolResult {
	return methods.ToolResult{Content: err.Error(), IsError: true}
}

// compute runs a tool; the result is nil if there is none of that name.
func compute(name string, args arguments) (*big.Rat, error) {
	if name == "round" {
		x, err := decimal.Parse(string(args.X))
		if err != nil {
			return nil, fmt.Errorf("argument x: %w", err)
		}
		return decimal.Round(x, args.Places)
	}
	a, err := decimal.Parse(string(args.A))
	if err != nil {
		return nil, fmt.Errorf("argument a: %w", err)
	}
	b, err := decimal.Parse(string(args.B))
	if err != nil {
		return nil, fmt.Errorf("argument b: %w", err)
	}
	r := new(big.Rat)
	switch name {
	case "add":
		return r.Add(a, b), nil
	case "subtract":
		return r.Sub(a, b), nil
	case "multiply":
		return r.Mul(a, b), nil
	case "divide", "remainder":
		if b.Sign() == 0 {
			return nil, fmt.Errorf("division by zero: %s(%s, %s)", name, args.A, args.B)
		}
		if r.Quo(a, b); name == "divide" {
			return r, nil
		}
		return r.Sub(a, r.Mul(b, floor(r))), nil
	}
	return nil, nil
}

// floor is the greatest whole number that is at most r.
func floor(r *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Div(r.Num(), r.Denom()))
}

func intRat(n int) *big.Rat { return big.NewRat(int64(n), 1) }
