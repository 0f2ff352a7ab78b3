package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend" // the default backend
	. "github.com/gomlx/gomlx/core/graph"  // see parts.go
	"github.com/gomlx/gomlx/core/tensors"

	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/matrix"
)

// goBackend is the pure Go backend, with its operations one after the other.
// Run in parallel, as is its default, they can deadlock: each
// holds a worker, and a large multiplication within one waits for another
// worker (compute v0.1.2, workerspool.Saturate).
const goBackend = "go:ops_sequential"

// Encoder is a BERT model. It is safe for concurrent use.
type Encoder struct {
	config  checkpoint.Config
	backend compute.Backend
	weights []*tensors.Tensor

	embedding *matrix.Matrix
	positions []float32 // [MaxContext, Hidden]; the first token type is added
	first     norm      // of the embeddings
	layers    []encoderLayer

	mu     sync.Mutex
	graphs map[int]*Exec // by padded number of tokens, each built at its first use
}

// encoderLayer is one layer: attention, then an MLP, each followed by a norm.
type encoderLayer struct {
	q, k, v, out, up, down linear
	first, second          norm // after attention and MLP
}

// LoadEncoder moves the weights of a BERT model to a backend.
func LoadEncoder(c checkpoint.Config, w *checkpoint.Weights) (*Encoder, error) {
	if c.Family != checkpoint.BERT {
		return nil, fmt.Errorf("load weights: a %s model makes text, not embeddings", c.Family)
	}
	b, err := compute.NewWithConfig(goBackend)
	if err != nil {
		return nil, fmt.Errorf("make backend %q: %w", goBackend, err)
	}
	l, to := &reader{source: w, config: c}, &loader{backend: b}
	if w.Has("bert.embeddings.word_embeddings.weight") {
		l.prefix = "bert."
	}
	e := &Encoder{config: c, backend: b, graphs: map[int]*Exec{}}
	e.embedding = l.projection("embeddings.word_embeddings", c.Vocab, c.Hidden).weight
	e.positions = l.values("embeddings.position_embeddings.weight", c.MaxContext, c.Hidden)
	types := l.values("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	if l.err == nil && c.Types == 0 {
		l.err = errors.New("load weights: the config has no token types")
	}
	e.first = to.scaling(l.layerNorm("embeddings.LayerNorm", c.Hidden))
	for i := 0; i < c.Layers && l.err == nil; i++ {
		e.layers = append(e.layers, l.encoderLayer(to, fmt.Sprintf("encoder.layer.%d.", i)))
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

func (l *reader) encoderLayer(to *loader, name string) encoderLayer {
	hidden, inner := l.config.Hidden, l.config.Inner
	return encoderLayer{
		q:      to.projection(l.projection(name+"attention.self.query", hidden, hidden)),
		k:      to.projection(l.projection(name+"attention.self.key", hidden, hidden)),
		v:      to.projection(l.projection(name+"attention.self.value", hidden, hidden)),
		out:    to.projection(l.projection(name+"attention.output.dense", hidden, hidden)),
		first:  to.scaling(l.layerNorm(name+"attention.output.LayerNorm", hidden)),
		up:     to.projection(l.projection(name+"intermediate.dense", inner, hidden)),
		down:   to.projection(l.projection(name+"output.dense", hidden, inner)),
		second: to.scaling(l.layerNorm(name+"output.LayerNorm", hidden)),
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
	n := padded(len(tokens))
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

// padded is a number of tokens that a graph is built for: a power of two.
func padded(n int) int {
	size := 8
	for size < n {
		size *= 2
	}
	return size
}

func (e *Encoder) run(n int, x, mask []float32) ([]float32, error) {
	exec, err := e.graph(n)
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
	states, err := tensors.CopyFlatData[float32](outs[0])
	_ = outs[0].FinalizeAll() // gives the buffer back at once; fails only where there is none
	return states, err
}

func (e *Encoder) graph(n int) (*Exec, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if exec := e.graphs[n]; exec != nil {
		return exec, nil
	}
	exec, err := NewExec(e.backend, func(in []*Node) []*Node { return []*Node{e.build(n, in)} })
	if err != nil {
		return nil, fmt.Errorf("build graph: %w", err)
	}
	e.graphs[n] = exec
	return exec, nil
}

func (e *Encoder) build(n int, in []*Node) *Node {
	c := e.config
	x, mask, weights := in[0], in[1], in[2:]
	h := heads{count: c.Heads, dim: c.HeadDim, tokens: n, scale: c.QueryScale}
	x = e.first.apply(weights, x, c.Epsilon)
	for i := range e.layers {
		l := &e.layers[i]
		q, k, v := l.q.apply(weights, x), l.k.apply(weights, x), l.v.apply(weights, x)
		y := l.out.apply(weights, h.attend(q, k, v, mask))
		x = l.first.apply(weights, Add(x, y), c.Epsilon)
		y = l.down.apply(weights, activated(l.up.apply(weights, x), c.Activation))
		x = l.second.apply(weights, Add(x, y), c.Epsilon)
	}
	return x
}
