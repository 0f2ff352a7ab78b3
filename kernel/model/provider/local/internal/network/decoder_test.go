package network_test

import (
	"math/rand/v2"
	"testing"

	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/network"
)

// load loads a decoder.
func load(t testing.TB, dir string) *network.Decoder {
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
	d, err := network.LoadDecoder(c, w)
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
