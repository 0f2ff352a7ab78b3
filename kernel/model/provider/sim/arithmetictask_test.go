package sim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"noema/kernel/task"
	"noema/kernel/task/arithmetic"
	"noema/methods"
	"noema/methods/aot"
	"noema/methods/baseline"
	"noema/methods/decimal"
)

func arithmeticMethods() map[string]methods.Method {
	return map[string]methods.Method{"direct": baseline.Direct(), "cot": baseline.CoT(), "aot": aot.New()}
}

func arithmeticTask(t testing.TB, n int) *task.Task {
	t.Helper()
	made, err := arithmetic.New(arithmetic.Options{N: n})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// equal reports whether two JSON numbers are the same decimal.
func equal(t testing.TB, got, want json.RawMessage) bool {
	t.Helper()
	w, err := decimal.Parse(string(want))
	if err != nil {
		t.Fatal(err)
	}
	g, err := decimal.Parse(string(got))
	return err == nil && g.Cmp(w) == 0
}

func TestWithoutErrorsEveryNumberIsRight(t *testing.T) {
	made, p := arithmeticTask(t, 0), model(t, "error=0")
	for name, m := range arithmeticMethods() {
		t.Run(name, func(t *testing.T) {
			trials(func(s task.Sample) {
				a, target, h := attempt(t, m, p, made.Environment, s, 7, "")
				if !equal(t, a.Value, target) {
					t.Errorf("%s: got %s, want %s for %q", s.ID, a.Value, target, s.Problem.Query)
				}
				smooth(t, s.ID, a, h)
			}, made.Samples)
		})
	}
}

// With errors the scores fall, plans may fail at a division by zero, and
// another seed errs elsewhere.
func TestErrorsTravelThroughStories(t *testing.T) {
	made, p := arithmeticTask(t, 100), model(t, "error=0.1")
	for name, m := range arithmeticMethods() {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var right, differ int
			outcomes := map[methods.Outcome]int{}
			trials(func(s task.Sample) {
				a, target, _ := attempt(t, m, p, made.Environment, s, 1, "")
				b, _, _ := attempt(t, m, p, made.Environment, s, 2, "")
				hit := equal(t, a.Value, target)
				mu.Lock()
				defer mu.Unlock()
				if hit {
					right++
				}
				if string(a.Value) != string(b.Value) {
					differ++
				}
				if outcomes[a.Outcome]++; a.Outcome != methods.Answered && !strings.Contains(a.Reason, "zero") {
					t.Errorf("%s: outcome %s: %s", s.ID, a.Outcome, a.Reason)
				}
			}, made.Samples)
			t.Logf("%d of %d right; another seed changes %d; outcomes %v", right, len(made.Samples), differ, outcomes)
			if n := len(made.Samples); right < n/4 || right > n*19/20 {
				t.Errorf("%d of %d right: the errors do not show, or nothing else does", right, n)
			}
			if differ < 10 {
				t.Errorf("another seed changes only %d answers", differ)
			}
		})
	}
}

// Plans that the method finds invalid are asked for again, and the new one is
// read afresh.
func TestInvalidPlansAreMadeAgain(t *testing.T) {
	made, err := arithmetic.New(arithmetic.Options{N: 60, Level: 5})
	if err != nil {
		t.Fatal(err)
	}
	p, m := model(t, "error=0&error.request=0.5"), aot.New()
	var mu sync.Mutex
	var again, saved int
	trials(func(s task.Sample) {
		a, _, h := attempt(t, m, p, made.Environment, s, 1, "")
		mu.Lock()
		defer mu.Unlock()
		if h.usage.Calls > 1 {
			again++
			if a.Outcome != methods.Refused {
				saved++
			}
		}
	}, made.Samples)
	if again < 3 || saved == 0 {
		t.Errorf("%d of 60 plans were made again, %d of them with success", again, saved)
	}
}

func BenchmarkArithmetic(b *testing.B) {
	made, p := arithmeticTask(b, 5), model(b, "")
	s := made.Samples[4]
	problem, _, err := s.Present(1, true)
	if err != nil {
		b.Fatal(err)
	}
	problem.Tools = made.Environment.Tools()
	for name, m := range arithmeticMethods() {
		var requests []methods.Request
		r := &recorder{host: &host{Provider: p, Environment: made.Environment}, requests: &requests}
		if _, err := m.Solve(b.Context(), problem, r); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%s/%dB", name, len(requests[0].Messages[0].Content)), func(b *testing.B) {
			for b.Loop() {
				_, _ = p.Complete(b.Context(), requests[0])
			}
		})
	}
}
