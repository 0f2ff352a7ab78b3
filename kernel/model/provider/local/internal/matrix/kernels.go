package matrix

import (
	"encoding/binary"
	"math"
)

// tile computes the products of one group of 16 rows of weights and one row of
// numbers.
func (m *Matrix) tile(x *Numbers, g, row int) (acc [lanes]float32) {
	switch {
	case m.floats != nil:
		floats16(m.floats[g*m.Cols*lanes:], x.floats[row*m.Cols:][:m.Cols], acc[:])
	case m.nibbles != nil:
		m.nibblesTile(x, g, row, &acc)
	default:
		m.bytesTile(x, g, row, &acc)
	}
	return acc
}

// floats16 sums columns of 16 rows.
func floats16(w, x, sum []float32) {
	if avx2 {
		clear(sum[:lanes])
		floatsRow(&w[:len(x)*lanes][0], &x[0], lanes, len(x), &sum[0])
		return
	}
	floats8(w, x, sum[:8])
	floats8(w[8:], x, sum[8:lanes])
}

// floats8 sums columns of 8 rows, which lie 16 apart, in registers.
func floats8(w, x, sum []float32) {
	var a, b, c, d, e, f, g, h float32
	for k, v := range x {
		w := (*[8]float32)(w[k*lanes:])
		a, b, c, d = a+float32(w[0]*v), b+float32(w[1]*v), c+float32(w[2]*v), d+float32(w[3]*v)
		e, f, g, h = e+float32(w[4]*v), f+float32(w[5]*v), g+float32(w[6]*v), h+float32(w[7]*v)
	}
	copy(sum, []float32{a, b, c, d, e, f, g, h})
}

// nibblesTile adds those of codes of 4 bits. In plain Go, one instruction multiplies
// four rows: four codes of 4 bits lie 16
// bits apart in a word, and so do their sums over 16 columns, which are 30,480 at
// most.
func (m *Matrix) nibblesTile(x *Numbers, g, row int, acc *[lanes]float32) {
	blocks := m.Cols / run
	if avx2 {
		at, b := g*blocks*lanes, row*blocks
		nibblesRow(&m.nibbles[at*lanes], &x.codes[b*run], &m.scale[at], m.leastAt(at), &x.scale[b], &x.total[b], &x.sums[b], m.offset, blocks, &acc[0])
		return
	}
	for b := range blocks {
		w := (*[16 * lanes]uint8)(m.nibbles[(g*blocks+b)*256:])
		codes := (*[run]int8)(x.codes[(row*blocks+b)*run:])
		var sum [lanes]int32
		nibbles16(w, codes, &sum)
		m.scaled(x, (g*blocks+b)*lanes, row*blocks+b, &sum, m.offset*x.sums[row*blocks+b], acc)
	}
}

// nibbles16 sums 32 columns of 16 rows. Words of 8 rows have those of even and of
// odd ones apart, and two columns in the halves of bytes.
func nibbles16(w *[16 * lanes]uint8, codes *[run]int8, sum *[lanes]int32) {
	const mask = 0x000f_000f_000f_000f
	var a, b, c, d uint64
	for k := range 16 {
		v, u, f := word(w, k*lanes), word(w, k*lanes+8), uint64(codes[k])
		a += v & mask * f
		b += v >> 8 & mask * f
		c += u & mask * f
		d += u >> 8 & mask * f
	}
	addFours(a, b, sum[:8])
	addFours(c, d, sum[8:])
	a, b, c, d = 0, 0, 0, 0
	for k := range 16 {
		v, u, f := word(w, k*lanes)>>4, word(w, k*lanes+8)>>4, uint64(codes[k+16])
		a += v & mask * f
		b += v >> 8 & mask * f
		c += u & mask * f
		d += u >> 8 & mask * f
	}
	addFours(a, b, sum[:8])
	addFours(c, d, sum[8:])
}

func word(w *[16 * lanes]uint8, at int) uint64 { return binary.LittleEndian.Uint64(w[at : at+8]) }

// addFours adds the four sums in each of two words, of even and of odd rows.
func addFours(even, odd uint64, sum []int32) {
	for r := 0; r+1 < len(sum); r += 2 {
		a, b := int16(even), int16(odd)
		sum[r] += int32(a)
		sum[r+1] += int32(b)
		even, odd = uint64(int64(even-uint64(a))>>16), uint64(int64(odd-uint64(b))>>16)
	}
}

// bytesTile adds those of codes of 8 bits. In plain Go, one instruction multiplies two
// rows, as that of nibblesTile does four.
func (m *Matrix) bytesTile(x *Numbers, g, row int, acc *[lanes]float32) {
	subs := m.Cols / m.sub
	if avx2 {
		at, b := g*subs*lanes, row*m.Cols/run
		bytesRow(&m.bytes[g*m.Cols*lanes], &x.pairs[row*m.Cols/2], &m.scale[at], m.leastAt(at), &x.scale[b], &x.total[b], m.sub, subs, &acc[0])
		return
	}
	for s := range subs {
		var sum [lanes]int32
		for k := s * m.sub; k < (s+1)*m.sub; k += 16 {
			w, codes := (*[16 * lanes]uint8)(m.bytes[(g*m.Cols+k)*lanes:]), (*[16]int8)(x.codes[row*m.Cols+k:])
			bytes16(w, codes, &sum)
		}
		m.scaled(x, (g*subs+s)*lanes, row*m.Cols/run+s*m.sub/run, &sum, 0, acc)
	}
}

// bytes16 sums 16 columns of 16 rows, whose codes are stored with 128 added. Words
// of 8 rows have those that are 4 apart together.
func bytes16(w *[16 * lanes]uint8, codes *[16]int8, sum *[lanes]int32) {
	const mask = 0x0000_00ff_0000_00ff
	var all int32
	for _, code := range codes {
		all += int32(code)
	}
	var a, b, c, d uint64
	for k, code := range codes {
		v, u, f := word(w, k*lanes), word(w, k*lanes+8), uint64(code)
		a += v & mask * f
		b += v >> 8 & mask * f
		c += u & mask * f
		d += u >> 8 & mask * f
	}
	addTwos(a, 128*all, sum[0:])
	addTwos(b, 128*all, sum[1:])
	addTwos(c, 128*all, sum[8:])
	addTwos(d, 128*all, sum[9:])
	a, b, c, d = 0, 0, 0, 0
	for k, code := range codes {
		v, u, f := word(w, k*lanes)>>16, word(w, k*lanes+8)>>16, uint64(code)
		a += v & mask * f
		b += v >> 8 & mask * f
		c += u & mask * f
		d += u >> 8 & mask * f
	}
	addTwos(a, 128*all, sum[2:])
	addTwos(b, 128*all, sum[3:])
	addTwos(c, 128*all, sum[10:])
	addTwos(d, 128*all, sum[11:])
}

// addTwos adds the two sums in a word, of rows that are 4 apart.
func addTwos(word uint64, less int32, sum []int32) {
	low := int32(word)
	sum[0] += low - less
	sum[4] += int32((word-uint64(low))>>32) - less
}

// leastAt is a place in what is added, or nil where nothing is.
func (m *Matrix) leastAt(at int) *float32 {
	if m.least == nil {
		return nil
	}
	return &m.least[at]
}

// scaled adds a block's sums of codes, less an offset, to the results.
func (m *Matrix) scaled(x *Numbers, at, block int, sum *[lanes]int32, offset int32, acc *[lanes]float32) {
	d := (*[lanes]float32)(m.scale[at:])
	for r := range acc {
		acc[r] += float32(float32(sum[r]-offset) * float32(d[r]*x.scale[block]))
	}
	if m.least == nil {
		return
	}
	least := (*[lanes]float32)(m.least[at:])
	for r := range acc {
		acc[r] += float32(least[r] * x.total[block])
	}
}

// Exp replaces numbers by e to the power of them less another one, and gives
// the sum of the results.
func Exp(x []float32, less float32) (sum float32) {
	for i, v := range x {
		x[i] = float32(math.Exp(float64(v - less)))
		sum += x[i]
	}
	return sum
}

// Gate replaces each x by 1/(1+e^-x).
func Gate(x []float32) {
	for i, v := range x {
		x[i] = 1 / (1 + float32(math.Exp(float64(-v))))
	}
}

// mix adds values by weight.
func mix(p, values, out []float32, dim int) {
	if avx2 && dim%lanes == 0 {
		for d := 0; d < dim; d += lanes {
			floatsRow(&values[:len(p)*dim][d], &p[0], dim, len(p), &out[d])
		}
		return
	}
	for j, w := range p {
		for d, v := range values[j*dim : (j+1)*dim] {
			out[d] += float32(w * v)
		}
	}
}

// capped bounds scores by a tanh.
func capped(x []float32, limit float32) {
	for i, v := range x {
		x[i] = limit * float32(math.Tanh(float64(v/limit)))
	}
}
