package task

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"noema/methods"
)

// Environment runs the tools of a task's problems, on the kernel's side.
type Environment interface {
	Tools() []methods.ToolSpec
	Call(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error)
}

// PerTrial is the optional second interface of an environment whose tools read
// the problem that they are offered with, such as its items in the order shown,
// or which has state. Tools of other environments say the same to every trial.
type PerTrial interface {
	Environment
	// Of returns the environment of one trial, whose problem is p as
	// [Sample.Present] gave it. Its tools may depend on p.Context and p.Seed;
	// pure ones on p.Context alone, because trials with equal contexts share
	// their results.
	Of(p methods.Problem) (Environment, error)
}

// Stateful is the optional interface of a trial's environment whose tools have
// effects that later calls meet. It is told each call with its result before the
// method is, so that a trial that goes on after an interruption finds the state
// that it left. Restore changes nothing if the environment has run the call
// itself, or was told of it before. It may be called at the same time as Call.
type Stateful interface {
	Environment
	Restore(c methods.ToolCall, r methods.ToolResult) error
}

// EnvironmentOf returns what serves the tools of a trial whose problem is p, and
// the identity that the keys of its results begin with: base, and for a PerTrial
// environment the problem's context.
func EnvironmentOf(e Environment, base string, p methods.Problem) (Environment, string, error) {
	if !IsPerTrial(e) {
		return e, base, nil
	}
	of, err := e.(PerTrial).Of(p)
	if err != nil {
		return nil, "", fmt.Errorf("prepare the tools for sample %q: %w", p.ID, err)
	}
	sum := sha256.Sum256(plainContext(p.Context))
	return of, base + "/" + hex.EncodeToString(sum[:]), nil
}

// plainContext is a context without what a stored task loses: its layout, and the
// difference between null and nothing.
func plainContext(context json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, context) != nil || b.String() == "null" {
		return nil
	}
	return b.Bytes()
}

// IsPerTrial reports whether what e's tools say depends on the problem.
func IsPerTrial(e Environment) bool {
	if b, wraps := e.(beside); wraps {
		return IsPerTrial(b.others)
	}
	_, ok := e.(PerTrial)
	return ok
}
