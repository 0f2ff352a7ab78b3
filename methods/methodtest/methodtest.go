// Package methodtest puts any [methods.Method] through the contract: one suite
// for every implementation, in the process or behind a plugin. A method that
// passes can be cached, replayed and compared; one that does not would make
// results that nobody can repeat.
//
// [Run] is for a method's own tests, [Rules] for programs that want the faults as
// values, and [Same] shows that two methods do the same, such as
// one method in the process and through a plugin. [Host] records what a method
// does and serves tests of any kind.
//
// The suite cannot see everything. A panic in a goroutine that the method
// started ends the test binary; behind a plugin every panic is an error like
// any other, so a plugin's method should pass in its own process too. A
// goroutine that only ends with its context is a leak here, since the suite
// keeps the context alive. Randomness is seen only where it changes the
// transcript or the answer.
package methodtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"noema/methods"
)

// Case is a problem together with what answers the method's calls.
type Case struct {
	Name    string
	Problem methods.Problem
	// Model answers every request, in whatever order they come: its reply is a
	// function of the request alone, and it is safe for concurrent use.
	Model methods.Model
	// Tools runs the problem's tools under the same rule; nil if it has none.
	Tools methods.Toolbox
	// NewTools gives each Solve tools of its own, in their first state, where the
	// tools have effects; it takes the place of Tools.
	NewTools func() methods.Toolbox
	// Sampled says that the problem's options ask for sampling, so that
	// temperatures above 0 are not a fault.
	Sampled bool
}

// Fault is one way in which a method breaks the contract.
type Fault struct {
	Case string // Case.Name
	Rule string // Rule.Name
	Text string // what was expected and what happened
}

// String is the fault as one line: case/rule: text.
func (f Fault) String() string { return f.Case + "/" + f.Rule + ": " + f.Text }

// Rule is one part of the contract.
type Rule struct {
	Name  string // such as "cancel"
	Holds string // what is true of a method that keeps it
	check func(*suite)
}

// Rules lists the contract. The comment at each function is its definition.
func Rules() []Rule {
	return []Rule{
		{"describe", "its name, answers and options are well formed", (*suite).describe},
		{"answer", "its answers are of the kind asked for", (*suite).answer},
		{"calls", "every call has a path, a draw and the problem's seed", (*suite).calls},
		{"events", "every event has a kind and one line of text", (*suite).events},
		{"repeat", "the same problem gives the same calls and answer", (*suite).repeat},
		{"concurrent", "eight trials at once do as one alone does", (*suite).concurrent},
		{"cancel", "it stops within 100 ms of being cancelled", (*suite).cancelled},
		{"leak", "a trial leaves nothing running", (*suite).leak},
		{"budget", "it stops at an exhausted budget and reports it", (*suite).budget},
		{"provider", "it reports a model that fails", (*suite).provider},
		{"miss", "it reports a call that a replay has no record of", (*suite).miss},
		{"problems", "hostile problems do not break it", (*suite).problems},
		{"replies", "hostile replies do not break it", (*suite).replies},
	}
}

// Check puts m through the rule with every case and returns the faults.
func (r Rule) Check(ctx context.Context, m methods.Method, cases ...Case) []Fault {
	var faults []Fault
	for _, c := range cases {
		faults = append(faults, r.within(ctx, m, c, defaultLimits())...)
	}
	return faults
}

func (r Rule) within(ctx context.Context, m methods.Method, c Case, l limits) []Fault {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &suite{ctx: ctx, cancel: cancel, method: m, c: c, limits: l, name: r.Name}
	if c.Model == nil {
		s.fault("the case has no model")
		return s.faults
	}
	r.check(s)
	return s.faults
}

// Run puts m through every rule with every case, each as a subtest. A run
// without cases fails, since it would show nothing: use [Cases] for a start.
func Run(t *testing.T, m methods.Method, cases ...Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("methodtest: no cases: nothing would be checked")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, r := range Rules() {
				t.Run(r.Name, func(t *testing.T) {
					for _, f := range r.Check(t.Context(), m, c) {
						t.Error(f.Text)
					}
				})
			}
		})
	}
}

// limits are how long and how often a method may.
type limits struct {
	solve  time.Duration // one Solve against a model that answers at once, or one that was cancelled
	cancel time.Duration // from cancellation to the return of Solve; see cancelled
	linger time.Duration // until the goroutines of a Solve that returned have ended
	calls  int           // calls in one Solve, beyond which it is taken to loop
}

func defaultLimits() limits {
	return limits{solve: 30 * time.Second, cancel: 100 * time.Millisecond, linger: 2 * time.Second, calls: 10_000}
}

// suite puts one method through one rule with one case.
type suite struct {
	ctx    context.Context
	cancel context.CancelFunc
	method methods.Method
	c      Case
	limits limits
	name   string
	faults []Fault
}

func (s *suite) fault(format string, args ...any) {
	s.faults = append(s.faults, Fault{s.c.Name, s.name, fmt.Sprintf(format, args...)})
}
