package localtest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// GGUF is a file in llama.cpp's format while it is put together.
type GGUF struct {
	entries, tensors int
	meta, infos      bytes.Buffer
	data             bytes.Buffer
}

// Set adds an entry of the metadata: a text, a bool, a float32, a uint32, or a
// list of texts, int32s or float32s.
func (g *GGUF) Set(key string, value any) {
	g.entries++
	text(&g.meta, key)
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&g.meta, binary.LittleEndian, v) // a buffer takes all
		}
	}
	switch v := value.(type) {
	case string:
		put(uint32(8))
		text(&g.meta, v)
	case bool:
		put(uint32(7), v)
	case float32:
		put(uint32(6), v)
	case uint32:
		put(uint32(4), v)
	case []int32:
		put(uint32(9), uint32(5), uint64(len(v)), v)
	case []float32:
		put(uint32(9), uint32(6), uint64(len(v)), v)
	case []string:
		put(uint32(9), uint32(8), uint64(len(v)))
		for _, s := range v {
			text(&g.meta, s)
		}
	}
}

func text(to *bytes.Buffer, s string) {
	_ = binary.Write(to, binary.LittleEndian, uint64(len(s)))
	to.WriteString(s)
}

// Tensor adds a tensor of a type by its number, with its bytes. The last
// dimension is the one that changes fastest.
func (g *GGUF) Tensor(name string, kind uint32, shape []int, data []byte) {
	g.tensors++
	g.data.Write(make([]byte, (32-g.data.Len()%32)%32))
	text(&g.infos, name)
	_ = binary.Write(&g.infos, binary.LittleEndian, uint32(len(shape)))
	for _, n := range slices.Backward(shape) {
		_ = binary.Write(&g.infos, binary.LittleEndian, uint64(n))
	}
	_ = binary.Write(&g.infos, binary.LittleEndian, kind)
	_ = binary.Write(&g.infos, binary.LittleEndian, uint64(g.data.Len()))
	g.data.Write(data)
}

// Bytes is the file.
func (g *GGUF) Bytes() []byte {
	file := bytes.NewBufferString("GGUF")
	_ = binary.Write(file, binary.LittleEndian, uint32(3))
	_ = binary.Write(file, binary.LittleEndian, []uint64{uint64(g.tensors), uint64(g.entries)})
	file.Write(g.meta.Bytes())
	file.Write(g.infos.Bytes())
	file.Write(make([]byte, (32-file.Len()%32)%32))
	file.Write(g.data.Bytes())
	file.Write(make([]byte, (32-file.Len()%32)%32)) // which llama.cpp wants
	return file.Bytes()
}

// WriteGGUF writes the model of Write as a GGUF file, for "smollm", "qwen3", "gemma3"
// and "mistral", which has a SentencePiece tokenizer. Its matrices are of type F32
// or Q8_0. The format has no windows of mistral, and one pattern of those of gemma3.
func WriteGGUF(file string, s Spec, kind string) error {
	dir := file + ".folder"
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("write GGUF: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := Write(dir, s); err != nil {
		return err
	}
	var config, tokenizer, settings map[string]any
	for name, into := range map[string]*map[string]any{"config.json": &config, "tokenizer.json": &tokenizer, "tokenizer_config.json": &settings} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			return fmt.Errorf("write GGUF: %w", err)
		}
	}
	arch := map[string]string{"smollm": "llama", "mistral": "llama", "qwen3": "qwen3", "gemma3": "gemma3"}[s.Arch]
	g := &GGUF{}
	g.Set("general.architecture", arch)
	for theirs, ours := range map[string]string{
		"hidden_size": "embedding_length", "intermediate_size": "feed_forward_length", "num_hidden_layers": "block_count",
		"num_attention_heads": "attention.head_count", "num_key_value_heads": "attention.head_count_kv",
		"max_position_embeddings": "context_length", "head_dim": "attention.key_length", "sliding_window": "attention.sliding_window",
	} {
		if n, ok := config[theirs].(float64); ok {
			g.Set(arch+"."+ours, uint32(n))
			if theirs == "head_dim" {
				g.Set(arch+".attention.value_length", uint32(n))
			}
		}
	}
	g.Set(arch+".attention.layer_norm_rms_epsilon", float32(config["rms_norm_eps"].(float64)))
	g.Set(arch+".rope.freq_base", float32(config["rope_theta"].(float64)))
	g.vocabulary(s.Arch, int(config["vocab_size"].(float64)), tokenizer, settings)
	weights, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return fmt.Errorf("write GGUF: %w", err)
	}
	if err := g.weights(weights, kind, arch, config); err != nil {
		return err
	}
	return os.WriteFile(file, g.Bytes(), 0o600)
}

func (g *GGUF) vocabulary(cut string, size int, tokenizer, settings map[string]any) {
	model := tokenizer["model"].(map[string]any)
	tokens, types := make([]string, size), make([]int32, size)
	for i := range tokens {
		tokens[i], types[i] = fmt.Sprintf("[PAD%d]", i), 5
	}
	for token, id := range model["vocab"].(map[string]any) {
		tokens[int(id.(float64))], types[int(id.(float64))] = token, 1
	}
	for _, a := range tokenizer["added_tokens"].([]any) {
		token := a.(map[string]any)
		tokens[int(token["id"].(float64))], types[int(token["id"].(float64))] = token["content"].(string), 3
	}
	var merges []string
	for _, m := range model["merges"].([]any) {
		merges = append(merges, m.(string))
	}
	if cut == "mistral" {
		g.sentencePiece(tokens, types, merges)
	} else {
		g.Set("tokenizer.ggml.model", "gpt2")
		g.Set("tokenizer.ggml.pre", map[string]string{"smollm": "smollm", "qwen3": "qwen2", "gemma3": "qwen2"}[cut])
		g.Set("tokenizer.ggml.merges", merges)
	}
	if bos, ok := settings["bos_token"].(string); ok {
		g.Set("tokenizer.ggml.bos_token_id", uint32(slices.Index(tokens, bos)))
	}
	g.Set("tokenizer.ggml.tokens", tokens)
	g.Set("tokenizer.ggml.token_type", types)
	g.Set("tokenizer.ggml.eos_token_id", uint32(slices.Index(tokens, settings["eos_token"].(string))))
	g.Set("tokenizer.ggml.add_bos_token", false)
	g.Set("tokenizer.chat_template", settings["chat_template"])
}

// sentencePiece sets what joins texts by scores: a token is the better the earlier
// its merge comes.
func (g *GGUF) sentencePiece(tokens []string, types []int32, merges []string) {
	scores := make([]float32, len(tokens))
	for i, m := range merges {
		if id := slices.Index(tokens, strings.Replace(m, " ", "", 1)); scores[id] == 0 {
			scores[id] = float32(-i - 1)
		}
	}
	for i, token := range tokens {
		switch {
		case token == "<unk>":
			types[i] = 2
		case strings.HasPrefix(token, "<0x"):
			types[i] = 6
		}
	}
	g.Set("tokenizer.ggml.model", "llama")
	g.Set("tokenizer.ggml.scores", scores)
}

// weights copies the tensors of a safetensors file in 32 bits.
func (g *GGUF) weights(file []byte, kind, arch string, config map[string]any) error {
	var header map[string]struct {
		Shape   []int `json:"shape"`
		Offsets []int `json:"data_offsets"`
	}
	n := int(binary.LittleEndian.Uint64(file))
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+n], &raw); err != nil {
		return fmt.Errorf("write GGUF: %w", err)
	}
	delete(raw, "__metadata__")
	rest, err := json.Marshal(raw)
	if err == nil {
		err = json.Unmarshal(rest, &header)
	}
	if err != nil {
		return fmt.Errorf("write GGUF: %w", err)
	}
	for name, t := range header {
		data := file[8+n+t.Offsets[0] : 8+n+t.Offsets[1]]
		ours := ggufName(name, arch)
		if arch == "gemma3" && len(t.Shape) == 1 {
			data = plusOne(data)
		}
		for part, heads := range map[string]string{"attn_q.weight": "num_attention_heads", "attn_k.weight": "num_key_value_heads"} {
			if arch == "llama" && strings.HasSuffix(ours, part) {
				data = paired(data, int(config[heads].(float64)), t.Shape[0])
			}
		}
		if kind == "Q8_0" && len(t.Shape) == 2 {
			g.Tensor(ours, 8, t.Shape, q8(data))
		} else {
			g.Tensor(ours, 0, t.Shape, data)
		}
	}
	return nil
}

func ggufName(name, arch string) string {
	after := "ffn_norm"
	if arch == "gemma3" {
		after = "post_attention_norm"
	}
	return strings.NewReplacer("model.layers.", "blk.", "model.embed_tokens", "token_embd", "model.norm", "output_norm", "lm_head", "output",
		"input_layernorm", "attn_norm", "post_attention_layernorm", after, "pre_feedforward_layernorm", "ffn_norm",
		"post_feedforward_layernorm", "post_ffw_norm", "self_attn.q_proj", "attn_q", "self_attn.k_proj", "attn_k",
		"self_attn.v_proj", "attn_v", "self_attn.o_proj", "attn_output", "self_attn.q_norm", "attn_q_norm", "self_attn.k_norm", "attn_k_norm",
		"mlp.gate_proj", "ffn_gate", "mlp.up_proj", "ffn_up", "mlp.down_proj", "ffn_down").Replace(name)
}

// plusOne adds 1 to 32-bit floats, as the converter does to norms of Gemma, which
// are stored as how far they are from 1.
func plusOne(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for at := 0; at < len(data); at += 4 {
		out = encode(out, "F32", 1+math.Float32frombits(binary.LittleEndian.Uint32(data[at:])))
	}
	return out
}

// paired puts rows that rotary positions turn together side by side, as
// llama.cpp's converter does for the llama architecture.
func paired(data []byte, heads, rows int) []byte {
	out := make([]byte, 0, len(data))
	width, dim := len(data)/rows, rows/heads
	for row := range rows {
		from := row/dim*dim + row%dim%2*dim/2 + row%dim/2
		out = append(out, data[from*width:(from+1)*width]...)
	}
	return out
}

// q8 quantises 32-bit floats by 32: a scale of 16 bits, and codes of 8.
func q8(data []byte) []byte {
	var out []byte
	for at := 0; at < len(data); at += 128 {
		var values [32]float32
		var top float32
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[at+4*i:]))
			top = max(top, float32(math.Abs(float64(values[i]))))
		}
		out = encode(out, "F16", top/127)
		for _, v := range values {
			out = append(out, byte(int8(math.Round(float64(v/max(top, 1e-30)*127)))))
		}
	}
	return out
}
