package network

import (
	. "github.com/gomlx/gomlx/core/graph" // see parts.go
)

// build makes the graph of a step. It gives the hidden states, [N, Hidden],
// and each block's keys and values, [N, KVHeads·HeadDim].
func (d *Decoder) build(k shape, in []*Node) []*Node {
	take := func() *Node {
		n := in[0]
		in = in[1:]
		return n
	}
	g := forwardPass{decoder: d, shape: k, x: take()}
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

// forwardPass is the graph of a step while it is built.
type forwardPass struct {
	decoder  *Decoder
	shape    shape
	weights  []*Node
	x        *Node // the residual stream, [N, Hidden]
	cos, sin *Node
	masks    []masked // by row
}

// block adds one block and gives its keys and values.
func (g *forwardPass) block(b *block, cache []*Node) (keys, values *Node) {
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
func (g *forwardPass) turn(x *Node, n norm, heads int) *Node {
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
func (g *forwardPass) attend(q, k, v *Node, cache []*Node) *Node {
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
func (g *forwardPass) row(x *Node, i int) *Node {
	if g.shape.rows == 1 {
		return x
	}
	return Slice(x, AxisRange(i, i+1), AxisRange())
}
