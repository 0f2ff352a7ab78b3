package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"noema/kernel/base/verbatim"
	"noema/kernel/model/provider/none"
	"noema/kernel/result/record"
	"noema/methods"
	"noema/plugins/program/wires"
)

// threadsOf runs a program's threads, each of which asks until it is refused, and returns the
// transcript. Chance decides how they interleave.
func threadsOf(t *testing.T, g *Gateway, threads, calls int, equal bool, limits record.Limits, recorded *record.Trial) *record.Trial {
	t.Helper()
	tr := trialOf("m", "s", 0)
	tr.Limits, tr.Recorded = limits, recorded
	h := g.Host(tr)
	var wg sync.WaitGroup
	for _, thread := range rand.Perm(threads) {
		wg.Go(func() {
			for n := range calls {
				text := fmt.Sprint("question ", n)
				if !equal {
					text = fmt.Sprint(text, " of ", thread)
				}
				r := methods.Request{Path: fmt.Sprintf("0.%d/c%d", thread, n), Draw: thread << 12, Raw: &methods.Raw{
					Wire: string(wires.Chat), Body: json.RawMessage(fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]}`, text)), Rules: verbatim.Rules,
				}}
				if _, err := h.Complete(context.Background(), r); errors.Is(err, methods.ErrBudget) {
					return // it is told nothing
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return sealed(t, h)
}

// TestAProgramEndsAtTheSameCalls: which calls of a program's threads a limit lets through is
// chance once, and the same in each later execution, whatever the order.
func TestAProgramEndsAtTheSameCalls(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	for i := range 60 {
		threads, calls := 1+rand.IntN(8), 1+rand.IntN(4)
		limits := record.Limits{Calls: 1 + rand.IntN(threads*calls)}
		if i%3 == 0 {
			limits = record.Limits{Tokens: int64(15 * limits.Calls)}
		}
		cold := threadsOf(t, newGateway(t, Options{Store: store, Provider: m}), threads, calls, i%2 == 0, limits, nil)
		for _, mode := range []Mode{Replay, Auto, Replay} {
			g := newGateway(t, Options{Store: store, Provider: none.New(m.Info()), Mode: mode})
			if d := record.FirstDivergence(cold, threadsOf(t, g, threads, calls, i%2 == 0, limits, cold)); d != nil {
				t.Fatalf("%d threads with %d calls, %+v, %s: %v", threads, calls, limits, mode, d)
			}
		}
	}
}
