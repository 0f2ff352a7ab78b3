package network

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph" // formulas are legible only without a prefix
	"github.com/gomlx/gomlx/core/tensors"
)

// partSize is the most elements of a weight that one multiplication reads: 1 MiB,
// which stays in a core's cache while the rows of a text go over it. The backend
// adds in another order from 4 Mi products on, so up to 15 rows are added alike.
const partSize = 1 << 18

// weightID is a weight's place among the inputs of a graph; none is absent.
type weightID int

const none weightID = -1

// linear is x·Wᵀ + b, its weight cut into parts by rows.
type linear struct {
	parts []weightID
	bias  weightID
}

// norm scales rows to unit size; layer norms have a bias, RMS norms none.
type norm struct{ weight, bias weightID }

// loader moves weights to a backend.
type loader struct {
	backend compute.Backend
	weights []*tensors.Tensor
	err     error // the first one; later calls do nothing
}

// add puts values on the backend.
func (l *loader) add(values []float32, dims ...int) weightID {
	if l.err != nil {
		return none
	}
	t, err := onDevice(l.backend, values, dims...)
	if err != nil {
		l.err = fmt.Errorf("load weights: %w", err)
		return none
	}
	l.weights = append(l.weights, t)
	return weightID(len(l.weights) - 1)
}

// onDevice makes a tensor that lives in the backend's memory, which the pure
// Go backend shares with the host.
func onDevice(b compute.Backend, values []float32, dims ...int) (*tensors.Tensor, error) {
	t, err := tensors.FromShapeForBackend(b, 0, shapes.Make(dtypes.Float32, dims...))
	if err != nil {
		return nil, err
	}
	err = t.MutableFlatData(func(flat any) { copy(flat.([]float32), values) })
	return t, err
}

// scaling adds a norm.
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

// split cuts a weight of shape [out, in] into parts [rows, in].
func (l *loader) split(values []float32, out, in int) []weightID {
	if l.err != nil {
		return nil
	}
	var parts []weightID
	step := rowsOfPart(out, in)
	for row := 0; row < out; row += step {
		n := min(step, out-row)
		parts = append(parts, l.add(values[row*in:(row+n)*in], n, in))
	}
	return parts
}

// rowsOfPart is the number of rows in each part of a weight but the last: as
// even as can be in multiples of 16.
func rowsOfPart(out, in int) int {
	most := max(1, partSize/in)
	parts := (out + most - 1) / most
	rows := (out + parts - 1) / parts
	if up := (rows + 15) / 16 * 16; up <= most {
		return up
	}
	return rows
}

// apply is x·Wᵀ + b for x of shape [rows, in].
func (w linear) apply(weights []*Node, x *Node) *Node {
	outs := make([]*Node, len(w.parts))
	for i, p := range w.parts {
		outs[i] = DotGeneral(x, []int{1}, nil, weights[p], []int{1}, nil)
	}
	y := outs[0]
	if len(outs) > 1 {
		y = Concatenate(outs, 1)
	}
	if w.bias != none {
		y = Add(y, InsertAxes(weights[w.bias], 0))
	}
	return y
}

// apply normalises the last axis of x.
func (n norm) apply(weights []*Node, x *Node, epsilon float64) *Node {
	size := float64(x.Shape().Dim(-1))
	if n.bias != none {
		x = Sub(x, DivScalar(ReduceAndKeep(x, ReduceSum, -1), size))
	}
	variance := DivScalar(ReduceAndKeep(Mul(x, x), ReduceSum, -1), size)
	x = Mul(x, Rsqrt(AddScalar(variance, epsilon)))
	x = Mul(x, broadcastable(weights[n.weight], x.Rank()))
	if n.bias != none {
		x = Add(x, broadcastable(weights[n.bias], x.Rank()))
	}
	return x
}

// broadcastable gives a vector leading axes of size 1.
func broadcastable(v *Node, rank int) *Node {
	dims := make([]int, rank)
	for i := range dims {
		dims[i] = 1
	}
	dims[rank-1] = v.Shape().Dim(0)
	return Reshape(v, dims...)
}

func activated(x *Node, name string) *Node {
	switch name {
	case "silu":
		return Mul(x, Sigmoid(x))
	case "gelu":
		return Mul(MulScalar(x, 0.5), AddScalar(Erf(MulScalar(x, 0.7071067811865476)), 1.0))
	default: // gelu_new: the approximation by a tanh
		cube := MulScalar(Mul(Mul(x, x), x), 0.044715)
		return Mul(MulScalar(x, 0.5), AddScalar(Tanh(MulScalar(Add(x, cube), 0.7978845608028654)), 1.0))
	}
}
