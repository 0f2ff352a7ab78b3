package network_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"noema/kernel/provider/local/localtest"
	"noema/kernel/provider/local/network"
)

// peer measures transformers on the same model: prefill of a prompt of 256
// tokens, and decoding of 32 tokens after it.
const peer = `
import sys, json, time, torch
from transformers import AutoModelForCausalLM
for line in sys.stdin:
    job = json.loads(line)
    torch.set_num_threads(job["threads"])
    model = AutoModelForCausalLM.from_pretrained(job["dir"], dtype=torch.float32).eval()
    best = [0, 0]
    with torch.no_grad():
        for _ in range(3):
            start = time.perf_counter()
            out = model(torch.tensor([job["prompt"]]), use_cache=True, logits_to_keep=1)
            best[0] = max(best[0], len(job["prompt"]) / (time.perf_counter() - start))
            start = time.perf_counter()
            for i in range(32):
                out = model(out.logits[:, -1:].argmax(-1), past_key_values=out.past_key_values, use_cache=True)
            best[1] = max(best[1], 32 / (time.perf_counter() - start))
    print(json.dumps(best))
`

// bandwidth is how many bytes a second all cores together read and write when
// they copy memory.
func bandwidth() float64 {
	const size = 64 << 20
	n := runtime.GOMAXPROCS(0)
	var best float64
	from, to := make([][]byte, n), make([][]byte, n)
	for i := range n {
		from[i], to[i] = make([]byte, size), make([]byte, size)
	}
	for range 8 {
		start := time.Now()
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() { copy(to[i], from[i]) })
		}
		group.Wait()
		best = max(best, float64(2*n*size)/time.Since(start).Seconds())
	}
	return best
}

// BenchmarkModel measures a model of SmolLM-135M's shape: prefill of 128
// tokens, and decoding one sequence and eight, after a warm-up that compiles
// the graphs. The limit is what memory allows one sequence: the weights that
// each token needs, by the bandwidth of copying. With NOEMA_TEST_PYTHON,
// BenchmarkModel/peer gives transformers' figures on the same files.
func BenchmarkModel(b *testing.B) {
	if os.Getenv("NOEMA_BENCH") == "" {
		b.Skip("writes and runs half a gigabyte of weights for minutes: set NOEMA_BENCH=1")
	}
	dir := b.TempDir()
	err := localtest.Write(dir, localtest.Spec{Arch: "smollm", Seed: 1, Hidden: 576, Inner: 1536, Layers: 30, Heads: 9, KVHeads: 3, Vocab: 49152, Context: 2048})
	if err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		b.Fatal(err)
	}
	d := load(b, dir)
	prompt := tokens(128, 1)
	b.Run("prefill", func(b *testing.B) {
		for b.Loop() {
			prefilled(b, d, prompt)
		}
		b.ReportMetric(float64(b.N*len(prompt))/b.Elapsed().Seconds(), "tokens/s")
	})
	limit := bandwidth() / float64(info.Size())
	for _, n := range []int{1, 8} {
		b.Run(fmt.Sprintf("decode %d", n), func(b *testing.B) { decode(b, d, n, limit) })
	}
	b.Run("peer", func(b *testing.B) {
		var rates [2]float64
		job := map[string]any{"dir": dir, "prompt": prompt, "threads": runtime.GOMAXPROCS(0)}
		localtest.Python(b, peer, []any{job}, []any{&rates}, "torch", "transformers")
		b.ReportMetric(rates[0], "prefill-tokens/s")
		b.ReportMetric(rates[1], "decode-tokens/s")
		b.ReportMetric(rates[1]/limit, "of-limit")
	})
}

// decode measures steps of n sequences.
func decode(b *testing.B, d *network.Decoder, n int, limit float64) {
	all, fed := make([]*network.Sequence, n), make([]int, n)
	for i := range all {
		all[i] = prefilled(b, d, tokens(16, 1))
	}
	step := func() {
		if _, err := d.Next(all, fed); err != nil {
			b.Fatal(err)
		}
	}
	step()
	for b.Loop() {
		step()
	}
	rate := float64(b.N*n) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "tokens/s")
	b.ReportMetric(rate/limit, "of-limit")
}

func prefilled(b *testing.B, d *network.Decoder, prompt []int) *network.Sequence {
	b.Helper()
	s := &network.Sequence{}
	if _, err := d.Prefill(s, prompt, never); err != nil {
		b.Fatal(err)
	}
	return s
}
