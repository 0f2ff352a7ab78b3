package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"noema/kernel/result/record"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/baseline"
	"noema/methods/researchtree"
)

func TestParseLimit(t *testing.T) {
	for s, want := range map[string]selection{
		"": {}, "1": {from: 1, to: 1}, "10": {from: 1, to: 10}, "10-20": {from: 10, to: 20}, "7-7": {from: 7, to: 7},
	} {
		if got, err := parseLimit(s); err != nil || got.from != want.from || got.to != want.to {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"0", "-1", "-", "5-", "20-10", "0-3", "a", "1-2-3", "1.5", "99999999999999999999"} {
		if got, err := parseLimit(s); err == nil || !strings.Contains(err.Error(), "use a count such as 10, or a range") {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
}

func TestSelection(t *testing.T) {
	five := sampleTask(ofThree, "[1]", "a", "b", "c", "d", "e")
	for _, c := range []struct {
		sel  selection
		want string
	}{
		{selection{}, "a b c d e"},
		{selection{from: 2, to: 3}, "b c"},
		{selection{to: 99}, "a b c d e"},
		{selection{from: 5}, "e"},
		{selection{ids: []string{"d", "b", "d"}}, "b d"},
		{selection{from: 3, ids: []string{"d", "b"}}, "d"},
		{selection{from: 6}, "error: nothing is left of the 5 samples"},
		{selection{to: 1, ids: []string{"b"}}, "error: nothing is left"},
		{selection{ids: []string{"b", "x"}}, `error: task "little" has no sample "x"`},
	} {
		chosen, err := c.sel.apply(five)
		var ids []string
		for _, s := range chosen {
			ids = append(ids, s.ID)
		}
		got := strings.Join(ids, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if message, isError := strings.CutPrefix(c.want, "error: "); !isError && got != c.want || isError && (err == nil || !strings.Contains(got, message)) {
			t.Errorf("%+v: %s, want %s", c.sel, got, c.want)
		}
	}
}

// TestDeclarationsRefused before anything is recorded or asked.
func TestDeclarationsRefused(t *testing.T) {
	store, m := openStore(t, t.TempDir()), newMeter(simModel(t, ""))
	direct := inProcess(baseline.Direct())
	bad := direct
	bad.Options = json.RawMessage("{")
	for says, e := range map[string]Setup{
		`method "research-tree" cannot do task "little": the task has no tool "search", which the method works by`:                                      {Methods: []Method{inProcess(researchtree.New())}, Task: sampleTask(methods.AnswerSpec{Kind: methods.Text}, `"x"`, "s")},
		`method "anot" cannot do task "little": it answers ranking, choice, set of given labels or fields with a verdict, and sample "s" asks for text`: {Methods: []Method{inProcess(anot.New())}, Task: sampleTask(methods.AnswerSpec{Kind: methods.Text}, `"x"`, "s")},
		"no methods":                           {Task: sampleTask(ofThree, "[1]", "s")},
		`method "direct" is named twice`:       {Methods: []Method{direct, direct}, Task: sampleTask(ofThree, "[1]", "s")},
		"nothing is left":                      {Methods: []Method{direct}, Task: sampleTask(ofThree, "[1]")},
		"digest configuration":                 {Methods: []Method{bad}, Task: sampleTask(ofThree, "[1]", "s")},
		`cache: "sometimes" is not among auto`: {Methods: []Method{direct}, Task: sampleTask(ofThree, "[1]", "s"), Experiment: Experiment{Cache: "sometimes"}},
	} {
		e.Provider = m
		if _, err := e.Run(context.Background(), store, Quiet{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
	if runs, err := Runs(t.Context(), store); err != nil || len(runs) != 0 || m.calls != 0 {
		t.Errorf("%d runs, %d calls, %v", len(runs), m.calls, err)
	}
}

func TestFindRun(t *testing.T) {
	store := openStore(t, t.TempDir())
	e := Setup{Task: sampleTask(ofThree, "[1]", "s"), Methods: []Method{inProcess(baseline.Direct())}, Provider: simModel(t, "")}
	if _, err := FindRun(t.Context(), store, "last"); err == nil || !strings.Contains(err.Error(), "runs list") {
		t.Errorf("in an empty store: %v", err)
	}
	first := mustRun(t, e, store).Run
	e.Seed++
	second := mustRun(t, e, store).Run
	for name, want := range map[string]string{first.ID: first.ID, "last": second.ID, second.ID: second.ID, second.ID[:len(second.ID)-1]: second.ID} {
		if r, err := FindRun(t.Context(), store, name); err != nil || r.ID != want {
			t.Errorf("%q: %v, %v", name, r, err)
		}
	}
	if _, err := FindRun(t.Context(), store, "2"); err == nil || !strings.Contains(err.Error(), "2 runs begin with this") {
		t.Errorf("an ambiguous beginning: %v", err)
	}
	if _, err := FindRun(t.Context(), store, "x"); err == nil || !strings.Contains(err.Error(), `run "x"`) {
		t.Errorf("no such run: %v", err)
	}
}

// TestStoredResult: what is loaded is what was run.
func TestStoredResult(t *testing.T) {
	store := openStore(t, t.TempDir())
	run := mustRun(t, Setup{Task: cafesTask(t, 10), Methods: builtins(), Provider: simModel(t, "")}, store)
	found, err := FindRun(t.Context(), store, "last")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadResult(t.Context(), store, found, false)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := summaryOf(t, run), summaryOf(t, loaded); a != b {
		t.Errorf("\n%s\n%s", a, b)
	}
	light, err := LoadResult(t.Context(), store, found, true)
	if err != nil || light.Trials[0].Transcript != nil {
		t.Fatalf("light trials: %+v, %v", light.Trials[0], err)
	}
	if a, b := summaryOf(t, run), summaryOf(t, light); a != b {
		t.Errorf("from light trials:\n%s\n%s", a, b)
	}
	if whole, err := light.Whole(light.Trials[3]); err != nil || !reflect.DeepEqual(whole, loaded.Trials[3]) {
		t.Errorf("read again it is %+v (%v)", whole, err)
	}
	for i, tr := range loaded.Trials {
		if d := record.FirstDivergence(tr, run.Trials[i]); d != nil || tr.ID != run.Trials[i].ID {
			t.Error(d)
		}
	}
	digest, err := loaded.Task.Digest()
	if err != nil || digest != found.Config.Task.Digest {
		t.Errorf("the stored task has digest %s, %v", digest, err)
	}
}

// TestKnownTrialsAreNotReadAgain: whichever trials were read before, the result is the same,
// and those are taken as they are, but for one that may be made anew.
func TestKnownTrialsAreNotReadAgain(t *testing.T) {
	store := openStore(t, t.TempDir())
	run := mustRun(t, Setup{Task: cafesTask(t, 6), Methods: builtins(), Provider: simModel(t, "")}, store).Run
	whole, err := LoadResult(t.Context(), store, run, true)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 5))
	for range 40 {
		var known []*record.Trial
		cut := map[record.TrialID]bool{}
		for _, tr := range whole.Trials {
			if r.IntN(3) == 0 {
				continue
			}
			mine := *tr
			if cut[tr.ID] = r.IntN(4) == 0; cut[tr.ID] {
				mine.Infra = true
			}
			known = append(known, &mine)
		}
		again, err := LoadResult(t.Context(), store, run, true, known...)
		if err != nil || summaryOf(t, again) != summaryOf(t, whole) {
			t.Fatalf("with %d known trials the result is another: %v", len(known), err)
		}
		for _, k := range known {
			if same := slices.Contains(again.Trials, k); same == cut[k.ID] {
				t.Fatalf("trial %s, cut short %v, is taken as it was: %v", k.ID, cut[k.ID], same)
			}
		}
	}
}

// TestLock: one holder at a time, whoever comes while the last one lets go.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lockRun(dir, "r")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockRun(dir, "r"); !errors.Is(err, errLocked) {
		t.Errorf("a second lock: %v", err)
	}
	other, err := lockRun(dir, "r2")
	if err != nil {
		t.Errorf("another run's lock: %v", err)
	}
	other()
	unlock()

	var wg sync.WaitGroup
	var mu sync.Mutex
	holders, turns := 0, 0
	for range 4 {
		wg.Go(func() {
			for done := 0; done < 60; {
				unlock, err := lockRun(dir, "r")
				if errors.Is(err, errLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if holders++; holders > 1 {
					t.Errorf("%d holders", holders)
				}
				mu.Unlock()
				for range 20 {
					runtime.Gosched()
				}
				mu.Lock()
				holders--
				turns++
				mu.Unlock()
				unlock()
				done++
			}
		})
	}
	wg.Wait()
	if turns != 4*60 {
		t.Errorf("%d turns", turns)
	}
}

// TestCreateKeepsOthersRuns: a run that another process has made since the
// runs were listed, and has finished already, is not written over.
func TestCreateKeepsOthersRuns(t *testing.T) {
	store := openStore(t, t.TempDir())
	e := Setup{Task: sampleTask(ofThree, "[1]", "s"), Methods: builtins()[:1], Provider: simModel(t, "")}
	config, _, err := e.resolve()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for range 5 {
		x := newExecution(e, declared{}, store, Quiet{}, e.Task.Samples)
		unlock, err := x.create(t.Context(), config, "abcdef", nil)
		if err != nil {
			t.Fatal(err)
		}
		unlock()
		ids[x.run.ID] = true
	}
	if len(ids) != 5 {
		t.Errorf("5 runs have the ids %v", ids)
	}
}

// TestPending: methods advance together.
func TestPending(t *testing.T) {
	x := &execution{run: &record.Run{Config: record.Config{
		Methods: []record.Method{{Label: "m"}, {Label: "n"}}, Epochs: 2, Task: record.Task{Samples: []string{"a", "b"}},
	}}, trials: map[record.TrialID]*record.Trial{{Method: "n", Sample: "a"}: {}}}
	if got := fmt.Sprint(x.pending()); got != "[m/a/1 m/a/2 n/a/2 m/b/1 n/b/1 m/b/2 n/b/2]" {
		t.Error(got)
	}
}
