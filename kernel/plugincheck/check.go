// Package plugincheck puts a plugin through everything that the kernel asks of
// one, in processes of its own: the contract of package methods, and what only
// shows across a process boundary, such as state that is left from one trial to
// the next, memory, and how it ends. Whoever writes a plugin learns from the
// report what is wrong before a comparison does.
package plugincheck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
)

// Options tune a check; the zero value is good for most plugins.
type Options struct {
	// Cases are the problems; nil means one small problem for each answer kind
	// that the plugin supports, with a model that gives a bare answer to any
	// prompt. A plugin whose prompts ask for more needs cases of its own.
	Cases []methodtest.Case
	// Limits of its processes. The check fails a plugin that goes beyond.
	Limits plugins.Limits
	// StartTimeout is how long a process may take to answer; 0 means 30 s.
	StartTimeout time.Duration
	// Bench also measures what a call to the kernel costs.
	Bench bool
	// Progress is told of each check as it ends; nil means nobody.
	Progress func(Result)
}

// Check checks the plugin at a path: an executable file, or a folder with a
// plugin.yaml. What is wrong with the plugin stands in the report; an error
// means that there is no plugin, or that ctx ended.
func Check(ctx context.Context, path string, o Options) (*Report, error) {
	src, err := plugins.At(path)
	if err != nil {
		return nil, fmt.Errorf("check plugin: %w", err)
	}
	return CheckSource(ctx, src, o)
}

// CheckSource checks the plugin with the given source, such as a built-in one.
func CheckSource(ctx context.Context, src plugins.Source, o Options) (*Report, error) {
	c := &checker{ctx: ctx, source: src, o: o, report: &Report{Plugin: src.Name, Path: src.Path}}
	host, err := c.newHost()
	if err != nil {
		return nil, fmt.Errorf("check plugin %q: %w", src.Name, err)
	}
	c.host = host
	err = c.run()
	if closeErr := c.close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("check plugin %q: %w", src.Name, err)
	}
	return c.report, nil
}

// stopGrace is how long a process may take to end.
const stopGrace = time.Second

// checker is one check of one plugin.
type checker struct {
	ctx    context.Context
	source plugins.Source
	o      Options
	report *Report
	host   *plugins.Host
	method *watched
	cases  []methodtest.Case
}

func (c *checker) newHost() (*plugins.Host, error) {
	return plugins.NewHost(plugins.HostOptions{Limits: c.o.Limits, StartTimeout: c.o.StartTimeout, StopGrace: stopGrace})
}

// run makes the checks in order. Without a plugin that starts there is only
// the first.
func (c *checker) run() error {
	begun := time.Now()
	p, err := c.host.Open(c.ctx, c.source)
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	if err != nil {
		c.add("start", err.Error())
		return nil
	}
	c.pass("start", fmt.Sprintf("its process answers after %v", time.Since(begun).Round(time.Millisecond)))
	c.method = &watched{Plugin: p}
	c.report.Description = p.Describe()
	c.cases = c.o.Cases
	if c.cases == nil {
		c.cases = methodtest.Cases(p.Describe())
		for i := range c.cases {
			c.cases[i].Sampled = true // a method may sample; that it repeats is checked
		}
	}
	if len(c.cases) == 0 {
		c.add("cases", "it supports no known kind of answer, so that nothing can be asked of it")
		return nil
	}
	c.conformance()
	for _, check := range ownChecks() {
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		c.result(check.run(c), check.name, check.good)
	}
	c.report.Usage = c.host.Usage()
	if c.o.Bench && c.ctx.Err() == nil {
		c.bench(p)
	}
	return nil
}

// conformance is the suite that methods are put through in their own tests.
func (c *checker) conformance() {
	faults := map[string][]string{}
	for _, f := range methodtest.Check(c.ctx, c.method, c.cases...) {
		faults[f.Check] = append(faults[f.Check], f.Case+": "+f.Text)
	}
	if c.ctx.Err() != nil {
		return
	}
	for _, k := range conformance() {
		c.result(faults[k.name], k.name, k.good)
		delete(faults, k.name)
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) { // what the suite has learned to ask since
		c.result(faults[name], name, "")
	}
}

// close ends the plugin's processes and judges how they end.
func (c *checker) close() error {
	begun := time.Now()
	if err := c.host.Close(); err != nil {
		return err
	}
	if c.method == nil {
		return nil
	}
	// A process that has not ended by then is killed.
	if took := time.Since(begun); took >= stopGrace {
		c.add("end", fmt.Sprintf("its process had not ended %v after it was asked to: a plugin ends when its server is shut down", took.Round(10*time.Millisecond)))
	} else {
		c.pass("end", fmt.Sprintf("its processes ended within %v of being asked to", took.Round(time.Millisecond)))
	}
	return nil
}

// watched is the plugin, and remembers how its processes failed: to a method's
// caller that is an error like any other.
type watched struct {
	*plugins.Plugin

	mu       sync.Mutex
	failures []string
}

// Solve implements methods.Method.
func (w *watched) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	a, err := w.Plugin.Solve(ctx, p, h)
	var f *plugins.Failure
	if errors.As(err, &f) {
		w.mu.Lock()
		w.failures = append(w.failures, fmt.Sprintf("on problem %q: %v", p.ID, err))
		w.mu.Unlock()
	}
	return a, err
}

// take returns the failures since it was last asked.
func (w *watched) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.failures
	w.failures = nil
	return taken
}
