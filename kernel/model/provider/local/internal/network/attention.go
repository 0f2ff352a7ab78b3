package network

import (
	. "github.com/gomlx/gomlx/core/graph" // see parts.go
)

// heads is the layout of an encoder's attention, in which T tokens see each other.
type heads struct {
	count, dim, tokens int // heads, their size, and T
	scale              float64
}

// hidden is added to scores that must not count. It is finite, so a row in
// which all is hidden stays a number.
const hidden = -1e30

// attend computes the attention of q, k and v, each [T, heads·dim]. The mask,
// [1, 1, T], is 0 for a token that counts and hidden for padding. The result has
// the shape of q.
func (h heads) attend(q, k, v, mask *Node) *Node {
	q, k, v = h.byHead(MulScalar(q, h.scale)), h.byHead(k), h.byHead(v)
	scores := Add(DotGeneral(q, []int{2}, []int{0}, k, []int{2}, []int{0}), mask) // [heads, T, T]
	scores = Exp(Sub(scores, ReduceAndKeep(scores, ReduceMax, -1)))
	sum := DotGeneral(scores, []int{2}, []int{0}, v, []int{1}, []int{0}) // [heads, T, dim]
	y := Div(sum, ReduceAndKeep(scores, ReduceSum, -1))
	return Reshape(Transpose(y, 0, 1), h.tokens, h.count*h.dim)
}

// byHead turns [T, heads·dim] into [heads, T, dim].
func (h heads) byHead(x *Node) *Node {
	return Transpose(Reshape(x, h.tokens, h.count, h.dim), 0, 1)
}
