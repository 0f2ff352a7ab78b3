package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"noema/methods"
)

// many is what a test asks the method bench for.
type many struct{ Calls, Callers int }

// bench makes as many calls as its options say, so many of them at once, and answers
// their number.
func bench(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	var want many
	if err := json.Unmarshal(p.Options, &want); err != nil {
		return methods.Answer{}, err
	}
	var next, made atomic.Int64
	var callers sync.WaitGroup
	for range want.Callers {
		callers.Go(func() {
			for next.Add(1) <= int64(want.Calls) {
				if _, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query), Path: "bench"}); err != nil {
					return
				}
				made.Add(1)
			}
		})
	}
	callers.Wait()
	return methods.NumberAnswer(float64(made.Load())), nil
}

// quick answers at once.
type quick struct {
	methods.Host // not asked
	reply        string
}

func (q quick) Complete(context.Context, methods.Request) (methods.Completion, error) {
	return methods.Completion{Text: q.reply, Finish: methods.FinishStop, Usage: methods.Usage{Calls: 1}}, nil
}

// callMany has a plugin make calls whose prompts and replies have 2 KiB, and which are
// answered at once.
func callMany(t testing.TB, p *Plugin, m many) {
	t.Helper()
	options, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("word ", 2<<10/5)
	problem := methods.Problem{Query: text, Options: options, Answer: methods.AnswerSpec{Kind: methods.Number}}
	a, err := p.Solve(t.Context(), problem, quick{reply: text})
	if err != nil || string(a.Value) != fmt.Sprint(m.Calls) {
		t.Fatalf("%+v: answer %s, %v", m, a.Value, err)
	}
}

// BenchmarkCall is what a call through the boundary costs, the kernel's answer
// taking no time.
func BenchmarkCall(b *testing.B) {
	p := open(b, openHost(b), "bench")
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			callMany(b, p, many{b.N, callers})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

func TestManyCalls(t *testing.T) {
	h := openHost(t)
	p := open(t, h, "bench")
	for _, callers := range []int{1, 64} {
		callMany(t, p, many{500, callers})
	}
	if u := h.Usage(); u.Memory < 1<<20 || u.CPUTime <= 0 || u.Processes != 1 {
		t.Errorf("usage = %+v", u)
	}
}
