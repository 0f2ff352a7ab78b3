// Package matrix multiplies rows of numbers by the weights of a model, as they
// are stored: 32-bit floats, or codes of 4 or 8 bits with a scale for each few of
// them. It has what attention and activations need besides.
//
// Sixteen rows of a matrix lie interleaved, so that a vector instruction works on
// one column of each, and no sum is ever taken across a vector. Each product of
// a row of numbers with a row of weights is summed by itself, in the order of the
// columns. So a result depends neither on the number of threads nor on what is
// multiplied at the same time.
//
// Like llama.cpp, numbers that meet quantised weights are quantised themselves
// first, to 8 bits with a scale for each 32.
//
// On amd64 processors with AVX2, assembly computes the sums; plain Go does elsewhere,
// with the same bits. Every product is converted to its own type before it is added,
// because Go otherwise may round a product and a sum once, as it does on arm64.
package matrix

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// lanes is how many rows lie interleaved.
const lanes = 16

// run is how many numbers of a row are quantised with one scale.
const run = 32

// Matrix is a weight of shape [Rows, Cols]. It is safe for concurrent use.
type Matrix struct {
	Rows, Cols int
	floats     []float32 // [groups, Cols, 16], or
	nibbles    []uint8   // [groups, Cols/32, 256]: see nibble, or
	bytes      []uint8   // [groups, Cols·16]: see byteOf
	sub        int       // columns that share a scale: 16 or 32
	scale      []float32 // [groups, Cols/sub, 16]
	least      []float32 // the same, what is added; nil if nothing is
	offset     int32     // of the codes in nibbles
	coarse     bool      // numbers that meet it are scaled by 256, not by 32
}

// Codes are quantised weights of shape [Rows, Cols]: each stands for
// scale·(code - offset) + least, by its row and the run of Sub columns it is in.
type Codes struct {
	Rows, Cols int
	Bits       int // 4 or 8
	Sub        int // 16 or 32
	Offset     int
	Coarse     bool // as K-quants are used in llama.cpp, see [Matrix.Quantise]
	Code       []uint8
	Scale      []float32 // [Rows, Cols/Sub]
	Least      []float32 // the same; nil if nothing is added
}

// FromFloats makes a matrix of values in the order of rows.
func FromFloats(values []float32, rows, cols int) *Matrix {
	m := &Matrix{Rows: rows, Cols: cols, floats: make([]float32, groups(rows)*lanes*cols)}
	for r := range rows {
		at := r/lanes*lanes*cols + r%lanes
		for c, v := range values[r*cols : (r+1)*cols] {
			m.floats[at+c*lanes] = v
		}
	}
	return m
}

// FromCodes makes a matrix that stays quantised.
func FromCodes(c *Codes) *Matrix {
	m := &Matrix{Rows: c.Rows, Cols: c.Cols, sub: c.Sub, coarse: c.Coarse}
	m.scale = interleaved(c.Scale, c.Rows)
	if c.Least != nil {
		m.least = interleaved(c.Least, c.Rows)
	}
	if c.Bits == 4 {
		m.packNibbles(c)
		return m
	}
	m.bytes = make([]uint8, groups(c.Rows)*lanes*c.Cols)
	for i, code := range c.Code {
		m.bytes[m.byteOf(i/c.Cols, i%c.Cols)] = code - uint8(c.Offset) + bias
	}
	return m
}

// packNibbles puts 32 columns of 16 rows into 256 bytes, of which each has the
// codes of two columns that are 16 apart.
func (m *Matrix) packNibbles(c *Codes) {
	m.offset = int32(c.Offset)
	m.nibbles = make([]uint8, groups(c.Rows)*lanes*c.Cols/2)
	for i, code := range c.Code {
		at, shift := m.nibble(i/c.Cols, i%c.Cols)
		m.nibbles[at] |= code << shift
	}
}

// nibble is where a code of 4 bits is: its byte, and by how much it is shifted.
// A block has the rows of each column in turn.
func (m *Matrix) nibble(row, col int) (at, shift int) {
	at = (row/lanes*(m.Cols/run) + col/run) * 256
	return at + col%16*lanes + row%lanes, col % run / 16 * 4
}

// byteOf is where a code of 8 bits is.
func (m *Matrix) byteOf(row, col int) int { return row/lanes*lanes*m.Cols + col*lanes + row%lanes }

// bias is added to codes of 8 bits.
const bias = 128

func groups(rows int) int { return (rows + lanes - 1) / lanes }

// interleaved turns [rows, n] into [groups, n, 16].
func interleaved(values []float32, rows int) []float32 {
	n := len(values) / rows
	out := make([]float32, groups(rows)*lanes*n)
	for i, v := range values {
		r, k := i/n, i%n
		out[(r/lanes*n+k)*lanes+r%lanes] = v
	}
	return out
}

// Row writes one row as floats.
func (m *Matrix) Row(row int, to []float32) {
	g, r := row/lanes, row%lanes
	for k := range m.Cols {
		if m.floats != nil {
			to[k] = m.floats[(g*m.Cols+k)*lanes+r]
			continue
		}
		at := (g*(m.Cols/m.sub)+k/m.sub)*lanes + r
		to[k] = float32(m.scale[at] * float32(m.code(row, k)))
		if m.least != nil {
			to[k] += m.least[at]
		}
	}
}

// code is a weight before it is scaled.
func (m *Matrix) code(row, col int) int32 {
	if m.bytes != nil {
		return int32(int8(m.bytes[m.byteOf(row, col)] - bias))
	}
	at, shift := m.nibble(row, col)
	return int32(m.nibbles[at]>>shift&15) - m.offset
}

// tasksOf is how many groups of rows one task takes.
const tasksOf = 4

// Multiply writes x·Mᵀ, [n, Rows], for n rows that m.Quantise prepared.
func (m *Matrix) Multiply(x *Numbers, y []float32) {
	all := groups(m.Rows)
	Parallel((all+tasksOf-1)/tasksOf, func(task int) {
		for g := task * tasksOf; g < min(all, (task+1)*tasksOf); g++ {
			rows := min(lanes, m.Rows-g*lanes)
			for at := range x.n {
				tile := m.tile(x, g, at)
				copy(y[at*m.Rows+g*lanes:][:rows], tile[:])
			}
		}
	})
}

// Parallel runs tasks 0 to n-1 on all cores.
func Parallel(n int, task func(int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			task(i)
		}
		return
	}
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			task(i)
		}
	}
	var group sync.WaitGroup
	for range workers - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
}
