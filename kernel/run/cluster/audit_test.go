package cluster_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"noema/kernel/result/record"
	"noema/kernel/run/cluster"
	"noema/kernel/run/runner"
	"noema/methods"
)

// liar solves as a method does, and says something else.
type liar struct {
	methods.Method
	lie  func(ctx context.Context, m methods.Method, p methods.Problem, h methods.Host) (methods.Answer, error)
	when func(p methods.Problem) bool
	lied *atomic.Int64
}

// Solve implements methods.Method.
func (l liar) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	if !l.when(p) {
		return l.Method.Solve(ctx, p, h)
	}
	l.lied.Add(1)
	return l.lie(ctx, l.Method, p, h)
}

// lies are ways in which a worker with the token may cheat.
var lies = map[string]func(context.Context, methods.Method, methods.Problem, methods.Host) (methods.Answer, error){
	"another answer": func(ctx context.Context, m methods.Method, p methods.Problem, h methods.Host) (methods.Answer, error) {
		a, err := m.Solve(ctx, p, h)
		a.Value = json.RawMessage(`[4,2,1,3,5]`)
		return a, err
	},
	"no call at all": func(context.Context, methods.Method, methods.Problem, methods.Host) (methods.Answer, error) {
		return methods.Answer{Outcome: methods.Answered, Value: json.RawMessage(`[1,2,3,4,5]`)}, nil
	},
	"a call of its own": func(ctx context.Context, m methods.Method, p methods.Problem, h methods.Host) (methods.Answer, error) {
		if _, err := h.Complete(ctx, methods.Request{Path: "z", Messages: []methods.Message{{Role: methods.User, Content: "what is the answer to " + p.Query}}}); err != nil {
			return methods.Answer{}, err
		}
		return m.Solve(ctx, p, h)
	},
	"a refusal": func(context.Context, methods.Method, methods.Problem, methods.Host) (methods.Answer, error) {
		return methods.Answer{Outcome: methods.Refused, Reason: "I would rather not"}, nil
	},
	"another event": func(ctx context.Context, m methods.Method, p methods.Problem, h methods.Host) (methods.Answer, error) {
		h.Emit(methods.Event{Path: "z", Kind: "note", Text: "all is well"})
		return m.Solve(ctx, p, h)
	},
}

// warned keeps what a run warns of.
type warned struct {
	runner.Quiet
	mu    sync.Mutex
	texts []string
}

// Warn implements runner.Observer.
func (w *warned) Warn(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// TestLyingWorker: what a worker says that is false, always or in one trial, is found by a
// replay; with an audit it is found in the run, which then has the root of one machine.
func TestLyingWorker(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	e := cafes(1)
	e.Limit = "6"
	want := alone(t, e)
	for name, lie := range lies {
		for _, c := range []struct {
			what  string
			audit float64
			when  func(methods.Problem) bool
		}{
			{"always, not audited", 0, func(methods.Problem) bool { return true }},
			{"always, a tenth audited", 0.1, func(methods.Problem) bool { return true }},
			{"of one sample, all audited", 1, func(p methods.Problem) bool { return p.ID == "R03" }},
		} {
			t.Run(name+", "+c.what, func(t *testing.T) {
				t.Parallel()
				l := newLab(t)
				crew := start(t, l, cluster.Options{})
				var lied atomic.Int64
				cheat := func(m methods.Method) methods.Method { return liar{m, lie, c.when, &lied} }
				join(t, crew.Address(), 2, cheat)
				s := setup(t, l, e, crew)
				s.Audit = c.audit
				told := &warned{}
				r := finish(t, l, s, told)
				if lied.Load() == 0 {
					t.Fatal("the worker did not lie")
				}
				checkLie(t, r, s, c.audit, want, told.texts)
				replayed, err := l.Replay(r.Run, nil)
				if err != nil || replayed.Same() != (c.audit > 0) || c.audit == 0 && replayed.First == nil {
					t.Errorf("replayed: %+v (%v)", replayed, err)
				}
			})
		}
	}
}

func checkLie(t *testing.T, r *runner.Result, s runner.Setup, audit float64, want string, told []string) {
	t.Helper()
	says := strings.Join(told, "\n")
	notes := strings.Join(r.Run.Notes, "\n")
	if audit == 0 {
		if r.Run.Root == want || strings.Contains(notes, "audit") {
			t.Errorf("not audited: root %s, notes %s", r.Run.Root, notes)
		}
		return
	}
	if r.Run.Root != want || !strings.Contains(says, "audit: worker ") || !strings.Contains(says, "such as trial ") || !strings.Contains(notes, "were computed again") {
		t.Errorf("root %s, on one machine %s; told %q, notes %q", r.Run.Root, want, says, notes)
	}
}

// TestHonestWorkers: an audit of those changes nothing, makes no call, and says what it saw.
func TestHonestWorkers(t *testing.T) {
	t.Parallel()
	e := cafes(1)
	e.Limit = "6"
	l := newLab(t)
	crew := start(t, l, cluster.Options{})
	for range 2 {
		join(t, crew.Address(), 2, nil)
	}
	s := setup(t, l, e, crew)
	s.Audit = 1
	told := &warned{}
	r := finish(t, l, s, told)
	if r.Run.Root != alone(t, e) || r.Run.Calls.Provider != calls(r) || strings.Contains(strings.Join(told.texts, ""), "audit") {
		t.Errorf("root %s, %d calls, told %q", r.Run.Root, r.Run.Calls.Provider, told.texts)
	}
	if notes := strings.Join(r.Run.Notes, "\n"); !strings.Contains(notes, "audit: 12 of the 12 trials") || !strings.Contains(notes, "0 differed") {
		t.Errorf("notes %q", notes)
	}
	if record.Finished != r.Run.Status {
		t.Errorf("status %s", r.Run.Status)
	}
}
