package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"noema/kernel/base/redact"
	"noema/kernel/task"
	"noema/methods"
)

// described has one tool, and is prepared.
type described struct {
	spec     methods.ToolSpec
	prepared *int
}

func (d described) Tools() []methods.ToolSpec { return []methods.ToolSpec{d.spec} }

func (d described) Call(context.Context, methods.ToolCall) (methods.ToolResult, error) {
	return methods.ToolResult{}, nil
}

func (d described) Prepare(context.Context, func(done, total int)) error { *d.prepared++; return nil }

// TestKeysInSetup: keys in options, tools and samples are taken out, what the
// caller declared stays, and a setup without keys is the same as before.
func TestKeysInSetup(t *testing.T) {
	const key = "open-sesame-0123456789"
	prepared := 0
	setup := func(secret string) Setup {
		object := json.RawMessage(fmt.Sprintf(`{"%s":"%[1]s","z":1}`, secret))
		return Setup{
			Redactor: redact.New([]string{key}),
			Command:  []string{"noema", "-M", "hint=" + secret},
			Methods:  []Method{{Label: "m?hint=" + secret, Options: object}},
			Task: &task.Task{
				Name: "t", Source: secret, Notes: []string{secret},
				Samples: []task.Sample{{
					ID: "s", Target: object, Metadata: map[string]string{secret: secret},
					Problem: methods.Problem{Query: secret, Context: object, Tools: []methods.ToolSpec{{Description: secret}}},
				}},
				Environment: described{methods.ToolSpec{Name: "x", Description: secret, Parameters: object, Result: object}, &prepared},
			},
		}
	}
	text := func(s Setup) string {
		raw, err := json.Marshal([]any{s.Command, s.Methods, s.Task, s.Task.Environment.Tools()})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	s := setup(key)
	declared, before := s, text(s)
	if err := s.redact(); err != nil {
		t.Fatal(err)
	}
	if got := text(s); strings.Contains(got, key) || strings.Count(got, redact.Mark) != strings.Count(before, key) {
		t.Errorf("without keys it is %s", got)
	}
	if text(declared) != before {
		t.Error("what was declared has changed")
	}
	if p, ok := s.Task.Environment.(task.Preparer); !ok || p.Prepare(t.Context(), nil) != nil || prepared != 1 {
		t.Error("the tools are not prepared")
	}
	plain := setup("nothing")
	before = text(plain)
	if err := plain.redact(); err != nil || text(plain) != before {
		t.Errorf("%v: a setup without keys has changed", err)
	}
}
