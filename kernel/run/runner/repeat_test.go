package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/methods"
	"noema/plugins"
)

// served is a method in a process of its own, as far as its state tells: a trial that
// is alone gets a new state.
type served struct {
	make   func() solver
	shared solver
	alone  *int
	mu     *sync.Mutex
}

func (s served) Fresh() bool { return true }

func (s served) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	if plugins.Aloneness(ctx) == 0 {
		return s.shared(ctx, p, h)
	}
	s.mu.Lock()
	*s.alone++
	s.mu.Unlock()
	return s.make()(ctx, p, h)
}

// stateful are kinds of methods; what they keep shows in the answer, a prompt, the
// number of calls, an event or a failure.
func stateful(shows string, keeps bool) func() solver {
	return func() solver {
		var mu sync.Mutex
		count := 0
		return func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
			mu.Lock()
			n := 100 // more than any trial in a fresh process counts
			if keeps {
				n, count = 100+count, count+1
			}
			mu.Unlock()
			prompt, calls := p.Query, 1
			switch {
			case shows == "prompt":
				prompt = fmt.Sprint(prompt, n)
			case shows == "calls" && n > 100:
				calls = 2
			case shows == "event":
				h.Emit(methods.Event{Kind: "note", Path: "e", Text: fmt.Sprint(n)})
			case shows == "failure" && n > 100:
				return methods.Answer{}, fmt.Errorf("failed")
			}
			for i := range calls {
				if _, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(prompt), Path: fmt.Sprint("c", i), Draw: i}); err != nil {
					return methods.Answer{}, err
				}
			}
			a := methods.RankingAnswer([]int{1})
			if shows == "answer" {
				a.Reason = fmt.Sprint(n)
			}
			return a, nil
		}
	}
}

// TestStateBetweenTrialsIsTold: whatever a method's state shows in, the run and its table
// tell it; of a method without one they tell nothing, and the provider is asked nothing
// more, and the root hash is the same as without.
func TestStateBetweenTrialsIsTold(t *testing.T) {
	random := rand.New(rand.NewPCG(30, 6))
	for _, shows := range []string{"answer", "prompt", "calls", "event", "failure"} {
		for _, keeps := range []bool{false, true} {
			n, seed := 6+random.IntN(12), random.Uint64()
			alone := 0
			build := stateful(shows, keeps)
			m := Method{Label: "m", Description: methods.Description{Name: "m", Version: "1"}}
			e := Setup{Experiment: Experiment{Seed: seed, MaxSamples: 1 + random.IntN(4)}, Task: cafesTask(t, n)}
			m.Solver = served{build, build(), &alone, &sync.Mutex{}}
			e.Methods = []Method{m}
			paid := newMeter(simModel(t, ""))
			e.Provider = paid
			store := openStore(t, t.TempDir())
			r, err := e.Run(t.Context(), store, Quiet{})
			if err != nil {
				t.Fatal(err)
			}
			p := r.Run.Plugins[0]
			merged, err := compare.FromRuns([]*compare.Recorded{&r.Recorded}, false)
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(merged.Reach(), "\n")
			if told := strings.Contains(p.State, "keeps a state between trials") && strings.Contains(notes, p.State); told != keeps {
				t.Errorf("%s, state %t, %d samples: told %t: %q", shows, keeps, n, told, p.State)
			}
			if p.Repeated != min(repeats, n) || alone < p.Repeated {
				t.Errorf("%s: %d trials were repeated, %d of them alone", shows, p.Repeated, alone)
			}
			if calls := 0; !keeps {
				for _, trial := range r.Trials {
					calls += len(trial.Calls)
				}
				if paid.calls != calls {
					t.Errorf("%s: %d calls were paid for, the trials made %d", shows, paid.calls, calls)
				}
				e.Methods[0].Solver = build() // nothing to repeat it with
				e.Fresh = true
				again, err := e.Run(t.Context(), store, Quiet{})
				if err != nil || again.Run.Root != r.Run.Root || again.Run.Plugins[0].Repeated != 0 {
					t.Errorf("%s: the root hash is %s, without repeats %s (%v)", shows, r.Run.Root, again.Run.Root, err)
				}
			}
			runs, err := Runs(t.Context(), store)
			if kept := runs[len(runs)-1]; err != nil || kept.Plugins[0].State != p.State || kept.Status != record.Finished {
				t.Errorf("%s: the store has %+v (%v)", shows, kept, err)
			}
		}
	}
}
