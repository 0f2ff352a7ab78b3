package checkpoint

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// ggufFamilies are the architectures that GGUF can have here. It calls
// Mistral's models llama too.
var ggufFamilies = []Family{Gemma3, Llama, Qwen2, Qwen3}

// Config reads the description of the network from the metadata.
func (g *GGUF) Config() (Config, error) {
	c, err := g.config()
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return Config{}, fmt.Errorf("read model %s: %w", g.File, err)
	}
	return c, nil
}

func (g *GGUF) config() (Config, error) {
	arch := g.Text("general.architecture")
	c := Config{Family: Family(arch), Activation: "silu", Vocab: len(g.Texts("tokenizer.ggml.tokens"))}
	if !slices.Contains(ggufFamilies, c.Family) {
		return c, fmt.Errorf("unknown architecture %q; known are %v", arch, ggufFamilies)
	}
	if c.Vocab == 0 {
		return c, errors.New("it has no tokenizer (tokenizer.ggml.tokens): convert the model again with its tokenizer")
	}
	number := func(key string, other float64) float64 {
		if n, ok := g.Number(arch + "." + key); ok {
			return n
		}
		return other
	}
	whole := func(key string, other int) int { return toInt(number(key, float64(other))) }
	c.Hidden, c.Inner, c.Layers = whole("embedding_length", 0), whole("feed_forward_length", 0), whole("block_count", 0)
	c.Heads, c.MaxContext = whole("attention.head_count", 0), whole("context_length", 0)
	c.KVHeads = whole("attention.head_count_kv", c.Heads)
	if c.Heads > 0 {
		c.HeadDim = whole("attention.key_length", c.Hidden/c.Heads)
	}
	c.Epsilon = number("attention.layer_norm_rms_epsilon", 1e-6)
	c.Rope = Rope{Theta: number("rope.freq_base", 10000), Type: "default"}
	c.QueryScale = 1 / math.Sqrt(float64(c.HeadDim))
	if c.Family == Gemma3 {
		c.Activation, c.EmbeddingScale = "gelu_pytorch_tanh", math.Sqrt(float64(c.Hidden))
		c.Window, c.FarEvery, c.NearRope = whole("attention.sliding_window", 0), 6, Rope{Theta: 10000, Type: "default"}
		c.LogitCap = number("final_logit_softcapping", 0)
	}
	c.Tied = !g.has("output.weight")
	if id, ok := g.Number("tokenizer.ggml.eos_token_id"); ok {
		c.EOS = IDs{toInt(id)}
	}
	return c, g.refuse(arch, whole, &c)
}

// toInt turns a number of the metadata into an int that arithmetic on it cannot
// overflow.
func toInt(n float64) int {
	if !(n >= 0 && n < 1<<31) {
		return -1
	}
	return int(n)
}

// refuse catches what would silently give other answers.
func (g *GGUF) refuse(arch string, whole func(string, int) int, c *Config) error {
	if n := whole("rope.dimension_count", c.HeadDim); n != c.HeadDim {
		return fmt.Errorf("rotary positions of %d of the %d dimensions of a head are not supported", n, c.HeadDim)
	}
	if n := whole("attention.value_length", c.HeadDim); n != c.HeadDim {
		return fmt.Errorf("values of %d dimensions beside keys of %d are not supported", n, c.HeadDim)
	}
	if whole("expert_count", 0) > 0 {
		return errors.New("mixtures of experts are not supported")
	}
	switch kind := g.Text(arch + ".rope.scaling.type"); kind {
	case "", "none":
	case "linear":
		c.Rope.Type = kind
		c.Rope.Factor, _ = g.Number(arch + ".rope.scaling.factor")
		if !(c.Rope.Factor > 0) {
			return errors.New("rope.scaling.factor is missing or not positive")
		}
	default:
		return fmt.Errorf("rope scaling %q is not supported; supported is linear", kind)
	}
	return nil
}

// Number gives a number of the metadata.
func (g *GGUF) Number(key string) (float64, bool) {
	n, ok := g.meta[key].(float64)
	return n, ok
}

// Flag gives a truth value of the metadata, or other where it is missing.
func (g *GGUF) Flag(key string, other bool) bool {
	if b, ok := g.meta[key].(bool); ok {
		return b
	}
	return other
}

// Text gives a text of the metadata; empty where it is missing.
func (g *GGUF) Text(key string) string {
	s, _ := g.meta[key].(string)
	return s
}

// Texts gives a list of texts of the metadata. The caller must not change it.
func (g *GGUF) Texts(key string) []string {
	s, _ := g.meta[key].([]string)
	return s
}

// Numbers gives a list of numbers of the metadata. The caller must not change it.
func (g *GGUF) Numbers(key string) []float64 {
	n, _ := g.meta[key].([]float64)
	return n
}

func (g *GGUF) has(tensor string) bool {
	_, ok := g.tensors[tensor]
	return ok
}

// RopeFactors is the stem of the name of a tensor that the frequencies of rotary
// positions are divided by, in GGUF files of Llama 3 and later.
const RopeFactors = "rope_freqs"

// ggufNames are the tensors' names in GGUF and as transformers has them.
var ggufNames = map[string]string{
	"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
	"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
	"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
	"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
	"rope_freqs": RopeFactors, "post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
	"ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}

// gemmaNames are those of the norms that Gemma has more.
var gemmaNames = map[string]string{"ffn_norm": "pre_feedforward_layernorm"}

// Weights gives the tensors by the names that transformers has for them. In
// files of the llama architecture, rows of queries and keys that rotary
// positions turn together stand side by side, not half a head apart; reading
// puts them back. Close the GGUF, not the weights.
func (g *GGUF) Weights() (*Weights, error) {
	c, err := g.Config()
	if err != nil {
		return nil, err
	}
	w := &Weights{path: g.File, tensors: map[string]tensor{}}
	for _, name := range slices.Sorted(maps.Keys(g.tensors)) {
		t, stem, layer := g.tensors[name], name, ""
		if rest, ok := strings.CutPrefix(name, "blk."); ok {
			layer, stem, _ = strings.Cut(rest, ".")
			layer = "model.layers." + layer + "."
		}
		stem, kind, _ := strings.Cut(stem, ".")
		theirs, ok := ggufNames[stem]
		if !ok {
			return nil, fmt.Errorf("read model %s: tensor %.80q is not part of a %s model as it is supported", g.File, name, c.Family)
		}
		if c.Family == Gemma3 && gemmaNames[stem] != "" {
			theirs = gemmaNames[stem]
		}
		if heads := map[string]int{"attn_q": c.Heads, "attn_k": c.KVHeads}[stem]; c.Family == Llama {
			t.pairs = heads
		}
		w.tensors[layer+theirs+"."+kind] = t
	}
	return w, nil
}

// unpaired puts the rows of each head's even places before those of its odd
// ones. values has that many rows.
func unpaired[T any](values []T, heads, rows int) []T {
	out := make([]T, len(values))
	width, dim := len(values)/rows, rows/heads
	for row := range rows {
		head, i := row/dim, row%dim
		to := head*dim + i%2*dim/2 + i/2
		copy(out[to*width:(to+1)*width], values[row*width:])
	}
	return out
}
