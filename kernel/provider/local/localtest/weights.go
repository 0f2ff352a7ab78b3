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

	"github.com/gomlx/compute/dtypes/bfloat16"
	"github.com/gomlx/compute/dtypes/float16"
)

// entry is one tensor to write. Its values are around base.
type entry struct {
	name   string
	shape  []int
	base   float64
	spread float64
}

// list names a model's tensors in a fixed order.
type list struct{ entries []entry }

func (l *list) weight(name string, shape ...int) {
	l.entries = append(l.entries, entry{name, shape, 0, 0.12})
}
func (l *list) bias(name string, n int) { l.entries = append(l.entries, entry{name, []int{n}, 0, 0.1}) }
func (l *list) norm(name string, n int) { l.entries = append(l.entries, entry{name, []int{n}, 1, 0.1}) }

// embedding is small, so that norms matter.
func (l *list) embedding(name string, rows, n int) {
	l.entries = append(l.entries, entry{name, []int{rows, n}, 0, 0.5})
}

func (s Spec) tensors(vocab int) []entry {
	l := &list{}
	switch s.Arch {
	case "gpt2":
		s.gpt2(l, vocab)
	case "bert":
		s.bert(l, vocab)
	default:
		s.llama(l, vocab)
	}
	return l.entries
}

func (s Spec) llama(l *list, vocab int) {
	q, kv := s.Heads*s.headDim(), s.KVHeads*s.headDim()
	l.embedding("model.embed_tokens.weight", vocab, s.Hidden)
	for i := range s.Layers {
		p := fmt.Sprintf("model.layers.%d.", i)
		l.norm(p+"input_layernorm.weight", s.Hidden)
		l.weight(p+"self_attn.q_proj.weight", q, s.Hidden)
		l.weight(p+"self_attn.k_proj.weight", kv, s.Hidden)
		l.weight(p+"self_attn.v_proj.weight", kv, s.Hidden)
		l.weight(p+"self_attn.o_proj.weight", s.Hidden, q)
		if s.Arch == "qwen2" {
			l.bias(p+"self_attn.q_proj.bias", q)
			l.bias(p+"self_attn.k_proj.bias", kv)
			l.bias(p+"self_attn.v_proj.bias", kv)
		}
		if s.Arch == "qwen3" {
			l.norm(p+"self_attn.q_norm.weight", s.headDim())
			l.norm(p+"self_attn.k_norm.weight", s.headDim())
		}
		l.norm(p+"post_attention_layernorm.weight", s.Hidden)
		l.weight(p+"mlp.gate_proj.weight", s.Inner, s.Hidden)
		l.weight(p+"mlp.up_proj.weight", s.Inner, s.Hidden)
		l.weight(p+"mlp.down_proj.weight", s.Hidden, s.Inner)
	}
	l.norm("model.norm.weight", s.Hidden)
	if !s.tied() {
		l.embedding("lm_head.weight", vocab, s.Hidden)
	}
}

func (s Spec) gpt2(l *list, vocab int) {
	l.embedding("transformer.wte.weight", vocab, s.Hidden)
	l.weight("transformer.wpe.weight", s.Context, s.Hidden)
	for i := range s.Layers {
		p := fmt.Sprintf("transformer.h.%d.", i)
		for _, part := range []struct {
			name    string
			in, out int
		}{
			{"attn.c_attn", s.Hidden, 3 * s.Hidden}, {"attn.c_proj", s.Hidden, s.Hidden},
			{"mlp.c_fc", s.Hidden, s.Inner}, {"mlp.c_proj", s.Inner, s.Hidden},
		} {
			l.weight(p+part.name+".weight", part.in, part.out)
			l.bias(p+part.name+".bias", part.out)
		}
		for _, name := range []string{"ln_1", "ln_2"} {
			l.norm(p+name+".weight", s.Hidden)
			l.bias(p+name+".bias", s.Hidden)
		}
	}
	l.norm("transformer.ln_f.weight", s.Hidden)
	l.bias("transformer.ln_f.bias", s.Hidden)
}

func (s Spec) bert(l *list, vocab int) {
	norm := func(name string) {
		l.norm(name+".weight", s.Hidden)
		l.bias(name+".bias", s.Hidden)
	}
	dense := func(name string, out, in int) {
		l.weight(name+".weight", out, in)
		l.bias(name+".bias", out)
	}
	l.embedding("embeddings.word_embeddings.weight", vocab, s.Hidden)
	l.weight("embeddings.position_embeddings.weight", s.Context, s.Hidden)
	l.weight("embeddings.token_type_embeddings.weight", 2, s.Hidden)
	norm("embeddings.LayerNorm")
	for i := range s.Layers {
		p := fmt.Sprintf("encoder.layer.%d.", i)
		dense(p+"attention.self.query", s.Hidden, s.Hidden)
		dense(p+"attention.self.key", s.Hidden, s.Hidden)
		dense(p+"attention.self.value", s.Hidden, s.Hidden)
		dense(p+"attention.output.dense", s.Hidden, s.Hidden)
		norm(p + "attention.output.LayerNorm")
		dense(p+"intermediate.dense", s.Inner, s.Hidden)
		dense(p+"output.dense", s.Hidden, s.Inner)
		norm(p + "output.LayerNorm")
	}
	dense("pooler.dense", s.Hidden, s.Hidden)
}

// writeWeights writes model.safetensors, or shards and their index.
func (s Spec) writeWeights(dir string, vocab int) error {
	all := s.tensors(vocab)
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
		for _, e := range part {
			index[e.name] = name
		}
	}
	return writeJSON(dir, "model.safetensors.index.json", map[string]any{"metadata": map[string]any{}, "weight_map": index})
}

func (s Spec) writeShard(dir, name string, entries []entry, rng *rand.Rand) error {
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, e := range entries {
		start := len(data)
		size := 1
		for _, d := range e.shape {
			size *= d
		}
		for range size {
			data = encode(data, s.DType, float32(e.base+e.spread*rng.NormFloat64()))
		}
		header[e.name] = map[string]any{"dtype": s.DType, "shape": e.shape, "data_offsets": []int{start, len(data)}}
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
