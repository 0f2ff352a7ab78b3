package network_test

import (
	"math"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local/internal/network"
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

type job struct {
	Dir    string `json:"dir"`
	Prompt []int  `json:"prompt"`
	Steps  int    `json:"steps"`
}

type answer struct {
	Logits [][]float32 `json:"logits"`
	Tokens []int       `json:"tokens"`
}

// TestParity holds every architecture to transformers: logits within 1e-4 and
// the same greedy tokens, over prompts that take one piece, several pieces,
// and caches of two sizes.
func TestParity(t *testing.T) {
	variants := variants()
	models := make([]*network.Decoder, len(variants))
	jobs, answers := make([]any, len(variants)), make([]any, len(variants))
	for i, v := range variants {
		dir := t.TempDir()
		if err := localtest.Write(dir, v.Spec); err != nil {
			t.Fatal(err)
		}
		models[i] = load(t, dir)
		jobs[i], answers[i] = job{dir, tokens(v.prompt, uint64(i)), 20}, &answer{}
	}
	// All jobs go to one process, since starting one costs seconds.
	localtest.Python(t, reference, jobs, answers, "torch", "transformers")
	for i, v := range variants {
		t.Run(v.name, func(t *testing.T) { hold(t, models[i], jobs[i].(job), answers[i].(*answer)) })
	}
}

// variant is a model and the length of a prompt.
type variant struct {
	localtest.Spec
	name   string
	prompt int
}

func variants() []variant {
	var all []variant
	for _, arch := range localtest.Archs() {
		if arch == "bert" {
			continue
		}
		all = append(all, variant{localtest.Spec{Arch: arch, Seed: 1}, arch + "/short", 5},
			variant{localtest.Spec{Arch: arch, Seed: 2, Shards: 2, DType: "BF16"}, arch + "/cache grows", 120},
			variant{localtest.Spec{Arch: arch, Seed: 3, DType: "F16", KVHeads: 1}, arch + "/pieces", 300})
	}
	linear := map[string]any{"rope_scaling": map[string]any{"type": "linear", "factor": 4.0}}
	return append(all, variant{localtest.Spec{Arch: "smollm", Seed: 4, Config: linear}, "linear rope", 40})
}

func hold(t *testing.T, d *network.Decoder, j job, want *answer) {
	s := &network.Sequence{}
	got, err := d.Prefill(s, j.Prompt, never)
	if err != nil {
		t.Fatal(err)
	}
	var worst float64
	for step, token := range want.Tokens {
		for i, w := range want.Logits[step] {
			worst = max(worst, math.Abs(float64(got[i]-w)))
		}
		if best(got) != token {
			t.Fatalf("step %d: greedy token %d, transformers has %d", step, best(got), token)
		}
		next, err := d.Next([]*network.Sequence{s}, []int{token})
		if err != nil {
			t.Fatal(err)
		}
		got = next[0]
	}
	if !(worst <= 1e-4) { // also if it is not a number
		t.Errorf("logits differ by up to %g", worst)
	}
	t.Logf("logits differ by up to %.2g", worst)
}
