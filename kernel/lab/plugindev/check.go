package plugindev

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"noema/kernel/base/files"
	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
)

// CheckOptions tune a check; the zero value is good for most plugins.
type CheckOptions struct {
	Checkout string           // noema's source, with which a file of Go is compiled; "" finds it
	Builtins []plugins.Source // one of which it may have been made from
	Limits   plugins.Limits   // of its processes; a plugin that goes beyond them fails
	Progress func(Result)     // called with each result as it comes; may be nil
}

// Check puts a plugin through everything that the kernel asks of one, in
// processes of its own: the contract of package methods, and what only shows
// across a process boundary, such as state that is left from one trial to the
// next, memory, and how it ends. What is wrong with the plugin stands in the
// report; an error means that there is no plugin, or that ctx ended.
//
// The problems are small, one for each answer kind that the plugin supports,
// and the model gives a bare answer to any prompt.
func Check(ctx context.Context, src plugins.Source, o CheckOptions) (*Report, error) {
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
	o      CheckOptions
	report *Report
	host   *plugins.Host
	method *watched
	cases  []methodtest.Case
}

func (c *checker) newHost() (*plugins.Host, error) {
	return plugins.NewHost(plugins.HostOptions{Limits: c.o.Limits, StopGrace: stopGrace})
}

// run makes the checks in order. If the plugin does not start, there is only
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
	c.cases = methodtest.Cases(p.Describe())
	for i := range c.cases {
		c.cases[i].Sampled = true // a method may sample; that it repeats is checked
	}
	if len(c.cases) == 0 {
		c.add("cases", "it supports no known kind of answer, so it cannot be given a problem")
		return nil
	}
	for _, r := range append(contract(), acrossProcesses()...) {
		faults := append(r.find(c), c.method.take()...)
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		c.result(faults, r.name, r.holds)
	}
	c.report.Usage = c.host.Usage()
	if c.source.File {
		c.compiled()
	}
	return c.origin()
}

// origin: a plugin that was made from a built-in method makes the same calls, until it is
// changed. A difference is told, and the check passes.
func (c *checker) origin() error {
	main := c.source.Path
	if !c.source.File {
		main = filepath.Join(main, "main.go")
	}
	text, err := files.Read(main, files.MaxText)
	at := strings.Index("\n"+string(text), "\n"+originLine)
	if err != nil || at < 0 {
		return nil // it has no origin
	}
	name, _, _ := strings.Cut(string(text[at+len(originLine):]), "\n")
	i := slices.IndexFunc(c.o.Builtins, func(s plugins.Source) bool { return s.Builtin && s.Name == strings.TrimSpace(name) })
	if i < 0 {
		return nil
	}
	other, err := c.host.Open(c.ctx, c.o.Builtins[i])
	if err != nil {
		return err
	}
	faults, calls := c.against(described{other, c.report.Description})
	if len(faults) > 0 {
		c.pass("origin", fmt.Sprintf("changed since it was made from %s: %s", other.Describe().Name, faults[0]))
	} else {
		c.pass("origin", fmt.Sprintf("it makes the same %d calls as %s and gives the same answers", calls, other.Describe().Name))
	}
	return c.ctx.Err()
}

// described is a method under another's description.
type described struct {
	methods.Method
	as methods.Description
}

// Describe implements [methods.Describer].
func (d described) Describe() methods.Description { return d.as }

// rule is one part of a check, with what is true of a plugin that passes.
type rule struct {
	name, holds string
	find        func(*checker) (faults []string)
}

// contract lists the rules that methods are put through in their own tests.
func contract() (rules []rule) {
	for _, r := range methodtest.Rules() {
		rules = append(rules, rule{r.Name, r.Holds, func(c *checker) (faults []string) {
			for _, f := range r.Check(c.ctx, c.method, c.cases...) {
				faults = append(faults, f.Case+": "+f.Text)
			}
			return faults
		}})
	}
	return rules
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

// watched is the plugin, and remembers how its processes failed, which a
// method's caller sees as an error like any other.
type watched struct {
	*plugins.Plugin

	mu       sync.Mutex
	failures []string
}

// Solve implements methods.Method.
func (w *watched) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	a, err := w.Plugin.Solve(ctx, p, h)
	if _, failed := errors.AsType[*plugins.Failure](err); failed {
		w.mu.Lock()
		w.failures = append(w.failures, fmt.Sprintf("on problem %q: %v", p.ID, err))
		w.mu.Unlock()
	}
	return a, err
}

// take returns the failures since it was last called.
func (w *watched) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.failures
	w.failures = nil
	return taken
}
