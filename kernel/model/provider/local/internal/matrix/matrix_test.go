package matrix

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// codes makes a matrix of random codes, with the extreme ones.
func codes(rows, cols, bits, sub, offset int, least bool) *Codes {
	rng := rand.New(rand.NewPCG(1, 2))
	c := &Codes{Rows: rows, Cols: cols, Bits: bits, Sub: sub, Offset: offset, Code: make([]uint8, rows*cols), Scale: make([]float32, rows*cols/sub)}
	for i := range c.Code {
		c.Code[i] = uint8(rng.IntN(1 << bits))
		if i < 2*cols {
			c.Code[i] = uint8(i / cols * (1<<bits - 1))
		}
	}
	if least {
		c.Least = make([]float32, len(c.Scale))
	}
	for i := range c.Scale {
		c.Scale[i] = rng.Float32()
		if least {
			c.Least[i] = -rng.Float32()
		}
	}
	return c
}

// TestMultiply holds that quantised products are exact: whole numbers are summed
// by block, and blocks in the order of the columns, on every processor.
func TestMultiply(t *testing.T) {
	const rows, cols, n = 37, 512, 7
	for _, c := range []*Codes{
		codes(rows, cols, 4, 32, 8, false), codes(rows, cols, 4, 32, 0, true), codes(rows, cols, 8, 32, 128, false),
		codes(rows, cols, 8, 32, 128, true), codes(rows, cols, 8, 16, 128, false),
	} {
		t.Run(fmt.Sprintf("%d bits by %d, %t", c.Bits, c.Sub, c.Least != nil), func(t *testing.T) {
			m := FromCodes(c)
			x, y := make([]float32, n*cols), make([]float32, n*rows)
			rng := rand.New(rand.NewPCG(3, 4))
			for i := range x {
				x[i] = float32(rng.NormFloat64())
				if i < cols {
					x[i] = -1 // whose codes are all -127
				}
			}
			plainAndFast(t, func() {
				q := m.Quantise(x, n)
				m.Multiply(q, y)
				for i := range n {
					for r := range rows {
						if want := product(c, x[i*cols:], q, i, r); y[i*rows+r] != want {
							t.Fatalf("AVX2 %t: row %d by row %d is %g, want %g", avx2, i, r, y[i*rows+r], want)
						}
					}
				}
			})
		})
	}
}

// plainAndFast runs a check in plain Go too, where plain kernels have better.
func plainAndFast(t *testing.T, check func()) {
	t.Helper()
	check()
	if avx2 {
		defer func() { avx2 = true }()
		avx2 = false
		check()
	}
}

// TestPlainFloats holds that sums of floats have the same bits with and without AVX2.
func TestPlainFloats(t *testing.T) {
	const dim, n = 48, 13
	rng := rand.New(rand.NewPCG(5, 6))
	values, p := make([]float32, n*dim), make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	for i := range p {
		p[i] = float32(rng.NormFloat64())
	}
	sums, mixed := make([]float32, lanes), make([]float32, dim)
	for j, weight := range p {
		for d := range mixed {
			mixed[d] += float32(weight * values[j*dim+d])
		}
		for r := range sums {
			sums[r] += float32(weight * values[j*lanes+r])
		}
	}
	plainAndFast(t, func() {
		s, m := make([]float32, lanes), make([]float32, dim)
		floats16(values, p, s)
		mix(p, values, m, dim)
		if !slices.Equal(s, sums) || !slices.Equal(m, mixed) {
			t.Errorf("AVX2 %t: %v and %v, want %v and %v", avx2, s, m, sums, mixed)
		}
	})
}

// product is one of them, by definition.
func product(c *Codes, x []float32, q *Numbers, row, r int) (total float32) {
	subs := c.Cols / c.Sub
	for s := range subs {
		block := row*c.Cols/run + s*c.Sub/run
		var sum int32
		for k := s * c.Sub; k < (s+1)*c.Sub; k++ {
			sum += (int32(c.Code[r*c.Cols+k]) - int32(c.Offset)) * codeOf(x, k)
		}
		total += float32(float32(sum) * float32(c.Scale[r*subs+s]*q.scale[block]))
		if c.Least != nil {
			total += float32(c.Least[r*subs+s] * q.total[block])
		}
	}
	return total
}

// codeOf is the code of the k-th number of a row.
func codeOf(x []float32, k int) int32 {
	var top float32
	for _, v := range x[k/run*run : (k/run+1)*run] {
		top = max(top, abs(v))
	}
	return int32(math.RoundToEven(float64(x[k] * (127 / top))))
}

func BenchmarkMultiply(b *testing.B) {
	const rows, cols = 1536, 576
	for name, m := range map[string]*Matrix{
		"4 bits": FromCodes(codes(rows, cols, 4, 32, 8, true)), "8 bits": FromCodes(codes(rows, cols, 8, 32, 128, false)),
		"floats": FromFloats(make([]float32, rows*cols), rows, cols),
	} {
		for _, n := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				x, y := make([]float32, n*cols), make([]float32, n*rows)
				for b.Loop() {
					m.Multiply(m.Quantise(x, n), y)
				}
				b.ReportMetric(float64(n*rows*cols)*float64(b.N)/1e9/b.Elapsed().Seconds(), "Gmac/s")
			})
		}
	}
}
