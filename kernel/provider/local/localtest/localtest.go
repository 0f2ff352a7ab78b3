// Package localtest writes small model folders with random weights, in the
// exact formats of real ones: config.json, safetensors, tokenizer.json and
// tokenizer_config.json. Tests of local models run on them without a download,
// and anything else that reads such folders reads these too.
package localtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// Spec is what to write. The zero value of a field means the default.
type Spec struct {
	Arch    string // "llama", "smollm", "mistral", "qwen2", "qwen3", "gpt2" or "bert"
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
	return []string{"llama", "smollm", "mistral", "qwen2", "qwen3", "gpt2", "bert"}
}

// WriteCheckpoint writes a model folder of an architecture of [Archs] into
// dir, which must exist. The same arch and seed give the same files.
func WriteCheckpoint(dir, arch string, seed uint64) error {
	return Write(dir, Spec{Arch: arch, Seed: seed})
}

// Write writes a model folder into dir, which must exist.
func Write(dir string, s Spec) error {
	if err := s.defaults(); err != nil {
		return err
	}
	tok := tokenizer(s.Arch)
	vocab := max(s.Vocab, (tok.size+15)/8*8) // some places stay unused, as in real models
	if err := writeJSON(dir, "config.json", s.config(vocab)); err != nil {
		return err
	}
	if err := writeJSON(dir, "tokenizer.json", tok.file); err != nil {
		return err
	}
	if err := writeJSON(dir, "tokenizer_config.json", tok.config); err != nil {
		return err
	}
	return s.writeWeights(dir, vocab)
}

func (s *Spec) defaults() error {
	known := false
	for _, a := range Archs() {
		known = known || a == s.Arch
	}
	if !known {
		return fmt.Errorf("write checkpoint: unknown architecture %q; known are %v", s.Arch, Archs())
	}
	orElse(&s.DType, "F32")
	orElse(&s.Shards, 1)
	orElse(&s.Hidden, 64)
	orElse(&s.Inner, 2*s.Hidden+8)
	orElse(&s.Layers, 2)
	orElse(&s.Heads, 4)
	orElse(&s.KVHeads, 2)
	orElse(&s.Context, 512)
	return nil
}

func orElse[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// headDim is as in real models: qwen3 sets it apart from the hidden size.
func (s Spec) headDim() int {
	if s.Arch == "qwen3" {
		return s.Hidden/s.Heads + 8
	}
	return s.Hidden / s.Heads
}

func (s Spec) tied() bool { return s.Arch == "smollm" || s.Arch == "gpt2" || s.Arch == "qwen3" }

// config is config.json.
func (s Spec) config(vocab int) map[string]any {
	c := map[string]any{"vocab_size": vocab, "torch_dtype": map[string]string{"F32": "float32", "F16": "float16", "BF16": "bfloat16"}[s.DType]}
	switch s.Arch {
	case "gpt2":
		maps.Copy(c, map[string]any{
			"model_type": "gpt2", "architectures": []string{"GPT2LMHeadModel"}, "n_embd": s.Hidden, "n_head": s.Heads,
			"n_layer": s.Layers, "n_positions": s.Context, "n_inner": s.Inner, "layer_norm_epsilon": 1e-5,
			"activation_function": "gelu_new", "bos_token_id": vocabStart(s.Arch), "eos_token_id": vocabStart(s.Arch),
		})
	case "bert":
		maps.Copy(c, map[string]any{
			"model_type": "bert", "architectures": []string{"BertModel"}, "hidden_size": s.Hidden, "intermediate_size": s.Inner,
			"num_hidden_layers": s.Layers, "num_attention_heads": s.Heads, "max_position_embeddings": s.Context,
			"type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu", "pad_token_id": 0,
		})
	default:
		maps.Copy(c, s.llamaConfig())
	}
	maps.Copy(c, s.Config)
	return c
}

func (s Spec) llamaConfig() map[string]any {
	c := map[string]any{
		"hidden_size": s.Hidden, "intermediate_size": s.Inner, "num_hidden_layers": s.Layers,
		"num_attention_heads": s.Heads, "num_key_value_heads": s.KVHeads, "max_position_embeddings": s.Context,
		"rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": s.tied(), "rope_theta": 10000.0,
		"bos_token_id": vocabStart(s.Arch), "eos_token_id": vocabStart(s.Arch) + 1,
	}
	switch s.Arch {
	case "llama":
		c["model_type"], c["architectures"] = "llama", []string{"LlamaForCausalLM"}
		c["rope_theta"] = 500000.0
		c["rope_scaling"] = map[string]any{
			"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
			"original_max_position_embeddings": 64,
		}
	case "smollm":
		c["model_type"], c["architectures"] = "llama", []string{"LlamaForCausalLM"}
	case "mistral":
		c["model_type"], c["architectures"] = "mistral", []string{"MistralForCausalLM"}
		c["sliding_window"] = 24
	case "qwen2":
		c["model_type"], c["architectures"] = "qwen2", []string{"Qwen2ForCausalLM"}
		c["use_sliding_window"] = false
	case "qwen3":
		c["model_type"], c["architectures"] = "qwen3", []string{"Qwen3ForCausalLM"}
		c["head_dim"], c["attention_bias"] = s.headDim(), false
	}
	return c
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
