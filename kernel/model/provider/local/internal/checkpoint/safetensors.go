package checkpoint

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/model/provider/local/internal/matrix"
)

// Weights gives the tensors of a checkpoint by name. Close it after use.
//
// The reader is this package's own: the one of go-huggingface wants a
// repository of the hub, and it panics where a file is shorter than its
// header says.
type Weights struct {
	path    string
	tensors map[string]tensor
	files   []*os.File
}

// tensor says where a tensor lies.
type tensor struct {
	file  *os.File
	dtype string
	shape []int
	start int64     // in the file
	size  int64     // bytes
	block blockType // of GGUF
	pairs int       // heads whose rows are stored as pairs, see [GGUF.Weights]; 0 if none
}

// maxHeader bounds the header, as the format's reference implementation does.
const maxHeader = 100 << 20

const (
	singleFile = "model.safetensors"
	indexFile  = "model.safetensors.index.json"
)

// OpenWeights opens the weights in dir: model.safetensors, or the shards that
// model.safetensors.index.json names. It checks every header against the size
// of its file, so what it opens can be read.
func OpenWeights(dir string) (*Weights, error) {
	names, err := weightFiles(dir)
	if err != nil {
		return nil, err
	}
	w := &Weights{path: dir, tensors: map[string]tensor{}}
	for _, name := range names {
		if err := w.open(filepath.Join(dir, name)); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

// weightFiles names the files of the weights, sorted.
func weightFiles(dir string) ([]string, error) {
	file := filepath.Join(dir, indexFile)
	data, err := files.Read(file, files.MaxJSON)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, singleFile)); err != nil {
			return nil, fmt.Errorf("read weights: %s has neither %s nor %s%s", dir, singleFile, indexFile, otherFormat(dir))
		}
		return []string{singleFile}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	var index struct {
		Files map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, fmt.Errorf("read weights %s: %w", file, err)
	}
	var names []string
	for _, name := range index.Files {
		if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
			return nil, fmt.Errorf("read weights %s: %q is not a file name", file, name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("read weights %s: weight_map is empty", file)
	}
	slices.Sort(names)
	return names, nil
}

// otherFormat is what to do about weights in another format.
func otherFormat(dir string) string {
	for _, pattern := range []string{"pytorch_model*.bin", "*.pth", "*.gguf", "tf_model.h5", "*.msgpack"} {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 {
			return fmt.Sprintf(", but %s: save the model as safetensors, as save_pretrained of transformers does", filepath.Base(found[0]))
		}
	}
	return ""
}

// Close closes the files.
func (w *Weights) Close() error {
	var errs []error
	for _, f := range w.files {
		errs = append(errs, f.Close())
	}
	w.files = nil
	return errors.Join(errs...)
}

func (w *Weights) open(file string) error {
	f, err := files.Open(file)
	if err != nil {
		return fmt.Errorf("read weights: %w", err)
	}
	w.files = append(w.files, f)
	if err := w.header(f); err != nil {
		return fmt.Errorf("read weights %s: %w", file, err)
	}
	return nil
}

func (w *Weights) header(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var length [8]byte
	if _, err := f.ReadAt(length[:], 0); err != nil {
		return fmt.Errorf("truncated: the file has %d bytes, too few for a header", info.Size())
	}
	if string(length[:]) == "version " {
		return errors.New("a Git LFS pointer and not the file: fetch it with git lfs pull")
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return fmt.Errorf("not a safetensors file: its header would be %d bytes", n)
	}
	if int64(n) > info.Size()-8 {
		return fmt.Errorf("truncated: the header is %d bytes, the file %d", n, info.Size())
	}
	data := make([]byte, n)
	if _, err := f.ReadAt(data, 8); err != nil {
		return err
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	delete(entries, "__metadata__")
	return w.add(f, entries, 8+int64(n), info.Size())
}

// add notes where a file's tensors lie. Their data starts at base and the file
// ends at end.
func (w *Weights) add(f *os.File, entries map[string]json.RawMessage, base, end int64) error {
	names := slices.Sorted(maps.Keys(entries))
	for _, name := range names {
		if _, twice := w.tensors[name]; twice {
			return fmt.Errorf("tensor %q is in another shard too", name)
		}
		t, err := readEntry(entries[name], base, end)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		t.file = f
		w.tensors[name] = t
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(w.tensors[a].start, w.tensors[b].start) })
	last := -1 // the last one that is not empty
	for i, name := range names {
		t := w.tensors[name]
		if t.size == 0 {
			continue
		}
		if last >= 0 && w.tensors[names[last]].start+w.tensors[names[last]].size > t.start {
			return fmt.Errorf("tensors %q and %q overlap", names[last], name)
		}
		last = i
	}
	return nil
}

// readEntry reads one tensor's place; its data starts at base and the file
// ends at end.
func readEntry(entry json.RawMessage, base, end int64) (tensor, error) {
	var e struct {
		DType   string  `json:"dtype"`
		Shape   []int   `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(entry, &e); err != nil {
		return tensor{}, err
	}
	if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] || e.Offsets[1] > math.MaxInt64-base {
		return tensor{}, fmt.Errorf("wrong offsets %v", e.Offsets)
	}
	t := tensor{dtype: e.DType, shape: e.Shape, start: base + e.Offsets[0], size: e.Offsets[1] - e.Offsets[0]}
	if base+e.Offsets[1] > end {
		return tensor{}, fmt.Errorf("truncated: it ends at byte %d, the file at %d", base+e.Offsets[1], end)
	}
	if width := widths[e.DType]; width != 0 {
		want, ok := elements(e.Shape)
		if !ok || want > math.MaxInt64/width || want*width != t.size {
			return tensor{}, fmt.Errorf("its %d bytes are not the size of type %s and shape %v", t.size, e.DType, e.Shape)
		}
	}
	return t, nil
}

// widths are the bytes of an element of the types that can be read.
var widths = map[string]int64{"F32": 4, "F16": 2, "BF16": 2}

func elements(shape []int) (int64, bool) {
	n := int64(1)
	for _, d := range shape {
		if d < 0 || d > 0 && n > math.MaxInt64/int64(d) {
			return 0, false
		}
		n *= int64(d)
	}
	return n, true
}

// Has reports whether there is a tensor of that name.
func (w *Weights) Has(name string) bool {
	_, ok := w.tensors[name]
	return ok
}

// Read gives a tensor as 32-bit floats, in row-major order. It must have the
// given shape.
func (w *Weights) Read(name string, shape ...int) ([]float32, error) {
	var values []float32
	err := w.read(name, shape, func(t tensor, data []byte) error {
		if t.block.read != nil {
			return fmt.Errorf("type %s is supported for matrices only", t.dtype)
		}
		var err error
		values, err = t.floats(data)
		return err
	})
	return values, err
}

// Matrix gives a tensor of shape [rows, cols], quantised if it is stored so.
func (w *Weights) Matrix(name string, rows, cols int) (m *matrix.Matrix, err error) {
	err = w.read(name, []int{rows, cols}, func(t tensor, data []byte) error {
		if t.block.read == nil {
			values, err := t.floats(data)
			if err == nil {
				m = matrix.FromFloats(values, rows, cols)
			}
			return err
		}
		c := t.block.codes(data, rows, cols)
		if t.pairs > 0 {
			c.Code, c.Scale = unpaired(c.Code, t.pairs, rows), unpaired(c.Scale, t.pairs, rows)
			if c.Least != nil {
				c.Least = unpaired(c.Least, t.pairs, rows)
			}
		}
		m = matrix.FromCodes(c)
		return nil
	})
	return m, err
}

// read gives a tensor's bytes.
func (w *Weights) read(name string, shape []int, use func(tensor, []byte) error) error {
	t, ok := w.tensors[name]
	if !ok {
		return fmt.Errorf("read weights %s: tensor %q is missing", w.path, name)
	}
	if err := t.bytes(shape, use); err != nil {
		return fmt.Errorf("read weights %s: tensor %q: %w", t.file.Name(), name, err)
	}
	return nil
}

func (t tensor) bytes(shape []int, use func(tensor, []byte) error) error {
	if !slices.Equal(t.shape, shape) {
		return fmt.Errorf("its shape is %v, the config asks for %v", t.shape, shape)
	}
	if widths[t.dtype] == 0 && t.block.read == nil {
		return fmt.Errorf("type %q is not supported; supported are F32, F16 and BF16", t.dtype)
	}
	data := make([]byte, t.size)
	if _, err := io.ReadFull(io.NewSectionReader(t.file, t.start, t.size), data); err != nil {
		return err
	}
	return use(t, data)
}

// floats expands a tensor's bytes, if it is not quantised.
func (t tensor) floats(data []byte) ([]float32, error) {
	width := int(widths[t.dtype])
	values := make([]float32, len(data)/width)
	for i := range values {
		switch t.dtype {
		case "F32":
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		case "F16":
			values[i] = half(data[2*i:])
		case "BF16":
			values[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(data[2*i:])) << 16)
		}
		if values[i] != values[i] {
			return nil, fmt.Errorf("value %d is not a number: the file is damaged, or the training that wrote it failed", i)
		}
	}
	if t.pairs > 0 {
		values = unpaired(values, t.pairs, t.shape[0])
	}
	return values, nil
}
