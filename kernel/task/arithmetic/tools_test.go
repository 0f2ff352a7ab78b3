package arithmetic_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"noema/kernel/task"
	"noema/kernel/task/arithmetic"
	"noema/methods"
	"noema/methods/reply"
)

func TestTools(t *testing.T) {
	for _, c := range []struct {
		env        task.Environment
		name, args string
		want       string
		isError    bool
	}{
		{arithmetic.Environment{}, "add", `{"a":0.1,"b":0.2}`, "0.3", false},
		{arithmetic.Environment{}, "subtract", `{"a":1e2,"b":100.50}`, "-0.5", false},
		{arithmetic.Environment{}, "multiply", `{"a":12345678901234567890,"b":1.5}`, "18518518351851851835", false},
		{arithmetic.Environment{}, "divide", `{"a":1,"b":8}`, "0.125", false},
		{arithmetic.Environment{}, "divide", `{"a":-2,"b":3}`, "-0.666666666667", false},
		{arithmetic.Environment{}, "divide", `{"a":5,"b":0.0}`, "division by zero", true},
		{arithmetic.Environment{}, "remainder", `{"a":17,"b":5}`, "2", false},
		{arithmetic.Environment{}, "remainder", `{"a":-1,"b":3}`, "2", false},
		{arithmetic.Environment{}, "remainder", `{"a":7.5,"b":2}`, "1.5", false},
		{arithmetic.Environment{}, "remainder", `{"a":1,"b":0}`, "division by zero", true},
		{arithmetic.Environment{}, "round", `{"x":2.345,"places":2}`, "2.35", false},
		{arithmetic.Environment{}, "round", `{"x":1250,"places":-2}`, "1300", false},
		{arithmetic.Environment{}, "round", `{"x":1,"places":9999999}`, "places", true},
		{arithmetic.Environment{}, "add", `{"a":1}`, "argument b", true},
		{arithmetic.Environment{}, "add", `{"a":"x","b":1}`, "arguments", true},
		{arithmetic.Environment{}, "add", `[1,2]`, "arguments", true},
		{arithmetic.Environment{}, "add", `{"a":1e999999999,"b":1}`, "exponent", true},
		{arithmetic.Environment{}, "multiply", `{"a":1e300,"b":1e300}`, "too long", true},
		{arithmetic.Moves{}, "add", `{"a":"(4 - 1)","b":6}`, "((4 - 1) + 6)", false},
		{arithmetic.Moves{}, "divide", `{"a":8,"b":"(3 - (8 / 3))"}`, "(8 / (3 - (8 / 3)))", false},
		{arithmetic.Moves{}, "divide", `{"a":8,"b":"(3 - 3)"}`, "division by zero", true},
		{arithmetic.Moves{}, "multiply", `{"a":"f(x)","b":1}`, "only numbers", true},
		{arithmetic.Moves{}, "multiply", `{"a":1.5,"b":1}`, "not a whole number", true},
		{arithmetic.Moves{}, "add", `{"a":1}`, "expression", true},
		{arithmetic.Moves{}, "value", `{"expression":"8 / 3 - 1"}`, "5/3", false},
		{arithmetic.Moves{}, "value", `{"expression":"24"}`, "24", false},
		{arithmetic.Moves{}, "value", `{}`, "expression", true},
	} {
		r, err := c.env.Call(t.Context(), methods.ToolCall{Name: c.name, Arguments: json.RawMessage(c.args)})
		matches := r.Content == c.want
		if c.isError {
			matches = strings.Contains(r.Content, c.want)
		}
		if err != nil || !matches || r.IsError != c.isError {
			t.Errorf("%T %s %s = %q, %t, %v, want %q", c.env, c.name, c.args, r.Content, r.IsError, err, c.want)
		}
	}
}

// The schemas are valid, pure, and take what the tools take.
func TestToolSpecs(t *testing.T) {
	for _, env := range []task.Environment{arithmetic.Environment{}, arithmetic.Moves{}} {
		for _, spec := range env.Tools() {
			args := `{"a":6,"b":3}`
			switch spec.Name {
			case "round":
				args = `{"x":6,"places":1}`
			case "value":
				args = `{"expression":"2 * 3"}`
			}
			takes, err := reply.NewValidator(spec.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			if err := takes.Check(json.RawMessage(args)); err != nil || !spec.Pure || spec.Description == "" {
				t.Errorf("%T %s: %v", env, spec.Name, err)
			}
			if err := takes.Check(json.RawMessage(`{"a":6,"c":3}`)); err == nil {
				t.Errorf("%T %s takes anything", env, spec.Name)
			}
			r, err := env.Call(t.Context(), methods.ToolCall{Name: spec.Name, Arguments: json.RawMessage(args)})
			if err != nil || r.IsError {
				t.Errorf("%T %s: %+v, %v", env, spec.Name, r, err)
			}
		}
		if _, err := env.Call(t.Context(), methods.ToolCall{Name: "power", Arguments: json.RawMessage(`{"a":1,"b":2}`)}); !errors.Is(err, methods.ErrUnknownTool) {
			t.Errorf("%T: unknown tool: %v", env, err)
		}
	}
}
