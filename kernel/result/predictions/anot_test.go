package predictions

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/task"
	"noema/methods"
)

// anotFolder writes files as the original ANoT writes its results.
func anotFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Lines and settings in the form of that project's committed results.
const (
	anotResults = `{"request_id": "R01", "pred_indices": [1, 3], "shuffled_preds": [4, 2], "gold_idx": 0, "shuffled_gold_pos": 4, "gold_restaurant": "b0", "prompt_tokens": 168494, "completion_tokens": 441573, "tokens": 610067, "cost_usd": 0.29, "latency_ms": 4003312.5, "raw_response": "4, 2"}
{"request_id": "R02", "pred_indices": [], "shuffled_preds": [], "gold_idx": 2, "shuffled_gold_pos": 1, "gold_restaurant": "b2", "prompt_tokens": 9, "completion_tokens": 9, "tokens": 18, "cost_usd": 0.1, "latency_ms": 1.5, "raw_response": "none fits"}
{"request_id": "R03", "pred_indices": [], "shuffled_preds": [], "gold_idx": 1, "shuffled_gold_pos": 1, "gold_restaurant": "b1", "prompt_tokens": 0, "completion_tokens": 0, "tokens": 0, "cost_usd": 0, "latency_ms": 0, "coverage": {"restaurants": 3}, "raw_response": "", "error": "APIError: 500"}
`
	anotSettings = `{"method": "anot", "k": 5, "llm_config": {"provider": "openai", "model": null}, "attack_config": {"attack": "typo_10"}, "usage": {"by_model": {"gpt-5-nano": {"calls": 3}}}}`
)

func anotSamples(gold ...string) (samples []task.Sample) {
	for i, g := range gold {
		samples = append(samples, task.Sample{
			ID: "R0" + string(rune('1'+i)), Target: json.RawMessage(g), Problem: methods.Problem{Answer: methods.AnswerSpec{Kind: methods.Ranking, N: 3, K: 3}},
		})
	}
	return samples
}

// TestANoTResults: a folder of one run, one of two, and a file by itself.
func TestANoTResults(t *testing.T) {
	one := anotFolder(t, map[string]string{"config.json": anotSettings, "results_10.jsonl": anotResults, "usage.jsonl": "{}"})
	two := anotFolder(t, map[string]string{
		"run_2/config.json": anotSettings, "run_2/results_10.jsonl": anotResults, "run_10/results_10.jsonl": anotResults, "summary.json": "{}",
	})
	for path, epochs := range map[string]int{one: 1, filepath.Join(one, "results_10.jsonl"): 1, two: 2} {
		f, err := Read(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Harness != ANoT || f.Method != "anot" || f.Model != "openai/gpt-5-nano" || f.Epochs() != epochs || len(f.Paths) != epochs || len(f.All) != 3*epochs {
			t.Errorf("%s: %+v", path, f)
		}
		if len(f.Notes) != 1 || !strings.Contains(f.Notes[0], "typo_10") {
			t.Errorf("notes %q", f.Notes)
		}
		pairs, err := Pair(f, anotSamples("[1]", "[3]", "[2]"), false)
		if err != nil || len(pairs.Of["R01"]) != epochs {
			t.Fatalf("%v, %v", pairs, err)
		}
		first, empty, failed := f.All[0], f.All[1], f.All[2]
		if a, err := first.To(anotSamples("[1]")[0].Problem.Answer); err != nil || string(a.Value) != "[1,3]" || first.Usage != unknown {
			t.Errorf("%+v is %+v, %v", first, a, err)
		}
		if a, err := empty.To(anotSamples("[1]")[0].Problem.Answer); err != nil || a.Outcome != methods.Defaulted || failed.Failure == "" {
			t.Errorf("%+v is %+v, %v; %+v", empty, a, err, failed)
		}
	}
}

func TestANoTRefusals(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"no results_N.jsonl":          {"summary.json": "{}"},
		"several numbers":             {"results_10.jsonl": anotResults, "results_20.jsonl": anotResults},
		"results_10.jsonl:1":          {"results_10.jsonl": `{"request_id": "R01", "pred_indices": [1], "gold_idx": "x"}`},
		"that of another run":         {"run_1/config.json": anotSettings, "run_1/results_10.jsonl": anotResults, "run_2/config.json": `{"method":"cot"}`, "run_2/results_10.jsonl": anotResults},
		"has an answer already":       {"results_10.jsonl": anotResults + anotResults},
		"config.json: method: a numb": {"config.json": `{"method": 3}`, "results_10.jsonl": anotResults},
		"the id is empty":             {"results_10.jsonl": `{"request_id": "", "pred_indices": [1], "gold_idx": 0}`},
	} {
		if _, err := Read(t.Context(), anotFolder(t, files), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	f, err := Read(t.Context(), anotFolder(t, map[string]string{"results_10.jsonl": anotResults}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Pair(f, anotSamples("[2]", "[3]", "[2]"), true); err == nil || !strings.Contains(err.Error(), "items=frequent") {
		t.Errorf("other candidates: %v", err)
	}
}
