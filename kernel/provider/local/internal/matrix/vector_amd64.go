//go:build goexperiment.simd && amd64

package matrix

import "simd/archsimd"

// maxQueries is how many queries Attend takes.
const maxQueries = 4

func scores(q, keys []float32, dim, n int, out []float32, stride int) {
	if !vectors {
		plainScores(q, keys, dim, n, out, stride)
		return
	}
	if n == maxQueries {
		scores4(q, keys, dim, out, stride)
		return
	}
	for i := range n {
		var acc archsimd.Float32x16
		for d, v := range q[i*dim : (i+1)*dim] {
			acc = load(keys[d*lanes:]).MulAdd(archsimd.BroadcastFloat32x16(v), acc)
		}
		store(acc, out[i*stride:])
	}
}

func scores4(q, block []float32, dim int, out []float32, stride int) {
	var a0, a1, a2, a3 archsimd.Float32x16
	q0, q1, q2, q3 := q[:dim], q[dim:2*dim], q[2*dim:3*dim], q[3*dim:4*dim]
	for d := range dim {
		k := load(block[d*lanes:])
		a0 = k.MulAdd(archsimd.BroadcastFloat32x16(q0[d]), a0)
		a1 = k.MulAdd(archsimd.BroadcastFloat32x16(q1[d]), a1)
		a2 = k.MulAdd(archsimd.BroadcastFloat32x16(q2[d]), a2)
		a3 = k.MulAdd(archsimd.BroadcastFloat32x16(q3[d]), a3)
	}
	store(a0, out)
	store(a1, out[stride:])
	store(a2, out[2*stride:])
	store(a3, out[3*stride:])
}

// mix adds values, 64 of each at a time, by weight.
func mix(p, values, out []float32, dim int) {
	if !vectors || dim%64 != 0 {
		plainMix(p, values, out, dim)
		return
	}
	for at := 0; at < dim; at += 64 {
		a, b, c, d := load(out[at:]), load(out[at+16:]), load(out[at+32:]), load(out[at+48:])
		for j, weight := range p {
			w := archsimd.BroadcastFloat32x16(weight)
			v := (*[64]float32)(values[j*dim+at:])
			a, b = load(v[0:]).MulAdd(w, a), load(v[16:]).MulAdd(w, b)
			c, d = load(v[32:]).MulAdd(w, c), load(v[48:]).MulAdd(w, d)
		}
		store(a, out[at:])
		store(b, out[at+16:])
		store(c, out[at+32:])
		store(d, out[at+48:])
	}
}

// exp16 is e to the x, by 2 to a whole number times a polynomial.
func exp16(x archsimd.Float32x16) archsimd.Float32x16 {
	c := archsimd.BroadcastFloat32x16
	x = x.Max(c(-104)).Min(c(89))
	n := x.Mul(c(1.44269504)).RoundToEvenScaled(0)
	r := n.MulAdd(c(-0.693145752), x)
	r = n.MulAdd(c(-1.42860677e-06), r)
	p := r.MulAdd(c(0.00138877), c(0.00832965))
	p = p.MulAdd(r, c(0.0416666))
	p = p.MulAdd(r, c(0.16666667))
	p = p.MulAdd(r, c(0.5))
	p = p.MulAdd(r, c(1))
	p = p.MulAdd(r, c(1))
	return p.Scale(n)
}

// Exp replaces numbers by e to the power of them less another one, and gives
// the sum of the results.
func Exp(x []float32, less float32) (sum float32) {
	if !vectors {
		return plainExp(x, less)
	}
	var acc archsimd.Float32x16
	i := 0
	for ; i+lanes <= len(x); i += lanes {
		e := exp16(load(x[i:]).Sub(archsimd.BroadcastFloat32x16(less)))
		store(e, x[i:])
		acc = acc.Add(e)
	}
	var parts [lanes]float32
	acc.Store(&parts)
	for _, p := range parts {
		sum += p
	}
	return sum + plainExp(x[i:], less)
}

// Gate replaces each x by 1/(1+e^-x).
func Gate(x []float32) {
	i := 0
	if vectors {
		one, zero := archsimd.BroadcastFloat32x16(1), archsimd.BroadcastFloat32x16(0)
		for ; i+lanes <= len(x); i += lanes {
			store(one.Div(one.Add(exp16(zero.Sub(load(x[i:]))))), x[i:])
		}
	}
	plainGate(x[i:])
}
