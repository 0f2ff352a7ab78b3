package runner

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"noema/cache"
	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/methods"
)

// anyTrial is a trial with whatever a record may hold.
func anyTrial(r *rand.Rand, id record.TrialID) *record.Trial {
	text := func() string {
		return strings.ToValidUTF8(strings.Repeat([]string{"", "x", "<&>", "\u2028", "\x00\x7f", "ß", "\xff"}[r.IntN(7)], r.IntN(4)), "\uFFFD")
	}
	value := json.RawMessage([]string{`[1,2]`, `"a<b"`, `null`, ``, `1.50`, `{"a":{"b":[]}}`}[r.IntN(6)])
	t := &record.Trial{
		ID: id, Seed: r.Uint64(), Transcript: &record.Transcript{}, Target: json.RawMessage(`[1]`), Infra: r.IntN(9) == 0, Printed: text(),
		Answer:  methods.Answer{Value: value, Outcome: []methods.Outcome{methods.Answered, methods.Unparsed, methods.Failed}[r.IntN(3)], Reason: text()},
		Score:   score.Score{Values: map[string]float64{"hits@1": r.Float64(), "mrr": 1e-300}},
		Usage:   methods.Usage{Calls: r.IntN(9), InputTokens: r.Int64N(1e12), OutputTokens: 3, Latency: time.Duration(r.Int64N(1e15))},
		Failure: text(), Started: time.Unix(r.Int64N(1e9), r.Int64N(1e9)).UTC(), Wall: time.Duration(r.Int64N(1e12)), Provider: r.IntN(3),
	}
	for range r.IntN(4) {
		t.Answer.Evidence = append(t.Answer.Evidence, methods.Evidence{Source: text(), Text: text()})
	}
	call := func() record.Call {
		return record.Call{
			Path: fmt.Sprint(r.IntN(9)), Kind: record.CompletionCall, Key: text(), Digest: text(), Usage: methods.Usage{Calls: 1, InputTokens: r.Int64N(99)},
			Attempts: r.IntN(2), Miscount: text(), Unordered: r.IntN(5) == 0, Fault: []record.Fault{"", record.ProviderFault}[r.IntN(2)],
		}
	}
	for range r.IntN(5) {
		t.Calls = append(t.Calls, call())
		t.Events = append(t.Events, methods.Event{Kind: []methods.EventKind{"note", methods.AnswerRepaired}[r.IntN(2)], Text: text()})
	}
	for range r.IntN(3) {
		t.Grading = append(t.Grading, call())
		t.Pairs = append(t.Pairs, record.Preference{Against: text(), Side: r.IntN(3) - 1, Unread: text()})
	}
	return t
}

// TestLightIsACopy: the light trials that a run keeps are those that its whole trials give,
// and where they are missing, damaged, old or not the run's, the whole ones are read.
func TestLightIsACopy(t *testing.T) {
	ctx, r := t.Context(), rand.New(rand.NewPCG(34, 1))
	for round, samples := range []int{lightLeast, lightLeast/2 + r.IntN(50), lightEach/2 + 30} {
		store := openStore(t, t.TempDir())
		run := &record.Run{ID: fmt.Sprint("run", round), Status: record.Finished, Digest: "d", Config: record.Config{
			Epochs: 1, Methods: []record.Method{{Label: "a"}, {Label: "light:0"}}, Task: record.Task{Samples: names(samples)},
		}}
		var kept []*record.Trial
		var hashes []string
		x := &execution{run: run, store: store}
		var saving errgroup.Group // the store commits together what comes together
		saving.SetLimit(blobsAtOnce)
		for _, id := range run.Trials() {
			one := anyTrial(r, id)
			if err := one.Seal(); err != nil {
				t.Fatal(err)
			}
			saving.Go(func() error { return x.saveTrial(ctx, one) })
			kept, hashes = append(kept, one), append(hashes, one.Hash)
		}
		if err := saving.Wait(); err != nil {
			t.Fatal(err)
		}
		run.Root = record.Root(run.Digest, hashes)
		whole, err := storedTrials(ctx, store, run, true, nil)
		if err != nil || len(whole) != len(kept) {
			t.Fatalf("%d of %d trials, %v", len(whole), len(kept), err)
		}
		if err := saveLight(ctx, store, run, kept); err != nil {
			t.Fatal(err)
		}
		light, err := loadLight(ctx, store, run)
		if err != nil || len(light) != len(whole) {
			t.Fatalf("%d of %d light trials, %v", len(light), len(whole), err)
		}
		for i := range light {
			if !reflect.DeepEqual(light[i], whole[i]) {
				t.Fatalf("trial %s:\n%+v %+v\nof the whole one\n%+v %+v", light[i].ID, light[i], light[i].Facts(), whole[i], whole[i].Facts())
			}
		}
		unusable(t, store, run)
	}
}

// unusable spoils the light trials of a run in many ways, and expects the whole ones.
func unusable(t *testing.T, store *cache.Store, run *record.Run) {
	t.Helper()
	good, err := store.Trial(t.Context(), run.ID, lightName(0))
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"another format":  strings.Replace(string(good), `{"format":1,`, `{"format":2,`, 1),
		"no JSON":         string(good[:len(good)-1]),
		"another hash":    strings.Replace(string(good), `"hash":"`, `"hash":"0`, 1),
		"cut completions": regexp.MustCompile(`"completions":(null|"[^"]*")`).ReplaceAllString(string(good), `"completions":"YWJj"`),
		"none":            `{"format":1,"trials":[]}`,
		"another order":   strings.NewReplacer(`"sample":"`+run.Config.Task.Samples[0]+`"`, `"sample":"`+run.Config.Task.Samples[1]+`"`).Replace(string(good)),
	} {
		if bad == string(good) {
			t.Fatalf("%s: nothing is spoilt", name)
		}
		if err := store.PutTrial(t.Context(), run.ID, lightName(0), []byte(bad)); err != nil {
			t.Fatal(err)
		}
		if light, err := loadLight(t.Context(), store, run); err != nil || light != nil {
			t.Errorf("%s: %d light trials, %v", name, len(light), err)
		}
		if all, err := storedTrials(t.Context(), store, run, true, nil); err != nil || len(all) != len(run.Trials()) {
			t.Errorf("%s: %d of %d trials, %v", name, len(all), len(run.Trials()), err)
		}
	}
}
