package network_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/network"
)

// TestEngines holds that both engines say the same of every architecture: the same
// greedy tokens, and logits within 1e-3.
func TestEngines(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := localtest.Write(dir, v.Spec); err != nil {
				t.Fatal(err)
			}
			agree(t, load(t, dir, network.Native), load(t, dir, network.GoMLX), tokens(v.prompt, 1))
		})
	}
}

// TestEnginesReal does the same on a real file. Its weights are expanded for the
// native engine too, which otherwise rounds what meets them to 8 bits.
func TestEnginesReal(t *testing.T) {
	file := os.Getenv("NOEMA_TEST_GGUF")
	if file == "" {
		t.Skip("set NOEMA_TEST_GGUF to a GGUF file")
	}
	var decoders []*network.Decoder
	for _, e := range engines() {
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
		d, err := network.LoadDecoder(c, w, e)
		if err != nil {
			t.Fatal(err)
		}
		decoders = append(decoders, d)
	}
	network.Expand(t, decoders[0])
	for _, n := range []int{5, 100} {
		t.Run(fmt.Sprintf("%d tokens", n), func(t *testing.T) { agree(t, decoders[0], decoders[1], tokens(n, 1)) })
	}
}

// agree feeds both a prompt and the tokens that the first one likes best.
func agree(t *testing.T, a, b *network.Decoder, prompt []int) {
	t.Helper()
	one, other := &network.Sequence{}, &network.Sequence{}
	want, err := a.Prefill(one, prompt, never)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Prefill(other, prompt, never)
	if err != nil {
		t.Fatal(err)
	}
	var worst float64
	for step := range 20 {
		for i, w := range want {
			worst = max(worst, math.Abs(float64(got[i]-w)))
		}
		token := best(want)
		if best(got) != token {
			t.Fatalf("step %d: greedy token %d, the native engine has %d", step, best(got), token)
		}
		w, err := a.Next([]*network.Sequence{one}, []int{token})
		if err != nil {
			t.Fatal(err)
		}
		g, err := b.Next([]*network.Sequence{other}, []int{token})
		if err != nil {
			t.Fatal(err)
		}
		want, got = w[0], g[0]
	}
	if !(worst <= 1e-3) { // also if it is not a number
		t.Errorf("logits differ by up to %g", worst)
	}
	t.Logf("logits differ by up to %.2g", worst)
}
