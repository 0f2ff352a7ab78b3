package network_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/network"
)

func never() error { return nil }

// transcript is what a sequence got at each step.
type transcript [][]float32

// alone feeds each prompt by itself, then steps tokens of its own choice.
func alone(t *testing.T, d *network.Decoder, prompts [][]int, steps int) []transcript {
	t.Helper()
	all := make([]transcript, len(prompts))
	for i, prompt := range prompts {
		s := &network.Sequence{}
		logits, err := d.Prefill(s, prompt, never)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = append(all[i], logits)
		for range steps {
			next, err := d.Next([]*network.Sequence{s}, []int{best(logits)})
			if err != nil {
				t.Fatal(err)
			}
			logits = next[0]
			all[i] = append(all[i], logits)
		}
	}
	return all
}

// together feeds the prompts and then steps all sequences at once.
func together(t *testing.T, d *network.Decoder, prompts [][]int, steps int) []transcript {
	t.Helper()
	all := make([]transcript, len(prompts))
	sequences, next := make([]*network.Sequence, len(prompts)), make([]int, len(prompts))
	for i, prompt := range prompts {
		sequences[i] = &network.Sequence{}
		logits, err := d.Prefill(sequences[i], prompt, never)
		if err != nil {
			t.Fatal(err)
		}
		all[i], next[i] = append(all[i], logits), best(logits)
	}
	for range steps {
		logits, err := d.Next(sequences, next)
		if err != nil {
			t.Fatal(err)
		}
		for i := range logits {
			all[i], next[i] = append(all[i], logits[i]), best(logits[i])
		}
	}
	return all
}

func best(logits []float32) int { return slices.Index(logits, slices.Max(logits)) }

func compare(t *testing.T, want, got []transcript) {
	t.Helper()
	for i := range want {
		for step := range want[i] {
			if !slices.Equal(want[i][step], got[i][step]) {
				t.Fatalf("sequence %d, step %d: logits differ", i, step)
			}
		}
	}
}

// TestSameBits holds that neither threads nor neighbours change a bit. The
// models are wide enough that some multiplications are cut into parts, and
// that a batch of them passes the backend's limit for small ones.
func TestSameBits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, spec := range []localtest.Spec{
		{Arch: "qwen2", Seed: 1, Hidden: 288, Inner: 2048, Heads: 9, KVHeads: 3, Layers: 1},
		{Arch: "gpt2", Seed: 3, Hidden: 64, Inner: 264, Heads: 2, Layers: 2},
		{Arch: "mistral", Seed: 4, Layers: 1},
		{Arch: "qwen3", Seed: 5, Layers: 1},
		{Arch: "gemma3", Seed: 6, Layers: 2},
	} {
		t.Run(spec.Arch, func(t *testing.T) { sameBits(t, spec) })
	}
}

func sameBits(t *testing.T, spec localtest.Spec) {
	dir := t.TempDir()
	if err := localtest.Write(dir, spec); err != nil {
		t.Fatal(err)
	}
	var prompts [][]int
	for i, n := range []int{3, 40, 126, 127, 1, 9, 17, 129, 5, 2} {
		prompts = append(prompts, tokens(n, uint64(i)))
	}
	var want []transcript
	for _, threads := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d threads", threads), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			d := load(t, dir)
			if want == nil {
				want = alone(t, d, prompts, 2)
			} else {
				compare(t, want, alone(t, d, prompts, 2))
			}
			compare(t, want, together(t, d, prompts, 2))
		})
	}
}

// TestSameBitsEverywhere holds that decoders give the bits of the machine
// on which the digests were taken: an amd64 with AVX2.
func TestSameBitsEverywhere(t *testing.T) {
	for _, c := range []struct{ arch, kind, digest string }{
		{"smollm", "F32", "9caa406efc08d0df"},
		{"smollm", "Q8_0", "ca7dab87c62c9284"},
		{"qwen3", "Q8_0", "e8ef1ea7746a1bb4"},
		{"gemma3", "Q8_0", "c82ee720af9d53b9"},
	} {
		t.Run(c.arch+" "+c.kind, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "model.gguf")
			if err := localtest.WriteGGUF(file, localtest.Spec{Arch: c.arch, Seed: 1, Inner: 128}, c.kind); err != nil {
				t.Fatal(err)
			}
			h := sha256.New()
			for _, logits := range alone(t, loadGGUF(t, file), [][]int{tokens(50, 1)}, 5)[0] {
				if err := binary.Write(h, binary.LittleEndian, logits); err != nil {
					t.Fatal(err)
				}
			}
			if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != c.digest {
				t.Errorf("digest of the logits %s, want %s", got, c.digest)
			}
		})
	}
}

func loadGGUF(t *testing.T, file string) *network.Decoder {
	t.Helper()
	g, err := checkpoint.OpenGGUF(file)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	c, err := g.Config()
	if err != nil {
		t.Fatal(err)
	}
	w, err := g.Weights()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	d, err := network.LoadDecoder(c, w)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
