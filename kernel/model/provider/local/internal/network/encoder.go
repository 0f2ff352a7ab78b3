package network

import (
	"context"
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph" // see parts.go
	"github.com/gomlx/gomlx/core/tensors"

	"noema/kernel/model/provider/local/internal/checkpoint"
)

// Encoder is a BERT model. It is safe for concurrent use.
type Encoder struct {
	config  checkpoint.Config
	backend compute.Backend
	weights []*tensors.Tensor

	embedding []weightID
	positions []float32 // [MaxContext, Hidden]; the first token type is added
	first     norm      // of the embeddings
	blocks    []block

	graphs graphs[int] // by padded number of tokens
}

// LoadEncoder moves the weights of a BERT model to a backend.
func LoadEncoder(b compute.Backend, c checkpoint.Config, w *checkpoint.Weights) (*Encoder, error) {
	if c.Family != checkpoint.BERT {
		return nil, fmt.Errorf("load weights: a %s model makes text, not embeddings", c.Family)
	}
	l := &loader{backend: b, source: w, config: c}
	if w.Has("bert.embeddings.word_embeddings.weight") {
		l.prefix = "bert."
	}
	e := &Encoder{config: c, backend: b}
	e.embedding = l.split(l.read("embeddings.word_embeddings.weight", c.Vocab, c.Hidden), c.Vocab, c.Hidden)
	e.positions = l.read("embeddings.position_embeddings.weight", c.MaxContext, c.Hidden)
	types := l.read("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	if l.err == nil && c.Types == 0 {
		l.err = errors.New("load weights: the config has no token types")
	}
	e.first = l.layerNorm("embeddings.LayerNorm", c.Hidden)
	for i := 0; i < c.Layers && l.err == nil; i++ {
		e.blocks = append(e.blocks, l.bertBlock(fmt.Sprintf("encoder.layer.%d.", i)))
	}
	if l.err != nil {
		return nil, l.err
	}
	for i := range e.positions {
		e.positions[i] += types[i%c.Hidden]
	}
	e.weights = l.weights
	return e, nil
}

func (l *loader) bertBlock(name string) block {
	c := l.config
	return block{
		q:      l.linear(name+"attention.self.query", c.Hidden, c.Hidden),
		k:      l.linear(name+"attention.self.key", c.Hidden, c.Hidden),
		v:      l.linear(name+"attention.self.value", c.Hidden, c.Hidden),
		out:    l.linear(name+"attention.output.dense", c.Hidden, c.Hidden),
		first:  l.layerNorm(name+"attention.output.LayerNorm", c.Hidden),
		up:     l.linear(name+"intermediate.dense", c.Inner, c.Hidden),
		down:   l.linear(name+"output.dense", c.Hidden, c.Inner),
		second: l.layerNorm(name+"output.LayerNorm", c.Hidden),
	}
}

// Config describes the model.
func (e *Encoder) Config() checkpoint.Config { return e.config }

// Encode gives the hidden states of the last layer, [len(tokens), Hidden].
func (e *Encoder) Encode(ctx context.Context, tokens []int) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := e.config
	if len(tokens) == 0 || len(tokens) > c.MaxContext {
		return nil, fmt.Errorf("encode: %d tokens, want 1 to %d", len(tokens), c.MaxContext)
	}
	n := piece(max(len(tokens), minPiece))
	x, mask := make([]float32, n*c.Hidden), make([]float32, n)
	for i := range n {
		if i >= len(tokens) {
			mask[i] = hidden
			continue
		}
		if tokens[i] < 0 || tokens[i] >= c.Vocab {
			return nil, fmt.Errorf("encode: token %d is not in the vocabulary of %d", tokens[i], c.Vocab)
		}
		row := x[i*c.Hidden : (i+1)*c.Hidden]
		if err := lookUp(row, e.weights, e.embedding, tokens[i], c); err != nil {
			return nil, fmt.Errorf("encode: %w", err)
		}
		for j := range row {
			row[j] += e.positions[i*c.Hidden+j]
		}
	}
	states, err := e.run(n, x, mask)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return states[:len(tokens)*c.Hidden], nil
}

func (e *Encoder) run(n int, x, mask []float32) ([]float32, error) {
	exec, err := e.graphs.of(e.backend, n, func(in []*Node) []*Node { return []*Node{e.build(n, in)} })
	if err != nil {
		return nil, err
	}
	args := []any{
		tensors.FromFlatDataAndDimensions(x, n, e.config.Hidden),
		tensors.FromFlatDataAndDimensions(mask, 1, 1, n),
	}
	for _, w := range e.weights {
		args = append(args, w)
	}
	outs, err := exec.Call(args...)
	if err != nil {
		return nil, err
	}
	defer release(outs)
	return tensors.CopyFlatData[float32](outs[0])
}

func (e *Encoder) build(n int, in []*Node) *Node {
	c := e.config
	x, mask, weights := in[0], in[1], in[2:]
	h := heads{kv: c.Heads, group: 1, dim: c.HeadDim, tokens: n, scale: c.QueryScale}
	x = e.first.apply(weights, x, c.Epsilon)
	for i := range e.blocks {
		b := &e.blocks[i]
		q, k, v := b.q.apply(weights, x), b.k.apply(weights, x), b.v.apply(weights, x)
		y := b.out.apply(weights, h.attend(q, k, v, nil, nil, masked{self: mask}))
		x = b.first.apply(weights, Add(x, y), c.Epsilon)
		x = b.second.apply(weights, Add(x, b.mlp(weights, x, c.Activation)), c.Epsilon)
	}
	return x
}
