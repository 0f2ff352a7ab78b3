package runner

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// first answers with the first item, without a call.
func first() Method {
	return inProcess(solver(func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
		return methods.RankingAnswer([]int{1, 2, 3}), nil
	}))
}

// heavy is a task whose samples hold size bytes each, which do not compress.
func heavy(samples, size int) *task.Task {
	t := sampleTask(ofThree, "[1]", names(samples)...)
	r := rand.NewChaCha8([32]byte{})
	raw := make([]byte, size*3/4)
	for i := range t.Samples {
		_, _ = r.Read(raw) // never fails
		t.Samples[i].Problem.Context = json.RawMessage(fmt.Sprintf(`{"items":["a","b","c"],"text":%q}`, base64.StdEncoding.EncodeToString(raw)))
	}
	return t
}

// TestLargeTaskRuns: samples that together exceed the largest record, by far
// more than compression saves, are kept one by one.
func TestLargeTaskRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	store, p := openStore(t, t.TempDir()), simModel(t, "")
	e := Setup{Task: heavy(5, 9<<20), Methods: []Method{first()}, Provider: p}
	run := mustRun(t, e, store)
	if r := replayOf(t, store, run.Run, e.Methods, p, 4); !r.Same() {
		t.Errorf("the replay gives %s, want %s", r.Now, r.Recorded)
	}
}

// TestOnlyUsedSamplesAreKept, in the order of the task.
func TestOnlyUsedSamplesAreKept(t *testing.T) {
	store, p := openStore(t, t.TempDir()), simModel(t, "")
	e := Setup{Task: cafesTask(t, 20), Methods: []Method{first()}, Provider: p, Experiment: Experiment{Limit: "3-5"}}
	tools := []methods.ToolSpec{{Name: "look", Description: "looks", Parameters: json.RawMessage(`{"type":"object"}`)}}
	e.Task.Environment = replayEnvironment{tools}
	e.Methods[0].Solver = solver(func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
		return methods.RankingAnswer([]int{1}), nil
	})
	run := mustRun(t, e, store)
	kept, err := LoadTask(t.Context(), store, run.Run)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i, s := range kept.Samples {
		ids = append(ids, s.ID)
		if a, b := asJSON(t, s), asJSON(t, e.Task.Samples[i+2]); a != b {
			t.Errorf("kept as %s, was %s", a, b)
		}
	}
	if strings.Join(ids, " ") != strings.Join(run.Run.Config.Task.Samples, " ") || len(ids) != 3 {
		t.Errorf("kept %v of %v", ids, run.Run.Config.Task.Samples)
	}
	if got := asJSON(t, kept.Environment.Tools()); got != asJSON(t, tools) {
		t.Errorf("the tools are %s", got)
	}
	if again, live := SameTask(run.Run, kept, e.Task); !live || again != e.Task {
		t.Error("the task is not known again")
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestTaskOfFormat1: a run that was stored with its whole task in one record
// replays to the same root.
func TestTaskOfFormat1(t *testing.T) {
	store, p := openStore(t, t.TempDir()), simModel(t, "")
	e := Setup{Task: cafesTask(t, 8), Methods: builtins()[:1], Provider: p, Experiment: Experiment{Limit: "2-4"}}
	run := mustRun(t, e, store)
	root := run.Run.Root
	old := struct {
		*task.Task
		Tools []methods.ToolSpec `json:",omitempty"`
	}{Task: e.Task}
	put := func(task any) *record.Run {
		key, err := store.PutBlob(t.Context(), []byte(asJSON(t, task)))
		if err != nil {
			t.Fatal(err)
		}
		run.Run.Blob = key.String()
		raw, err := record.Marshal(run.Run)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.PutRun(t.Context(), run.Run.ID, raw); err != nil {
			t.Fatal(err)
		}
		stored, err := FindRun(t.Context(), store, run.Run.ID)
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	stored := put(old)
	if r := replayOf(t, store, stored, e.Methods, p, 4); !r.Same() || r.Now != root {
		t.Errorf("the replay gives %s, want %s", r.Now, root)
	}
	if _, err := LoadTask(t.Context(), store, put(map[string]int{"Format": 3})); err == nil || !strings.Contains(err.Error(), "newer noema") {
		t.Errorf("a later format gives %v", err)
	}
	stored.Blob = cache.Key{1}.String()
	if _, err := LoadTask(t.Context(), store, stored); err == nil || !strings.Contains(err.Error(), "load task of run") {
		t.Errorf("a missing task gives %v", err)
	}
}

// TestSampleTooLarge is refused by a run and by its dry run in the same words.
func TestSampleTooLarge(t *testing.T) {
	store, p := openStore(t, t.TempDir()), simModel(t, "")
	e := Setup{Task: heavy(1, 25<<20), Methods: []Method{first()}, Provider: p}
	_, runErr := e.Run(t.Context(), store, Quiet{})
	_, dryErr := e.DryRun(t.Context(), store, Quiet{})
	if runErr == nil || dryErr == nil || runErr.Error() != dryErr.Error() || !strings.Contains(runErr.Error(), "the maximum is 24") {
		t.Errorf("the run says %v, the dry run %v", runErr, dryErr)
	}
}
