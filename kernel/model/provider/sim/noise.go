package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/fnv"

	"noema/methods"
)

// reading is a kind of elementary step, each with an error rate.
type reading int

const (
	request reading = iota // what is asked for: one condition, formula, step, hop or fact of it
	judge                  // what data say: one value held to one condition, one field of one text
	compute                // what is worked out without a machine: one value, one place of a ranking
	write                  // what is written for a machine to run: one step of it
	format                 // the form of the reply
	latency                // no step, but drawn in the same way
	readings
)

// noise decides which steps of one request go wrong. It is a pure function of the
// request.
type noise struct {
	sample  uint64 // of the sampling seed, the draw and the attempt
	whole   uint64 // of the whole request
	rates   [readings]float64
	attempt int // how often the prompt was asked again
}

func newNoise(rates [readings]float64, r methods.Request) noise {
	h := sha256.New()
	add(h, version)
	addInt(h, r.Sampling.Seed)
	addInt(h, uint64(r.Draw))
	n := noise{sample: sum(h), rates: rates}
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
	n.whole = sum(h)
	return n
}

func sum(h hash.Hash) uint64 { return binary.LittleEndian.Uint64(h.Sum(nil)) }

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

// errs reports whether a step goes wrong. A fact names what the step is about, in
// numbers and texts: where methods read the same fact for the same sample, they read
// it alike, in whichever prompt.
func (n noise) errs(r reading, fact ...any) bool {
	return float64(n.at(r, 0, fact)>>11)/(1<<53) < n.rates[r]
}

// below is a number in [0, limit) that belongs to a fact: how an error looks. which
// tells the numbers of one fact apart.
func (n noise) below(limit int, r reading, which int, fact ...any) int {
	return int(n.at(r, which+1, fact) % uint64(limit))
}

func (n noise) at(r reading, which int, fact []any) uint64 {
	x := n.whole
	if r <= compute {
		x = mix(n.sample ^ uint64(n.attempt))
	}
	x = mix(mix(x^uint64(r)) ^ uint64(which))
	for _, f := range fact {
		switch f := f.(type) {
		case int:
			x = mix(x ^ uint64(f))
		case string:
			h := fnv.New64a()
			_, _ = h.Write([]byte(f))
			x = mix(x ^ h.Sum64())
		}
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
