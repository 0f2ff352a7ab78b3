package network

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph" // see parts.go
	"github.com/gomlx/gomlx/core/tensors"
)

// inputs adds what a step needs for layers of a kind: the cosines and sines of
// the positions, and masks. forward takes them in the same order.
func (kind *kind) inputs(args []any, k shape, batch []row) []any {
	if kind.frequencies != nil {
		var cos, sin []float32
		for i := range k.rows * k.tokens {
			at := batch[0].at + i // also of padding
			if k.rows > 1 {
				at = batch[i].at
			}
			cos, sin = angles(cos, sin, kind.frequencies, at)
		}
		dim := len(kind.frequencies)
		args = append(args, tensors.FromFlatDataAndDimensions(cos, k.rows*k.tokens, 1, dim),
			tensors.FromFlatDataAndDimensions(sin, k.rows*k.tokens, 1, dim))
	}
	if k.tokens > 1 {
		args = append(args, kind.mask(k.tokens, k.tokens, func(i, j int) (int, bool) { return i - j, j <= i }))
	}
	if k.past > 0 {
		for _, r := range batch[:k.rows] {
			args = append(args, kind.mask(k.tokens, k.past, func(i, j int) (int, bool) { return r.at + i - j, j < r.at }))
		}
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
	x       *Node    // the residual stream, [N, Hidden]
	kinds   []inputs // by kind
}

// inputs are the nodes of what kind.inputs gives.
type inputs struct {
	cos, sin *Node
	masks    []masked // by row
}

// build makes the graph of a step. It gives the hidden states, [N, Hidden],
// and each layer's keys and values, [N, KVHeads·HeadDim].
func (g *graphEngine) build(k shape, in []*Node) []*Node {
	take := func() *Node {
		n := in[0]
		in = in[1:]
		return n
	}
	f := forward{graphEngine: g, shape: k, x: take(), kinds: make([]inputs, len(g.kinds))}
	for i := range f.kinds {
		to := &f.kinds[i]
		to.masks = make([]masked, k.rows)
		if g.kinds[i].frequencies != nil {
			to.cos, to.sin = take(), take()
		}
		if k.tokens > 1 {
			to.masks[0].self = take()
		}
		for r := 0; r < k.rows && k.past > 0; r++ {
			to.masks[r].past = take()
		}
	}
	caches := make([][]*Node, len(g.layers))
	for i := 0; i < len(caches) && k.past > 0; i++ {
		caches[i], in = in[:2*k.rows], in[2*k.rows:]
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
	x = f.times(l.out, f.attend(q, keys, values, cache, in.masks))
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

// spread is x·wᵀ for few rows and a part w of shape [lanes, n, in], its lanes
// shared out among cores.
func spread(x, w *Node) *Node {
	rows, k, n := x.Shape().Dim(0), w.Shape().Dim(0), w.Shape().Dim(1)
	// Joined copies are what a broadcast gives, by copying memory and not by
	// looking up each element.
	copies := slices.Repeat([]*Node{InsertAxes(x, 0)}, k)
	y := DotGeneral(Concatenate(copies, 0), []int{2}, []int{0}, w, []int{2}, []int{0}) // [lanes, rows, n]
	if rows > 1 {
		y = Transpose(y, 0, 1)
	}
	return Reshape(y, rows, k*n)
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

// attend runs each sequence's attention by itself.
func (f *forward) attend(q, k, v *Node, cache []*Node, masks []masked) *Node {
	c := f.config
	h := heads{kv: c.KVHeads, group: c.Heads / c.KVHeads, dim: c.HeadDim, tokens: f.shape.tokens, past: f.shape.past,
		scale: c.QueryScale, limit: c.ScoreCap}
	outs := make([]*Node, f.shape.rows)
	for i := range outs {
		var pastK, pastV *Node
		if len(cache) > 0 {
			pastK, pastV = cache[2*i], cache[2*i+1]
		}
		outs[i] = h.attend(f.row(q, i), f.row(k, i), f.row(v, i), pastK, pastV, masks[i])
	}
	if len(outs) == 1 {
		return outs[0]
	}
	return Concatenate(outs, 0)
}

// row gives the tokens of one sequence.
func (f *forward) row(x *Node, i int) *Node {
	if f.shape.rows == 1 {
		return x
	}
	return Slice(x, AxisRange(i, i+1), AxisRange())
}
