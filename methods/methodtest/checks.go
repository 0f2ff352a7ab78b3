package methodtest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"noema/methods"
)

var methodName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// describe: if the method is a Describer, its name can be written after
// --methods, it supports the case's answer kind, and each option has a name of
// its own, a known type, and a default that is of the type and is a choice.
func (s *suite) describe() {
	d, ok := s.method.(methods.Describer)
	if !ok {
		return
	}
	desc := d.Describe()
	if !methodName.MatchString(desc.Name) {
		s.fault("the name %q is not lower-case letters, digits and '-'", desc.Name)
	}
	if kind := s.c.Problem.Answer.Kind; !desc.CanAnswer(s.c.Problem.Answer) {
		s.fault("the method does not claim to answer %q: the case is not for it", kind)
	}
	seen := map[string]bool{}
	for _, o := range desc.Options {
		if o.Name == "" || seen[o.Name] {
			s.fault("the option name %q is empty or used twice", o.Name)
		}
		seen[o.Name] = true
		if err := checkOption(o); err != nil {
			s.fault("option %q: %v", o.Name, err)
		}
	}
}

func checkOption(o methods.Option) error {
	if !slices.Contains([]methods.OptionType{methods.BoolOption, methods.IntOption, methods.NumberOption, methods.StringOption, methods.ModelOption}, o.Type) {
		return fmt.Errorf("unknown type %q", o.Type)
	}
	if o.Default == "" {
		return nil
	}
	if _, err := o.Parse(o.Default); err != nil {
		return fmt.Errorf("the default does not fit: %w", err)
	}
	return nil
}

// answer: with a model that works, Solve returns an answer that passes the
// spec's check, gives a reason if and only if the outcome is not Answered, and
// leaves the problem as it was.
func (s *suite) answer() {
	before := render("", s.c.Problem)
	o := s.solve(nil)
	if b := o.broken(); b != "" {
		s.fault("%s", b)
		return
	}
	if o.err != nil {
		s.fault("Solve failed although no call did: %v", o.err)
	} else {
		s.checkAnswer("", o.answer)
	}
	if after := render("", s.c.Problem); after != before {
		s.fault("Solve changed the problem: %s", differ(before, after))
	}
}

// checkAnswer reports what is wrong with an answer; when tells the situation.
func (s *suite) checkAnswer(when string, a methods.Answer) {
	if err := s.c.Problem.Answer.Check(a); err != nil {
		s.fault("%s%v", when, err)
	}
	if a.Outcome != methods.Answered && a.Reason == "" {
		s.fault("%soutcome %q comes without a reason", when, a.Outcome)
	}
	if a.Outcome == methods.Answered && a.Reason != "" {
		s.fault("%soutcome %q comes with a reason: %q", when, a.Outcome, a.Reason)
	}
}

// calls: every model call has messages, a call path, a (path, draw) of its own
// and, unless the case allows sampling, temperature 0; calls of the trial
// itself carry the problem's seed. Every tool call has a path and arguments
// that are JSON.
func (s *suite) calls() {
	t := s.solve(nil).transcript
	seen := map[string]bool{}
	for _, c := range t.Calls {
		r := c.Request
		at := fmt.Sprintf("call %q, draw %d", r.Path, r.Draw)
		if key := c.Building + "\x00" + at; seen[key] {
			s.fault("%s is made twice: each call needs a path and draw of its own", at)
		} else {
			seen[key] = true
		}
		if r.Path == "" {
			s.fault("%s has no path", at)
		}
		if len(r.Messages) == 0 {
			s.fault("%s has no messages", at)
		}
		if r.Draw < 0 {
			s.fault("%s: a draw is counted from 0", at)
		}
		if c.Building == "" && r.Sampling.Seed != s.c.Problem.Seed {
			s.fault("%s has seed %d, not the problem's %d", at, r.Sampling.Seed, s.c.Problem.Seed)
		}
		if !s.c.Sampled && r.Sampling.Temperature != 0 {
			s.fault("%s has temperature %v, not 0", at, r.Sampling.Temperature)
		}
	}
	for _, u := range t.Tools {
		if u.Call.Path == "" {
			s.fault("call of tool %q has no path", u.Call.Name)
		}
		if len(u.Call.Arguments) > 0 && !json.Valid(u.Call.Arguments) {
			s.fault("call of tool %q: arguments %.80q are not JSON", u.Call.Name, u.Call.Arguments)
		}
	}
}

// events: every event has a kind, one line of text, data that are empty or
// JSON, and a debug level of 0 to 3.
func (s *suite) events() {
	for _, e := range s.solve(nil).transcript.Events {
		at := fmt.Sprintf("event %q at %q", e.Kind, e.Path)
		if e.Kind == "" {
			s.fault("%s has no kind", at)
		}
		if strings.ContainsAny(e.Text, "\n\r") {
			s.fault("%s has a text of more than one line: %.80q", at, e.Text)
		}
		if len(e.Data) > 0 && !json.Valid(e.Data) {
			s.fault("%s has data that are not JSON: %.80q", at, e.Data)
		}
		if e.Level < 0 || e.Level > 3 {
			s.fault("%s has level %d, which is not within 0..3", at, e.Level)
		}
	}
}

// repeat: the same problem gives the same transcript and the same answer, also
// when concurrent calls finish in another order.
func (s *suite) repeat() {
	first := s.solve(nil)
	for _, h := range []hook{jitter(1), mirrored(1), jitter(2)} {
		if d := difference(first, s.solve(h)); d != "" {
			s.fault("two runs differ: %s", d)
			return
		}
	}
}

// concurrent: eight Solves at once give what one gives alone.
func (s *suite) concurrent() {
	alone := s.solve(nil)
	const many = 8
	outcomes := make(chan outcome, many)
	for i := range many {
		go func() { outcomes <- s.solve(jitter(byte(i))) }()
	}
	var first string
	for range many {
		if d := difference(alone, <-outcomes); d != "" && first == "" {
			first = d
		}
	}
	if first != "" {
		s.fault("a Solve among %d at once differs from one alone: %s", many, first)
	}
}

// difference describes how two runs that should be the same differ; empty if
// they do not.
func difference(a, b outcome) string {
	for _, o := range []outcome{a, b} {
		if broken := o.broken(); broken != "" {
			return broken
		}
	}
	if x, y := class(a.err), class(b.err); x != y {
		return fmt.Sprintf("error %q against %q", x, y)
	}
	if d := a.transcript.Diff(b.transcript); d != "" {
		return d
	}
	if a.err != nil {
		return ""
	}
	if x, y := renderAnswer(a.answer), renderAnswer(b.answer); x != y {
		return differ(x, y)
	}
	return ""
}

func renderAnswer(a methods.Answer) string {
	a.Value, a.Evidence = tidyJSON(a.Value), tidyList(a.Evidence)
	return render("answer", a)
}

// budget: when the n-th call and all later ones fail with ErrBudget, Solve
// returns an error that wraps ErrBudget, or an answer with outcome OverBudget,
// and meanwhile makes no more calls than it would have made anyway.
func (s *suite) budget() {
	most := s.solve(nil).transcript.calls()
	s.fail(methods.ErrBudget, func(n int, step Step) bool { return step.N >= n }, func(when string, o outcome) {
		if o.err == nil && o.answer.Outcome != methods.OverBudget {
			s.fault("%swant an error that wraps it or outcome %q, got %s", when, methods.OverBudget, o.result())
		}
		if after := o.transcript.failed(methods.ErrBudget); after > most {
			s.fault("%sit goes on and makes %d calls: without the limit it makes %d", when, after, most)
		}
	})
}

// provider: when the n-th call and all later model calls fail with
// ErrProvider, Solve returns an error that wraps it, or an answer with an
// outcome other than Answered.
func (s *suite) provider() {
	s.fail(methods.ErrProvider, func(n int, step Step) bool { return step.N >= n && !step.Tool }, func(when string, o outcome) {
		if o.err == nil && o.answer.Outcome == methods.Answered {
			s.fault("%swant an error that wraps it or another outcome, got %s", when, o.result())
		}
	})
}

// miss: when the n-th call alone fails with ErrMiss, Solve returns an error
// that wraps it. An answer would pass a gap in the record off as a result.
func (s *suite) miss() {
	s.fail(methods.ErrMiss, func(n int, step Step) bool { return step.N == n }, func(when string, o outcome) {
		if o.err == nil {
			s.fault("%swant an error that wraps it, got %s", when, o.result())
		}
	})
}

// fail runs the case with cause in the place of those calls that hits picks,
// for the first to the last call, and judges what comes of it. An error must
// wrap the cause, an answer must be well formed.
func (s *suite) fail(cause error, hits func(n int, step Step) bool, judge func(when string, o outcome)) {
	for _, n := range s.points() {
		o := s.solve(failing(cause, func(step Step) bool { return hits(n, step) }))
		when := fmt.Sprintf("after %q at call %d: ", cause, n)
		if b := o.broken(); b != "" {
			s.fault("%s%s", when, b)
			return
		}
		if o.transcript.failed(cause) == 0 {
			continue // this cause can hit none of the calls picked
		}
		if o.err == nil {
			s.checkAnswer(when, o.answer)
		} else if class(o.err) != cause.Error() {
			s.fault("%sthe error does not wrap it: %v", when, o.err)
		}
		judge(when, o)
	}
}

// failing is a hook that fails the calls that hits picks.
func failing(cause error, hits func(Step) bool) hook {
	return func(_ context.Context, step Step) error {
		if hits(step) {
			return fmt.Errorf("call %d: %w", step.N, cause)
		}
		return nil
	}
}

// points are the calls at which faults are tried: all of a short trial, an
// even choice with the first and the last of a long one.
func (s *suite) points() []int {
	const most = 8
	total := s.solve(nil).transcript.calls()
	var points []int
	for i := range min(total, most) {
		if total <= most {
			points = append(points, i+1)
		} else {
			points = append(points, 1+i*(total-1)/(most-1))
		}
	}
	return points
}
