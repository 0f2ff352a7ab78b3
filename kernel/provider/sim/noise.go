package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"noema/methods"
)

// reading is a kind of elementary reading, each with an error rate. Its
// number goes into the hash: it never changes, and new readings come last.
type reading int

const (
	extract reading = iota
	build
	judge
	rank
	read
	format
	compile
	latency // no reading, but drawn from the same hash
	label
	step
	undo
	readings
)

// noise decides which readings of one request go wrong. It is a pure function
// of the request.
type noise struct {
	base  uint64
	rates [readings]float64
}

func newNoise(rates [readings]float64, r methods.Request) noise {
	h := sha256.New()
	add(h, version)
	addInt(h, r.Sampling.Seed)
	addInt(h, uint64(r.Draw))
	for _, m := range r.Messages {
		add(h, string(m.Role))
		add(h, m.Content)
		add(h, m.CallID)
		for _, c := range m.ToolCalls {
			add(h, c.Name)
			add(h, string(c.Arguments))
		}
		add(h, "end of message")
	}
	if r.Schema != nil {
		add(h, string(r.Schema.JSON))
	}
	for _, t := range r.Tools {
		add(h, t.Name)
	}
	return noise{binary.LittleEndian.Uint64(h.Sum(nil)), rates}
}

// add writes s with its length, so that no two lists of texts look alike.
func add(h hash.Hash, s string) {
	addInt(h, uint64(len(s)))
	_, _ = h.Write([]byte(s))
}

func addInt(h hash.Hash, x uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x)
	_, _ = h.Write(b[:])
}

// errs reports whether the reading at a place goes wrong.
func (n noise) errs(r reading, place ...int) bool {
	return float64(n.at(r, place)>>11)/(1<<53) < n.rates[r]
}

// below is a number in [0, limit) that belongs to a place: how an error looks.
func (n noise) below(limit int, r reading, place ...int) int {
	return int(n.at(r+1<<8, place) % uint64(limit))
}

func (n noise) at(r reading, place []int) uint64 {
	x := mix(n.base ^ uint64(r))
	for _, p := range place {
		x = mix(x ^ uint64(p))
	}
	return x
}

// mix is the step and finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
