package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"noema/kernel/base/redact"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// redact takes the user's keys out of all that is declared, before any of it is
// hashed: the samples, the tools, the options and the words of the user. What the
// caller has stays as it is.
func (e *Setup) redact() error {
	red := e.Redactor
	if red == nil {
		return nil
	}
	e.Name, e.Question = red.Text(e.Name), red.Text(e.Question)
	e.Command, e.SampleIDs, e.Methods = slices.Clone(e.Command), slices.Clone(e.SampleIDs), slices.Clone(e.Methods)
	for i, word := range e.Command {
		e.Command[i] = red.Text(word)
	}
	for i, id := range e.SampleIDs {
		e.SampleIDs[i] = red.Text(id)
	}
	for i, m := range e.Methods {
		e.Methods[i].Label, e.Methods[i].Options = red.Text(m.Label), red.Bytes(m.Options)
	}
	if e.digest != "" {
		return nil // its task is done
	}
	t := *e.Task
	t.Samples = nil
	if _, err := without(red, &t); err != nil {
		return fmt.Errorf("take keys out of task %q: %w", e.Task.Name, err)
	}
	t.Environment, t.Samples = redactTools(red, e.Task.Environment), slices.Clone(e.Task.Samples)
	reseed := false
	for i := range t.Samples {
		found, err := without(red, &t.Samples[i])
		if err != nil {
			return fmt.Errorf("take keys out of sample %q of task %q: %w", red.Text(t.Samples[i].ID), t.Name, err)
		}
		reseed = reseed || found && t.Samples[i].SeedDigest != ""
	}
	if reseed { // seeds must not depend on a key, either
		if err := task.SeedEach(t.Samples); err != nil {
			return err
		}
	}
	e.Task = &t
	return nil
}

// without takes keys out of all texts of a value that is stored as JSON. What has
// none is not touched. In the rest, the names of objects are sorted anew, since a
// key may be one.
func without[T any](red *redact.Redactor, v *T) (found bool, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return false, err
	}
	clean := red.Bytes(raw)
	if bytes.Equal(clean, raw) {
		return false, nil
	}
	var sorted any
	d := json.NewDecoder(bytes.NewReader(clean))
	d.UseNumber()
	if err := d.Decode(&sorted); err != nil {
		return true, fmt.Errorf("one of your keys stands where no text can: %w", err)
	}
	if clean, err = json.Marshal(sorted); err != nil {
		return true, err
	}
	var fresh T // what the value points at belongs to others
	if err := json.Unmarshal(clean, &fresh); err != nil {
		return true, err
	}
	*v = fresh
	return true, nil
}

// redactTools is an environment whose tools are described without keys.
func redactTools(red *redact.Redactor, e task.Environment) task.Environment {
	if e == nil {
		return nil
	}
	tools := slices.Clone(e.Tools())
	found := false
	for i, spec := range tools {
		tools[i].Description = red.Text(spec.Description)
		tools[i].Parameters, tools[i].Result = red.Bytes(spec.Parameters), red.Bytes(spec.Result)
		found = found || tools[i].Description != spec.Description ||
			!bytes.Equal(tools[i].Parameters, spec.Parameters) || !bytes.Equal(tools[i].Result, spec.Result)
	}
	if !found {
		return e
	}
	if of, ok := e.(task.PerTrial); ok {
		return keylessPerTrial{keyless{e, tools}, of}
	}
	return keyless{e, tools}
}

// keyless is an environment with other descriptions of its tools.
type keyless struct {
	task.Environment
	tools []methods.ToolSpec
}

var _ task.Preparer = keyless{}

// Tools implements [task.Environment].
func (k keyless) Tools() []methods.ToolSpec { return k.tools }

// Prepare implements [task.Preparer].
func (k keyless) Prepare(ctx context.Context, tell func(done, total int)) error {
	if p, ok := k.Environment.(task.Preparer); ok {
		return p.Prepare(ctx, tell)
	}
	return nil
}

// redactTrial takes the user's keys out of what a method says at its end: the
// gateway has taken them out of all else.
func redactTrial(red *redact.Redactor, t *record.Trial) {
	if red == nil {
		return
	}
	t.Failure, t.Printed = red.Text(t.Failure), red.Text(t.Printed)
	t.Answer.Value, t.Answer.Reason = red.Bytes(t.Answer.Value), red.Text(t.Answer.Reason)
	t.Answer.Evidence = slices.Clone(t.Answer.Evidence)
	for i, e := range t.Answer.Evidence {
		t.Answer.Evidence[i].Source, t.Answer.Evidence[i].Text = red.Text(e.Source), red.Text(e.Text)
	}
	for _, calls := range [][]record.Call{t.Calls, t.Grading} {
		for i, c := range calls {
			calls[i].Error = red.Text(c.Error)
		}
	}
	t.Ungraded = red.Text(t.Ungraded)
	for i, p := range t.Pairs {
		t.Pairs[i].Unread = red.Text(p.Unread)
	}
}

// keylessPerTrial is a keyless environment that serves one trial alone.
type keylessPerTrial struct {
	keyless
	of task.PerTrial
}

// Of implements [task.PerTrial].
func (k keylessPerTrial) Of(p methods.Problem) (task.Environment, error) {
	e, err := k.of.Of(p)
	return keyless{e, k.tools}, err
}
