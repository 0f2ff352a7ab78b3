package network

import (
	"math"

	"noema/kernel/model/provider/local/internal/matrix"
)

// projection is x·Wᵀ + b.
type projection struct {
	weight *matrix.Matrix
	bias   []float32
}

// apply computes n rows.
func (p projection) apply(x []float32, n int) []float32 { return p.of(p.weight.Quantise(x, n), n) }

func (p projection) of(x *matrix.Numbers, n int) []float32 {
	y := make([]float32, n*p.weight.Rows)
	p.weight.Multiply(x, y)
	if p.bias != nil {
		for i := range y {
			y[i] += p.bias[i%p.weight.Rows]
		}
	}
	return y
}

// together applies several projections to the same rows, which are quantised
// once where that is the same for all.
func together(x []float32, n int, all ...projection) [][]float32 {
	out := make([][]float32, len(all))
	var numbers *matrix.Numbers
	for i, p := range all {
		if i == 0 || !p.weight.Like(all[i-1].weight) {
			numbers = p.weight.Quantise(x, n)
		}
		out[i] = p.of(numbers, n)
	}
	return out
}

// scaling scales rows to unit size; layer norms have a bias, RMS norms none. Without
// a weight it does nothing.
type scaling struct{ weight, bias []float32 }

// of gives the rows of x, each of that width, normalised.
func (s scaling) of(x []float32, width int, epsilon float64) []float32 {
	if s.weight == nil {
		return x
	}
	y := make([]float32, len(x))
	for at := 0; at < len(x); at += width {
		from, to := x[at:at+width], y[at:at+width]
		var mean, square float64
		if s.bias != nil {
			for _, v := range from {
				mean += float64(v)
			}
			mean /= float64(width)
		}
		for _, v := range from {
			square += float64((float64(v) - mean) * (float64(v) - mean))
		}
		factor, less := float32(1/math.Sqrt(square/float64(width)+epsilon)), float32(mean)
		for i, v := range from {
			to[i] = float32((v - less) * factor * s.weight[i])
			if s.bias != nil {
				to[i] += s.bias[i]
			}
		}
	}
	return y
}

// layer runs the i-th layer on the rows of x.
func (d *Decoder) layer(i int, rows []row, x []float32) {
	c, l, n := &d.config, &d.layers[i], len(rows)
	h := l.first.of(x, c.Hidden, c.Epsilon)
	qkv := together(h, n, l.q, l.k, l.v)
	q, k, v := qkv[0], qkv[1], qkv[2]
	q, k = l.qNorm.of(q, c.HeadDim, c.Epsilon), l.kNorm.of(k, c.HeadDim, c.Epsilon)
	l.turn(rows, q, c.HeadDim)
	l.turn(rows, k, c.HeadDim)
	for j, r := range rows {
		for head := range c.KVHeads {
			from := (j*c.KVHeads + head) * c.HeadDim
			r.heads[i*c.KVHeads+head].Append(k[from:from+c.HeadDim], v[from:from+c.HeadDim])
		}
	}
	add(x, l.afterFirst.of(l.out.apply(d.attend(i, rows, q), n), c.Hidden, c.Epsilon))
	h = l.second.of(x, c.Hidden, c.Epsilon)
	add(x, l.afterMLP.of(l.mlp(h, n, c.Activation), c.Hidden, c.Epsilon))
}

func add(x, y []float32) {
	for i, v := range y {
		x[i] += v
	}
}

// turn applies rotary positions to the heads of each row.
func (l *layer) turn(rows []row, x []float32, dim int) {
	if l.frequencies == nil {
		return
	}
	width := len(x) / len(rows)
	matrix.Parallel(len(rows), func(i int) {
		var cos, sin []float32
		cos, sin = angles(cos, sin, l.frequencies, rows[i].at)
		for at := i * width; at < (i+1)*width; at += dim {
			a, b := x[at:at+dim/2], x[at+dim/2:at+dim]
			for j := range a {
				a[j], b[j] = float32(a[j]*cos[j])-float32(b[j]*sin[j]), float32(b[j]*cos[j])+float32(a[j]*sin[j])
			}
		}
	})
}

// queriesAtOnce is how many queries of one head of keys are worked on together.
const queriesAtOnce = 4

// attend gives each row's attention, [rows, Heads·HeadDim]. Up to 4 queries of
// one head of keys are worked on together: of rows of one sequence that follow
// each other, and of the heads that share the keys.
func (d *Decoder) attend(i int, rows []row, q []float32) []float32 {
	c, l := &d.config, &d.layers[i]
	group, dim := c.Heads/c.KVHeads, c.HeadDim
	out, chunks := make([]float32, len(q)), neighbours(rows)
	matrix.Parallel(len(chunks)*c.KVHeads, func(task int) {
		chunk, head := chunks[task/c.KVHeads], task%c.KVHeads
		var a attention
		for j := range group {
			for n := chunk[0]; n < chunk[1]; n++ {
				at := (n*c.Heads + head*group + j) * dim
				a.add(q[at:at+dim], at, rows[n].at, l.window)
				if len(a.from) == queriesAtOnce || j == group-1 && n == chunk[1]-1 {
					a.flush(d, i, rows[n], head, out)
				}
			}
		}
	})
	return out
}

// neighbours cuts rows into stretches of up to 4 of one sequence, from the one
// row to before the other.
func neighbours(rows []row) [][2]int {
	var chunks [][2]int
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && to-from < queriesAtOnce && rows[to].Sequence == rows[from].Sequence {
			to++
		}
		chunks, from = append(chunks, [2]int{from, to}), to
	}
	return chunks
}

// attention gathers queries of one head of keys.
type attention struct {
	q, room  []float32
	to       []int // in the result
	from, at []int // the keys that each sees
}

func (a *attention) add(q []float32, to, at, window int) {
	a.q, a.to, a.at = append(a.q, q...), append(a.to, to), append(a.at, at+1)
	from := 0
	if window > 0 {
		from = max(0, at+1-window)
	}
	a.from = append(a.from, from)
}

func (a *attention) flush(d *Decoder, i int, r row, head int, out []float32) {
	c := &d.config
	for j := range a.q {
		a.q[j] *= float32(c.QueryScale)
	}
	results := make([]float32, len(a.q))
	a.room = r.heads[i*c.KVHeads+head].Attend(a.q, a.from, a.at, float32(c.ScoreCap), a.room, results)
	for j, to := range a.to {
		copy(out[to:to+c.HeadDim], results[j*c.HeadDim:])
	}
	*a = attention{room: a.room}
}

// mlp is the feed-forward part.
func (l *layer) mlp(x []float32, n int, activation string) []float32 {
	if l.gate.weight == nil {
		up := l.up.apply(x, n)
		activate(up, n, activation)
		return l.down.apply(up, n)
	}
	both := together(x, n, l.gate, l.up)
	activate(both[0], n, activation)
	for i, v := range both[1] {
		both[0][i] *= v
	}
	return l.down.apply(both[0], n)
}

// activate applies a function to each of n rows.
func activate(x []float32, n int, name string) {
	width := len(x) / n
	matrix.Parallel(n, func(i int) {
		x := x[i*width : (i+1)*width]
		t := make([]float32, width)
		switch name {
		case "gelu":
			for j, v := range x {
				t[j] = float32(0.5 + 0.5*math.Erf(float64(v)*math.Sqrt2/2))
			}
		case "silu":
			copy(t, x)
			matrix.Gate(t)
		default: // gelu by a tanh, which is a gate
			for j, v := range x {
				t[j] = 2 * 0.7978845608028654 * (v + float32(0.044715*v*v*v))
			}
			matrix.Gate(t)
		}
		for j, v := range t {
			x[j] *= v
		}
	})
}
