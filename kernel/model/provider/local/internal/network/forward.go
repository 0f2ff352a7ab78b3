package network

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph" // see parts.go
	"github.com/gomlx/gomlx/core/tensors"
)

// inputs adds what a step needs for layers of a kind: the cosines and sines of
// the positions, and masks. forward takes them in the same order.
func (kind *kind) inputs(args []any, k shape, at int) []any {
	if kind.frequencies != nil {
		var cos, sin []float32
		for i := range k.tokens { // also of padding
			cos, sin = angles(cos, sin, kind.frequencies, at+i)
		}
		dim := len(kind.frequencies)
		args = append(args, tensors.FromFlatDataAndDimensions(cos, k.tokens, 1, dim), tensors.FromFlatDataAndDimensions(sin, k.tokens, 1, dim))
	}
	if k.tokens > 1 {
		args = append(args, kind.mask(k.tokens, k.tokens, func(i, j int) (int, bool) { return i - j, j <= i }))
	}
	if k.past > 0 {
		args = append(args, kind.mask(k.tokens, k.past, func(i, j int) (int, bool) { return at + i - j, j < at }))
	}
	return args
}

// mask hides from n tokens those of m places that they cannot see, or that are
// too far away: [1, n, m].
func (kind *kind) mask(n, m int, sees func(i, j int) (distance int, ok bool)) *tensors.Tensor {
	values := make([]float32, n*m)
	for i := range n {
		for j := range m {
			if distance, ok := sees(i, j); !ok || kind.window > 0 && distance >= kind.window {
				values[i*m+j] = hidden
			}
		}
	}
	return tensors.FromFlatDataAndDimensions(values, 1, n, m)
}

// forward is the graph of a step while it is built.
type forward struct {
	*graphEngine
	shape   shape
	weights []*Node
	x       *Node    // the residual stream, [T, Hidden]
	kinds   []inputs // by kind
}

// inputs are the nodes of what kind.inputs gives.
type inputs struct {
	cos, sin *Node
	masked
}

// build makes the graph of a step. It gives the hidden states, [T, Hidden],
// and each layer's keys and values, [T, KVHeads·HeadDim].
func (g *graphEngine) build(k shape, in []*Node) []*Node {
	take := func() *Node {
		n := in[0]
		in = in[1:]
		return n
	}
	f := forward{graphEngine: g, shape: k, x: take(), kinds: make([]inputs, len(g.kinds))}
	for i := range f.kinds {
		to := &f.kinds[i]
		if g.kinds[i].frequencies != nil {
			to.cos, to.sin = take(), take()
		}
		if k.tokens > 1 {
			to.self = take()
		}
		if k.past > 0 {
			to.past = take()
		}
	}
	caches := make([][]*Node, len(g.layers))
	for i := 0; i < len(caches) && k.past > 0; i++ {
		caches[i], in = in[:2], in[2:]
	}
	f.weights = in
	var remembered []*Node
	for i := range g.layers {
		keys, values := f.layer(&g.layers[i], caches[i])
		remembered = append(remembered, keys, values)
	}
	return append([]*Node{f.x}, remembered...)
}

// layer adds one layer and gives its keys and values.
func (f *forward) layer(l *graphLayer, cache []*Node) (keys, values *Node) {
	c, in := f.config, &f.kinds[l.kind]
	x := f.scaled(f.x, l.first)
	q := f.turn(f.times(l.q, x), l.qNorm, c.Heads, in)
	keys = f.turn(f.times(l.k, x), l.kNorm, c.KVHeads, in)
	values = f.times(l.v, x)
	x = f.times(l.out, f.attend(q, keys, values, cache, in.masked))
	f.x = Add(f.x, f.scaled(x, l.afterFirst))
	x = f.scaled(f.x, l.second)
	up := f.times(l.up, x)
	if l.gate.parts == nil {
		up = activated(up, c.Activation)
	} else {
		up = Mul(activated(f.times(l.gate, x), c.Activation), up)
	}
	f.x = Add(f.x, f.scaled(f.times(l.down, up), l.afterMLP))
	return keys, values
}

// scaled applies a norm where there is one.
func (f *forward) scaled(x *Node, n norm) *Node {
	if n.weight == none {
		return x
	}
	return n.apply(f.weights, x, f.config.Epsilon)
}

func (f *forward) times(w linear, x *Node) *Node {
	if f.shape.tokens > 1 {
		return w.apply(f.weights, x)
	}
	return w.by(spread, f.weights, x)
}

// spread is x·wᵀ for one row and a part w of shape [lanes, n, in], its lanes
// shared out among cores.
func spread(x, w *Node) *Node {
	k, n := w.Shape().Dim(0), w.Shape().Dim(1)
	// Joined copies are what a broadcast gives, by copying memory and not by
	// looking up each element.
	copies := slices.Repeat([]*Node{InsertAxes(x, 0)}, k)
	y := DotGeneral(Concatenate(copies, 0), []int{2}, []int{0}, w, []int{2}, []int{0}) // [lanes, 1, n]
	return Reshape(y, 1, k*n)
}

// turn normalises heads, where the family does, and applies rotary positions.
func (f *forward) turn(x *Node, n norm, heads int, in *inputs) *Node {
	rows, dim := x.Shape().Dim(0), f.config.HeadDim
	x = Reshape(f.scaled(Reshape(x, rows, heads, dim), n), rows, heads*dim)
	if in.cos != nil {
		x = rotate(x, in.cos, in.sin, heads, dim)
	}
	return x
}

func (f *forward) attend(q, k, v *Node, cache []*Node, m masked) *Node {
	c := f.config
	h := heads{kv: c.KVHeads, group: c.Heads / c.KVHeads, dim: c.HeadDim, tokens: f.shape.tokens, past: f.shape.past,
		scale: c.QueryScale, limit: c.ScoreCap}
	return h.attend(q, k, v, cache, m)
}
