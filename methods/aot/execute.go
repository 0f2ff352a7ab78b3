package aot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"noema/methods"
	"noema/methods/internal/trial"
)

// DefaultConcurrency is how many atoms run at the same time by default.
const DefaultConcurrency = 16

// Options say how a plan is executed. The zero value is a good choice, with
// the tools added.
type Options struct {
	Tools       []methods.ToolSpec          // what tool atoms can be; the toolbox runs them
	Answer      methods.AnswerSpec          // what the final atom must give; no kind means anything
	Concurrency int                         // atoms at the same time; 0 means DefaultConcurrency
	Retries     int                         // how often a failed call of an impure tool is repeated
	Timeout     time.Duration               // of each tool call; 0 means none. Where a clock decides, a rerun may differ
	State       *State                      // of an earlier execution, to go on from; may be nil
	Trace       methods.Tracer              // receives an event for each step; may be nil
	OnKept      func(Kind, AtomState) error // told each atom that State has done and that is not run again, before anything runs; may be nil
	OnAtom      func(AtomState)             // told each atom as it ends, one at a time, for keeping the state; may be nil

	ask asker // reads texts for the decisions that need a model; nil outside of a trial
}

// Execute runs a plan: an atom starts as soon as the atoms that it needs are
// done, and at most Options.Concurrency run at the same time. Nothing in the
// state depends on which was faster.
//
// A failed atom stops those that need it and no others. When all that can run
// has run, the compensations of the atoms that are done are called in reverse
// canonical order (dependents first, then the highest id), and the error is a
// [*FailedError]. Calling Execute again with the state goes on from there: atoms
// that are done, and unchanged in the plan, are not run again, unless something
// that they need is.
//
// If ctx ends or a call fails with ErrBudget or ErrMiss, the plan has not
// failed but stopped: nothing is compensated, and the error wraps the cause. A
// plan with faults is not run at all: an [*InvalidPlanError].
//
// Source: seed 002 §Phase 3. Differs: by dependencies instead of by id, with
// the seed's extensions: compensation, retries, concurrency, kept state.
func Execute(ctx context.Context, plan Plan, toolbox methods.Toolbox, o Options) (State, error) {
	set, err := newToolset(o.Tools, decisionList())
	if err != nil {
		return State{}, fmt.Errorf("execute plan: %w", err)
	}
	p, faults := set.prepare(plan, o.Answer)
	if len(faults) > 0 {
		return State{}, &InvalidPlanError{faults}
	}
	return p.execute(ctx, toolbox, o)
}

func (p *program) execute(ctx context.Context, toolbox methods.Toolbox, o Options) (State, error) {
	x := &execution{program: p, toolbox: toolbox, opts: o, digests: p.digests(), atoms: make([]progress, len(p.plan.Atoms))}
	if err := x.takeOver(); err != nil {
		return *o.State, fmt.Errorf("go on from the state: %w", err)
	}
	x.run(ctx)
	return x.conclude(ctx)
}

// execution is a plan being run. Each atom's progress is written by its own
// goroutine and read by others after the scheduler has heard that it ended.
type execution struct {
	*program
	toolbox methods.Toolbox
	opts    Options
	digests []string
	atoms   []progress
}

// progress is what came of an atom so far.
type progress struct {
	AtomState
	cause error // of a failure
	fatal error // why the whole plan stops; the atom has no status then
}

// takeOver keeps what an earlier execution has done, as far as all that it needs
// is kept, too: what came of an atom that was undone is undone with it.
func (x *execution) takeOver() error {
	if x.opts.State == nil {
		return nil
	}
	before := make([]AtomState, len(x.atoms))
	for _, a := range x.opts.State.Atoms {
		if i, ok := x.index[a.ID]; ok {
			before[i] = a
		}
	}
	for _, i := range x.order {
		a := before[i]
		lacks := func(need int) bool { return x.atoms[need].Status != Done }
		if a.Status != Done || a.Digest != x.digests[i] || !json.Valid(a.Result) || slices.ContainsFunc(x.needs[i], lacks) {
			continue
		}
		a.Undo = ""
		x.atoms[i].AtomState = a
		if x.opts.OnKept != nil {
			if err := x.opts.OnKept(x.plan.Atoms[i].Kind, a); err != nil {
				return fmt.Errorf("atom %d: %w", a.ID, err)
			}
		}
	}
	return nil
}

// run is the scheduler: it starts what is ready, lowest id first, and hears
// what has ended.
func (x *execution) run(ctx context.Context) {
	walk := newFrontier(x.graph)
	limit := cmp.Or(max(0, x.opts.Concurrency), DefaultConcurrency)
	ended := make(chan int, limit)
	for running := 0; len(walk.ready) > 0 || running > 0; {
		if len(walk.ready) > 0 && running < limit {
			i := walk.pop()
			running++
			go func() {
				defer func() { ended <- i }()
				x.atom(ctx, i)
			}()
			continue
		}
		i := <-ended
		running--
		if x.opts.OnAtom != nil && x.atoms[i].Status != "" {
			x.opts.OnAtom(x.atoms[i].AtomState)
		}
		walk.ended(i)
	}
}

// conclude undoes what is to be undone and reports.
func (x *execution) conclude(ctx context.Context) (State, error) {
	var failed []int
	for _, i := range x.order {
		a := x.atoms[i]
		if a.fatal != nil {
			return x.state(), fmt.Errorf("run atom %d: %w", a.ID, a.fatal)
		}
		if a.Status == Failed {
			failed = append(failed, i)
		}
	}
	if len(failed) == 0 {
		return x.state(), nil
	}
	unable, err := x.undoAll(ctx)
	if err != nil {
		return x.state(), err
	}
	e := &FailedError{}
	for _, i := range append(failed, unable...) {
		e.Failed = append(e.Failed, x.atoms[i].AtomState)
		e.causes = append(e.causes, x.atoms[i].cause)
	}
	return x.state(), e
}

// state is the execution as data.
func (x *execution) state() State {
	s := State{Atoms: []AtomState{}}
	for _, i := range x.order {
		a := x.atoms[i].AtomState
		if a.Status == "" {
			continue
		}
		s.Atoms = append(s.Atoms, a)
		if x.plan.Atoms[i].Kind == Final && a.Status == Done {
			s.Answer = a.Result
		}
	}
	return s
}

// isFatal reports whether an error stops the plan rather than the atom.
func isFatal(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, methods.ErrBudget) || errors.Is(err, methods.ErrMiss)
}

// emit sends an event about an atom.
func (x *execution) emit(path string, kind methods.EventKind, level int, data any, format string, args ...any) {
	if x.opts.Trace != nil {
		trial.Emit(x.opts.Trace, path, kind, level, data, format, args...)
	}
}
