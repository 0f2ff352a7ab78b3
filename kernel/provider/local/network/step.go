package network

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	. "github.com/gomlx/gomlx/core/graph" //nolint:staticcheck // see parts.go
	"github.com/gomlx/gomlx/core/tensors"
)

// step feeds either several tokens to one sequence or one to each of several,
// appends their keys and values to the caches, and gives the hidden states
// after the last block, [tokens, Hidden].
func (d *Decoder) step(batch []*Sequence, tokens []int) ([]float32, error) {
	k := shape{rows: len(batch), tokens: 1, past: places(batch[0].length)}
	if len(batch) == 1 {
		k.tokens = piece(len(tokens))
	}
	exec, err := d.compiled(k)
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
	outs, err := exec.Exec(args...)
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

// compiled gives the graph of a shape, built at its first use.
func (d *Decoder) compiled(k shape) (*graph.Exec, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.steps[k]; e != nil {
		return e, nil
	}
	e, err := graph.NewExec(d.backend, func(in []*Node) []*Node { return d.build(k, in) })
	if err != nil {
		return nil, fmt.Errorf("build graph: %w", err)
	}
	if d.steps == nil {
		d.steps = map[shape]*graph.Exec{}
	}
	d.steps[k] = e
	return e, nil
}

// logits normalises hidden states, [rows, Hidden], and scores the vocabulary.
func (d *Decoder) logits(states []float32, rows int) ([][]float32, error) {
	exec, err := d.compiledHead(rows)
	if err != nil {
		return nil, err
	}
	args := []any{tensors.FromFlatDataAndDimensions(states[:rows*d.config.Hidden], rows, d.config.Hidden)}
	for _, id := range d.headWeights() {
		args = append(args, d.weights[id])
	}
	outs, err := exec.Exec(args...)
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

// headWeights are the inputs of the output layer's graph.
func (d *Decoder) headWeights() []weightID {
	ids := append([]weightID{d.final.weight}, d.head.parts...)
	for _, id := range []weightID{d.final.bias, d.head.bias} {
		if id != none {
			ids = append(ids, id)
		}
	}
	return ids
}

func (d *Decoder) compiledHead(rows int) (*graph.Exec, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.heads[rows]; e != nil {
		return e, nil
	}
	ids := d.headWeights()
	e, err := graph.NewExec(d.backend, func(in []*Node) []*Node {
		weights := make([]*Node, len(d.weights))
		for i, id := range ids {
			weights[id] = in[1+i]
		}
		return []*Node{d.head.apply(weights, d.final.apply(weights, in[0], d.config.Epsilon))}
	})
	if err != nil {
		return nil, fmt.Errorf("build graph: %w", err)
	}
	if d.heads == nil {
		d.heads = map[int]*graph.Exec{}
	}
	d.heads[rows] = e
	return e, nil
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
	step := rowsOfPart(d.config.Vocab, d.config.Hidden)
	row := token % step * d.config.Hidden
	err := d.weights[d.embedding[token/step]].ConstFlatData(func(flat any) { copy(x, flat.([]float32)[row:]) })
	if d.positions != nil {
		for i, p := range d.positions[position*d.config.Hidden : (position+1)*d.config.Hidden] {
			x[i] += p
		}
	}
	return err
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

// build makes the graph of a step. It gives the hidden states, [N, Hidden],
// and each block's keys and values, [N, KVHeads·HeadDim].
func (d *Decoder) build(k shape, in []*Node) []*Node {
	take := func() *Node {
		n := in[0]
		in = in[1:]
		return n
	}
	g := pass{decoder: d, shape: k, x: take()}
	if d.frequencies != nil {
		g.cos, g.sin = take(), take()
	}
	masks := make([]masked, k.rows)
	if k.tokens > 1 {
		masks[0].self = take()
	}
	if k.past > 0 {
		for i := range masks {
			masks[i].past = take()
		}
	}
	caches := make([][]*Node, len(d.blocks))
	if k.past > 0 {
		for i := range caches {
			caches[i], in = in[:2*k.rows], in[2*k.rows:]
		}
	}
	g.masks, g.weights = masks, in
	var remembered []*Node
	for i := range d.blocks {
		keys, values := g.block(&d.blocks[i], caches[i])
		remembered = append(remembered, keys, values)
	}
	return append([]*Node{g.x}, remembered...)
}

// pass is the graph of a step while it is built.
type pass struct {
	decoder  *Decoder
	shape    shape
	weights  []*Node
	x        *Node // the residual stream, [N, Hidden]
	cos, sin *Node
	masks    []masked // by row
}

// block adds one block and gives its keys and values.
func (g *pass) block(b *block, cache []*Node) (keys, values *Node) {
	c := g.decoder.config
	x := b.first.apply(g.weights, g.x, c.Epsilon)
	q := g.turn(b.q.apply(g.weights, x), b.qNorm, c.Heads)
	keys = g.turn(b.k.apply(g.weights, x), b.kNorm, c.KVHeads)
	values = b.v.apply(g.weights, x)
	x = b.out.apply(g.weights, g.attend(q, keys, values, cache))
	g.x = Add(g.x, x)
	x = b.second.apply(g.weights, g.x, c.Epsilon)
	g.x = Add(g.x, b.mlp(g.weights, x, c.Activation))
	return keys, values
}

// turn normalises heads, in qwen3, and applies rotary positions.
func (g *pass) turn(x *Node, n norm, heads int) *Node {
	c := g.decoder.config
	if n.weight != none {
		rows := x.Shape().Dim(0)
		x = n.apply(g.weights, Reshape(x, rows, heads, c.HeadDim), c.Epsilon)
		x = Reshape(x, rows, heads*c.HeadDim)
	}
	if g.cos != nil {
		x = rotate(x, g.cos, g.sin, heads, c.HeadDim)
	}
	return x
}

// attend runs each sequence's attention by itself.
func (g *pass) attend(q, k, v *Node, cache []*Node) *Node {
	c := g.decoder.config
	h := heads{kv: c.KVHeads, group: c.Heads / c.KVHeads, dim: c.HeadDim, tokens: g.shape.tokens, past: g.shape.past}
	outs := make([]*Node, g.shape.rows)
	for i := range outs {
		var pastK, pastV *Node
		if len(cache) > 0 {
			pastK, pastV = cache[2*i], cache[2*i+1]
		}
		outs[i] = h.attend(g.row(q, i), g.row(k, i), g.row(v, i), pastK, pastV, g.masks[i])
	}
	if len(outs) == 1 {
		return outs[0]
	}
	return Concatenate(outs, 0)
}

// row gives the tokens of one sequence.
func (g *pass) row(x *Node, i int) *Node {
	if g.shape.rows == 1 {
		return x
	}
	return Slice(x, AxisRange(i, i+1), AxisRange())
}
