// Package methodtest puts any [methods.Method] through the contract: one suite
// for every implementation, in the process or behind a plugin. A method that
// passes can be cached, replayed and compared; one that does not would make
// results that nobody can repeat.
//
// [Run] is for a method's own tests, [Check] for programs that want the faults
// as values, and [Same] shows that two methods do the same thing, such as one
// method in the process and through a plugin. [Host] records what a method
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
	// Sampled says that the problem's options ask for sampling, so that
	// temperatures above 0 are no fault.
	Sampled bool
}

// Fault is one way in which a method breaks the contract.
type Fault struct {
	Case  string // Case.Name
	Check string // such as "cancel"
	Text  string // what was expected and what happened
}

// String is the fault as one line: case/check: text.
func (f Fault) String() string { return f.Case + "/" + f.Check + ": " + f.Text }

// check is one part of the contract.
type check struct {
	name string
	run  func(*suite)
}

// checks lists the contract. The comment at each function is its definition.
func checks() []check {
	return []check{
		{"describe", (*suite).describe},
		{"answer", (*suite).answer},
		{"calls", (*suite).calls},
		{"events", (*suite).events},
		{"repeat", (*suite).repeat},
		{"concurrent", (*suite).concurrent},
		{"cancel", (*suite).cancelled},
		{"leak", (*suite).leak},
		{"budget", (*suite).budget},
		{"provider", (*suite).provider},
		{"miss", (*suite).miss},
		{"problems", (*suite).problems},
		{"replies", (*suite).replies},
	}
}

// Run puts m through every check with every case, each as a subtest. A run
// without cases fails, since it would show nothing: use [Cases] for a start.
func Run(t *testing.T, m methods.Method, cases ...Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("methodtest: no cases: nothing would be checked")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, k := range checks() {
				t.Run(k.name, func(t *testing.T) {
					for _, f := range runCheck(t.Context(), m, c, k, defaultLimits()) {
						t.Error(f.Text)
					}
				})
			}
		})
	}
}

// Check puts m through every check with every case and returns the faults, in
// the order of the cases. It stops early when ctx is cancelled.
func Check(ctx context.Context, m methods.Method, cases ...Case) []Fault {
	return checkWithin(ctx, m, defaultLimits(), cases...)
}

func checkWithin(ctx context.Context, m methods.Method, l limits, cases ...Case) []Fault {
	var faults []Fault
	for _, c := range cases {
		for _, k := range checks() {
			found := runCheck(ctx, m, c, k, l)
			if ctx.Err() != nil {
				return faults // what was found may be the cancellation's doing
			}
			faults = append(faults, found...)
		}
	}
	return faults
}

func runCheck(ctx context.Context, m methods.Method, c Case, k check, l limits) []Fault {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &suite{ctx: ctx, cancel: cancel, method: m, c: c, limits: l, name: k.name}
	if c.Model == nil {
		s.fault("the case has no model")
		return s.faults
	}
	k.run(s)
	return s.faults
}

// limits are how long and how often a method may.
type limits struct {
	solve  time.Duration // one Solve against a model that answers at once
	cancel time.Duration // from cancellation to the return of Solve; see cancelled
	settle time.Duration // until the goroutines of a Solve that returned have ended
	calls  int           // calls in one Solve, beyond which it is taken to loop
}

func defaultLimits() limits {
	return limits{solve: 30 * time.Second, cancel: 100 * time.Millisecond, settle: 2 * time.Second, calls: 10_000}
}

// suite is one check of one method with one case.
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
