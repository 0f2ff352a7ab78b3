package anot

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/anot/internal/lwt"
	"noema/methods/reply"
)

// editor holds the LWT while phase 2 builds it.
type editor struct {
	solver   *solver
	strategy *Strategy
	program  lwt.Program
	plan     *lwt.Plan // set when done() is accepted
	warned   bool      // done() was refused once for what the LWT leaves out
}

// run executes the calls of one reply in textual order and returns what the
// model is told about them. It stops at an accepted done().
func (e *editor) run(path, text string) string {
	calls := parseCalls(text)
	if len(calls) == 0 {
		e.solver.Emit(path, methods.StepError, 1, nil, "the reply holds no tool call")
		return observationsHead + noCallsNote + "\n"
	}
	var b strings.Builder
	b.WriteString(observationsHead)
	for i, c := range calls {
		result, err := e.call(path, c)
		kind, level := methods.StepResult, 2
		if err != nil {
			result, kind, level = "refused: "+err.Error(), methods.StepError, 1
		}
		line := c.label() + ": " + result
		fmt.Fprintf(&b, "%d. %s\n", i+1, line)
		e.solver.Emit(path, kind, level, nil, "%s", reply.OneLine(line, 200))
		if e.plan != nil {
			if rest := len(calls) - i - 1; rest > 0 {
				e.solver.Emit(path, methods.Dropped, 1, nil, "%d calls after done() are not run", rest)
			}
			break
		}
	}
	return b.String()
}

// label names a call in an observation, without its step.
func (c call) label() string {
	if len(c.args) == 0 {
		return c.name + "()"
	}
	if s, ok := c.args[0].(string); ok {
		return c.name + "(" + quoted(reply.OneLine(s, 120)) + ")"
	}
	return fmt.Sprintf("%s(%v)", c.name, c.args[0])
}

func (e *editor) call(path string, c call) (string, error) {
	if c.err != nil {
		return "", c.err
	}
	switch c.name {
	case "lwt_insert":
		return e.insert(c)
	case "lwt_set":
		return e.set(c)
	case "lwt_delete":
		return e.delete(c)
	case "lwt_list":
		return e.list(), nil
	case "read":
		return e.read(path, c)
	}
	return e.done()
}

// position reads the first argument, which must lie within 1..last.
func (c call) position(last int) (int, error) {
	if len(c.args) == 0 {
		return 0, errors.New("want a position")
	}
	n, ok := c.args[0].(int)
	if !ok {
		return 0, errors.New("want a position as the first argument")
	}
	if n < 1 || n > last {
		if last == 0 {
			return 0, errors.New("the LWT has no steps")
		}
		return 0, fmt.Errorf("position %d is not within 1..%d", n, last)
	}
	return n, nil
}

// step reads the second argument. No step but the one at position except,
// which it replaces, may have its id.
func (e *editor) step(c call, except int) (lwt.Step, error) {
	if len(c.args) != 2 {
		return lwt.Step{}, errors.New("want a position and a step")
	}
	src, ok := c.args[1].(string)
	if !ok {
		return lwt.Step{}, errors.New("want the step as a string")
	}
	s, err := lwt.ParseStep(src)
	if err != nil {
		return s, err
	}
	for i, have := range e.program.Steps {
		if have.ID == s.ID && i+1 != except {
			return s, fmt.Errorf("step %d has the id %s already: use lwt_set to replace it", i+1, s.ID)
		}
	}
	s.Pos = lwt.Pos{} // a place in the call's string would mislead in later messages
	return s, nil
}

func (e *editor) insert(c call) (string, error) {
	s, err := e.step(c, 0)
	if err != nil {
		return "", err
	}
	n, err := c.position(len(e.program.Steps) + 1)
	if err != nil {
		return "", err
	}
	e.program.Steps = slices.Insert(e.program.Steps, n-1, s)
	return e.size(), nil
}

func (e *editor) set(c call) (string, error) {
	n, err := c.position(len(e.program.Steps))
	if err != nil {
		return "", err
	}
	s, err := e.step(c, n)
	if err != nil {
		return "", err
	}
	e.program.Steps[n-1] = s
	return e.size(), nil
}

func (e *editor) delete(c call) (string, error) {
	n, err := c.position(len(e.program.Steps))
	if err != nil {
		return "", err
	}
	e.program.Steps = slices.Delete(e.program.Steps, n-1, n)
	return e.size(), nil
}

func (e *editor) size() string { return fmt.Sprintf("ok, steps: %d", len(e.program.Steps)) }

func (e *editor) list() string {
	if len(e.program.Steps) == 0 {
		return "the LWT is empty"
	}
	var b strings.Builder
	for i, s := range e.program.Steps {
		fmt.Fprintf(&b, "\n  %d: %s", i+1, s)
	}
	return b.String()
}

func (e *editor) read(path string, c call) (string, error) {
	if len(c.args) != 1 {
		return "", errors.New(`want one path, such as "items[1].attributes"`)
	}
	where, ok := c.args[0].(string)
	if !ok {
		return "", errors.New("want the path as a string")
	}
	ref, err := lwt.ParsePath(where)
	if err != nil {
		return "", err
	}
	text, ok := e.solver.data.Value(ref)
	if !ok {
		return "", errors.New("there is nothing at this path")
	}
	return e.solver.readResult(path, where, text), nil
}

// done accepts the LWT if it is valid. Conditions without a step and items that a
// step leaves out are a reason to refuse once; the model may mean it, so the second
// time they are accepted and reported.
func (e *editor) done() (string, error) {
	plan, err := lwt.Compile(&e.program, e.solver.data.Names())
	if err != nil {
		return "", err
	}
	if !e.warned {
		if missing := e.missing(plan); missing != "" {
			e.warned = true
			return "", fmt.Errorf("%scomplete the LWT, or call done() again if this is meant", missing)
		}
	}
	e.plan = plan
	return "ok", nil
}

// missing says what a valid LWT leaves out.
func (e *editor) missing(plan *lwt.Plan) string {
	var b strings.Builder
	for _, c := range e.strategy.uncovered(plan) {
		b.WriteString(c.without() + "; ")
	}
	for i, s := range plan.Steps {
		if missing := plan.Unlisted(i, e.solver.n); len(missing) > 0 {
			fmt.Fprintf(&b, "step %s leaves out the items %v; ", s.ID, missing)
		}
	}
	return b.String()
}
