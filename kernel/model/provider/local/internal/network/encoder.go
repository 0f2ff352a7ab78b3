package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph" // see parts.go
	"github.com/gomlx/gomlx/core/tensors"

	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/matrix"
)

// Encoder is a BERT model. It is safe for concurrent use.
type Encoder struct {
	config  checkpoint.Config
	backend compute.Backend
	weights []*tensors.Tensor

	embedding *matrix.Matrix
	positions []float32    // [MaxContext, Hidden]; the first token type is added
	first     norm         // of the embeddings
	layers    []graphLayer // whose norms come after attention and MLP

	graphs graphs[int] // by padded number of tokens
}

// LoadEncoder moves the weights of a BERT model to a backend.
func LoadEncoder(b compute.Backend, c checkpoint.Config, w *checkpoint.Weights) (*Encoder, error) {
	if c.Family != checkpoint.BERT {
		return nil, fmt.Errorf("load weights: a %s model makes text, not embeddings", c.Family)
	}
	l, to := &reader{source: w, config: c}, &loader{backend: b}
	if w.Has("bert.embeddings.word_embeddings.weight") {
		l.prefix = "bert."
	}
	e := &Encoder{config: c, backend: b}
	e.embedding = l.projection("embeddings.word_embeddings", c.Vocab, c.Hidden).weight
	e.positions = l.values("embeddings.position_embeddings.weight", c.MaxContext, c.Hidden)
	types := l.values("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	if l.err == nil && c.Types == 0 {
		l.err = errors.New("load weights: the config has no token types")
	}
	e.first = to.scaling(l.layerNorm("embeddings.LayerNorm", c.Hidden))
	for i := 0; i < c.Layers && l.err == nil; i++ {
		next := l.bertLayer(fmt.Sprintf("encoder.layer.%d.", i))
		e.layers = append(e.layers, to.layer(&next, 0))
	}
	if err := cmp.Or(l.err, to.err); err != nil {
		return nil, err
	}
	for i := range e.positions {
		e.positions[i] += types[i%c.Hidden]
	}
	e.weights = to.weights
	return e, nil
}

func (l *reader) bertLayer(name string) layer {
	c := l.config
	return layer{
		q:      l.projection(name+"attention.self.query", c.Hidden, c.Hidden),
		k:      l.projection(name+"attention.self.key", c.Hidden, c.Hidden),
		v:      l.projection(name+"attention.self.value", c.Hidden, c.Hidden),
		out:    l.projection(name+"attention.output.dense", c.Hidden, c.Hidden),
		first:  l.layerNorm(name+"attention.output.LayerNorm", c.Hidden),
		up:     l.projection(name+"intermediate.dense", c.Inner, c.Hidden),
		down:   l.projection(name+"output.dense", c.Hidden, c.Inner),
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
		e.embedding.Row(tokens[i], row)
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
	outs, err := exec.Call(withWeights(args, e.weights)...)
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
	for i := range e.layers {
		l := &e.layers[i]
		q, k, v := l.q.apply(weights, x), l.k.apply(weights, x), l.v.apply(weights, x)
		y := l.out.apply(weights, h.attend(q, k, v, nil, masked{self: mask}))
		x = l.first.apply(weights, Add(x, y), c.Epsilon)
		y = l.down.apply(weights, activated(l.up.apply(weights, x), c.Activation))
		x = l.second.apply(weights, Add(x, y), c.Epsilon)
	}
	return x
}
