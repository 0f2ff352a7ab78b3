package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"noema/kernel/base/files"
)

// GGUF is a model in one file, as llama.cpp has it: metadata, among them the
// tokenizer and the chat template, and the weights.
//
// The reader is this package's own: the one of go-huggingface allocates what a
// header claims before it looks whether the file is that long, and it expands
// every block.
type GGUF struct {
	File    string
	meta    map[string]any // bool, float64, string, []float64 or []string
	tensors map[string]tensor
	file    *os.File
}

// The limits of a header. The largest known has 6 MiB and 300 thousand tokens.
const (
	maxEntries = 1 << 16
	maxRank    = 4
	ggufMagic  = "GGUF"
)

// OpenGGUF reads the header of a file and checks it against the file's size.
// Close it after use.
func OpenGGUF(file string) (*GGUF, error) {
	f, err := files.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	g := &GGUF{File: file, file: f, meta: map[string]any{}, tensors: map[string]tensor{}}
	if err := g.header(); err != nil {
		return nil, errors.Join(fmt.Errorf("read model %s: %w", file, err), f.Close())
	}
	return g, nil
}

// Close closes the file.
func (g *GGUF) Close() error { return g.file.Close() }

func (g *GGUF) header() error {
	info, err := g.file.Stat()
	if err != nil {
		return err
	}
	r := &ggufReader{from: bufio.NewReaderSize(io.NewSectionReader(g.file, 0, info.Size()), 1<<16), left: min(info.Size(), maxHeader), size: info.Size()}
	if magic := string(r.bytes(4)); magic != ggufMagic {
		return fmt.Errorf("not a GGUF file: it begins with %q", magic)
	}
	if version := r.u32(); version != 2 && version != 3 {
		return fmt.Errorf("GGUF version %d is not supported; supported are 2 and 3, in little-endian order", version)
	}
	tensors, entries := r.u64(), r.u64()
	if tensors > maxEntries || entries > maxEntries {
		return fmt.Errorf("header: %d tensors and %d metadata entries are more than the %d that can be", tensors, entries, maxEntries)
	}
	for i := range entries {
		key := r.text()
		g.meta[key] = r.value(r.u32())
		if r.err != nil {
			return fmt.Errorf("header: metadata entry %d of %d (%.80q): %w", i+1, entries, key, r.err)
		}
	}
	return g.directory(r, tensors)
}

// directory reads where the tensors lie.
func (g *GGUF) directory(r *ggufReader, count uint64) error {
	for i := range count {
		name, t := r.text(), tensor{file: g.file}
		rank := r.u32()
		if r.err == nil && rank > maxRank {
			r.err = fmt.Errorf("%d dimensions are more than %d", rank, maxRank)
		}
		for range min(rank, maxRank) { // the fastest one comes first
			t.shape = append([]int{int(min(r.u64(), math.MaxInt32))}, t.shape...)
		}
		kind := r.u32()
		t.block, t.start = ggufTypes[kind], int64(min(r.u64(), math.MaxInt64/2))
		t.dtype = t.block.name
		if _, twice := g.tensors[name]; twice && r.err == nil {
			r.err = errors.New("it is there twice")
		}
		if r.err == nil {
			t.size, r.err = t.block.bytes(kind, t.shape)
		}
		if r.err != nil {
			return fmt.Errorf("header: tensor %d of %d (%.80q): %w", i+1, count, name, r.err)
		}
		g.tensors[name] = t
	}
	return g.place(r)
}

// place finds the start of the data, and checks that the file has all of it.
func (g *GGUF) place(r *ggufReader) error {
	align := int64(32)
	if n, ok := g.meta["general.alignment"].(float64); ok {
		align = int64(n)
	}
	if align <= 0 || align > 1<<20 {
		return fmt.Errorf("header: an alignment of %d bytes", align)
	}
	base := (r.at + align - 1) / align * align
	for name, t := range g.tensors {
		t.start += base
		if t.start+t.size > r.size {
			return fmt.Errorf("truncated: tensor %.80q ends at byte %d, the file at %d: fetch it again", name, t.start+t.size, r.size)
		}
		g.tensors[name] = t
	}
	return nil
}

// ggufReader reads a header. After an error it gives zeros.
type ggufReader struct {
	from *bufio.Reader
	at   int64
	left int64 // bytes that a header can still have
	size int64 // of the file
	err  error
}

// bytes reads n bytes, which must be there: nothing is allocated for more.
func (r *ggufReader) bytes(n uint64) []byte {
	if r.err != nil {
		return nil
	}
	if n > uint64(r.left) {
		r.err = fmt.Errorf("truncated: %d bytes at byte %d, where the file has %d and its header %d at most: fetch it again", n, r.at, r.size, maxHeader)
		return nil
	}
	data := make([]byte, n)
	_, r.err = io.ReadFull(r.from, data)
	r.at, r.left = r.at+int64(n), r.left-int64(n)
	return data
}

func (r *ggufReader) u32() uint32 {
	if data := r.bytes(4); len(data) == 4 {
		return binary.LittleEndian.Uint32(data)
	}
	return 0
}

func (r *ggufReader) u64() uint64 {
	if data := r.bytes(8); len(data) == 8 {
		return binary.LittleEndian.Uint64(data)
	}
	return 0
}

func (r *ggufReader) text() string { return string(r.bytes(r.u64())) }

// The kinds of metadata values that are not numbers.
const (
	ggufBool   = 7
	ggufString = 8
	ggufArray  = 9
)

// numbers read a value of each kind of number; their length is its size.
var ggufNumbers = map[uint32]struct {
	size uint64
	read func([]byte) float64
}{
	0:  {1, func(b []byte) float64 { return float64(b[0]) }},
	1:  {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	2:  {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }},
	3:  {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }},
	4:  {4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }},
	5:  {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }},
	6:  {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	7:  {1, func(b []byte) float64 { return float64(b[0]) }},
	10: {8, func(b []byte) float64 { return float64(binary.LittleEndian.Uint64(b)) }},
	11: {8, func(b []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(b))) }},
	12: {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }},
}

func (r *ggufReader) value(kind uint32) any {
	switch kind {
	case ggufString:
		return r.text()
	case ggufArray:
		return r.array(r.u32(), r.u64())
	}
	if n := r.numbers(kind, 1); len(n) == 1 {
		if kind == ggufBool {
			return n[0] != 0
		}
		return n[0]
	}
	return nil
}

func (r *ggufReader) array(kind uint32, n uint64) any {
	if kind != ggufString {
		return r.numbers(kind, n)
	}
	if r.err == nil && n > uint64(r.left)/8 { // the length of a text takes 8 bytes
		r.err = fmt.Errorf("truncated: %d texts at byte %d of %d: fetch it again", n, r.at, r.size)
	}
	var all []string
	for i := uint64(0); i < n && r.err == nil; i++ {
		all = append(all, r.text())
	}
	return all
}

func (r *ggufReader) numbers(kind uint32, n uint64) []float64 {
	k, ok := ggufNumbers[kind]
	if !ok && r.err == nil {
		r.err = fmt.Errorf("unknown type %d of a value", kind)
	}
	if r.err != nil {
		return nil
	}
	data := r.bytes(min(n, math.MaxInt64/8) * k.size)
	all := make([]float64, len(data)/int(max(k.size, 1)))
	for i := range all {
		all[i] = k.read(data[uint64(i)*k.size:])
	}
	return all
}
