package runner

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"noema/kernel/result/record"
	"noema/methods"
)

// fan asks many things at once and counts what it is told.
func fan(n int) solver {
	return func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		var wait sync.WaitGroup
		for i := range n {
			wait.Go(func() {
				path := fmt.Sprintf("P1/i%d", i)
				// A refusal is a result, too: the method goes on with what it has.
				_, _ = h.Complete(ctx, methods.Request{Path: path, Messages: methods.Ask(p.Query + path)})
			})
		}
		wait.Wait()
		return methods.RankingAnswer([]int{1}), nil
	}
}

// slowModel answers when n have asked, so that no call has been charged by then.
func slowModel(t *testing.T, n int) *meter {
	t.Helper()
	m := newMeter(simModel(t, ""))
	var mu sync.Mutex
	waiting, all := 0, make(chan struct{})
	m.before = func() {
		mu.Lock()
		if waiting++; waiting == n {
			waiting = 0
			close(all)
			all = make(chan struct{})
			mu.Unlock()
			return
		}
		gate := all
		mu.Unlock()
		<-gate
	}
	return m
}

// TestLimitsBiteAlike: whether a limit lets a call through that others run beside
// is chance, and answers from the store are sooner charged. What was decided for a
// trial once holds for it in other runs as well, and in a fork.
func TestLimitsBiteAlike(t *testing.T) {
	const calls = 6 // as many may be under way from the start
	store, ctx := openStore(t, t.TempDir()), context.Background()
	method := inProcess(fan(calls))
	e := Setup{
		Task: sampleTask(ofThree, "[1]", names(30)...), Methods: []Method{method}, Provider: slowModel(t, calls),
		Experiment: Experiment{TokenLimit: 20, MaxSamples: 1},
	}
	cold := mustRun(t, e, store)
	if n := len(cold.Trials[0].Calls); n != calls || cold.Trials[0].Usage.Calls != calls {
		t.Fatalf("%d calls, charged %+v", n, cold.Trials[0].Usage)
	}
	warm := e
	warm.Provider = simModel(t, "")
	renamed := method
	renamed.Label = "func?again"
	warm.Methods = []Method{renamed, method}
	warm.Limit = "2-30"
	for i, tr := range mustRun(t, warm, store).Trials[29:] {
		if was := cold.Trials[i+1]; tr.ID != was.ID || tr.Hash != was.Hash {
			t.Errorf("beside another method: %s", record.FirstDivergence(was, tr))
		}
	}

	replyOf := func(tr *record.Trial) string {
		x, err := ReadExchange(ctx, store, cold.Run, tr.ID, tr.Calls[3])
		if err != nil {
			t.Fatal(err)
		}
		return x.Record.Completion.Text
	}
	fork := Fork{Parent: cold, Setup: e, Call: cold.Trials[0].Calls[3], Trial: cold.Trials[0].ID}
	fork.Setup.Provider = simModel(t, "")
	for reply, same := range map[string]bool{replyOf(cold.Trials[0]): true, "another": false} {
		fork.Reply = reply
		forked, err := fork.Do(ctx, store, Quiet{})
		if err != nil {
			t.Fatal(err)
		}
		if (forked.Run.Root == cold.Run.Root) != same || forked.Trials[0].Usage.Calls != calls {
			t.Errorf("reply %q: the fork has root %.8s, its parent %.8s; charged %+v", reply, forked.Run.Root, cold.Run.Root, forked.Trials[0].Usage)
		}
	}
}
