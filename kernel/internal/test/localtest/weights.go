package localtest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gomlx/compute/dtypes/bfloat16"
	"github.com/gomlx/compute/dtypes/float16"
)

// tensor is one tensor to write. Its values are around base.
type tensor struct {
	name         string
	shape        []int
	base, spread float64
}

// tensors lists an architecture's tensors in a fixed order; a run of lines with
// * is repeated for each layer.
func (a *arch) tensors(values map[string]any) []tensor {
	var all []tensor
	for i := 0; i < len(a.Tensors); {
		end, times := i+1, 1
		if strings.Contains(a.Tensors[i], "*") {
			times = values["layers"].(int)
			for end < len(a.Tensors) && strings.Contains(a.Tensors[end], "*") {
				end++
			}
		}
		for layer := range times {
			for _, line := range a.Tensors[i:end] {
				all = append(all, readTensor(strings.ReplaceAll(line, "*", strconv.Itoa(layer)), values))
			}
		}
		i = end
	}
	return all
}

// readTensor reads a line: a kind, a name, and the sizes of the shape.
func readTensor(line string, values map[string]any) tensor {
	fields := strings.Fields(line)
	t := tensor{name: fields[1]}
	switch fields[0] {
	case "embedding":
		t.spread = 0.5 // small, so that norms matter
	case "weight":
		t.spread = 0.12
	case "bias":
		t.spread = 0.1
	case "norm":
		t.base, t.spread = 1, 0.1
	}
	for _, size := range fields[2:] {
		t.shape = append(t.shape, values[size].(int))
	}
	return t
}

// writeWeights writes model.safetensors, or shards and their index.
func (s Spec) writeWeights(dir string, all []tensor) error {
	rng := rand.New(rand.NewPCG(s.Seed, 0x6c6f63616c))
	if s.Shards == 1 {
		return s.writeShard(dir, "model.safetensors", all, rng)
	}
	index := map[string]string{}
	for i := range s.Shards {
		name := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, s.Shards)
		part := all[i*len(all)/s.Shards : (i+1)*len(all)/s.Shards]
		if err := s.writeShard(dir, name, part, rng); err != nil {
			return err
		}
		for _, t := range part {
			index[t.name] = name
		}
	}
	return writeJSON(dir, "model.safetensors.index.json", map[string]any{"metadata": map[string]any{}, "weight_map": index})
}

func (s Spec) writeShard(dir, name string, tensors []tensor, rng *rand.Rand) error {
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, t := range tensors {
		start, size := len(data), 1
		for _, d := range t.shape {
			size *= d
		}
		for range size {
			data = encode(data, s.DType, float32(t.base+t.spread*rng.NormFloat64()))
		}
		header[t.name] = map[string]any{"dtype": s.DType, "shape": t.shape, "data_offsets": []int{start, len(data)}}
	}
	head, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("write checkpoint: %s: %w", name, err)
	}
	head = append(head, bytes.Repeat([]byte{' '}, (8-len(head)%8)%8)...)
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	file = append(append(file, head...), data...)
	if err := os.WriteFile(filepath.Join(dir, name), file, 0o600); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

func encode(data []byte, dtype string, v float32) []byte {
	switch dtype {
	case "F16":
		return binary.LittleEndian.AppendUint16(data, float16.FromFloat32(v).Bits())
	case "BF16":
		return binary.LittleEndian.AppendUint16(data, bfloat16.FromFloat32(v).Bits())
	}
	return binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
}
