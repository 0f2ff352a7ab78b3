package network

import (
	"testing"

	"noema/kernel/model/provider/local/internal/matrix"
)

// Expand turns the weights of a native decoder into 32-bit floats.
func Expand(t *testing.T, d *Decoder) {
	n := d.engine.(*native)
	all := []*projection{&n.head}
	for i := range n.layers {
		l := &n.layers[i]
		all = append(all, &l.q, &l.k, &l.v, &l.out, &l.gate, &l.up, &l.down)
	}
	for _, p := range all {
		if p.weight == nil {
			continue
		}
		values := make([]float32, p.weight.Rows*p.weight.Cols)
		for i := range p.weight.Rows {
			p.weight.Row(i, values[i*p.weight.Cols:(i+1)*p.weight.Cols])
		}
		p.weight = matrix.FromFloats(values, p.weight.Rows, p.weight.Cols)
	}
}
