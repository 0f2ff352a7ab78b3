package network_test

import (
	"math/rand/v2"
	"testing"

	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/network"
)

// engines are those that every test of decoders runs on.
func engines() []network.Engine { return []network.Engine{network.Native, network.GoMLX} }

// load loads a decoder for an engine.
func load(t testing.TB, dir string, e network.Engine) *network.Decoder {
	t.Helper()
	c, err := checkpoint.ReadConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := checkpoint.OpenWeights(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	d, err := network.LoadDecoder(c, w, e)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// tokens makes a prompt of n tokens.
func tokens(n int, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 7))
	ids := make([]int, n)
	for i := range ids {
		ids[i] = rng.IntN(300)
	}
	return ids
}
