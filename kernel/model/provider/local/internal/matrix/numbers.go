package matrix

import (
	"math"

	"github.com/gomlx/compute/dtypes/float16"
)

// Numbers are rows to be multiplied, as a matrix wants them.
type Numbers struct {
	n      int
	floats []float32 // [n, cols]
	codes  []int8    // [n, cols]
	pairs  []int32   // [n, cols/2], two codes of 16 bits each, for bytesRow
	scale  []float32 // [n, cols/32]
	sums   []int32   // [n, cols/32], of the codes
	total  []float32 // [n, cols/32], sums times scale
}

// Like reports whether numbers that one matrix prepared fit another one too.
func (m *Matrix) Like(o *Matrix) bool {
	return m.Cols == o.Cols && (m.floats != nil) == (o.floats != nil) && (m.bytes != nil) == (o.bytes != nil) && m.coarse == o.coarse
}

// Quantise prepares n rows of numbers, [n, Cols]; x must stay as it is while
// they are in use. Numbers that meet floats stay floats. Otherwise each 32 get
// codes from -127 to 127 and a scale of 16 bits, as llama.cpp's Q8_0 and Q8_1; for
// coarse matrices each 256 do, with a scale of 32 bits, as its Q8_K.
func (m *Matrix) Quantise(x []float32, n int) *Numbers {
	q := &Numbers{n: n, floats: x}
	if m.floats != nil {
		return q
	}
	blocks := n * m.Cols / run
	q.scale, q.sums, q.total = make([]float32, blocks), make([]int32, blocks), make([]float32, blocks)
	q.codes = make([]int8, n*m.Cols)
	if m.coarse {
		for b := 0; b < blocks; b += 8 {
			q.coarse(b, x[b*run:(b+8)*run], q.codes[b*run:])
		}
	} else {
		for b := range blocks {
			q.fine(b, x[b*run:(b+1)*run], q.codes[b*run:])
		}
	}
	if avx2 && m.bytes != nil {
		q.pairs = make([]int32, len(q.codes)/2)
		for i := range q.pairs {
			q.pairs[i] = int32(q.codes[2*i])&0xffff | int32(q.codes[2*i+1])<<16
		}
	}
	return q
}

// rounded is the nearest whole number to a float of small size, of halves the even
// one. The conversion keeps Go from rounding a product only with the sum.
func rounded(v float32) int32 {
	const even = 3 << 22
	return int32(float32(v) + even - even)
}

func (q *Numbers) fine(b int, x []float32, codes []int8) {
	var top float32
	for _, v := range x {
		top = max(top, abs(v))
	}
	d := top / 127
	q.scale[b] = float16.FromFloat32(d).Float32()
	if top == 0 {
		return
	}
	factor := 127 / top
	for i, v := range x {
		c := rounded(v * factor)
		codes[i] = int8(c)
		q.sums[b] += c
	}
	q.total[b] = float16.FromFloat32(d * float32(q.sums[b])).Float32()
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// coarse gives 8 blocks one scale, by which the largest number becomes -127.
func (q *Numbers) coarse(b int, x []float32, codes []int8) {
	var top float32
	for _, v := range x {
		if abs(v) > abs(top) {
			top = v
		}
	}
	if top == 0 {
		return
	}
	factor := -127 / top
	for i, v := range x {
		c := min(rounded(v*factor), 127)
		codes[i] = int8(c)
		q.sums[b+i/run] += c
	}
	for j := b; j < b+8; j++ {
		q.scale[j] = 1 / factor
		q.total[j] = q.scale[j] * float32(q.sums[j])
	}
}
