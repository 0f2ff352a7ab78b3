package runner

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"noema/kernel/result/record"
	"noema/methods"
	"noema/methods/baseline"
	"noema/plugins"
)

// early is a comparison that may stop early: two methods that are always right, and
// one that is right on three of ten samples.
func early(t testing.TB, e Experiment) Setup {
	turned := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		a, err := baseline.Direct().Solve(ctx, p, h)
		if order, wrong := a.Ranking(); err == nil && wrong == nil && p.Seed%10 < 7 {
			slices.Reverse(order)
			return methods.RankingAnswer(order), nil
		}
		return a, err
	})
	if e.Equivalence == 0 && (e.Until != "" || e.Looks > 0) {
		e.Equivalence = 0.35
	}
	return Setup{
		Task: cafesTask(t, 40), Provider: simModel(t, "error=0"), Experiment: e,
		Methods: []Method{inProcess(baseline.Direct()), inProcess(baseline.CoT()), labelled("turned", turned)},
	}
}

func labelled(label string, m methods.Method) Method {
	in := inProcess(m)
	in.Label = label
	return in
}

// TestSameStopAtAnyNumberOfWorkers: what is part of the run, and its root, depends on
// neither the number of workers nor on what they finish first. What ran ahead is
// counted, and stays out.
func TestSameStopAtAnyNumberOfWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, e := range []Experiment{{Until: "decided"}, {Until: "decided", Epochs: 3}, {Looks: 4}} {
		var first *Result
		for _, atOnce := range []int{1, 3, 64} {
			e.MaxSamples = atOnce
			r := mustRun(t, early(t, e), openStore(t, t.TempDir()))
			if first == nil {
				first = r
				if all := r.Run.Config.Size(); len(r.Trials) >= all || r.Run.Ahead != nil {
					t.Errorf("%+v: %d of %d trials, ahead %+v: nothing was saved, or one worker ran ahead", e, len(r.Trials), all, r.Run.Ahead)
				}
				continue
			}
			if r.Run.Root != first.Run.Root || !reflect.DeepEqual(r.Run.Asked, first.Run.Asked) || trialKeys(r.Trials) != trialKeys(first.Trials) {
				t.Errorf("%+v: %v with root %s, one at a time %v with %s", e, r.Run.Asked, r.Run.Root, first.Run.Asked, first.Run.Root)
			}
			if a := r.Run.Ahead; atOnce == 64 && a == nil || a != nil && (a.Trials > 2*atOnce || a.Usage.Calls > a.Trials) {
				t.Errorf("%+v, %d at once: ahead %+v", e, atOnce, a)
			}
		}
	}
}

// TestDecidedAfterAKill: a run that is stopped anywhere and carried on with stops where
// an undisturbed one does, and pays for no call twice.
func TestDecidedAfterAKill(t *testing.T) {
	base := early(t, Experiment{Until: "decided", MaxSamples: 8})
	undisturbed := mustRun(t, base, openStore(t, t.TempDir()))
	for _, stopAfter := range []int64{1, 9, 25} {
		store, e := openStore(t, t.TempDir()), base
		ctx, cancel := context.WithCancel(context.Background())
		m := newMeter(base.Provider)
		var begun atomic.Int64
		m.before = func() {
			if begun.Add(1) == stopAfter {
				cancel()
			}
		}
		e.Provider = m
		first, err := e.Run(ctx, store, Quiet{})
		if !errors.Is(err, context.Canceled) || first.Run.Status != record.Unfinished || first.Run.Asked != nil {
			t.Fatalf("interrupted after %d: %v, %s", stopAfter, err, first.Run.Status)
		}
		again, err := LoadResult(context.Background(), store, first.Run, false)
		if err != nil || trialKeys(again.Trials) != trialKeys(first.Trials) {
			t.Errorf("the unfinished run is loaded with other trials, %v", err)
		}
		e.MaxSamples = 2
		second := mustRun(t, e, store)
		if second.Run.ID != first.Run.ID || second.Run.Root != undisturbed.Run.Root {
			t.Errorf("after %d: run %s of %s, asked %v, undisturbed %v", stopAfter, second.Run.ID, first.Run.ID, second.Run.Asked, undisturbed.Run.Asked)
		}
		if twice := m.paidTwice(); len(twice) > 0 {
			t.Errorf("%d calls were paid twice", len(twice))
		}
	}
}

// TestReplayOfADecidedRun: without a model it has the same root, and a record of
// another stop is found out though its root fits.
func TestReplayOfADecidedRun(t *testing.T) {
	store, e := openStore(t, t.TempDir()), early(t, Experiment{Until: "decided", MaxSamples: 16})
	r := mustRun(t, e, store)
	again, err := Replay{Run: r.Run, Methods: e.Methods, Provider: e.Provider}.Do(context.Background(), store, Quiet{})
	if err != nil || !again.Same() || len(again.Trials) != len(r.Trials) {
		t.Fatalf("%v, %+v", err, again)
	}
	cut := *r.Run
	cut.Asked = append([]int{}, r.Run.Asked...)
	cut.Asked[0]--
	var hashes []string
	byID := map[record.TrialID]*record.Trial{}
	for _, tr := range r.Trials {
		byID[tr.ID] = tr
	}
	for _, id := range cut.Trials() {
		hashes = append(hashes, byID[id].Hash)
	}
	cut.Root = record.Root(cut.Digest, hashes)
	if _, err = (Replay{Run: &cut, Methods: e.Methods, Provider: e.Provider}).Do(context.Background(), store, Quiet{}); err == nil || !strings.Contains(err.Error(), "its rule stops after") {
		t.Errorf("a run that was cut: %v", err)
	}
}

// TestFailedTrialsLeaveSamplesOut: by rule, and at any number of workers.
func TestFailedTrialsLeaveSamplesOut(t *testing.T) {
	var roots []string
	for _, atOnce := range []int{1, 16} {
		e := early(t, Experiment{Until: "decided", MaxSamples: atOnce, Retries: -1})
		e.Methods[0].Solver = solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
			if p.Seed%3 == 0 {
				return methods.Answer{}, &plugins.Failure{Plugin: "direct", Reason: "crashed"}
			}
			return baseline.Direct().Solve(ctx, p, h)
		})
		r := mustRun(t, e, openStore(t, t.TempDir()))
		if !slices.ContainsFunc(r.Trials, func(tr *record.Trial) bool { return tr.Infra }) {
			t.Error("no trial failed")
		}
		roots = append(roots, r.Run.Root)
	}
	if roots[0] != roots[1] {
		t.Error(roots)
	}
}

// TestDesignIsDeclared: it decides the root, and what can only fail is refused with
// the cure before a call.
func TestDesignIsDeclared(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	roots := map[string]bool{}
	for _, e := range []Experiment{{}, {Until: "decided"}, {Until: "decided", Equivalence: 0.4}, {Looks: 2}, {Looks: 4}, {Until: "decided", Seed: 1}} {
		roots[mustRun(t, early(t, e), openStore(t, t.TempDir())).Run.Root] = true
	}
	if len(roots) != 6 {
		t.Errorf("6 designs have %d roots", len(roots))
	}
	for want, e := range map[string]Experiment{
		"leave --looks out":              {Until: "decided", Looks: 3},
		"41 looks at 40 samples":         {Looks: 41},
		"is the same as none":            {Looks: 1},
		"\"never\" is not among decided": {Until: "never"},
		"maximum is 1":                   {Until: "decided", Equivalence: 1.5},
	} {
		if _, err := early(t, e).Run(context.Background(), openStore(t, t.TempDir()), Quiet{}); err == nil || !strings.Contains(err.Error(), want) || !IsMisuse(err) {
			t.Errorf("%+v: %v, want %q", e, err, want)
		}
	}
	alone := early(t, Experiment{Until: "decided"})
	alone.Methods = alone.Methods[:1]
	if _, err := alone.Run(context.Background(), openStore(t, t.TempDir()), Quiet{}); err == nil || !strings.Contains(err.Error(), "name two") {
		t.Errorf("one method: %v", err)
	}
}
