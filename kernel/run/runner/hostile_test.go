package runner

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"noema/kernel/result/record"
	"noema/methods"
)

// TestUnscorableAnswerIsWrong: an answer that passes the check and that the
// scorer cannot read must not leave the trial without a score, since
// comparisons leave out what has none: a method could then drop the samples
// that it is unsure of.
func TestUnscorableAnswerIsWrong(t *testing.T) {
	long := "0." + strings.Repeat("0", 400) + "1"
	for _, value := range []string{"1e-400", long} {
		solve := func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
			return methods.Answer{Value: json.RawMessage(value), Outcome: methods.Answered}, nil
		}
		tr := oneTrial(t, methods.AnswerSpec{Kind: methods.Number}, "1", solve, 0)
		if v, ok := tr.Score.Get("accuracy"); !ok || v != 0 || tr.Answer.Outcome != methods.Failed || tr.Failure == "" {
			t.Errorf("%.20s: %+v scores %v, failure %q", value, tr.Answer, tr.Score, tr.Failure)
		}
	}
}

// nested is JSON of so many lists, one in the other.
func nested(depth int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
}

// TestDeepJSON: JSON is nested one deeper by each record that it goes into, and
// readers give up at 10,000. What a method may send must not make a record that
// nobody can read, nor stop the run.
func TestDeepJSON(t *testing.T) {
	for _, depth := range []int{2000, 9_990, 9_999, 10_000, 10_001} {
		store := openStore(t, t.TempDir())
		solve := solver(func(_ context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
			h.Emit(methods.Event{Text: "deep", Data: nested(depth)})
			return methods.Answer{Value: json.RawMessage(`{"a":` + string(nested(depth-1)) + `}`), Outcome: methods.Answered}, nil
		})
		spec := methods.AnswerSpec{Kind: methods.Fields, Names: []string{"a"}}
		e := Setup{Task: sampleTask(spec, `{"a":1}`, "s"), Methods: []Method{inProcess(solve)}, Provider: simModel(t, "")}
		r, err := e.Run(context.Background(), store, Quiet{})
		if err != nil {
			t.Errorf("depth %d stops the run: %v", depth, err)
			continue
		}
		if v, ok := r.Trials[0].Score.Get("accuracy"); !ok || v != 0 {
			t.Errorf("depth %d scores %v", depth, r.Trials[0].Score)
		}
		stored, err := Trial(context.Background(), store, r.Run.ID, r.Trials[0].ID)
		if err != nil || stored == nil {
			t.Errorf("depth %d cannot be read again: %v", depth, err)
			continue
		}
		if err := stored.Seal(); err != nil || stored.Hash != r.Trials[0].Hash {
			t.Errorf("depth %d: read again, the hash is %s, was %s; %v", depth, stored.Hash, r.Trials[0].Hash, err)
		}
		again := replayOf(t, store, r.Run, e.Methods, e.Provider, 1)
		if !again.Same() {
			t.Errorf("depth %d: %v", depth, again.First)
		}
	}
}

// TestRecordTooLarge: a method whose transcript is larger than a record may be
// fails its trial, and the others go on.
func TestRecordTooLarge(t *testing.T) {
	store := openStore(t, t.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(' ' + random.IntN(95))
	}
	greedy := solver(func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		for i := range 60 {
			path := string(noise[i:]) + string(noise[:i])
			if _, err := h.Complete(ctx, methods.Request{Path: path, Messages: methods.Ask("x")}); err != nil {
				return methods.Answer{}, err
			}
		}
		return methods.RankingAnswer([]int{1}), nil
	})
	modest := inProcess(solver(func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
		return methods.RankingAnswer([]int{1}), nil
	}))
	modest.Label = "modest"
	e := Setup{Task: sampleTask(ofThree, "[1]", "s"), Methods: []Method{inProcess(greedy), modest}, Provider: simModel(t, ""), Experiment: Experiment{MaxSamples: 1}}
	r, err := e.Run(context.Background(), store, Quiet{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Trials) != 2 || r.Trials[0].Answer.Outcome != methods.Failed || !strings.Contains(r.Trials[0].Failure, "MiB") {
		t.Fatalf("%d trials, failure %.200q", len(r.Trials), r.Trials[0].Failure)
	}
	if r.Trials[0].Usage.Calls != 60 {
		t.Errorf("charged %+v", r.Trials[0].Usage)
	}
	if again := replayOf(t, store, r.Run, e.Methods, e.Provider, 1); !again.Same() {
		t.Errorf("%v", again.First)
	}
}

// TestTrialNames: trials are kept under METHOD/SAMPLE/EPOCH, so what would be
// kept in one place, or nowhere, is refused before anything is asked.
func TestTrialNames(t *testing.T) {
	a, b := inProcess(solver(nil)), inProcess(solver(nil))
	a.Label, b.Label = "m?file=x", "m?file=x/y"
	for says, task := range map[string][]string{
		`"m?file=x/y/1/1"`: {"1", "y/1"},
		"maximum of 1024":  {strings.Repeat("s", 1020)},
	} {
		m := newMeter(simModel(t, ""))
		e := Setup{Task: sampleTask(ofThree, "[1]", task...), Methods: []Method{a, b}, Provider: m}
		_, err := e.Run(context.Background(), openStore(t, t.TempDir()), Quiet{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, not %q", err, says)
		}
	}
	fine := Setup{Task: sampleTask(ofThree, "[1]", "1", "z/1"), Methods: []Method{a, b}, Provider: simModel(t, "")}
	if _, _, err := fine.resolve(); err != nil {
		t.Error(err)
	}
}

// TestRemoveUnderWay: a run cannot be removed from under itself.
func TestRemoveUnderWay(t *testing.T) {
	store, ctx := openStore(t, t.TempDir()), context.Background()
	var removal error
	w := &watcher{onTrial: func(*record.Trial) {
		if runs, err := Runs(ctx, store); err == nil && removal == nil {
			removal = Remove(ctx, store, runs[0].ID)
		}
	}}
	solve := solver(func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
		return methods.RankingAnswer([]int{1}), nil
	})
	e := Setup{Task: sampleTask(ofThree, "[1]", names(4)...), Methods: []Method{inProcess(solve)}, Provider: simModel(t, ""), Experiment: Experiment{MaxSamples: 1}}
	r, err := e.Run(ctx, store, w)
	if err != nil || removal == nil || !strings.Contains(removal.Error(), "still running: stop it first") {
		t.Fatalf("%v, %v", err, removal)
	}
	for _, id := range r.Run.Trials() {
		if again, err := Trial(ctx, store, r.Run.ID, id); err != nil || again == nil {
			t.Errorf("trial %s is gone: %v", id, err)
		}
	}
	if err := Remove(ctx, store, r.Run.ID); err != nil {
		t.Fatal(err)
	}
	if runs, err := Runs(ctx, store); err != nil || len(runs) > 0 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}
