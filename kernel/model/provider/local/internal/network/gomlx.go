package network

import (
	"cmp"
	"fmt"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph" // see parts.go
	"github.com/gomlx/gomlx/core/tensors"

	"noema/kernel/model/provider/local/internal/checkpoint"
)

// graphEngine runs a decoder on GoMLX, with weights of 32 bits whatever they are
// stored as. A graph is compiled once for each number of new tokens and of cache
// places, which come in few sizes. Sequences of one step run one after the other.
//
// What a sequence gets does not depend on threads: no sum is split between them, and
// multiplications stay below the size at which the backend changes the order of its
// sums (see partSize). It does depend on where a prompt is cut into pieces, so they
// are always cut at multiples of graphPiece.
//
// GoMLX's own kernels for quantised weights are not used: they expand each row of
// weights again for each row of numbers, without vector instructions.
type graphEngine struct {
	config  checkpoint.Config
	backend compute.Backend
	weights []*tensors.Tensor
	layers  []graphLayer
	kinds   []kind
	top     []*tensors.Tensor // the weights of head
	head    linear

	steps graphs[shape]
	heads graphs[struct{}]
}

// graphLayer is one layer: see layer.
type graphLayer struct {
	first, second        norm
	afterFirst, afterMLP norm
	q, k, v, out         linear
	qNorm, kNorm         norm
	gate, up, down       linear
	kind                 int
}

// kind is what layers share: a window, and the frequencies of rotary positions.
type kind struct {
	window      int
	frequencies []float32
}

// shape is what a step's graph is compiled for.
type shape struct{ tokens, past int }

// graphPiece is how many tokens of a prompt are fed at a time.
const graphPiece = 64

// newGraphEngine takes the weights of a native engine, which cannot be used any
// more.
func newGraphEngine(n *native) (*graphEngine, error) {
	b, err := NewBackend()
	if err != nil {
		return nil, err
	}
	g := &graphEngine{config: n.config, backend: b}
	l, top := &loader{backend: b}, &loader{backend: b}
	for i := range n.layers {
		g.layers = append(g.layers, l.layer(&n.layers[i], g.kind(&n.layers[i])))
		n.layers[i] = layer{} // memory for the next one
	}
	g.head = top.projection(n.head)
	if err := cmp.Or(l.err, top.err); err != nil {
		return nil, err
	}
	g.weights, g.top = l.weights, top.weights
	return g, nil
}

// kind finds or adds the kind of a layer.
func (g *graphEngine) kind(l *layer) int {
	for i, k := range g.kinds {
		if k.window == l.window && (k.frequencies == nil || &k.frequencies[0] == &l.frequencies[0]) {
			return i
		}
	}
	g.kinds = append(g.kinds, kind{l.window, l.frequencies})
	return len(g.kinds) - 1
}

func (l *loader) layer(n *layer, kind int) graphLayer {
	return graphLayer{
		first: l.scaling(n.first), second: l.scaling(n.second), afterFirst: l.scaling(n.afterFirst), afterMLP: l.scaling(n.afterMLP),
		q: l.projection(n.q), k: l.projection(n.k), v: l.projection(n.v), out: l.projection(n.out),
		qNorm: l.scaling(n.qNorm), kNorm: l.scaling(n.kNorm),
		gate: l.projection(n.gate), up: l.projection(n.up), down: l.projection(n.down), kind: kind,
	}
}

func (l *loader) scaling(s scaling) norm {
	n := norm{none, none}
	if s.weight != nil {
		n.weight = l.add(s.weight, len(s.weight))
	}
	if s.bias != nil {
		n.bias = l.add(s.bias, len(s.bias))
	}
	return n
}

// projection expands a weight.
func (l *loader) projection(p projection) linear {
	w := linear{bias: none}
	if p.weight == nil {
		return w
	}
	rows, cols := p.weight.Rows, p.weight.Cols
	values := make([]float32, rows*cols)
	for i := range rows {
		p.weight.Row(i, values[i*cols:(i+1)*cols])
	}
	w.parts = l.split(values, rows, cols)
	if p.bias != nil {
		w.bias = l.add(p.bias, len(p.bias))
	}
	return w
}

// step implements engine.
func (g *graphEngine) step(rows []row, x []float32) ([]float32, error) {
	out, width, n := make([]float32, len(x)), g.config.Hidden, 1
	if len(rows) > 1 && rows[0].Sequence == rows[1].Sequence {
		n = len(rows)
	}
	for from := 0; from < len(rows); from += n {
		k := shape{tokens: 1, past: places(rows[from].at)}
		if n > 1 {
			k.tokens = piece(n)
		}
		padded := make([]float32, k.tokens*width)
		copy(padded, x[from*width:(from+n)*width])
		states, err := g.run(k, rows[from], n, padded)
		if err != nil {
			return nil, fmt.Errorf("%d tokens after %d: %w", k.tokens, k.past, err)
		}
		copy(out[from*width:(from+n)*width], states)
	}
	return out, nil
}

// run runs the graph of a step on n tokens from a row on; its sequence remembers them.
func (g *graphEngine) run(k shape, r row, n int, x []float32) ([]float32, error) {
	exec, err := g.steps.of(g.backend, k, func(in []*Node) []*Node { return g.build(k, in) })
	if err != nil {
		return nil, err
	}
	args := []any{tensors.FromFlatDataAndDimensions(x, k.tokens, g.config.Hidden)}
	for _, kind := range g.kinds {
		args = kind.inputs(args, k, r.at)
	}
	if k.past > 0 {
		for i := range g.layers {
			args = append(args, r.caches.keys[i], r.caches.values[i])
		}
	}
	outs, err := exec.Call(withWeights(args, g.weights)...)
	if err != nil {
		return nil, err
	}
	defer release(outs)
	if err := g.remember(r, n, outs[1:]); err != nil {
		return nil, err
	}
	return tensors.CopyFlatData[float32](outs[0])
}

func withWeights(args []any, weights []*tensors.Tensor) []any {
	for _, w := range weights {
		args = append(args, w)
	}
	return args
}

// logits implements engine.
func (g *graphEngine) logits(states []float32, n int) ([]float32, error) {
	exec, err := g.heads.of(g.backend, struct{}{}, func(in []*Node) []*Node { return []*Node{g.head.by(spread, in[1:], in[0])} })
	if err != nil {
		return nil, err
	}
	all, width := make([]float32, 0, n*g.config.Vocab), g.config.Hidden
	for i := range n {
		outs, err := exec.Call(withWeights([]any{tensors.FromFlatDataAndDimensions(states[i*width:(i+1)*width], 1, width)}, g.top)...)
		if err != nil {
			return nil, fmt.Errorf("run the output layer: %w", err)
		}
		flat, err := tensors.CopyFlatData[float32](outs[0])
		release(outs)
		if err != nil {
			return nil, err
		}
		all = append(all, flat...)
	}
	return all, nil
}
