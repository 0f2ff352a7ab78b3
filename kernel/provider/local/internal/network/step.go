package network

import (
	"fmt"
	"sync"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph" // see parts.go
	"github.com/gomlx/gomlx/core/tensors"

	"noema/kernel/provider/local/internal/checkpoint"
)

// step feeds either several tokens to one sequence or one to each of several,
// appends their keys and values to the caches, and gives the hidden states
// after the last block, [tokens, Hidden].
func (d *Decoder) step(batch []*Sequence, tokens []int) ([]float32, error) {
	k := shape{rows: len(batch), tokens: 1, past: places(batch[0].length)}
	if len(batch) == 1 {
		k.tokens = piece(len(tokens))
	}
	exec, err := d.steps.of(d.backend, k, func(in []*Node) []*Node { return d.build(k, in) })
	if err != nil {
		return nil, err
	}
	args, err := d.inputs(k, batch, tokens)
	if err != nil {
		return nil, err
	}
	for _, w := range d.weights {
		args = append(args, w)
	}
	outs, err := exec.Call(args...)
	if err != nil {
		return nil, fmt.Errorf("run %d×%d tokens after %d: %w", k.rows, k.tokens, k.past, err)
	}
	defer release(outs)
	if err := d.remember(batch, outs[1:], len(tokens)/len(batch)); err != nil {
		return nil, err
	}
	return tensors.CopyFlatData[float32](outs[0])
}

// release gives buffers back to the backend at once, for the next step.
func release(ts []*tensors.Tensor) {
	for _, t := range ts {
		_ = t.FinalizeAll() // fails only where there is nothing to release
	}
}

// graphs are the compiled graphs of one kind, each built at its first use.
type graphs[K comparable] struct {
	mu    sync.Mutex
	known map[K]*Exec
}

func (g *graphs[K]) of(b compute.Backend, key K, build func(in []*Node) []*Node) (*Exec, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.known[key]; e != nil {
		return e, nil
	}
	e, err := NewExec(b, build)
	if err != nil {
		return nil, fmt.Errorf("build graph: %w", err)
	}
	if g.known == nil {
		g.known = map[K]*Exec{}
	}
	g.known[key] = e
	return e, nil
}

// logits normalises hidden states, [rows, Hidden], and scores the vocabulary.
func (d *Decoder) logits(states []float32, rows int) ([][]float32, error) {
	ids := d.headWeights()
	exec, err := d.heads.of(d.backend, rows, func(in []*Node) []*Node {
		weights := make([]*Node, len(d.weights))
		for i, id := range ids {
			weights[id] = in[1+i]
		}
		return []*Node{d.head.apply(weights, d.final.apply(weights, in[0], d.config.Epsilon))}
	})
	if err != nil {
		return nil, err
	}
	args := []any{tensors.FromFlatDataAndDimensions(states[:rows*d.config.Hidden], rows, d.config.Hidden)}
	for _, id := range ids {
		args = append(args, d.weights[id])
	}
	outs, err := exec.Call(args...)
	if err != nil {
		return nil, fmt.Errorf("run the output layer: %w", err)
	}
	defer release(outs)
	flat, err := tensors.CopyFlatData[float32](outs[0])
	if err != nil {
		return nil, err
	}
	byRow := make([][]float32, rows)
	for i := range byRow {
		byRow[i] = flat[i*d.config.Vocab : (i+1)*d.config.Vocab]
	}
	return byRow, nil
}

// headWeights are the weights of the output layer and the norm before it.
func (d *Decoder) headWeights() []weightID {
	ids := append([]weightID{d.final.weight}, d.head.parts...)
	for _, id := range []weightID{d.final.bias, d.head.bias} {
		if id != none {
			ids = append(ids, id)
		}
	}
	return ids
}

// inputs are a step's inputs but for the weights; build takes them in the same
// order.
func (d *Decoder) inputs(k shape, batch []*Sequence, tokens []int) ([]any, error) {
	c := d.config
	n := k.rows * k.tokens
	x := make([]float32, n*c.Hidden)
	var cos, sin []float32
	for i := range n {
		at := batch[0].length + i
		if k.rows > 1 {
			at = batch[i].length
		}
		if i < len(tokens) {
			if err := d.embed(x[i*c.Hidden:(i+1)*c.Hidden], tokens[i], at); err != nil {
				return nil, err
			}
		}
		cos, sin = angles(cos, sin, d.frequencies, at)
	}
	args := []any{tensors.FromFlatDataAndDimensions(x, n, c.Hidden)}
	if d.frequencies != nil {
		args = append(args, tensors.FromFlatDataAndDimensions(cos, n, 1, c.HeadDim/2),
			tensors.FromFlatDataAndDimensions(sin, n, 1, c.HeadDim/2))
	}
	if k.tokens > 1 {
		args = append(args, d.selfMask(k.tokens))
	}
	if k.past > 0 {
		for _, s := range batch {
			args = append(args, d.pastMask(k, s.length))
		}
		for i := range d.blocks {
			for _, s := range batch {
				args = append(args, s.keys[i], s.values[i])
			}
		}
	}
	return args, nil
}

// embed writes a token's embedding at a position.
func (d *Decoder) embed(x []float32, token, position int) error {
	err := lookUp(x, d.weights, d.embedding, token, d.config)
	if d.positions != nil {
		for i, p := range d.positions[position*d.config.Hidden : (position+1)*d.config.Hidden] {
			x[i] += p
		}
	}
	return err
}

// lookUp copies a token's row of an embedding, which is cut into parts.
func lookUp(x []float32, weights []*tensors.Tensor, embedding []weightID, token int, c checkpoint.Config) error {
	step := rowsOfPart(c.Vocab, c.Hidden)
	row := token % step * c.Hidden
	return weights[embedding[token/step]].ConstFlatData(func(flat any) { copy(x, flat.([]float32)[row:]) })
}

// selfMask hides from each new token those after it and those beyond the
// window.
func (d *Decoder) selfMask(n int) *tensors.Tensor {
	m := make([]float32, n*n)
	for i := range n {
		for j := range n {
			if j > i || d.beyond(i-j) {
				m[i*n+j] = hidden
			}
		}
	}
	return tensors.FromFlatDataAndDimensions(m, 1, n, n)
}

// pastMask hides from each new token the empty places of the cache and those
// beyond the window.
func (d *Decoder) pastMask(k shape, length int) *tensors.Tensor {
	m := make([]float32, k.tokens*k.past)
	for i := range k.tokens {
		for j := range k.past {
			if j >= length || d.beyond(length+i-j) {
				m[i*k.past+j] = hidden
			}
		}
	}
	return tensors.FromFlatDataAndDimensions(m, 1, k.tokens, k.past)
}

func (d *Decoder) beyond(distance int) bool {
	return d.config.Window > 0 && distance >= d.config.Window
}
