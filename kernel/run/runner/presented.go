package runner

import (
	"encoding/json"
	"slices"
	"sync"

	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// presented is a sample as its trials meet it. Those of all methods meet the same, and run
// beside each other, so that it is made once for them.
type presented struct {
	problem methods.Problem
	target  json.RawMessage

	environment   task.Environment // nil without tools, or where each trial needs its own
	environmentID string
}

// presentation is what a presented sample depends on within a run.
type presentation struct {
	sample  string
	epoch   int
	shuffle bool
}

// presentations keeps the samples that were presented last.
type presentations struct {
	mu   sync.Mutex
	made map[presentation]func() (presented, error)
}

// presentationsKept is how many there are: more than are in progress, since the methods of a
// sample run next to each other.
const presentationsKept = 64

// of returns what is presented, which make makes.
func (p *presentations) of(key presentation, make func() (presented, error)) (presented, error) {
	p.mu.Lock()
	known, ok := p.made[key]
	if !ok {
		if len(p.made) == presentationsKept {
			clear(p.made) // what is in progress is made once more
		}
		known = sync.OnceValues(make)
		p.made[key] = known
	}
	p.mu.Unlock()
	return known()
}

// present presents the sample of a trial.
func (x *execution) present(id record.TrialID, seed uint64, shuffle bool) (presented, error) {
	return x.presentations.of(presentation{id.Sample, id.Epoch, shuffle}, func() (p presented, err error) {
		if p.problem, p.target, err = x.samples[id.Sample].Present(seed, shuffle); err != nil {
			return p, err
		}
		if !stateless(x.exp.Task.Environment) {
			return p, nil
		}
		p.environment, p.environmentID, err = x.environment(p.problem)
		if _, restored := p.environment.(task.Stateful); restored {
			p.environment = nil
		}
		return p, err
	})
}

// stateless reports whether no trial can tell what another has done in the environment:
// what a pure tool says depends on its arguments alone.
func stateless(e task.Environment) bool {
	return e != nil && !slices.ContainsFunc(e.Tools(), func(t methods.ToolSpec) bool { return !t.Pure })
}
