package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"noema/cache"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/generalanot"
)

// allKinds are all interventions on some places.
func allKinds(places ...string) (all []record.Intervention) {
	for _, at := range places {
		for _, kind := range record.Interventions() {
			all = append(all, record.Intervention{Kind: kind, At: at})
		}
	}
	return all
}

func anotRun(t *testing.T, n int, o Experiment) (Setup, *cache.Store, *Result) {
	t.Helper()
	store := openStore(t, t.TempDir())
	e := Setup{Task: cafesTask(t, n), Methods: []Method{inProcess(anot.New())}, Provider: simModel(t, ""), Experiment: o}
	return e, store, mustRun(t, e, store)
}

// TestVariantsRepeat: the method as it is comes from the store, calls before the
// changed ones too; a repeat asks nothing and has the same hash, however many trials
// run at once, and so has a replay.
func TestVariantsRepeat(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, o := range map[string]Experiment{"free": {}, "epochs": {Epochs: 2, Limit: "3"}, "limited": {CallLimit: 6}} {
		t.Run(name, func(t *testing.T) {
			e, store, run := anotRun(t, 4, o)
			first := vary(t, e, store, run, allKinds("P1", "P3")...)
			for i, tr := range run.Trials {
				if first.Trials[i].Hash != tr.Hash || first.Trials[i].Provider != 0 {
					t.Fatalf("the method as it is differs in trial %s", tr.ID)
				}
			}
			if first.NewCalls == 0 || first.Run.Parent != run.Run.ID {
				t.Fatalf("%d new calls, parent %q", first.NewCalls, first.Run.Parent)
			}
			for _, atOnce := range []int{1, 64} {
				e.MaxSamples = atOnce
				if again := vary(t, e, store, run, allKinds("P1", "P3")...); again.Run.Root != first.Run.Root || again.NewCalls != 0 {
					t.Errorf("%d at once: root %s, want %s; %d new calls", atOnce, again.Run.Root, first.Run.Root, again.NewCalls)
				}
				if r := replayOf(t, store, first.Run, variants(t, e, first.Run), e.Provider, atOnce); !r.Same() {
					t.Errorf("replay, %d at once: %v", atOnce, r.First)
				}
			}
			if same := mustRun(t, e, store); same.Run.Root != run.Run.Root || same.NewCalls != 0 {
				t.Errorf("the run itself is now %s, was %s", same.Run.Root, run.Run.Root)
			}
		})
	}
}

// variants are the methods of a run of interventions.
func variants(t *testing.T, e Setup, run *record.Run) (all []Method) {
	for _, m := range run.Config.Methods {
		one := e.Methods[0]
		one.Label, one.Intervention, one.Truth = m.Label, m.Intervention, simModel(t, "error=0")
		all = append(all, one)
	}
	return all
}

// TestWhatVariantsAreTold: each intervention gives the reply that it says, at all
// calls of its place and at no others, and the reply can be read.
func TestWhatVariantsAreTold(t *testing.T) {
	e, store, run := anotRun(t, 6, Experiment{})
	varied := vary(t, e, store, run, allKinds("P1", "P3")...)
	was, owners := map[string]record.Call{}, map[string]map[string]bool{}
	for _, tr := range run.Trials {
		for _, c := range tr.Calls {
			was[tr.ID.Sample+" "+c.Path] = c
			if owners[c.Path] == nil {
				owners[c.Path] = map[string]bool{}
			}
			owners[c.Path][tr.ID.Sample] = true
		}
	}
	for _, tr := range varied.Trials {
		i := slices.IndexFunc(varied.Run.Config.Methods, func(m record.Method) bool { return m.Label == tr.ID.Method })
		v := varied.Run.Config.Methods[i].Intervention
		for _, c := range tr.Calls {
			x, err := ReadExchange(t.Context(), store, varied.Run, tr.ID, c)
			if err != nil {
				t.Fatalf("%s %s: %v", tr.ID, c.Path, err)
			}
			others := maps.Clone(owners[c.Path])
			delete(others, tr.ID.Sample)
			if v != nil && v.Kind == record.Swap && v.Covers(c.Path) && len(others) == 0 {
				continue // there is no reply to put in its place
			}
			text, before := x.Record.Completion.Text, was[tr.ID.Sample+" "+c.Path]
			switch {
			case v == nil || !v.Covers(c.Path):
				if c.Draw != 0 || v == nil && c.Digest != before.Digest {
					t.Errorf("%s %s is changed", tr.ID, c.Path)
				}
			case v.Kind == record.Drop && text != "", v.Kind == record.Resample && c.Draw != resampled:
				t.Errorf("%s %s: draw %d, reply %q", tr.ID, c.Path, c.Draw, text)
			case v.Kind == record.Swap && v.At == "P1" && c.Digest == before.Digest:
				t.Errorf("%s %s: the reply is its own", tr.ID, c.Path)
			}
			if v != nil && v.Covers(c.Path) && v.Kind != record.Resample && (c.Usage.Cost != 0 || c.Usage.Calls != 1) {
				t.Errorf("%s %s: a reply that nobody was asked for is charged %+v", tr.ID, c.Path, c.Usage)
			}
		}
	}
	if _, err := (Fork{Parent: varied, Call: varied.Trials[0].Calls[0], Trial: varied.Trials[0].ID}).Do(t.Context(), store, Quiet{}); err == nil || !strings.Contains(err.Error(), "fork the run that they vary") {
		t.Errorf("fork of interventions: %v", err)
	}
}

// TestVariantsOfSeeds: an intervention on method seeds builds its own, from the same
// requests; one on anything else uses those of the method as it is.
func TestVariantsOfSeeds(t *testing.T) {
	store := openStore(t, t.TempDir())
	e := Setup{Task: cafesTask(t, 6), Methods: []Method{inProcess(generalanot.New())}, Provider: simModel(t, "error=0.2")}
	run := mustRun(t, e, store)
	varied := vary(t, e, store, run, allKinds("seed")...)
	c := creditOf(t, varied)
	for i, kind := range record.Interventions() {
		got := c.Places[0].Effects[i]
		if changed := got.Changed > 0; got.Kind != kind || changed == (kind == record.Swap) {
			t.Errorf("%s changed %d of %d seeds", got.Kind, got.Changed, got.Calls)
		}
	}
	if tokens := c.Places[0].Tokens; !(tokens > 100) {
		t.Errorf("a trial's share of its seeds is %v tokens", tokens)
	}
	if again := vary(t, e, store, run, allKinds("seed")...); again.Run.Root != varied.Run.Root || again.NewCalls != 0 {
		t.Errorf("again: root %s, want %s; %d new calls", again.Run.Root, varied.Run.Root, again.NewCalls)
	}
}

// TestHostileVariants: replies that a method cannot bear fail its trials and no more,
// and a method that asks for ever is stopped.
func TestHostileVariants(t *testing.T) {
	ask := func(ctx context.Context, h methods.Host, path string) (string, error) {
		c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask("Answer with a number: " + path), Path: path})
		return c.Text, err
	}
	for name, c := range map[string]struct {
		after   func(ctx context.Context, h methods.Host, text string) error // what the method does with its reply
		outcome methods.Outcome
		calls   int
	}{
		"crash": {func(_ context.Context, _ methods.Host, text string) error { _ = text[0]; return nil }, methods.Failed, 1},
		"error": {func(_ context.Context, _ methods.Host, text string) error {
			if text == "" {
				return errors.New("no reply")
			}
			return nil
		}, methods.Failed, 1},
		"loop": {func(ctx context.Context, h methods.Host, text string) (err error) {
			for i := 0; text == "" && err == nil; i++ {
				text, err = ask(ctx, h, fmt.Sprintf("a/%d", i))
			}
			return err
		}, methods.OverBudget, 20},
	} {
		t.Run(name, func(t *testing.T) {
			m := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
				text, err := ask(ctx, h, "a")
				if err == nil {
					err = c.after(ctx, h, text)
				}
				return methods.Answer{Value: json.RawMessage("1"), Outcome: methods.Answered}, err
			})
			store := openStore(t, t.TempDir())
			e := Setup{Task: sampleTask(methods.AnswerSpec{Kind: methods.Number}, "1", "s", "t"), Methods: []Method{inProcess(m)}, Provider: simModel(t, "")}
			varied := vary(t, e, store, mustRun(t, e, store), record.Intervention{Kind: record.Drop, At: "a"})
			got := varied.Trials[2]
			if answered := slices.DeleteFunc(slices.Clone(got.Calls), func(c record.Call) bool { return c.Fault != "" }); got.Answer.Outcome != c.outcome || got.Infra || len(answered) != c.calls {
				t.Errorf("%s: %+v after %d calls", got.ID, got.Answer, len(answered))
			}
			effect := creditOf(t, varied).Places[0].Effects[0]
			if effect.Failed != 2 || effect.LeftOut != 0 || effect.Change.Difference.Value != -1 {
				t.Errorf("effect %+v", effect)
			}
		})
	}
}

// TestVariantsResume: a run of interventions that was interrupted goes on.
func TestVariantsResume(t *testing.T) {
	e, store, run := anotRun(t, 6, Experiment{})
	base := e.Methods[0]
	dropped := base
	dropped.Label, dropped.Intervention = "anot drop P3", &record.Intervention{Of: "anot", Kind: record.Drop, At: "P3", By: record.ByPhase}
	e.Methods, e.MaxSamples = []Method{base, dropped}, 1
	ctx, cancel := context.WithCancel(t.Context())
	var n atomic.Int64
	part, err := e.Again(ctx, store, &watcher{onTrial: func(*record.Trial) {
		if n.Add(1) == 4 {
			cancel()
		}
	}}, run)
	if err == nil || part.Run.Status == record.Finished {
		t.Fatalf("not interrupted: %v", err)
	}
	whole, err := e.Again(t.Context(), store, Quiet{}, run)
	if err != nil || whole.Run.ID != part.Run.ID || whole.Run.Status != record.Finished {
		t.Fatalf("run %s, want %s: %v", whole.Run.ID, part.Run.ID, err)
	}
	if fresh := vary(t, Setup{Task: e.Task, Methods: []Method{base}, Provider: e.Provider}, store, run, record.Intervention{Kind: record.Drop, At: "P3"}); fresh.Run.Root != whole.Run.Root {
		t.Errorf("resumed: root %s, in one go %s", whole.Run.Root, fresh.Run.Root)
	}
}

// TestCreditOfPlainRun says what is missing.
func TestCreditOfPlainRun(t *testing.T) {
	_, _, run := anotRun(t, 2, Experiment{})
	if _, err := compare.CreditOf(run.Run, run.Samples(), run.Trials, compare.Options{}); err == nil || !strings.Contains(err.Error(), "has no interventions") {
		t.Error(err)
	}
}
