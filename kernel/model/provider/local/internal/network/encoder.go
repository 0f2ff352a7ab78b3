package network

import (
	"context"
	"errors"
	"fmt"

	"noema/kernel/model/provider/local/internal/checkpoint"
	"noema/kernel/model/provider/local/internal/matrix"
)

// Encoder is a BERT model: layers of the same parts as a decoder's, in which all
// tokens see each other, and whose norms come after attention and MLP. It is safe
// for concurrent use.
type Encoder struct {
	config    checkpoint.Config
	embedding *matrix.Matrix
	positions []float32 // [MaxContext, Hidden]; the first token type is added
	embedded  scaling   // of the embeddings
	layers    []layer
}

// LoadEncoder loads the weights of a BERT model.
func LoadEncoder(c checkpoint.Config, w *checkpoint.Weights) (*Encoder, error) {
	if c.Family != checkpoint.BERT {
		return nil, fmt.Errorf("load weights: a %s model makes text, not embeddings", c.Family)
	}
	if c.Types == 0 {
		return nil, errors.New("load weights: the config has no token types")
	}
	l := &reader{source: w, config: c}
	if w.Has("bert.embeddings.word_embeddings.weight") {
		l.prefix = "bert."
	}
	e := &Encoder{config: c}
	e.embedding = l.projection("embeddings.word_embeddings", c.Vocab, c.Hidden).weight
	e.positions = l.values("embeddings.position_embeddings.weight", c.MaxContext, c.Hidden)
	types := l.values("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	e.embedded = l.layerNorm("embeddings.LayerNorm", c.Hidden)
	for i := 0; i < c.Layers && l.err == nil; i++ {
		e.layers = append(e.layers, l.bertLayer(fmt.Sprintf("encoder.layer.%d.", i)))
	}
	if l.err != nil {
		return nil, l.err
	}
	for i := range e.positions {
		e.positions[i] += types[i%c.Hidden]
	}
	return e, nil
}

func (l *reader) bertLayer(name string) layer {
	hidden, inner := l.config.Hidden, l.config.Inner
	return layer{
		q:      l.projection(name+"attention.self.query", hidden, hidden),
		k:      l.projection(name+"attention.self.key", hidden, hidden),
		v:      l.projection(name+"attention.self.value", hidden, hidden),
		out:    l.projection(name+"attention.output.dense", hidden, hidden),
		first:  l.layerNorm(name+"attention.output.LayerNorm", hidden),
		up:     l.projection(name+"intermediate.dense", inner, hidden),
		down:   l.projection(name+"output.dense", hidden, inner),
		second: l.layerNorm(name+"output.LayerNorm", hidden),
	}
}

// Config describes the model.
func (e *Encoder) Config() checkpoint.Config { return e.config }

// Encode gives the hidden states of the last layer, [len(tokens), Hidden].
func (e *Encoder) Encode(ctx context.Context, tokens []int) ([]float32, error) {
	c, n := &e.config, len(tokens)
	if n == 0 || n > c.MaxContext {
		return nil, fmt.Errorf("encode: %d tokens, want 1 to %d", n, c.MaxContext)
	}
	x := make([]float32, n*c.Hidden)
	for i, token := range tokens {
		if token < 0 || token >= c.Vocab {
			return nil, fmt.Errorf("encode: token %d is not in the vocabulary of %d", token, c.Vocab)
		}
		e.embedding.Row(token, x[i*c.Hidden:(i+1)*c.Hidden])
	}
	add(x, e.positions[:len(x)])
	x = e.embedded.of(x, c.Hidden, c.Epsilon)
	for i := range e.layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := &e.layers[i]
		qkv := together(x, n, l.q, l.k, l.v)
		add(x, l.out.apply(e.attend(n, qkv[0], qkv[1], qkv[2]), n))
		x = l.first.of(x, c.Hidden, c.Epsilon)
		add(x, l.mlp(x, n, c.Activation))
		x = l.second.of(x, c.Hidden, c.Epsilon)
	}
	return x, nil
}

// attend gives the attention of n tokens, each of which sees all of them.
func (e *Encoder) attend(n int, q, k, v []float32) []float32 {
	c, out := &e.config, make([]float32, len(q))
	matrix.Parallel(c.Heads, func(head int) {
		var seen matrix.Memory
		place := func(token int) (from, to int) {
			from = (token*c.Heads + head) * c.HeadDim
			return from, from + c.HeadDim
		}
		for token := range n {
			from, to := place(token)
			seen.Append(k[from:to], v[from:to])
		}
		var a attention
		for token := range n {
			from, to := place(token)
			a.add(q[from:to], from, n-1, 0)
			if len(a.from) == queriesAtOnce || token == n-1 {
				a.flush(&seen, c, out)
			}
		}
	})
	return out
}
