package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
	"noema/plugins"
)

// oneTrial runs a method on one sample.
func oneTrial(t *testing.T, spec methods.AnswerSpec, target string, solve solver, timeout time.Duration) *record.Trial {
	t.Helper()
	e := Setup{
		Task: sampleTask(spec, target, "s"), Methods: []Method{inProcess(solve)}, Provider: simModel(t, ""),
		Experiment: Experiment{TrialTimeout: timeout},
	}
	return mustRun(t, e, openStore(t, t.TempDir())).Trials[0]
}

// TestInvalidAnswers: whatever a method returns, the trial has a result and
// the run goes on.
func TestInvalidAnswers(t *testing.T) {
	raw := func(s string, o methods.Outcome) solver {
		return func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
			return methods.Answer{Value: json.RawMessage(s), Outcome: o}, nil
		}
	}
	number := methods.AnswerSpec{Kind: methods.Number}
	for name, c := range map[string]struct {
		spec    methods.AnswerSpec
		target  string
		solve   solver
		failure string
	}{
		"out of range":    {ofThree, "[1]", raw("[4]", methods.Answered), "item 4 is not within 1..3"},
		"zero":            {ofThree, "[1]", raw("[0]", methods.Answered), "item 0 is not within 1..3"},
		"twice":           {ofThree, "[1]", raw("[1,1]", methods.Answered), "item 1 is ranked twice"},
		"another kind":    {ofThree, "[1]", raw(`"one"`, methods.Answered), "decode answer"},
		"no JSON":         {ofThree, "[1]", raw("[1", methods.Answered), "decode answer"},
		"huge number":     {number, "1", raw("1e999", methods.Answered), "decode answer"},
		"null":            {ofThree, "[1]", raw(" null ", methods.Answered), "the value is null"},
		"nothing":         {ofThree, "[1]", raw("", methods.Answered), "outcome answered needs a value"},
		"unknown outcome": {ofThree, "[1]", raw("[1]", "splendid"), `unknown outcome "splendid"`},
		"no outcome":      {ofThree, "[1]", raw("[1]", ""), `unknown outcome ""`},
		"error": {ofThree, "[1]", func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
			return methods.RankingAnswer([]int{1}), errors.New("no idea")
		}, "no idea"},
		"panic": {ofThree, "[1]", func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
			panic("index out of range")
		}, "method panicked: index out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := oneTrial(t, c.spec, c.target, c.solve, 0)
			if tr.Answer.Outcome != methods.Failed || tr.Answer.Value != nil || tr.Infra || !strings.Contains(tr.Failure, c.failure) {
				t.Errorf("%+v, infra %t, failure %q", tr.Answer, tr.Infra, tr.Failure)
			}
			for metric, v := range tr.Score.Values {
				if v != 0 {
					t.Errorf("a failure earns %s %v", metric, v)
				}
			}
		})
	}
}

// broken answers nothing.
type broken struct{ provider.Provider }

func (broken) Complete(_ context.Context, r methods.Request) (methods.Completion, error) {
	if len(r.Messages[0].Content) > 100 {
		return methods.Completion{}, &provider.Error{Kind: provider.ContextLength, Err: errors.New("the prompt is too long")}
	}
	return methods.Completion{}, errors.New("out of order")
}

// TestOutcomesOfErrors: which failures are the method's and which are not.
func TestOutcomesOfErrors(t *testing.T) {
	fails := func(err error) solver {
		return func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
			return methods.Answer{}, err
		}
	}
	hangs := func(ctx context.Context, _ methods.Problem, _ methods.Host) (methods.Answer, error) {
		<-ctx.Done()
		return methods.Answer{}, ctx.Err()
	}
	asks := func(ctx context.Context, _ methods.Problem, h methods.Host) (methods.Answer, error) {
		_, err := h.Complete(ctx, methods.Request{Path: "P3", Messages: methods.Ask("?")})
		return methods.Answer{}, err
	}
	asksMuch := func(ctx context.Context, _ methods.Problem, h methods.Host) (methods.Answer, error) {
		_, err := h.Complete(ctx, methods.Request{Path: "P3", Messages: methods.Ask(strings.Repeat("?", 200))})
		return methods.Answer{}, err
	}
	for name, c := range map[string]struct {
		solve   solver
		timeout time.Duration
		outcome methods.Outcome
		infra   bool
		failure string
	}{
		"budget":   {fails(fmt.Errorf("P3: %w", methods.ErrBudget)), 0, methods.OverBudget, false, "budget exhausted"},
		"provider": {asks, 0, methods.Failed, true, "provider failed"},
		"too long": {asksMuch, 0, methods.Failed, false, "the prompt is too long"},
		"a lie":    {fails(fmt.Errorf("P3: %w", methods.ErrProvider)), 0, methods.Failed, false, "provider failed"},
		"plugin":   {fails(fmt.Errorf("x: %w", &plugins.Failure{Plugin: "p", Reason: "crashed"})), 0, methods.Failed, true, `plugin "p" crashed`},
		"hanging":  {hangs, 20 * time.Millisecond, methods.Failed, true, "the trial took longer than its limit, without its model calls (20ms)"},
		"its own":  {fails(errors.New("odd")), 0, methods.Failed, false, "odd"},
	} {
		t.Run(name, func(t *testing.T) {
			e := Setup{
				Task: sampleTask(ofThree, "[1]", "s"), Methods: []Method{inProcess(solver(c.solve))}, Retry: gateway.Retry{Attempts: 1},
				Provider:   broken{simModel(t, "")},
				Experiment: Experiment{TrialTimeout: c.timeout},
			}
			tr := mustRun(t, e, openStore(t, t.TempDir())).Trials[0]
			if tr.Answer.Outcome != c.outcome || tr.Infra != c.infra || !strings.Contains(tr.Failure, c.failure) {
				t.Errorf("outcome %s, infra %t, failure %q", tr.Answer.Outcome, tr.Infra, tr.Failure)
			}
		})
	}
}

// slow answers after more than a trial's time.
type slow struct{ provider.Provider }

func (s slow) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	select {
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
		return methods.Completion{}, context.Cause(ctx)
	}
	return s.Provider.Complete(ctx, r)
}

// TestSlowModel: how long a model takes fails no trial.
func TestSlowModel(t *testing.T) {
	e := Setup{
		Task: sampleTask(ofThree, "[1]", names(20)...), Provider: slow{simModel(t, "")},
		Methods: []Method{inProcess(solver(func(ctx context.Context, _ methods.Problem, h methods.Host) (methods.Answer, error) {
			_, err := h.Complete(ctx, methods.Request{Path: "P3", Messages: methods.Ask("?")})
			return methods.RankingAnswer([]int{1}), err
		}))},
		Experiment: Experiment{TrialTimeout: 2 * time.Second},
	}
	for _, tr := range mustRun(t, e, openStore(t, t.TempDir())).Trials {
		if tr.Failure != "" {
			t.Errorf("%s: %s", tr.ID.Sample, tr.Failure)
		}
	}
}

// TestInfraTrialIsRunAgain when the run is resumed, while in a finished run
// it stays, is counted, and is no obstacle to a replay.
func TestInfraTrialIsRunAgain(t *testing.T) {
	store := openStore(t, t.TempDir())
	var ill atomic.Bool
	ill.Store(true)
	ctx, cancel := context.WithCancel(context.Background())
	solve := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		if p.ID == "ac" && ctx.Done() != nil && ill.Load() {
			cancel()
			return methods.Answer{}, ctx.Err()
		}
		if p.ID == "aa" && ill.Load() {
			return methods.Answer{}, &plugins.Failure{Plugin: "p", Reason: "crashed (signal: killed)"}
		}
		return methods.RankingAnswer([]int{1, 2}), nil
	})
	e := Setup{Task: sampleTask(ofThree, "[1]", names(4)...), Methods: []Method{inProcess(solve)}, Provider: simModel(t, ""), Experiment: Experiment{MaxSamples: 1}}
	first, err := e.Run(ctx, store, Quiet{})
	if !errors.Is(err, context.Canceled) || len(first.Trials) != 2 || !first.Trials[0].Infra {
		t.Fatalf("%v, trials %s", err, trialKeys(first.Trials))
	}
	ill.Store(false)
	w := &watcher{}
	second, err := e.Run(context.Background(), store, w)
	if err != nil || second.Run.ID != first.Run.ID || trialKeys(w.trials) != "func/aa/1 func/ac/1 func/ad/1" {
		t.Errorf("resumed: %v, trials %s", err, trialKeys(w.trials))
	}
	if want := mustRun(t, e, openStore(t, t.TempDir())); second.Run.Root != want.Run.Root {
		t.Error("the crash shows in the root of the healthy run")
	}

	e.Methods[0].Solver = solver(func(_ context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
		if p.ID == "aa" {
			return methods.Answer{}, &plugins.Failure{Plugin: "p", Reason: "crashed"}
		}
		return methods.RankingAnswer([]int{1, 2}), nil
	})
	third := mustRun(t, e, store)
	s, err := Summarize(third)
	if err != nil || s.Methods[0].Failed != 1 || s.Methods[0].Outcomes[methods.Failed] != 1 || s.Methods[0].Trials != 4 {
		t.Errorf("summary %+v, %v", s, err)
	}
	r, err := Replay{Run: third.Run, Methods: e.Methods, Provider: e.Provider}.Do(context.Background(), store, Quiet{})
	if err != nil || !r.Same() || r.Skipped != 1 {
		t.Errorf("replay %+v, %v", r, err)
	}
}

// TestShuffle: with shuffling, methods meet the items of a sample in the same
// order, another in each epoch, and the target moves with them.
func TestShuffle(t *testing.T) {
	seen := map[string][]string{}
	solve := func(_ context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		h.Emit(methods.Event{Text: string(p.Context)})
		return methods.RankingAnswer([]int{1}), nil
	}
	a, b, c := inProcess(solver(solve)), inProcess(solver(solve)), inProcess(solver(solve))
	b.Label, c.Label, c.Shuffle = "second", "third", false
	e := Setup{Task: sampleTask(ofThree, "[1]", "s"), Methods: []Method{a, b, c}, Provider: simModel(t, ""), Experiment: Experiment{Epochs: 12}}
	for _, tr := range mustRun(t, e, openStore(t, t.TempDir())).Trials {
		var p struct{ Items []string }
		if err := json.Unmarshal([]byte(tr.Events[0].Text), &p); err != nil {
			t.Fatal(err)
		}
		var gold []int
		if err := json.Unmarshal(tr.Target, &gold); err != nil || p.Items[gold[0]-1] != "a" {
			t.Errorf("target %s of %v, %v", tr.Target, p.Items, err)
		}
		seen[tr.ID.Method] = append(seen[tr.ID.Method], strings.Join(p.Items, ""))
	}
	if fmt.Sprint(seen["func"]) != fmt.Sprint(seen["second"]) {
		t.Errorf("two methods met %v and %v", seen["func"], seen["second"])
	}
	orders := map[string]bool{}
	for i, o := range seen["func"] {
		orders[o] = true
		if seen["third"][i] != "abc" {
			t.Errorf("unshuffled items come as %s", seen["third"][i])
		}
	}
	if len(orders) < 3 {
		t.Errorf("12 epochs have the orders %v", orders)
	}
}

// TestHostileAnswerText: text that is no UTF-8 and control characters in a
// reason or evidence break neither hash nor record.
func TestHostileAnswerText(t *testing.T) {
	store := openStore(t, t.TempDir())
	solve := solver(func(_ context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		h.Emit(methods.Event{Path: "\xff/\x00", Kind: "\xfe", Text: "\u2028<script>", Data: json.RawMessage("{broken")})
		a := methods.RankingAnswer([]int{2}).As(methods.Defaulted, "\xff\x00 why")
		a.Evidence = []methods.Evidence{{Source: "\xff", Text: strings.Repeat("é", 1000)}}
		return a, nil
	})
	e := Setup{Task: sampleTask(ofThree, "[1]", "s/../1"), Methods: []Method{inProcess(solve)}, Provider: simModel(t, "")}
	r := mustRun(t, e, store)
	again, err := Replay{Run: r.Run, Methods: e.Methods, Provider: e.Provider}.Do(context.Background(), store, Quiet{})
	if err != nil || !again.Same() {
		t.Errorf("%+v, %v", again, err)
	}
}
