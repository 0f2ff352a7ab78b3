// Package network runs the models of package checkpoint: decoders, which
// continue token sequences, and encoders, which embed texts. Decoders run on the
// kernels of package matrix, encoders on GoMLX, with weights expanded to 32 bits.
//
// # Same bits
//
// What a sequence gets depends on its own tokens alone: not on the number of
// threads, nor on the sequences that share its steps, nor on the pieces that it
// was fed in. Every sum is taken in an order that the model alone gives (see
// package matrix). Tests check it.
package network

import (
	"errors"
	"fmt"
	"math"

	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/matrix"
)

// Decoder is a model that continues token sequences. It is safe for
// concurrent use; a Sequence is not.
type Decoder struct {
	config    checkpoint.Config
	embedding *matrix.Matrix
	positions []float32 // learned ones of GPT-2, [MaxContext, Hidden]
	final     scaling
	layers    []layer
	head      projection
}

// layer is one layer of a decoder.
type layer struct {
	first, second        scaling // before attention and MLP
	afterFirst, afterMLP scaling // of their results, in gemma3
	q, k, v, out         projection
	qNorm, kNorm         scaling // of single heads, in qwen3 and gemma3
	gate, up, down       projection
	window               int // positions that a token sees back, itself included; 0 for all
	frequencies          []float32
}

// piece is how many tokens of a prompt are fed at a time: enough for matrices to
// be read seldom, and few enough to stop soon.
const piece = 256

// MaxRows is the most sequences that should share a step.
const MaxRows = 16

// Sequence is the memory of one token sequence. The zero value is an empty one.
type Sequence struct {
	length int
	heads  []matrix.Memory // by layer and head
}

// Len is how many tokens the sequence has seen.
func (s *Sequence) Len() int { return s.length }

// Cut gives a copy that has seen the first n tokens only. The two share their
// memory of them.
func (s *Sequence) Cut(n int) *Sequence {
	c := &Sequence{length: n}
	for i := range s.heads {
		c.heads = append(c.heads, s.heads[i].Cut(n))
	}
	return c
}

// Bytes is about how much memory the sequence takes, if it shares none.
func (s *Sequence) Bytes() int {
	n := 0
	for i := range s.heads {
		n += s.heads[i].Bytes()
	}
	return n
}

// Prefill feeds tokens to a sequence and gives the logits of what follows the
// last of them. stop is asked between pieces; it ends the work with its error.
func (d *Decoder) Prefill(s *Sequence, tokens []int, stop func() error) ([]float32, error) {
	if len(tokens) == 0 {
		return nil, errors.New("prefill: no tokens")
	}
	var last []float32
	for len(tokens) > 0 {
		if err := stop(); err != nil {
			return nil, err
		}
		n := min(len(tokens), piece)
		rows := make([]row, n)
		for i := range rows {
			rows[i] = row{s, s.length + i}
		}
		states, err := d.step(rows, tokens[:n])
		if err != nil {
			return nil, fmt.Errorf("prefill: %w", err)
		}
		last = states[(n-1)*d.config.Hidden : n*d.config.Hidden]
		tokens = tokens[n:]
	}
	return d.logits(last, 1)[0], nil
}

// Next feeds one token to each sequence and gives the logits of what follows,
// by sequence. The sequences must be different and must all have seen tokens.
func (d *Decoder) Next(sequences []*Sequence, tokens []int) ([][]float32, error) {
	rows := make([]row, len(sequences))
	for i, s := range sequences {
		rows[i] = row{s, s.length}
	}
	states, err := d.step(rows, tokens)
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return d.logits(states, len(rows)), nil
}

// row is a new token's place: a sequence and a position in it.
type row struct {
	*Sequence
	at int
}

// step feeds a token to each row, rows of one sequence in order, and gives the
// states after the last layer, [rows, Hidden].
func (d *Decoder) step(rows []row, tokens []int) ([]float32, error) {
	c := &d.config
	x := make([]float32, len(rows)*c.Hidden)
	for i, r := range rows {
		if r.at >= c.MaxContext {
			return nil, fmt.Errorf("a token after %d does not fit a context of %d", r.at, c.MaxContext)
		}
		if err := d.embed(x[i*c.Hidden:(i+1)*c.Hidden], tokens[i], r.at); err != nil {
			return nil, err
		}
	}
	for _, r := range rows {
		if r.heads == nil {
			r.heads = make([]matrix.Memory, len(d.layers)*c.KVHeads)
		}
	}
	for i := range d.layers {
		d.layer(i, rows, x)
	}
	for _, r := range rows {
		r.length = r.at + 1
	}
	return x, nil
}

// embed writes a token's embedding at a position.
func (d *Decoder) embed(x []float32, token, position int) error {
	if token < 0 || token >= d.config.Vocab {
		return fmt.Errorf("token %d is not in the vocabulary of %d", token, d.config.Vocab)
	}
	d.embedding.Row(token, x)
	if scale := float32(d.config.EmbeddingScale); scale != 0 {
		for i := range x {
			x[i] *= scale
		}
	}
	if d.positions != nil {
		for i, p := range d.positions[position*d.config.Hidden : (position+1)*d.config.Hidden] {
			x[i] += p
		}
	}
	return nil
}

// logits normalises states, [n, Hidden], and scores the vocabulary.
func (d *Decoder) logits(states []float32, n int) [][]float32 {
	c := &d.config
	scores := d.head.apply(d.final.of(states, c.Hidden, c.Epsilon), n)
	byRow := make([][]float32, n)
	for i := range byRow {
		byRow[i] = scores[i*c.Vocab : (i+1)*c.Vocab]
		if c.LogitCap > 0 {
			for j, v := range byRow[i] {
				byRow[i][j] = float32(c.LogitCap * math.Tanh(float64(v)/c.LogitCap))
			}
		}
	}
	return byRow
}
