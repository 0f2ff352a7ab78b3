// Package localtest writes small model folders with random weights, in the
// exact formats of real ones: config.json, safetensors, tokenizer.json and
// tokenizer_config.json. Tests of local models run on them without a download,
// and anything else that reads such folders reads these too.
//
// An architecture is a file in arch/: its special tokens, the three JSON files
// without the vocabulary, and its tensors in the order in which they are
// written. A text such as "$hidden" stands for a value of [Spec].
package localtest

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Spec is what to write. The zero value of a field means the default.
type Spec struct {
	Arch    string // "llama", "smollm", "mistral", "qwen2", "qwen3", "gemma3", "gpt2" or "bert"
	Seed    uint64 // of the weights
	DType   string // "F32" (default), "F16" or "BF16"
	Shards  int    // files of the weights; default 1, without an index
	Hidden  int    // width; default 64
	Inner   int    // width of the MLP; default 2·Hidden + 8
	Layers  int    // default 2
	Heads   int    // default 4
	KVHeads int    // default 2, where the family has them
	Context int    // positions; default 512
	Vocab   int    // places for tokens; default a few more than the tokenizer has

	Config map[string]any // entries of config.json to add or replace
}

// Archs are the architectures that can be written.
func Archs() []string {
	return []string{"llama", "smollm", "mistral", "qwen2", "qwen3", "gemma3", "gpt2", "bert"}
}

// WriteCheckpoint writes a model folder of an architecture of [Archs] into
// dir, which must exist. The same arch and seed give the same files.
func WriteCheckpoint(dir, arch string, seed uint64) error {
	return Write(dir, Spec{Arch: arch, Seed: seed})
}

//go:embed arch
var archFiles embed.FS

type arch struct {
	Specials        []string       `json:"specials"`
	Config          map[string]any `json:"config"`
	TokenizerConfig map[string]any `json:"tokenizer_config"`
	Tokenizer       map[string]any `json:"tokenizer"`
	Tensors         []string       `json:"tensors"` // kind, name with * for the layer, and shape
}

// Write writes a model folder into dir, which must exist.
func Write(dir string, s Spec) error {
	if !slices.Contains(Archs(), s.Arch) {
		return fmt.Errorf("write checkpoint: unknown architecture %q; known are %v", s.Arch, Archs())
	}
	data, err := archFiles.ReadFile("arch/" + s.Arch + ".json")
	if err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	var a arch
	if err := json.Unmarshal(data, &a); err != nil {
		return fmt.Errorf("write checkpoint: %s: %w", s.Arch, err)
	}
	s.DType, s.Shards = cmp.Or(s.DType, "F32"), cmp.Or(s.Shards, 1)
	values := s.values()
	size := addVocabulary(&a, s.Arch, values)
	values["vocab"] = max(s.Vocab, (size+15)/8*8) // some places stay unused, as in real models
	config := filled(a.Config, values).(map[string]any)
	maps.Copy(config, s.Config)
	for name, value := range map[string]any{
		"config.json": config, "tokenizer.json": filled(a.Tokenizer, values), "tokenizer_config.json": a.TokenizerConfig,
	} {
		if err := writeJSON(dir, name, value); err != nil {
			return err
		}
	}
	return s.writeWeights(dir, a.tensors(values))
}

// values are what the texts of an architecture's file stand for.
func (s Spec) values() map[string]any {
	hidden, heads, kvHeads := cmp.Or(s.Hidden, 64), cmp.Or(s.Heads, 4), cmp.Or(s.KVHeads, 2)
	headDim := hidden / heads
	if s.Arch == "qwen3" || s.Arch == "gemma3" { // which set it apart from the hidden size
		headDim += 8
	}
	return map[string]any{
		"hidden": hidden, "inner": cmp.Or(s.Inner, 2*hidden+8), "layers": cmp.Or(s.Layers, 2), "context": cmp.Or(s.Context, 512),
		"heads": heads, "kv_heads": kvHeads, "head_dim": headDim, "q": heads * headDim, "kv": kvHeads * headDim, "qkv": 3 * hidden, "types": 2,
		"dtype": map[string]string{"F32": "float32", "F16": "float16", "BF16": "bfloat16"}[s.DType],
	}
}

// filled is v with values for the texts that stand for them.
func filled(v any, values map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = filled(e, values)
		}
	case []any:
		for i, e := range v {
			v[i] = filled(e, values)
		}
	case string:
		if name, ok := strings.CutPrefix(v, "$"); ok && values[name] != nil {
			return values[name]
		}
	}
	return v
}

func writeJSON(dir, name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write checkpoint: %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}
