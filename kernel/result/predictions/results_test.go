package predictions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder writes files of name, content, name, content into a folder.
func folder(t *testing.T, parts ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(parts); i += 2 {
		name := filepath.Join(dir, parts[i])
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(parts[i+1]), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// scored is what files say, one result a line.
func scored(all []*File) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s|%s|%s|%s\n", f.Harness, f.Method, f.Model, f.Task)
		for _, p := range f.All {
			fmt.Fprintf(&b, "%s/%d %q", p.ID, p.Epoch+1, p.Questions[0])
			for _, name := range slices.Sorted(maps.Keys(p.Scores)) {
				fmt.Fprintf(&b, " %s=%g", name, p.Scores[name])
			}
			fmt.Fprintf(&b, " %s%d+%d\n", p.Failure, p.Usage.InputTokens, p.Usage.OutputTokens)
		}
	}
	return b.String()
}

// TestResults reads what each harness writes. The shapes are those of files of their public
// repositories: laude-institute/terminal-bench-leaderboard, evaleval/every_eval_ever (HELM's, too),
// UKGovernmentBEIS/inspect_ai, promptfoo/promptfoo and lm-eval 0.4.
func TestResults(t *testing.T) {
	const run1 = `{"id":"r1","results":[
  {"id":"u1","trial_name":"a.1","task_id":"a","instruction":"Do a","is_resolved":true,"failure_mode":"unset"},
  {"id":"u2","trial_name":"b.1","task_id":"b","instruction":"Do b","is_resolved":null,"failure_mode":"test_timeout"}],"resolved_ids":["a"],"accuracy":0.5}`
	const trial1 = `{
 "id":"u1","trial_name":"a.1","task_id":"a","instruction":"Do a","is_resolved":true}`
	const run2 = `{"results":[{"uuid":"u3","task_id":"a","instruction":"Do a","is_resolved":false}],"accuracy":0}`
	const sums = `{"doc_id":0,"doc":{"question":"1+1?"},"target":"2","filtered_resps":["2"],"filter":"strict","metrics":["exact_match","brier","f1"],"exact_match":1.0,"brier":0.1,"f1":[1,1]}
{"doc_id":0,"doc":{"question":"1+1?"},"target":"2","filtered_resps":["2"],"filter":"loose","metrics":["exact_match"],"exact_match":true}
`
	for name, c := range map[string]struct{ path, want string }{
		"terminal-bench, a trial in three files": {folder(t, "1/a/results.json", trial1, "1/results.json", run1, "2/results.json", run2, "2/copy/results.json", run1, "2/run_metadata.json", `{"x":[`),
			"Terminal-Bench|||\na/1 \"Do a\" is_resolved=1 0+0\nb/1 \"Do b\" is_resolved=0 0+0\na/2 \"Do a\" is_resolved=0 0+0\n"},
		"harbor": {folder(t, "result.json", `{"id":"j","stats":{"n_trials":2}}`, "t1/result.json", `{"id":"u1","task_name":"a","agent_info":{"name":"ag","model_info":{"name":"m"}},"verifier_result":{"rewards":{"reward":1.0}}}`,
			"t2/result.json", `{"id":"u2","task_name":"b","agent_info":{"name":"ag","model_info":{"name":"m"}},"verifier_result":null,"exception_info":{"exception_type":"Died"}}`),
			"Harbor|ag|m|\na/1 \"\" reward=1 0+0\nb/1 \"\" Died0+0\n"},
		"lm-eval": {folder(t, "samples_sums_2026-01-01T00-00-00.jsonl", sums, "results_2026-01-01T00-00-00.json", `{"model_name":"org/m","higher_is_better":{"sums":{"exact_match":true,"brier":false}}}`),
			"sample log of lm-eval||org/m|sums\n0/1 \"1+1?\" exact_match,loose=1 exact_match,strict=1 0+0\n"},
		"every eval ever": {folder(t, "x_samples.jsonl", `{"schema_version":"0.3.0","evaluation_id":"e","model_id":"org/m","evaluation_name":"bench","evaluation_result_id":"acc","sample_id":"s1","input":{"raw":"Q?"},"evaluation":{"score":0.5,"is_correct":false},"token_usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}}
`, "x.json", `{"evaluation_id":"e","evaluation_results":[{"a":1}]}`),
			"Every Eval Ever||org/m|bench\ns1/1 \"Q?\" acc=0.5 3+4\n"},
		"inspect": {folder(t, "a.json", head+`"samples":[{"id":1,"epoch":2,"uuid":"u","input":"q","scores":{"m":{"value":"C","answer":"x"},"d":{"value":{"p":0.25,"q":"no"}},"n":{"value":NaN}}},{"id":2,"input":"r","error":{"message":"died"}}]}`),
			"log of Inspect||m|t\n1/2 \"q\" d.p=0.25 d.q=0 m=1 0+0\n2/1 \"r\" the log says: died0+0\n"},
		"helm": {folder(t, "run/run_spec.json", `{"name":"mmlu:subject=x,model=openai_gpt2","adapter_spec":{"model":"openai/gpt2"}}`, "run/stats.json", "[]", "run/per_instance_stats.json", `[
 {"instance_id":"id3","train_trial_index":0,"stats":[{"name":{"name":"num_bytes","split":"test"},"count":1,"mean":2.0},{"name":{"name":"exact_match","split":"test"},"count":1,"sum":1,"mean":1.0},{"name":{"name":"f1_score","split":"test"},"count":0,"sum":0}]},
 {"instance_id":"id3","perturbation":{"name":"robustness"},"train_trial_index":0,"stats":[{"name":{"name":"exact_match"},"count":1,"mean":0}]}]`),
			"run of HELM||openai/gpt2|mmlu:subject=x\nid3/1 \"\" exact_match=1 0+0\n"},
		"promptfoo": {folder(t, "out.json", promptfooOutput), "output of promptfoo|Say {{q}}|openai:m|\n0/1 \"{\\\"q\\\":\\\"1+1?\\\"}\" cites=0.5 pass=1 score=1 3+4\n1/1 \"{\\\"q\\\":\\\"2+2?\\\"}\" died0+0\n"},
		"rows": {folder(t, "r.csv", "method,id,score,correct\nx,1,0.5,true\ny,1,1,false\nx,1,0,no\n") + "/r.csv",
			"rows of scores|x||\n1/1 \"\" correct=1 score=0.5 0+0\n1/2 \"\" correct=0 score=0 0+0\nrows of scores|y||\n1/1 \"\" correct=0 score=1 0+0\n"},
	} {
		got, err := ReadResults(t.Context(), c.path, nil)
		if err != nil || scored(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, scored(got), c.want)
		}
	}
}

// TestRealScorers: the scores of several scorers, as Inspect 0.3.285 writes them: grades, numbers, an object of truth
// values and numbers, and none.
func TestRealScorers(t *testing.T) {
	all, err := ReadResults(t.Context(), filepath.Join("testdata", "scorers.eval"), nil)
	if err != nil {
		t.Fatal(err)
	}
	line := func(id, asked, right, length string) string {
		return fmt.Sprintf("%s %q half=0.5 includes=%s match=%s shape.len=%s shape.ok=%s 5+2\n", id, asked, right, right, length, right)
	}
	want := "log of Inspect||mockllm/m|sums\n" + line("3/1", "boom", "0", "1") + line("3/2", "boom", "1", "0.1") + line("a/1", "1+1?", "1", "0.1") +
		line("a/2", "1+1?", "0", "0.1") + line("b/1", "2+2?", "0", "0.1") + line("b/2", "2+2?", "0", "0.1")
	if got := sortedResults(all); got+"\n" != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// promptfooOutput has the shape of promptfoo's JSON output of version 3.
const promptfooOutput = `{
  "evalId": "eval-1", "results": {"version": 3, "prompts": [{"raw": "Say {{q}}", "label": "Say {{q}}", "provider": "openai:m"}], "results": [
    {"cost": 0.002, "error": null, "failureReason": 0, "id": "u1", "latencyMs": 9, "namedScores": {"cites": 0.5}, "prompt": {"raw": "Say 1+1?", "label": "Say {{q}}"}, "promptIdx": 0, "provider": {"id": "openai:m", "label": ""},
     "response": {"output": "It is 2.", "tokenUsage": {"total": 7, "prompt": 3, "completion": 4}, "cached": false}, "score": 1, "success": true, "testIdx": 0, "vars": {"q": "1+1?"}},
    {"cost": 0, "error": "died", "failureReason": 2, "id": "u2", "latencyMs": 0, "namedScores": {}, "prompt": {"raw": "Say 2+2?", "label": "Say {{q}}"}, "promptIdx": 0, "provider": {"id": "openai:m"}, "score": 0, "success": false, "testIdx": 1, "vars": {"q": "2+2?"}}],
    "stats": {"successes": 1}}, "config": {"tests": [{"vars": {"q": "1+1?"}}]}, "shareableUrl": null}`

// TestResultsRefused: each is an error that names the file and the place.
func TestResultsRefused(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	two := `{"doc_id":0,"doc":{"q":"?"},"filtered_resps":["2"],"metrics":["acc"],"acc":1}` + "\n"
	for want, c := range map[string]struct {
		ctx  context.Context
		path string
	}{
		`r.csv:3`:                                           {t.Context(), folder(t, "r.csv", "id,score\n1,1\n2,maybe\n") + "/r.csv"},
		`id "1" has a score already, at r.csv:2`:            {t.Context(), folder(t, "r.csv", "id,score,epoch\n1,1,1\n1,0,1\n") + "/r.csv"},
		`the id is empty`:                                   {t.Context(), folder(t, "r.csv", "id,score\n,1\n") + "/r.csv"},
		`"one" is not the number of an epoch`:               {t.Context(), folder(t, "r.csv", "id,score,epoch\n1,1,one\n") + "/r.csv"},
		`epoch 9999 of "1" is not within`:                   {t.Context(), folder(t, "r.csv", "id,score,epoch\n1,1,9999\n") + "/r.csv"},
		`its columns are a, b`:                              {t.Context(), folder(t, "r.csv", "a,b\n1,1\n") + "/r.csv"},
		`results.json:1:28`:                                 {t.Context(), folder(t, "results.json", `{"results":[{"task_id":"a",`)},
		`no scores of samples`:                              {t.Context(), folder(t, "config.json", `{}`)},
		`at samples_t_2026-01-01.jsonl:1, and nothing says`: {t.Context(), folder(t, "samples_t_2026-01-01.jsonl", two, "samples_t_2026-01-02.jsonl", two)},
		`sums.eval: entry "samples/q1_epoch_1.json": it has more than 64 MiB`: {t.Context(), folder(t, "sums.eval", pack(t, "header.json", head+`"x":1}`, "samples/q1_epoch_1.json", strings.Repeat(" ", 65<<20)))},
		`context canceled`: {stopped, folder(t, "results.json", `{"results":[{"task_id":"a","is_resolved":true}]}`)},
		`no such file`:     {t.Context(), "gone.csv"},
		`results.results is not a list: promptfoo`:   {t.Context(), folder(t, "q.json", `{"evalId":"x","results":5}`) + "/q.json"},
		`q.json: unexpected end`:                     {t.Context(), folder(t, "q.json", `{"evalId":"x","results":`) + "/q.json"},
		`result 1: "testidx" must be a whole number`: {t.Context(), folder(t, "q.json", `{"evalId":"x","results":{"results":[{"testIdx":"a"}]}}`) + "/q.json"},
		`element 1: "instance_id" must be a text`:    {t.Context(), folder(t, "per_instance_stats.json", `[{"instance_id":1,"stats":"x"}]`) + "/per_instance_stats.json"},
	} {
		if _, err := ReadResults(c.ctx, c.path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		} else if name := filepath.Base(c.path); strings.Contains(name, ".") && strings.Count(err.Error(), name) > 1+strings.Count(want, name) {
			t.Errorf("the file is named again and again: %v", err)
		}
	}
}
