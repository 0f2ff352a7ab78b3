package plugincheck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
)

// named is a check with what holds when it is passed.
type named struct {
	name, good string
	run        func(*checker) []string
}

// conformance lists the checks of the suite for methods; methodtest has their
// definitions.
func conformance() []named {
	return []named{
		{name: "describe", good: "its name, answers and options are well formed"},
		{name: "answer", good: "its answers are of the kind asked for"},
		{name: "calls", good: "every call has a path, a draw and the problem's seed"},
		{name: "events", good: "every event has a kind and one line of text"},
		{name: "repeat", good: "the same problem gives the same calls and answer"},
		{name: "concurrent", good: "eight trials at once do as one alone does"},
		{name: "cancel", good: "it stops within 100 ms of being cancelled"},
		{name: "leak", good: "a trial leaves nothing running"},
		{name: "budget", good: "it reports a budget that is exhausted"},
		{name: "provider", good: "it reports a model that fails"},
		{name: "miss", good: "it takes no gap in a record for an answer"},
		{name: "problems", good: "hostile problems do not break it"},
		{name: "replies", good: "hostile replies do not break it"},
	}
}

// ownChecks lists what is only seen from outside a process. The comment at each
// function is its definition.
func ownChecks() []named {
	return []named{
		{"fresh", "a new process does as a used one, in whatever order replies come", (*checker).fresh},
		{"spent", "it makes no calls to speak of after its budget is exhausted", (*checker).spent},
		{"stop", "it is back within a second of being cancelled, and its process lives", (*checker).stop},
		{"large", "ten thousand labels, items and names do not break it", (*checker).large},
		{"options", "options that it does not know do not break it", (*checker).options},
		{"memory", "its memory does not grow from trial to trial", (*checker).memory},
		{"process", "no trial crashed or cost its process", (*checker).process},
	}
}

// trial is how one trial ended.
type trial struct {
	answer     methods.Answer
	err        error
	transcript methodtest.Transcript
	took       time.Duration
}

// solveLimit is how long one trial may take whose replies come at once.
const solveLimit = 30 * time.Second

// solve runs one trial. What it costs beyond solveLimit shows as an error.
func (c *checker) solve(m methods.Method, problem methods.Problem, tc methodtest.Case, before func(context.Context, methodtest.Step) error) trial {
	ctx, cancel := context.WithTimeout(c.ctx, solveLimit)
	defer cancel()
	options := []methodtest.HostOption{methodtest.WithTools(tc.Tools)}
	if before != nil {
		options = append(options, methodtest.Before(before))
	}
	h := methodtest.NewHost(tc.Model, options...)
	begun := time.Now()
	a, err := m.Solve(ctx, problem, h)
	return trial{a, err, h.Transcript(), time.Since(begun)}
}

// difference says how two trials that should be the same differ.
func difference(x, y trial) string {
	if d := x.transcript.Diff(y.transcript); d != "" {
		return d
	}
	if (x.err == nil) != (y.err == nil) {
		return fmt.Sprintf("error %v against %v", x.err, y.err)
	}
	if !bytes.Equal(x.answer.Value, y.answer.Value) || x.answer.Outcome != y.answer.Outcome {
		return fmt.Sprintf("answer %s %s against %s %s", x.answer.Outcome, x.answer.Value, y.answer.Outcome, y.answer.Value)
	}
	return ""
}

// fresh: a process that has solved other problems, and two new ones in which
// replies take their time in different orders, make the same calls and give the
// same answer.
func (c *checker) fresh() (faults []string) {
	for _, tc := range c.cases {
		used := c.solve(c.method, tc.Problem, tc, nil)
		for salt := range byte(2) {
			again, err := c.inNewProcess(tc, delays(salt))
			if err != nil {
				return append(faults, err.Error())
			}
			if d := difference(used, again); d != "" {
				faults = append(faults, fmt.Sprintf("%s: a new process differs from a used one: %s", tc.Name, d))
				break
			}
		}
	}
	return faults
}

// inNewProcess runs one trial in a process that has done nothing before.
func (c *checker) inNewProcess(tc methodtest.Case, before func(context.Context, methodtest.Step) error) (trial, error) {
	host, err := c.newHost()
	if err != nil {
		return trial{}, err
	}
	defer host.Close()
	p, err := host.Open(c.ctx, c.source)
	if err != nil {
		return trial{}, err
	}
	return c.solve(p, tc.Problem, tc, before), nil
}

// delays makes calls wait up to 8 ms, by path and salt.
func delays(salt byte) func(context.Context, methodtest.Step) error {
	return func(ctx context.Context, step methodtest.Step) error {
		h := fnv.New32a()
		h.Write([]byte{salt, byte(step.Draw)})
		h.Write([]byte(step.Path))
		timer := time.NewTimer(time.Duration(h.Sum32()%8192) * time.Microsecond)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// calls counts the calls of a trial.
func (t trial) calls() int { return len(t.transcript.Calls) + len(t.transcript.Tools) }

// spent: when every call from the first or from the last on fails because the
// budget is exhausted, the trial ends with that error or an answer that says
// so, and meanwhile makes no more calls than it would have made anyway.
func (c *checker) spent() (faults []string) {
	for _, tc := range c.cases {
		total := c.solve(c.method, tc.Problem, tc, nil).calls()
		for _, n := range ends(total) {
			var after atomic.Int64
			t := c.solve(c.method, tc.Problem, tc, func(_ context.Context, s methodtest.Step) error {
				if s.N < n {
					return nil
				}
				after.Add(1)
				return fmt.Errorf("call %d: %w", s.N, methods.ErrBudget)
			})
			if after.Load() == 0 {
				continue // it took fewer calls this time
			}
			if after.Load() > int64(total) {
				faults = append(faults, fmt.Sprintf("%s: it made %d calls after its budget was exhausted at call %d of %d", tc.Name, after.Load(), n, total))
			}
			if !errors.Is(t.err, methods.ErrBudget) && (t.err != nil || t.answer.Outcome != methods.OverBudget) {
				faults = append(faults, fmt.Sprintf("%s: its budget was exhausted at call %d: want that error or outcome %q, got %s", tc.Name, n, methods.OverBudget, t.ending()))
			}
		}
	}
	return faults
}

// ending is the answer or the error, for faults.
func (t trial) ending() string {
	if t.err != nil {
		return fmt.Sprintf("error %q", t.err)
	}
	return fmt.Sprintf("outcome %q", t.answer.Outcome)
}

// ends are the first and the last of so many calls.
func ends(total int) []int {
	switch total {
	case 0:
		return nil
	case 1:
		return []int{1}
	}
	return []int{1, total}
}

// stopLimit is how long a cancelled trial may take.
const stopLimit = time.Second

// stop: when the trial is cancelled while its first or last call waits, Solve
// is back within a second, and the process need not be killed for it.
func (c *checker) stop() (faults []string) {
	for _, tc := range c.cases {
		for _, n := range ends(c.solve(c.method, tc.Problem, tc, nil).calls()) {
			if f := c.stopAt(tc, n); f != "" {
				faults = append(faults, tc.Name+": "+f)
			}
		}
	}
	return faults
}

func (c *checker) stopAt(tc methodtest.Case, n int) string {
	ctx, cancel := context.WithTimeout(c.ctx, solveLimit)
	defer cancel()
	var at atomic.Int64
	arrive := sync.OnceFunc(func() { at.Store(time.Now().UnixNano()); cancel() })
	h := methodtest.NewHost(tc.Model, methodtest.WithTools(tc.Tools), methodtest.Before(func(ctx context.Context, s methodtest.Step) error {
		if s.N < n {
			return nil
		}
		arrive()
		<-ctx.Done()
		return ctx.Err()
	}))
	_, err := c.method.Solve(ctx, tc.Problem, h)
	if at.Load() == 0 {
		return "" // it took fewer calls this time
	}
	var f *plugins.Failure
	if errors.As(err, &f) {
		return fmt.Sprintf("cancelled during call %d: its process %s", n, f.Reason)
	}
	if took := time.Since(time.Unix(0, at.Load())); took > stopLimit {
		return fmt.Sprintf("cancelled during call %d: it took %v to return, not at most %v", n, took.Round(time.Millisecond), stopLimit)
	}
	return ""
}

// many is how many labels, names and items a large problem has.
const many = 10_000

// large: problems with very many labels, items, names and fields are solved, or
// refused with an error; the process survives.
func (c *checker) large() (faults []string) {
	words := make([]string, many)
	for i := range words {
		words[i] = fmt.Sprint("word ", i)
	}
	items, err := json.Marshal(map[string][]string{"items": words})
	if err != nil { // words always encode
		panic(err)
	}
	for _, tc := range c.cases {
		p := tc.Problem
		p.Context = items
		p.Answer.N, p.Answer.K = many, min(many, max(1, p.Answer.K))
		if len(p.Answer.Labels) > 0 {
			p.Answer.Labels = words
		}
		if len(p.Answer.Names) > 0 {
			p.Answer.Names = words
		}
		faults = append(faults, c.survives(tc, p, "a very large problem")...)
		p = tc.Problem
		p.Query, p.Context = strings.Repeat("a document of a megabyte ", 1<<20/25), nil
		faults = append(faults, c.survives(tc, p, "a query of a megabyte")...)
	}
	return faults
}

// options: options that are unknown, of the wrong type, very long or no JSON
// are refused with an error or passed over; the process survives.
func (c *checker) options() (faults []string) {
	for _, tc := range c.cases {
		for _, raw := range []string{
			`{"no-such-option":1}`, `[]`, `null`, `{`, "\xff", `{"x":"` + strings.Repeat("long", 1<<18) + `"}`, c.wrongTypes(),
		} {
			p := tc.Problem
			p.Options = json.RawMessage(raw)
			faults = append(faults, c.survives(tc, p, fmt.Sprintf("options %.40q", raw))...)
		}
	}
	return faults
}

// wrongTypes gives every option that the plugin has a value of no type that an
// option can have.
func (c *checker) wrongTypes() string {
	wrong := map[string]any{}
	for _, o := range c.method.Describe().Options {
		wrong[o.Name] = []any{map[string]any{}}
	}
	raw, err := json.Marshal(wrong)
	if err != nil { // lists and objects always encode
		panic(err)
	}
	return string(raw)
}

// survives runs a hostile problem: only the process's failures count, and time.
func (c *checker) survives(tc methodtest.Case, p methods.Problem, what string) []string {
	t := c.solve(c.method, p, tc, nil)
	var f *plugins.Failure
	switch {
	case errors.As(t.err, &f):
		return []string{fmt.Sprintf("%s: %s: its process %s", tc.Name, what, f.Reason)}
	case t.took >= solveLimit:
		return []string{fmt.Sprintf("%s: %s: it took longer than %v", tc.Name, what, solveLimit)}
	}
	return nil
}

// How often trials are run to see whether memory grows, and by how much it may:
// a trial that keeps half a megabyte will not last a comparison.
const (
	warmTrials = 20
	moreTrials = 60
	mayGrow    = 32 << 20
)

// memory: trials that follow each other in one process do not make it grow.
func (c *checker) memory() []string {
	host, err := c.newHost()
	if err != nil {
		return []string{err.Error()}
	}
	defer host.Close()
	p, err := host.Open(c.ctx, c.source)
	if err != nil {
		return []string{err.Error()}
	}
	var warm int64
	for i := range warmTrials + moreTrials {
		if i == warmTrials {
			warm = host.Usage().Memory
		}
		tc := c.cases[i%len(c.cases)]
		c.solve(p, tc.Problem, tc, nil)
	}
	if now := host.Usage().Memory; now-warm > mayGrow {
		return []string{fmt.Sprintf("over %d trials its process grew from %d to %d MiB: something is kept from trial to trial",
			moreTrials, warm>>20, now>>20)}
	}
	return nil
}

// process: no trial of all those before cost a process.
func (c *checker) process() []string { return c.method.take() }

// How many calls a bench makes; the first ones are not measured.
const (
	benchWarm  = 500
	benchCalls = 5000
)

// bench measures what a call costs at one caller and at 64. A plugin that
// cannot be measured is none the worse for it.
func (c *checker) bench(p *plugins.Plugin) {
	for _, callers := range []int{1, 64} {
		_, err := p.Bench(c.ctx, benchWarm, callers)
		var cost plugins.CallCost
		if err == nil {
			cost, err = p.Bench(c.ctx, benchCalls, callers)
		}
		if err != nil {
			c.report.NotMeasured = err.Error()
			return
		}
		c.report.Bench = append(c.report.Bench, cost)
	}
}
