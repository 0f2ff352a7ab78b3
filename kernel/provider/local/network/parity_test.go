package network_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"noema/kernel/provider/local/localtest"
	"noema/kernel/provider/local/network"
)

// reference runs the same tokens through transformers: the logits after a
// prompt, and greedy continuations.
const reference = `
import sys, json, torch
from transformers import AutoModelForCausalLM
torch.set_num_threads(1)
for line in sys.stdin:
    job = json.loads(line)
    model = AutoModelForCausalLM.from_pretrained(job["dir"], dtype=torch.float32, attn_implementation="eager").eval()
    ids, out = list(job["prompt"]), []
    logits = []
    with torch.no_grad():
        for i in range(job["steps"]):
            row = model(torch.tensor([ids])).logits[0, -1]
            logits.append(row.tolist())
            ids.append(int(row.argmax()))
            out.append(ids[-1])
    print(json.dumps({"logits": logits, "tokens": out}))
`

// python finds an interpreter that has the modules, or skips the test.
func python(t *testing.T, modules ...string) string {
	t.Helper()
	name := os.Getenv("NOEMA_TEST_PYTHON")
	if name == "" {
		name = "python3"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no Python: set NOEMA_TEST_PYTHON to one that has %s", strings.Join(modules, " and "))
	}
	if err := exec.Command(path, "-c", "import "+strings.Join(modules, ", ")).Run(); err != nil {
		t.Skipf("%s lacks %s: set NOEMA_TEST_PYTHON to one that has them", path, strings.Join(modules, " or "))
	}
	return path
}

type job struct {
	Dir    string `json:"dir"`
	Prompt []int  `json:"prompt"`
	Steps  int    `json:"steps"`
}

type answer struct {
	Logits [][]float32 `json:"logits"`
	Tokens []int       `json:"tokens"`
}

// ask runs all jobs in one process, since starting one costs seconds.
func ask(t *testing.T, jobs []job) []answer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python(t, "torch", "transformers"), "-c", reference)
	var in strings.Builder
	for _, j := range jobs {
		raw, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&in, "%s\n", raw)
	}
	cmd.Stdin = strings.NewReader(in.String())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("transformers: %v\n%s", err, stderr.String())
	}
	answers := make([]answer, len(jobs))
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for i := range answers {
		if err := dec.Decode(&answers[i]); err != nil {
			t.Fatal(err)
		}
	}
	return answers
}

// TestParity holds every architecture to transformers: logits within 1e-4 and
// the same greedy tokens, over prompts that take one piece, several pieces,
// and caches of two sizes.
func TestParity(t *testing.T) {
	type variant struct {
		localtest.Spec
		name   string
		prompt int
	}
	var variants []variant
	for _, arch := range localtest.Archs() {
		if arch == "bert" {
			continue
		}
		variants = append(variants, variant{localtest.Spec{Arch: arch, Seed: 1}, arch + "/short", 5},
			variant{localtest.Spec{Arch: arch, Seed: 2, Shards: 2, DType: "BF16"}, arch + "/cache grows", 120},
			variant{localtest.Spec{Arch: arch, Seed: 3, DType: "F16", KVHeads: 1}, arch + "/pieces", 300})
	}
	variants = append(variants, variant{localtest.Spec{Arch: "smollm", Seed: 4, Config: map[string]any{
		"rope_scaling": map[string]any{"type": "linear", "factor": 4.0}}}, "linear rope", 40})

	models := make([]*network.Decoder, len(variants))
	jobs := make([]job, len(variants))
	for i, v := range variants {
		dir := t.TempDir()
		if err := localtest.Write(dir, v.Spec); err != nil {
			t.Fatal(err)
		}
		models[i] = load(t, dir)
		jobs[i] = job{dir, tokens(v.prompt, uint64(i)), 20}
	}
	for i, want := range ask(t, jobs) {
		t.Run(variants[i].name, func(t *testing.T) {
			s := &network.Sequence{}
			got, err := models[i].Prefill(s, jobs[i].Prompt, func() error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			var worst float64
			for step, token := range want.Tokens {
				for j := range got[:len(want.Logits[step])] {
					worst = max(worst, math.Abs(float64(got[j]-want.Logits[step][j])))
				}
				if best := slices.Index(got, slices.Max(got)); best != token {
					t.Fatalf("step %d: greedy token %d, transformers has %d", step, best, token)
				}
				next, err := models[i].Next([]*network.Sequence{s}, []int{token})
				if err != nil {
					t.Fatal(err)
				}
				got = next[0]
			}
			if !(worst <= 1e-4) { // also if it is not a number
				t.Errorf("logits differ by up to %g", worst)
			}
			t.Logf("logits differ by up to %.2g", worst)
		})
	}
}
