package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes/float16"

	"noema/kernel/model/provider/local/internal/matrix"
)

// blockType is how a type of GGUF lays out numbers: count of them in size
// bytes. Quantised ones are codes with a scale for each sub of them, which read
// takes from a block.
type blockType struct {
	name        string
	count, size int
	bits, sub   int
	offset      int // of the codes
	read        func(block []byte, code []uint8, scale, least []float32)
	least       bool // there is something to add
}

// ggufTypes are the types by their numbers, laid out as in ggml-quants.c.
var ggufTypes = map[uint32]blockType{
	0:  {name: "F32", count: 1, size: 4},
	1:  {name: "F16", count: 1, size: 2},
	30: {name: "BF16", count: 1, size: 2},
	2:  {name: "Q4_0", count: 32, size: 18, bits: 4, sub: 32, offset: 8, read: readQ4},
	3:  {name: "Q4_1", count: 32, size: 20, bits: 4, sub: 32, read: readQ4, least: true},
	6:  {name: "Q5_0", count: 32, size: 22, bits: 8, sub: 32, offset: 16, read: readQ5},
	7:  {name: "Q5_1", count: 32, size: 24, bits: 8, sub: 32, read: readQ5, least: true},
	8:  {name: "Q8_0", count: 32, size: 34, bits: 8, sub: 32, offset: 128, read: readQ8},
	12: {name: "Q4_K", count: 256, size: 144, bits: 4, sub: 32, read: readQ4K, least: true},
	13: {name: "Q5_K", count: 256, size: 176, bits: 8, sub: 32, read: readQ5K, least: true},
	14: {name: "Q6_K", count: 256, size: 210, bits: 8, sub: 16, offset: 32, read: readQ6K},
}

// bytes is the size of a tensor.
func (b blockType) bytes(kind uint32, shape []int) (int64, error) {
	if b.name == "" {
		return 0, fmt.Errorf("type %d is not supported; supported are F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K", kind)
	}
	n, ok := elements(shape)
	if !ok || n > math.MaxInt64/8 {
		return 0, fmt.Errorf("shape %v is too large", shape)
	}
	if len(shape) > 0 && shape[len(shape)-1]%b.count != 0 {
		return 0, fmt.Errorf("rows of %d are not a multiple of the %d in a block of %s", shape[len(shape)-1], b.count, b.name)
	}
	return n / int64(b.count) * int64(b.size), nil
}

// codes reads the blocks of a matrix.
func (b blockType) codes(data []byte, rows, cols int) *matrix.Codes {
	c := &matrix.Codes{Rows: rows, Cols: cols, Bits: b.bits, Sub: b.sub, Offset: b.offset, Coarse: b.count == 256}
	c.Code, c.Scale = make([]uint8, rows*cols), make([]float32, rows*cols/b.sub)
	if b.least {
		c.Least = make([]float32, len(c.Scale))
	}
	subs := b.count / b.sub
	for i := range len(data) / b.size {
		var least []float32
		if b.least {
			least = c.Least[i*subs:]
		}
		b.read(data[i*b.size:][:b.size], c.Code[i*b.count:], c.Scale[i*subs:], least)
	}
	return c
}

func half(b []byte) float32 { return float16.FromBits(binary.LittleEndian.Uint16(b)).Float32() }

// readQ4 reads 32 codes of 4 bits, the low halves of the bytes first.
func readQ4(b []byte, code []uint8, scale, least []float32) {
	scale[0] = half(b)
	if least != nil {
		least[0] = half(b[2:])
	}
	for i, q := range b[len(b)-16:] {
		code[i], code[i+16] = q&15, q>>4
	}
}

// readQ5 reads codes as readQ4 does, with their fifth bits in 4 bytes before.
func readQ5(b []byte, code []uint8, scale, least []float32) {
	readQ4(b, code, scale, least)
	high := binary.LittleEndian.Uint32(b[len(b)-20:])
	for i := range 32 {
		code[i] |= uint8(high >> i & 1 << 4)
	}
}

func readQ8(b []byte, code []uint8, scale, _ []float32) {
	scale[0] = half(b)
	for i, q := range b[2:] {
		code[i] = q + 128
	}
}

// readQ4K reads 8 runs of 32 codes, each with a scale and a minimum of 6 bits.
func readQ4K(b []byte, code []uint8, scale, least []float32) {
	d, m := half(b), half(b[2:])
	for j := range 8 {
		s, l := sixBits(j, b[4:16])
		scale[j], least[j] = d*s, -m*l
		for i, q := range b[len(b)-128+j/2*32:][:32] {
			code[32*j+i] = q >> (4 * (j & 1)) & 15
		}
	}
}

func sixBits(j int, s []byte) (scale, least float32) {
	if j < 4 {
		return float32(s[j] & 63), float32(s[j+4] & 63)
	}
	return float32(s[j+4]&15 | s[j-4]>>6<<4), float32(s[j+4]>>4 | s[j]>>6<<4)
}

func readQ5K(b []byte, code []uint8, scale, least []float32) {
	readQ4K(b, code, scale, least)
	for j := range 8 {
		for i := range 32 {
			code[32*j+i] |= b[16+i] >> j & 1 << 4
		}
	}
}

// readQ6K reads 16 runs of 16 codes: 4 bits of each, then 2, then the scales.
func readQ6K(b []byte, code []uint8, scale, _ []float32) {
	d := half(b[208:])
	for j := range 16 {
		scale[j] = d * float32(int8(b[192+j]))
	}
	for j := range 8 { // runs of 32, four in each half
		low, high := b[j/4*64+j%2*32:], b[128+j/4*32:]
		for i := range 32 {
			code[32*j+i] = low[i]>>(j/2%2*4)&15 | high[i]>>(j%4*2)&3<<4
		}
	}
}
