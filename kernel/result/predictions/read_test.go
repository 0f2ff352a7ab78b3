package predictions

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"noema/kernel/task"
	"noema/methods"
)

// sums and picks are the samples that the files of testdata are on. Inspect 0.3.285
// wrote the .eval and .json files with its mockllm model, and lm-eval 0.4.13 the .jsonl
// with its dummy model; tracebacks were taken out.
func sums() (samples []task.Sample) {
	for i := 1; i <= 5; i++ {
		samples = append(samples, task.Sample{
			ID: fmt.Sprintf("q%d", i), Target: fmt.Append(nil, 2*i),
			Problem: methods.Problem{Query: fmt.Sprintf("What is %d plus %d?", i, i), Answer: methods.AnswerSpec{Kind: methods.Number}},
		})
	}
	return samples
}

func picks() (samples []task.Sample) {
	for i := 1; i <= 3; i++ {
		samples = append(samples, task.Sample{
			ID:      fmt.Sprintf("p%d", i),
			Problem: methods.Problem{Query: fmt.Sprintf("Pick number %d, please.\n\nA) red\nB) green\nC) blue", i), Answer: methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"A", "B", "C"}}},
		})
	}
	return samples
}

// found is what a file says of samples, one a line.
func found(t *testing.T, f *File, samples []task.Sample) string {
	t.Helper()
	pairs, err := Pair(f, samples, false)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range samples {
		for _, p := range pairs.Of[s.ID] {
			if p.Failure != "" {
				fmt.Fprintf(&b, "%s/%d failed\n", s.ID, p.Epoch+1)
				continue
			}
			a, err := p.To(s.Problem.Answer)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s/%d %s%s %d+%d of %d\n", s.ID, p.Epoch+1, a.Value, strings.TrimPrefix(string(a.Outcome), "answered"), p.Usage.InputTokens, p.Usage.OutputTokens, p.Usage.Calls)
		}
	}
	fmt.Fprintf(&b, "missing %v foreign %v by question %v", pairs.Missing, pairs.Foreign, pairs.ByQuestion)
	return b.String()
}

func TestRealFiles(t *testing.T) {
	inspect := "q1/1 2 5+12 of 1\nq2/1 4 5+12 of 1\nq3/1 7 5+12 of 1\nq4/1 failed\nmissing [q5] foreign [] by question false"
	for name, c := range map[string]struct {
		samples              []task.Sample
		filter               string
		harness, model, want string
	}{
		"sums.eval":         {sums(), "", Inspect, "mockllm/model", inspect},
		"sums-deflate.eval": {sums(), "", Inspect, "mockllm/model", inspect},
		"sums.json":         {sums(), "", Inspect, "mockllm/model", inspect},
		"pick.eval": {picks(), "", Inspect, "mockllm/model",
			"p1/1 \"B\" 41+9 of 1\np1/2 \"B\" 41+9 of 1\np2/1 \"B\" 41+9 of 1\np2/2 \"B\" 41+9 of 1\np3/1 \"B\" 41+9 of 1\np3/2 \"B\" 41+9 of 1\nmissing [] foreign [] by question true"},
		"samples_pick_2026-11-22T18-15-42.885962.jsonl": {picks(), "", LMEval, "",
			"p1/1 \"A\" 0+0 of 0\np2/1 \"C\" 0+0 of 0\np3/1 \"C\" 0+0 of 0\nmissing [] foreign [] by question true"},
		"samples_sums_2026-11-22T18-15-42.885962.jsonl": {sums(), "strict", LMEval, "",
			"q1/1 unparsed 0+0 of 0\nq2/1 unparsed 0+0 of 0\nq3/1 unparsed 0+0 of 0\nq4/1 unparsed 0+0 of 0\nmissing [q5] foreign [] by question false"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Read(t.Context(), filepath.Join("testdata", name), Options{Filter: c.filter})
			if err != nil {
				t.Fatal(err)
			}
			if got := found(t, f, c.samples); got != c.want || f.Harness != c.harness || f.Model != c.model {
				t.Errorf("%s of %q:\n%s\nwant\n%s", f.Harness, f.Model, got, c.want)
			}
		})
	}
}

// write puts content into a file of a temporary folder.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRows: the usual names, numbers and texts, epochs, and what an answer took. What
// is not said is unknown, which is more of unknown use than calls.
func TestRows(t *testing.T) {
	for name, c := range map[string]struct{ file, content, want string }{
		"json lines": {"a.jsonl", `{"id":"q1","answer":2}
{"id":"q2","answer":"It is 4."}
{"id":"q3","answer":null}
{"id":"x","answer":"no idea"}`, "q1/1 2 0+0 of 0\nq2/1 4 0+0 of 0\nq3/1 unparsed 0+0 of 0\nmissing [q4 q5] foreign [x] by question false"},
		"csv, epochs": {"a.csv", "qid,epoch,prediction,calls,input_tokens,output_tokens\nq1,1,2,3,10,20\nq1,2,5,1,1,1\n",
			"q1/1 2 10+20 of 3\nq1/2 5 1+1 of 1\nmissing [q2 q3 q4 q5] foreign [] by question false"},
		"other ids": {"a.jsonl", `{"id":0,"question":"What is  2 plus 2?","response":"4"}`, "q2/1 4 0+0 of 0\nmissing [q1 q3 q4 q5] foreign [] by question true"},
		"errors":    {"a.jsonl", `{"id":"q1","answer":"","error":"timeout"}`, "q1/1 failed\nmissing [q2 q3 q4 q5] foreign [] by question false"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Read(t.Context(), write(t, c.file, c.content), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := found(t, f, sums()); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if u := f.All[0].Usage; u.Calls == 0 && (u.Unmetered != 1 || u.Unpriced != 1) {
				t.Errorf("unknown use is %+v", u)
			}
		})
	}
}

// TestCostNeedsCalls: a price is known where calls are.
func TestCostNeedsCalls(t *testing.T) {
	f, err := Read(t.Context(), write(t, "a.jsonl", `{"id":"q1","answer":2,"calls":2,"cost_usd":0.25,"latency_ms":1500}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if u := f.All[0].Usage; u.Cost.USD() != 0.25 || u.Latency != 1500*time.Millisecond || u.Unpriced != 0 || u.Unmetered != 1 {
		t.Errorf("%+v", u)
	}
}

// TestPairRefuses: ids that mean other questions, and two answers to one sample.
func TestPairRefuses(t *testing.T) {
	shifted := `{"id":"q2","question":"What is 1 plus 1?","answer":2}` + "\n" + `{"id":"q3","question":"What is 2 plus 2?","answer":4}`
	f, err := Read(t.Context(), write(t, "a.jsonl", shifted), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := found(t, f, sums()); !strings.HasPrefix(got, "q1/1 2 ") || !strings.Contains(got, "q2/1 4 ") {
		t.Errorf("numbered otherwise:\n%s", got)
	}
	for content, want := range map[string]string{
		`{"id":"q2","question":"Who wrote Faust?","answer":2}`:                   `a.jsonl:1: sample "q2" asks "Who wrote Faust?" there, and "What is 2 plus 2?" in the task`,
		`{"id":"z","answer":2}`:                                                  `the task has no sample "z" (a.jsonl:1)`,
		shifted + "\n" + `{"id":"zz","question":"What is 1 plus 1?","answer":3}`: `a.jsonl:1 and a.jsonl:3 are both on sample "q1"`,
	} {
		f, err := Read(t.Context(), write(t, "a.jsonl", content), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Pair(f, sums(), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Pair(&File{All: []Prediction{{ID: "q2", Questions: []string{"Who wrote Faust?"}}}}, sums(), true); err != nil {
		t.Errorf("with force: %v", err)
	}
}

// TestToRefuses: values that cannot be an answer of the kind.
func TestToRefuses(t *testing.T) {
	choice := methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"A", "B"}}
	for want, c := range map[string]struct {
		p    Prediction
		spec methods.AnswerSpec
	}{
		`f:3: the answer to sample "q" is {"a":1}, and it asks for a number`:   {Prediction{Value: []byte(`{"a":1}`)}, methods.AnswerSpec{Kind: methods.Number}},
		`f:3: the answer to sample "q" is true, and it asks for a number`:      {Prediction{Value: []byte(`true`)}, methods.AnswerSpec{Kind: methods.Number}},
		`f:3: the answer to sample "q" is 3, and it asks for a choice of A, B`: {Prediction{Value: []byte(`3`)}, choice},
		`f:3: option 3 was chosen, and sample "q" asks for a choice of A, B`:   {Prediction{Option: 3}, choice},
		`f:3: option 1 was chosen, and sample "q" asks for a text`:             {Prediction{Option: 1}, methods.AnswerSpec{Kind: methods.Text}},
	} {
		c.p.ID, c.p.Place = "q", "f:3"
		if a, err := c.p.To(c.spec); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s, %v, want %s", a.Value, err, want)
		}
	}
}

// TestFewPartners: a file of which less than half finds its sample is refused, however many samples
// and predictions there are, unless forced; one on a part of the task, or of which the task is a
// part, is not.
func TestFewPartners(t *testing.T) {
	spec := methods.AnswerSpec{Kind: methods.Number}
	for _, c := range []struct{ samples, predictions, both int }{
		{100, 100, 1}, {100, 100, 49}, {100, 100, 50}, {100, 100, 100}, {1000, 20, 20}, {20, 1000, 20}, {20, 1000, 9}, {1000, 20, 9}, {3, 4, 3}, {1, 1, 1}, {5, 1, 1}, {100, 3, 1},
	} {
		var samples []task.Sample
		for i := range c.samples {
			samples = append(samples, task.Sample{ID: fmt.Sprint("q", i), Problem: methods.Problem{Query: "?", Answer: spec}})
		}
		f := &File{Name: "f"}
		for i := range c.predictions {
			if i >= c.both {
				i += c.samples
			}
			f.All = append(f.All, Prediction{Place: "f", ID: fmt.Sprint("q", i), Value: []byte("1")})
		}
		pairs, err := Pair(f, samples, false)
		if few := 2*c.both < min(c.samples, c.predictions); (err != nil) != few || few && !strings.Contains(err.Error(), fmt.Sprintf("only %d of the %d", c.both, c.predictions)) {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := Pair(f, samples, true); err != nil || len(pairs.Of) != c.both {
			t.Errorf("%+v forced: %v, %d pairs", c, err, len(pairs.Of))
		}
	}
}

// TestReadElsewhere reads the replies that HELM and promptfoo keep, and says what it leaves out.
func TestReadElsewhere(t *testing.T) {
	const state = `{
 "adapter_spec": {"method": "multiple_choice_joint", "model": "openai/gpt2"},
 "request_states": [
  {"instance": {"input": {"text": "Which?"}, "references": [{"output": {"text": "a"}, "tags": []}], "split": "test", "id": "id7"}, "train_trial_index": 0, "output_mapping": {"A": "a", "B": "b"}, "request": {"model": "openai/gpt2", "prompt": "Which?"},
   "result": {"success": true, "embedding": [], "completions": [{"text": " B", "logprob": 0.0}], "cached": false}},
  {"instance": {"input": {"text": "Say"}, "id": "id8"}, "train_trial_index": 1, "request": {"model": "openai/gpt2"}, "result": {"success": true, "completions": [{"text": "so it is"}]}},
  {"instance": {"input": {"text": "Lost"}, "id": "id9"}, "train_trial_index": 0, "request": {"model": "openai/gpt2"}, "result": {"success": false, "error": "no server", "completions": []}},
  {"instance": {"input": {"text": "whICH?"}, "id": "id7", "perturbation": {"name": "case"}}, "train_trial_index": 0, "request": {"model": "openai/gpt2"}, "result": {"success": true, "completions": [{"text": " A"}]}}]}`
	dir := folder(t, "scenario_state.json", state, "out.json", promptfooOutput)
	f, err := Read(t.Context(), filepath.Join(dir, "scenario_state.json"), Options{})
	if err != nil || f.Harness != HELM || f.Model != "openai/gpt2" || len(f.All) != 3 || len(f.Notes) != 1 {
		t.Fatalf("%v: %+v", err, f)
	}
	if a, b, c := f.All[0], f.All[1], f.All[2]; a.ID != "id7" || a.Option != 2 || a.Questions[0] != "Which?" || b.Option != 0 || b.Text != "so it is" || b.Epoch != 1 || c.Failure != "no server" {
		t.Errorf("%+v", f.All)
	}
	if _, err = Read(t.Context(), filepath.Join(folder(t, "scenario_state.json", strings.Replace(state, `"train_trial_index"`, `"reference_index": 0, "train_trial_index"`, 1)), "scenario_state.json"), Options{}); err == nil || !strings.Contains(err.Error(), "per_instance_stats.json") {
		t.Errorf("a request for each option: %v", err)
	}
	f, err = Read(t.Context(), filepath.Join(dir, "out.json"), Options{})
	if err != nil || f.Harness != Promptfoo || f.Model != "openai:m" || len(f.All) != 2 {
		t.Fatalf("%v: %+v", err, f)
	}
	if a, b := f.All[0], f.All[1]; string(a.Value) != `"It is 2."` || !slices.Contains(a.Questions, "1+1?") || a.Usage.OutputTokens != 4 || a.Usage.Cost != 2_000_000 || b.Failure != "died" {
		t.Errorf("%+v", f.All)
	}
}
