package network

import (
	. "github.com/gomlx/gomlx/core/graph" // see parts.go
)

// heads is the layout of attention in one sequence: T new tokens that see
// themselves and, if past is not 0, past cached ones.
type heads struct {
	kv, group, dim int // heads of keys and values, query heads for each, their size
	tokens, past   int
	scale, limit   float64 // of the scores; a limit of 0 does not bound them
}

// masked holds the additive masks of one sequence: 0 where a token sees
// another, and hidden where it does not. A nil mask hides nothing.
type masked struct {
	self *Node // [1, T, T]
	past *Node // [1, T, past]
}

// hidden is added to scores that must not count. It is finite, so a row in
// which all is hidden stays a number.
const hidden = -1e30

// attend computes one sequence's attention. q is [T, heads·dim]; k and v are
// [T, kv·dim]; the cached keys and values are [kv, past, dim]. The result is
// [T, heads·dim].
//
// The softmax runs over the cache and the new tokens at once without joining
// them, since a joined copy of the cache would cost more than the attention.
func (h heads) attend(q, k, v *Node, cache []*Node, m masked) *Node {
	q = MulScalar(q, h.scale)
	q = h.byHead(q, h.kv*h.group)
	q = Reshape(q, h.kv, h.group*h.tokens, h.dim)
	k, v = h.byHead(k, h.kv), h.byHead(v, h.kv)

	scores := h.scores(q, k, h.tokens, m.self)
	top := ReduceAndKeep(scores, ReduceMax, -1)
	var older *Node
	if h.past > 0 {
		older = h.scores(q, cache[0], h.past, m.past)
		top = Max(top, ReduceAndKeep(older, ReduceMax, -1))
	}
	scores = Exp(Sub(scores, top))
	total := ReduceAndKeep(scores, ReduceSum, -1)
	sum := h.mix(scores, v, h.tokens)
	if h.past > 0 {
		older = Exp(Sub(older, top))
		total = Add(total, ReduceAndKeep(older, ReduceSum, -1))
		sum = Add(sum, h.mix(older, cache[1], h.past))
	}
	total = Reshape(total, h.kv, h.group*h.tokens, 1)
	return h.byToken(Div(sum, total))
}

// byHead turns [T, n·dim] into [n, T, dim].
func (h heads) byHead(x *Node, n int) *Node {
	if h.tokens == 1 {
		return Reshape(x, n, 1, h.dim)
	}
	return Transpose(Reshape(x, h.tokens, n, h.dim), 0, 1)
}

// byToken turns [kv, group·T, dim] into [T, heads·dim].
func (h heads) byToken(x *Node) *Node {
	n := h.kv * h.group
	if h.tokens > 1 {
		x = Transpose(Reshape(x, n, h.tokens, h.dim), 0, 1)
	}
	return Reshape(x, h.tokens, n*h.dim)
}

// scores gives [heads, T, n] for queries [kv, group·T, dim] and keys
// [kv, n, dim].
func (h heads) scores(q, k *Node, n int, mask *Node) *Node {
	s := DotGeneral(q, []int{2}, []int{0}, k, []int{2}, []int{0})
	s = Reshape(s, h.kv*h.group, h.tokens, n)
	if h.limit > 0 {
		s = MulScalar(Tanh(DivScalar(s, h.limit)), h.limit)
	}
	if mask != nil {
		s = Add(s, mask)
	}
	return s
}

// mix gives [kv, group·T, dim] for weights [heads, T, n] and values
// [kv, n, dim].
func (h heads) mix(p, v *Node, n int) *Node {
	p = Reshape(p, h.kv, h.group*h.tokens, n)
	return DotGeneral(p, []int{2}, []int{0}, v, []int{1}, []int{0})
}

// rotate applies rotary positions to x of shape [N, n·dim], with the cosines
// and sines of the positions, each [N, 1, dim/2].
func rotate(x, cos, sin *Node, n, dim int) *Node {
	rows := x.Shape().Dim(0)
	x = Reshape(x, rows, n, dim)
	a := Slice(x, AxisRange(), AxisRange(), AxisRange(0, dim/2))
	b := Slice(x, AxisRange(), AxisRange(), AxisRange(dim/2, dim))
	x = Concatenate([]*Node{Sub(Mul(a, cos), Mul(b, sin)), Add(Mul(b, cos), Mul(a, sin))}, 2)
	return Reshape(x, rows, n*dim)
}
