package aot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// The phases of the method, which begin its call paths.
const (
	planPhase = "plan"
	runPhase  = "atom"
)

// The kinds of events that only this method has.
const (
	// StepSkipped says that an atom was not run for want of a result.
	StepSkipped methods.EventKind = "step_skipped"
	// StepUndone says that the compensation of an atom has run.
	StepUndone methods.EventKind = "step_undone"
)

func atomPath(id int) string { return runPhase + "/" + strconv.Itoa(id) }

// atom runs the atom at position i, whose needs have ended.
func (x *execution) atom(ctx context.Context, i int) {
	a, p := x.plan.Atoms[i], &x.atoms[i]
	if p.Status == Done { // taken over
		return
	}
	p.ID, p.Digest = a.ID, x.digests[i]
	for _, need := range x.needs[i] {
		switch n := x.atoms[need]; {
		case n.fatal != nil:
			p.fatal = n.fatal
			return
		case n.Status != Done:
			p.Status, p.Error = Skipped, fmt.Sprintf("atom %d has no result", n.ID)
			x.emit(atomPath(a.ID), StepSkipped, 2, nil, "%s: %s", a.title(), p.Error)
			return
		}
	}
	x.emit(atomPath(a.ID), methods.StepStart, 2, nil, "%s", a.title())
	result, err := x.result(ctx, i)
	if most := maxResult(len(x.plan.Atoms)); err == nil && len(result) > most {
		err = fmt.Errorf("its result has %d bytes, more than the maximum of %d for each of %d atoms: filter more, or plan fewer atoms", len(result), most, len(x.plan.Atoms))
	}
	switch {
	case err == nil:
		p.Status, p.Result = Done, result
		x.emit(atomPath(a.ID), methods.StepResult, 2, json.RawMessage(result), "%s", reply.OneLine(string(result), 200))
	case isFatal(ctx, err) || a.Kind == Decision && errors.Is(err, methods.ErrProvider):
		p.fatal = err
	default:
		p.Status, p.Error, p.cause = Failed, reply.OneLine(err.Error(), 500), err
		x.emit(atomPath(a.ID), methods.StepError, 1, nil, "%s: %s", a.title(), reply.OneLine(err.Error(), 300))
	}
}

// maxResult bounds the result of one atom, in bytes, such that those of all fit
// into memory. It depends on the plan alone, not on which atom was faster.
func maxResult(atoms int) int {
	return min(maxInput, max(32<<10, 256<<20/max(1, atoms)))
}

// title names an atom for people: kind and name.
func (a Atom) title() string {
	return reply.OneLine(strings.TrimSpace(string(a.Kind)+" "+a.Name), 80)
}

// result computes what an atom gives, as JSON.
func (x *execution) result(ctx context.Context, i int) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := x.plan.Atoms[i]
	if a.Kind == Final {
		return x.final(i)
	}
	op := x.tools[a.Kind][a.Name]
	input, args, err := x.input(a.Input, op)
	if err != nil {
		return nil, err
	}
	if a.Kind == Decision {
		v, err := x.decision(ctx, op, input, atomPath(a.ID))
		if err != nil {
			return nil, err
		}
		return encode(v), nil
	}
	content, err := x.call(ctx, op, args, atomPath(a.ID), x.opts.Retries, &x.atoms[i].Attempts)
	if err != nil {
		return nil, err
	}
	return op.read(content)
}

// decision computes a decision, or has the model read for it.
func (x *execution) decision(ctx context.Context, op operation, input map[string]any, path string) (any, error) {
	if op.decision.run != nil {
		return op.decision.run(input)
	}
	return x.read(ctx, op.spec.Name, input, path)
}

// input resolves references and checks the outcome, since what tools return
// was not known when the plan was validated.
func (x *execution) input(input map[string]json.RawMessage, op operation) (map[string]any, json.RawMessage, error) {
	f := filler{result: x.resultOf, literal: op.decision != nil}
	filled, err := f.fill(input)
	if err != nil {
		return nil, nil, err
	}
	args := encode(filled)
	if err := op.input.Check(args); err != nil {
		return nil, nil, fmt.Errorf("input %.200s: %w", args, err)
	}
	return filled, args, nil
}

// resultOf is the result of an atom that is done.
func (x *execution) resultOf(id int) json.RawMessage {
	if i, ok := x.index[id]; ok && x.atoms[i].Status == Done {
		return x.atoms[i].Result
	}
	return nil
}

// final resolves and checks the answer.
func (x *execution) final(i int) (json.RawMessage, error) {
	raw, fault := x.answerOf(i)
	if fault != "" { // validation has seen to it
		return nil, errors.New(fault)
	}
	f := filler{result: x.resultOf}
	filled, err := f.fill(map[string]json.RawMessage{"answer": raw})
	if err != nil {
		return nil, err
	}
	return encode(filled["answer"]), nil
}

// call runs a tool, impure ones repeatedly if they fail.
func (x *execution) call(ctx context.Context, op operation, args json.RawMessage, path string, retries int, attempts *int) (string, error) {
	c := methods.ToolCall{Name: op.spec.Name, Arguments: args, Path: path}
	for attempt := 1; ; attempt++ {
		*attempts = attempt
		content, err := x.callOnce(ctx, c)
		if err == nil || isFatal(ctx, err) || op.spec.Pure || attempt > retries {
			return content, err
		}
		c.Path = path + "/r" + strconv.Itoa(attempt)
		x.emit(c.Path, methods.Retry, 1, nil, "call %s again: %s", op.spec.Name, reply.OneLine(err.Error(), 200))
	}
}

func (x *execution) callOnce(ctx context.Context, c methods.ToolCall) (string, error) {
	if x.opts.Timeout > 0 {
		var cancel context.CancelFunc
		late := fmt.Errorf("it took longer than %v", x.opts.Timeout)
		ctx, cancel = context.WithTimeoutCause(ctx, x.opts.Timeout, late)
		defer cancel()
		content, err := toolText(x.toolbox.CallTool(ctx, c))
		if err != nil && context.Cause(ctx) == late {
			err = late
		}
		return content, err
	}
	return toolText(x.toolbox.CallTool(ctx, c))
}

func toolText(r methods.ToolResult, err error) (string, error) {
	if err == nil && r.IsError {
		err = errors.New(reply.OneLine(r.Content, 300))
	}
	return strings.ToValidUTF8(r.Content, "\ufffd"), err
}

// read turns what a tool returned into JSON of its result schema. A tool
// without one gives what it looks like, a text if not JSON.
func (op operation) read(content string) (json.RawMessage, error) {
	raw := json.RawMessage(strings.TrimSpace(content))
	if op.gives.name == "string" || !json.Valid(raw) {
		raw = encode(content)
	}
	if op.result != nil {
		if err := op.result.Check(raw); err != nil {
			return nil, fmt.Errorf("its result %.100q is not what the tool promises: %w", content, err)
		}
	}
	return raw, nil
}

// undoRetries is how often a failed compensation is repeated at least. What is
// not undone stays behind for good, while an atom that fails can be undone.
const undoRetries = 5

// undoAll calls the compensations of what is done, users before what they
// use. It returns the positions of those that failed.
func (x *execution) undoAll(ctx context.Context) (unable []int, err error) {
	for _, i := range slices.Backward(x.order) {
		undo, p := x.plan.Atoms[i].Compensate, &x.atoms[i]
		if !undo.undoes() || p.Status != Done {
			continue
		}
		path := atomPath(p.ID) + "/undo"
		err := x.undo(ctx, undo, path)
		switch {
		case err == nil:
			p.Status = Undone
			x.emit(path, StepUndone, 1, nil, "undone by %s", undo.Name)
		case isFatal(ctx, err):
			return nil, fmt.Errorf("undo atom %d: %w", p.ID, err)
		default:
			p.Undo, p.cause = reply.OneLine(err.Error(), 500), err
			x.emit(path, methods.StepError, 1, nil, "%s: %s", undo.Name, p.Undo)
			unable = append(unable, i)
		}
		if x.opts.OnAtom != nil {
			x.opts.OnAtom(p.AtomState)
		}
	}
	return unable, nil
}

func (x *execution) undo(ctx context.Context, c *Compensation, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	op := x.tools[Tool][c.Name]
	_, args, err := x.input(c.Input, op)
	if err != nil {
		return err
	}
	var attempts int
	_, err = x.call(ctx, op, args, path, max(x.opts.Retries, undoRetries), &attempts)
	return err
}
