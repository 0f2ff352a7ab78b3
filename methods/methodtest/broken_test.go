package methodtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"noema/methods"
)

// broken is a method that breaks one part of the contract.
type broken struct {
	name   string
	check  string // which must catch it
	want   string // in the fault's text
	method methods.Method
}

// edit is good with its calls and its end changed.
func edit(change func(methods.Request) methods.Request, end func(methods.Answer, error) (methods.Answer, error)) methods.Method {
	return solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		if change != nil {
			h = changing{h, change}
		}
		a, err := good(ctx, p, h)
		if end != nil {
			return end(a, err)
		}
		return a, err
	})
}

// request is good with its calls changed, answer with its answer changed.
func request(change func(*methods.Request)) methods.Method {
	return edit(func(r methods.Request) methods.Request { change(&r); return r }, nil)
}

func answer(change func(*methods.Answer)) methods.Method {
	return edit(nil, func(a methods.Answer, err error) (methods.Answer, error) { change(&a); return a, err })
}

// event is a method that emits e and then does well.
func event(e methods.Event) methods.Method {
	return solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		h.Emit(e)
		return good(ctx, p, h)
	})
}

func description(d methods.Description) methods.Method { return described{good, d} }

func option(o ...methods.Option) methods.Method {
	return description(methods.Description{Name: "x", Options: o})
}

func brokenDescriptions() []broken {
	return []broken{
		{"bad name", "describe", `name "A b"`, description(methods.Description{Name: "A b"})},
		{"other kind", "describe", "does not claim", description(methods.Description{Name: "x", Answers: []methods.AnswerKind{methods.Text}})},
		{"option twice", "describe", "used twice", option(methods.Option{Name: "a", Type: "int"}, methods.Option{Name: "a", Type: "int"})},
		{"option type", "describe", "unknown type", option(methods.Option{Name: "a", Type: "integer"})},
		{"default no int", "describe", "is not a whole number", option(methods.Option{Name: "a", Type: methods.IntOption, Default: "1.5"})},
		{"default no bool", "describe", "is not true or false", option(methods.Option{Name: "a", Type: methods.BoolOption, Default: "maybe"})},
		{"default no number", "describe", "is not a number", option(methods.Option{Name: "a", Type: methods.NumberOption, Default: "x"})},
		{"default no choice", "describe", "is not among y", option(methods.Option{Name: "a", Type: methods.StringOption, Default: "z", Choices: []string{"y"}})},
	}
}

func brokenAnswers() []broken {
	return []broken{
		{"no outcome", "answer", "unknown outcome", answer(func(a *methods.Answer) { a.Outcome = "" })},
		{"no value", "answer", "needs a value", answer(func(a *methods.Answer) { a.Value = nil })},
		{"out of range", "answer", "not within 1..4", answer(func(a *methods.Answer) { a.Value = json.RawMessage("[5]") })},
		{"no reason", "answer", "without a reason", answer(func(a *methods.Answer) { a.Outcome = methods.Defaulted })},
		{"reason for a result", "answer", "comes with a reason", answer(func(a *methods.Answer) { a.Reason = "it is right" })},
		{"error for nothing", "answer", "although no call did", edit(nil, func(a methods.Answer, _ error) (methods.Answer, error) { return a, errors.New("bad mood") })},
		{"panic", "answer", "broken_test.go:", answer(func(a *methods.Answer) { a.Value = a.Value[len(a.Value)+1:] })},
		{"changes the problem", "answer", "changed the problem", solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
			p.Context[0] ^= 1 // and back, so that the next run finds it as it was
			defer func() { p.Tools[0].Name = "seen" }()
			defer func() { p.Context[0] ^= 1 }()
			return good(ctx, p, h)
		})},
		{"hangs", "answer", "did not return", solver(func(ctx context.Context, _ methods.Problem, _ methods.Host) (methods.Answer, error) {
			<-ctx.Done()
			return methods.Answer{}, ctx.Err()
		})},
	}
}

func brokenCalls() []broken {
	tool := func(c methods.ToolCall) methods.Method {
		return solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
			if _, err := h.CallTool(ctx, c); err != nil {
				return methods.Answer{}, err
			}
			return good(ctx, p, h)
		})
	}
	return []broken{
		{"no path", "calls", "has no path", request(func(r *methods.Request) { r.Path = "" })},
		{"one path for two calls", "calls", "is made twice", request(func(r *methods.Request) { r.Path = "P" })},
		{"warm", "calls", "temperature 0.7", request(func(r *methods.Request) { r.Sampling.Temperature = 0.7 })},
		{"own seed", "calls", "has seed 42", request(func(r *methods.Request) { r.Sampling.Seed = 42 })},
		{"no messages", "calls", "has no messages", request(func(r *methods.Request) { r.Messages = nil })},
		{"negative draw", "calls", "counted from 0", request(func(r *methods.Request) { r.Draw = -1 })},
		{"tool without path", "calls", `tool "clock" has no path`, tool(methods.ToolCall{Name: "clock"})},
		{"tool arguments", "calls", "are not JSON", tool(methods.ToolCall{Name: "clock", Path: "T", Arguments: json.RawMessage("{now}")})},
		{"event without kind", "events", "has no kind", event(methods.Event{Path: "P"})},
		{"event of two lines", "events", "more than one line", event(methods.Event{Path: "P", Kind: "x", Text: "a\nb"})},
		{"event data", "events", "data that are not JSON", event(methods.Event{Path: "P", Kind: "x", Data: json.RawMessage("x")})},
		{"event level", "events", "has level 4", event(methods.Event{Path: "P", Kind: "x", Level: 4})},
	}
}

func brokenDeterminism() []broken {
	// race answers with whichever of its calls comes back first. There are so many that
	// two runs have the same first one by luck alone as good as never, also on a machine
	// that is so busy that all have waited long enough when it looks again.
	race := func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		replies := make(chan int, 64)
		for i := range cap(replies) {
			go func() {
				ask(ctx, p, h, fmt.Sprintf("c%d", i), "?")
				replies <- i
			}()
		}
		first := <-replies
		for range cap(replies) - 1 {
			<-replies
		}
		a := methods.RankingAnswer([]int{1})
		a.Evidence = []methods.Evidence{{Text: fmt.Sprintf("call %d came first", first)}}
		return a, nil
	}
	var at atomic.Int32 // how many Solves are on their way
	crowded := func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		others := at.Add(1) - 1
		defer at.Add(-1)
		if _, err := ask(ctx, p, h, "P0", fmt.Sprintf("%d others", others)); err != nil {
			return methods.Answer{}, err
		}
		return good(ctx, p, h)
	}
	return []broken{
		{"global random numbers", "repeat", "differs at byte", request(func(r *methods.Request) {
			r.Messages = methods.Ask(fmt.Sprint(rand.Uint64()))
		})},
		{"the clock", "repeat", "differs at byte", answer(func(a *methods.Answer) {
			a.Evidence = []methods.Evidence{{Text: time.Now().Format(time.RFC3339Nano)}}
		})},
		{"first come first served", "repeat", "two runs differ", solver(race)},
		{"random outcome", "repeat", "two runs differ: error", flaky()},
		{"shared state", "concurrent", "8 at once", solver(crowded)},
	}
}

// flaky fails every second time.
func flaky() methods.Method {
	var n atomic.Int32
	return edit(nil, func(a methods.Answer, err error) (methods.Answer, error) {
		if n.Add(1)%2 == 0 {
			return a, errors.New("every second time")
		}
		return a, err
	})
}

// deaf hides cancellation from what it wraps.
func deaf(f solver) solver {
	return func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		return f(context.WithoutCancel(ctx), p, h)
	}
}

// anyway answers whatever happens.
func anyway(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	if a, err := good(ctx, p, h); err == nil && a.Outcome == methods.Answered {
		return a, nil
	}
	return methods.RankingAnswer([]int{1}), nil
}

// lastWord returns instead of err what f makes of it.
func lastWord(f func(error) (methods.Answer, error)) methods.Method {
	return edit(nil, func(a methods.Answer, err error) (methods.Answer, error) {
		if err != nil {
			return f(err)
		}
		return a, nil
	})
}

func brokenLifetimes(t *testing.T) []broken {
	over := make(chan struct{}) // ends what the methods below leave behind
	t.Cleanup(func() { close(over) })
	leave := func(when func(error) bool, what func(context.Context, methods.Host)) methods.Method {
		return solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
			a, err := good(ctx, p, h)
			if when(err) {
				go what(ctx, h)
			}
			return a, err
		})
	}
	always := func(error) bool { return true }
	late := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		a, err := good(ctx, p, h)
		<-ctx.Done() // after which it takes its time
		wait(context.Background(), 200*time.Millisecond)
		return a, err
	})
	var solves atomic.Int32
	stalls := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		if solves.Add(1)%2 == 0 {
			wait(context.WithoutCancel(ctx), 600*time.Millisecond)
		}
		return good(ctx, p, h)
	})
	return []broken{
		{"ignores ctx", "cancel", "had not returned", deaf(good)},
		{"returns late", "cancel", "Solve returned after", late},
		{"stalls every second time", "cancel", "had not returned", stalls},
		{"answers after cancellation", "cancel", "want an error or another outcome", solver(anyway)},
		{"panics after cancellation", "cancel", "panicked", lastWord(func(err error) (methods.Answer, error) { panic(err) })},
		{"leaves a goroutine", "leak", "9 goroutines are left", leave(always, func(context.Context, methods.Host) { <-over })},
		{"leaves one that waits for ctx", "leak", "goroutines are left", leave(always, func(ctx context.Context, _ methods.Host) { <-ctx.Done() })},
		{"leaves one after a failure", "leak", "6 goroutines are left", leave(func(err error) bool { return err != nil }, func(context.Context, methods.Host) { <-over })},
		{"leaves one after cancellation", "leak", "3 goroutines are left", leave(func(err error) bool { return errors.Is(err, context.Canceled) }, func(context.Context, methods.Host) { <-over })},
		{"last words", "leak", "used after Solve had returned", leave(always, func(_ context.Context, h methods.Host) {
			wait(context.Background(), 5*time.Millisecond)
			h.Emit(methods.Event{Path: "P9", Kind: "late"})
		})},
	}
}

func brokenErrors() []broken {
	return []broken{
		{"ignores the budget", "budget", `outcome "budget", got outcome "answered"`, solver(anyway)},
		{"asks on beyond the budget", "budget", "without the limit it makes", solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
			a, err := good(ctx, p, h)
			for i := 0; err != nil && i < 50; i++ {
				_, err = ask(ctx, p, h, fmt.Sprintf("again/%d", i), p.Query)
			}
			return a, err
		})},
		{"default for the budget", "budget", `got outcome "defaulted"`, lastWord(func(err error) (methods.Answer, error) {
			return methods.RankingAnswer([]int{1}).As(methods.Defaulted, err.Error()), nil
		})},
		{"loses the budget error", "budget", "does not wrap it", lastWord(func(err error) (methods.Answer, error) {
			return methods.Answer{}, fmt.Errorf("failed: %v", err)
		})},
		{"budget without reason", "budget", "without a reason", lastWord(func(error) (methods.Answer, error) {
			return methods.Answer{Outcome: methods.OverBudget}, nil
		})},
		{"ignores the provider", "provider", `or another outcome, got outcome "answered"`, solver(anyway)},
		{"loses the provider's error", "provider", "does not wrap it", lastWord(func(error) (methods.Answer, error) {
			return methods.Answer{}, errors.New("failed")
		})},
		{"ignores a miss", "miss", `got outcome "answered"`, solver(anyway)},
		{"turns a miss into an outcome", "miss", `got outcome "error"`, lastWord(func(err error) (methods.Answer, error) {
			return methods.Answer{Outcome: methods.Failed, Reason: err.Error()}, nil
		})},
		{"loses the miss", "miss", "does not wrap it", lastWord(func(error) (methods.Answer, error) {
			return methods.Answer{}, errors.New("failed")
		})},
	}
}

func brokenByHostility() []broken {
	trusts := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		var c struct{ Items []map[string]any }
		json.Unmarshal(p.Context, &c)
		_ = c.Items[0]["name"].(string)
		return good(ctx, p, h)
	})
	believes := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		reply, err := ask(ctx, p, h, "P1", p.Query)
		return methods.Answer{Value: json.RawMessage(reply), Outcome: methods.Answered}, err
	})
	insists := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		for n := 0; ; n++ {
			reply, err := ask(ctx, p, h, fmt.Sprintf("P1/r%d", n), p.Query)
			if a := parse(p, reply); err != nil || a.Outcome == methods.Answered {
				return a, err
			}
		}
	})
	deafAndInsisting := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		for n := 0; ; n++ {
			reply, _ := ask(ctx, p, h, fmt.Sprintf("P1/r%d", n), p.Query)
			if a := parse(p, reply); a.Outcome == methods.Answered || n > 1000 {
				return a, nil
			}
		}
	})
	stuck := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		if strings.Contains(p.Query, "{{.}}") {
			<-ctx.Done()
		}
		return good(ctx, p, h)
	})
	return []broken{
		{"trusts the context", "problems", "panicked", trusts},
		{"hangs on braces", "problems", "query: braces: Solve did not return", stuck},
		{"answers nonsense to an empty query", "problems", "query: empty: ", solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
			if p.Query == "" {
				return methods.Answer{}, nil
			}
			return good(ctx, p, h)
		})},
		{"believes every reply", "replies", "decode answer", believes},
		{"asks for ever", "replies", "goes on making calls", insists},
		{"asks on without a budget", "replies", "goes on making calls", deafAndInsisting},
	}
}

// limitsFor shortens the limits that the method is there to exceed, and leaves
// the others, so that a slow machine is not taken for a broken method.
func limitsFor(b broken) limits {
	l := defaultLimits()
	l.calls = 200
	if b.check != "leak" && strings.Contains(b.want, "return") {
		l.solve, l.cancel, l.linger = 500*time.Millisecond, 40*time.Millisecond, 150*time.Millisecond
	}
	if strings.Contains(b.want, "are left") {
		l.linger = 500 * time.Millisecond
	}
	return l
}

// Each broken method is caught by the check that is there to catch it, and
// each check has at least one that it catches.
func TestBrokenMethodsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	all := append(append(brokenDescriptions(), brokenAnswers()...), brokenCalls()...)
	all = append(append(all, brokenDeterminism()...), brokenLifetimes(t)...)
	all = append(append(all, brokenErrors()...), brokenByHostility()...)
	for _, k := range Rules() {
		var tried int
		for _, b := range all {
			if b.check != k.Name {
				continue
			}
			tried++
			t.Run(b.check+"/"+b.name, func(t *testing.T) {
				faults := k.within(t.Context(), b.method, toolCase(), limitsFor(b))
				if !slices.ContainsFunc(faults, func(f Fault) bool { return strings.Contains(f.Text, b.want) }) {
					t.Errorf("faults %q, want one with %q", faults, b.want)
				}
			})
		}
		if tried == 0 {
			t.Errorf("nothing shows that the check %q can fail", k.Name)
		}
	}
}
