// Package network runs the models of package checkpoint on GoMLX: decoders,
// which continue token sequences, and encoders, which embed texts.
//
// A decoder's work is cut into steps. A step takes some new tokens of one
// sequence, or one new token of each of several, and gives their last hidden
// states; what the sequences remember, the keys and values of their past, lies
// in caches outside the graph. A graph is compiled once for each number of
// rows, of new tokens and of cache places, all of which come in few sizes.
//
// # Same bits
//
// What a sequence gets depends on its own tokens alone: not on the number of
// threads, nor on the sequences that share its steps. The first holds because
// no sum is split between threads. The second holds because sequences share a
// step only if their caches have the same size, attention is computed apart
// for each, and multiplications are kept below the size at which the backend
// changes the order of its sums (see partSize). Tests check both.
//
// Builds with and without GOEXPERIMENT=simd, other processor architectures and
// other backends add in other orders; their results differ in the last bits.
//
// # Speed
//
// BenchmarkModel measures it beside llama.cpp and transformers. With 135 M
// parameters in 32 bits, on one thread of a busy Xeon at 2.5 GHz with AVX-512,
// a build with GOEXPERIMENT=simd read a prompt of 512 tokens at 50 tokens a
// second and wrote 10 (eight replies at once: 30); llama.cpp read 139 and
// wrote 15, transformers 112 and 8. Writing is bound by memory, which has to
// give all weights for each token. Without GOEXPERIMENT=simd it was 7 and 6,
// and eight replies at once got 4.
package network

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"

	"noema/kernel/provider/local/internal/checkpoint"
)

// Decoder is a model that continues token sequences. It is safe for
// concurrent use; a Sequence is not.
type Decoder struct {
	config  checkpoint.Config
	backend compute.Backend
	weights []*tensors.Tensor

	embedding   []weightID
	positions   []float32 // learned ones of GPT-2, [MaxContext, Hidden]
	frequencies []float32 // of rotary ones
	blocks      []block
	final       norm
	head        linear

	steps graphs[shape]
	heads graphs[int] // by rows
}

// shape is what a step's graph is compiled for.
type shape struct{ rows, tokens, past int }

// The sizes. A prompt is taken in pieces of at most maxPiece tokens, the last
// one padded to a power of two. Caches double from minCache on.
const (
	maxPiece = 256
	minPiece = 8
	minCache = 128
)

// MaxRows is the most sequences that share a step.
const MaxRows = 8

// Sequence is the memory of one token sequence.
type Sequence struct {
	length       int
	size         int               // places in the caches
	keys, values []*tensors.Tensor // by layer, [KVHeads, size, HeadDim]
}

// Prefill feeds tokens to a sequence and gives the logits of what follows the
// last of them. stop is asked between pieces; it ends the work with its error.
func (d *Decoder) Prefill(s *Sequence, tokens []int, stop func() error) ([]float32, error) {
	if len(tokens) == 0 {
		return nil, errors.New("prefill: no tokens")
	}
	if err := d.check(s, tokens); err != nil {
		return nil, fmt.Errorf("prefill: %w", err)
	}
	var last []float32
	for len(tokens) > 0 {
		if err := stop(); err != nil {
			return nil, err
		}
		n := min(len(tokens), maxPiece)
		states, err := d.step([]*Sequence{s}, tokens[:n])
		if err != nil {
			return nil, fmt.Errorf("prefill: %w", err)
		}
		last = states[(n-1)*d.config.Hidden : n*d.config.Hidden]
		tokens = tokens[n:]
	}
	logits, err := d.logits(last, 1)
	if err != nil {
		return nil, fmt.Errorf("prefill: %w", err)
	}
	return logits[0], nil
}

// Next feeds one token to each sequence and gives the logits of what follows,
// by sequence. The sequences must be different and must all have seen tokens.
func (d *Decoder) Next(sequences []*Sequence, tokens []int) ([][]float32, error) {
	results := make([][]float32, len(sequences))
	for i, s := range sequences {
		if err := d.check(s, tokens[i:i+1]); err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
	}
	for _, group := range groups(sequences) {
		batch, fed := make([]*Sequence, len(group)), make([]int, len(group))
		for i, at := range group {
			batch[i], fed[i] = sequences[at], tokens[at]
		}
		states, err := d.step(batch, fed)
		if err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		logits, err := d.logits(states, len(group))
		if err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		for i, at := range group {
			results[at] = logits[i]
		}
	}
	return results, nil
}

// groups gathers the indices of sequences whose caches have the same size,
// in groups of 8, 4, 2 or 1.
func groups(sequences []*Sequence) [][]int {
	var all [][]int
	bySize := map[int][]int{}
	var sizes []int
	for i, s := range sequences {
		size := places(s.length)
		if bySize[size] == nil {
			sizes = append(sizes, size)
		}
		bySize[size] = append(bySize[size], i)
	}
	for _, size := range sizes {
		rest := bySize[size]
		for n := MaxRows; len(rest) > 0; {
			for n > len(rest) {
				n /= 2
			}
			all, rest = append(all, rest[:n]), rest[n:]
		}
	}
	return all
}

func (d *Decoder) check(s *Sequence, tokens []int) error {
	if s.length+len(tokens) > d.config.MaxContext {
		return fmt.Errorf("%d tokens after %d do not fit a context of %d", len(tokens), s.length, d.config.MaxContext)
	}
	for _, t := range tokens {
		if t < 0 || t >= d.config.Vocab {
			return fmt.Errorf("token %d is not in the vocabulary of %d", t, d.config.Vocab)
		}
	}
	return nil
}

// places is the cache size for n tokens. It depends on n alone, so a sequence
// takes the same graphs however it is served.
func places(n int) int {
	if n == 0 {
		return 0
	}
	size := minCache
	for size < n {
		size *= 2
	}
	return size
}

// piece is the padded number of new tokens.
func piece(n int) int {
	if n == 1 {
		return 1
	}
	size := minPiece
	for size < n {
		size *= 2
	}
	return size
}
