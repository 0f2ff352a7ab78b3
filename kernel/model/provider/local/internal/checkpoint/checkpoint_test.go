package checkpoint_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local/internal/checkpoint"
)

func write(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReadConfig(t *testing.T) {
	tests := map[string]struct {
		config string
		want   string // of the error; empty if there is none
	}{
		"llama":          {`{"model_type":"llama","hidden_size":8,"intermediate_size":16,"num_hidden_layers":1,"num_attention_heads":2,"vocab_size":9,"max_position_embeddings":32,"eos_token_id":[1,2]}`, ""},
		"new rope":       {`{"model_type":"qwen3","hidden_size":8,"head_dim":6,"intermediate_size":16,"num_hidden_layers":1,"num_attention_heads":2,"vocab_size":9,"max_position_embeddings":32,"rope_parameters":{"rope_theta":1e6,"rope_type":"default"}}`, ""},
		"gpt2":           {`{"model_type":"gpt2","n_embd":8,"n_head":2,"n_layer":1,"n_positions":32,"vocab_size":9}`, ""},
		"no JSON":        {`{`, "unexpected end of JSON input"},
		"no family":      {`{}`, `unknown architecture ""`},
		"unknown family": {`{"model_type":"mamba","architectures":["MambaForCausalLM"]}`, `unknown architecture "mamba" (MambaForCausalLM); known are [bert gemma3 gpt2 llama`},
		"no sizes":       {`{"model_type":"llama"}`, "hidden size is missing"},
		"negative":       {`{"model_type":"gpt2","n_embd":-8,"n_head":2,"n_layer":1,"n_positions":32,"vocab_size":9}`, "hidden size is missing or not positive"},
		"odd heads":      {`{"model_type":"llama","hidden_size":8,"intermediate_size":16,"num_hidden_layers":1,"num_attention_heads":3,"num_key_value_heads":2,"vocab_size":9,"max_position_embeddings":32}`, "3 attention heads are not a multiple of 2"},
		"odd head size":  {`{"model_type":"llama","hidden_size":6,"intermediate_size":16,"num_hidden_layers":1,"num_attention_heads":2,"vocab_size":9,"max_position_embeddings":32}`, "head size 3 is odd"},
		"no heads":       {`{"model_type":"llama","hidden_size":6,"intermediate_size":16,"num_hidden_layers":1,"vocab_size":9,"max_position_embeddings":32}`, "number of attention heads is missing"},
		"yarn":           {`{"model_type":"llama","rope_scaling":{"type":"yarn","factor":4}}`, `rope type "yarn" is not supported`},
		"no factor":      {`{"model_type":"llama","rope_scaling":{"type":"linear"}}`, "wrong or missing factors"},
		"partial rope":   {`{"model_type":"llama","rope_parameters":{"partial_rotary_factor":0.5}}`, "partial_rotary_factor 0.5"},
		"layer windows":  {`{"model_type":"qwen2","use_sliding_window":true}`, "sliding windows of some layers"},
		"activation":     {`{"model_type":"gpt2","n_embd":8,"n_head":2,"n_layer":1,"n_positions":32,"vocab_size":9,"activation_function":"relu"}`, `activation "relu" is not supported`},
		"relative":       {`{"model_type":"bert","position_embedding_type":"relative_key"}`, `position_embedding_type "relative_key"`},
		"wrong type":     {`{"model_type":"llama","hidden_size":"eight"}`, "cannot unmarshal string"},
		"eos":            {`{"model_type":"llama","eos_token_id":"x"}`, "eos_token_id is not a number or a list"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "config.json", []byte(tt.config))
			_, err := checkpoint.ReadConfig(dir)
			hold(t, err, "config.json", tt.want)
		})
	}
	if _, err := checkpoint.ReadConfig(t.TempDir()); err == nil || !strings.Contains(err.Error(), "config.json") {
		t.Errorf("a folder without config.json: %v", err)
	}
}

// hold checks that an error names the file and the cause in one line.
func hold(t *testing.T, err error, file, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v", err)
	case want == "":
	case err == nil:
		t.Errorf("no error, want %q", want)
	case !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "\n"):
		t.Errorf("error %q, want one line with %q and %q", err, file, want)
	}
}

// safetensors makes a file of a header and data.
func safetensors(header string, data int) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(file, header...), make([]byte, data)...)
}

func TestOpenWeights(t *testing.T) {
	const one = `{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}`
	tests := map[string]struct {
		file []byte
		want string
	}{
		"good":            {safetensors(one, 24), ""},
		"empty":           {nil, "truncated: the file has 0 bytes"},
		"half a header":   {safetensors(one, 0)[:30], "truncated: the header is"},
		"half a tensor":   {safetensors(one, 20), `tensor "a": truncated`},
		"not safetensors": {[]byte("PK\x03\x04 a zip file of another format"), "not a safetensors file"},
		"no JSON":         {safetensors(`{"a":`, 24), "header: unexpected end"},
		"wrong size":      {safetensors(`{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,24]}}`, 24), "its 24 bytes are not the size of type F32 and shape [2 2]"},
		"backwards":       {safetensors(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}}`, 24), "wrong offsets"},
		"negative":        {safetensors(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`, 24), "wrong offsets"},
		"overflow":        {safetensors(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,9223372036854775807]}}`, 24), "wrong offsets"},
		"huge shape":      {safetensors(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 24), "its 0 bytes are not the size"},
		"overlap":         {safetensors(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"c":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 24), `tensors "a" and "b" overlap`},
		"not fetched":     {[]byte("version https://git-lfs.github.com/spec/v1\n"), "a Git LFS pointer"},
		"negative shape":  {safetensors(`{"a":{"dtype":"F32","shape":[-1,-6],"data_offsets":[0,24]}}`, 24), "are not the size"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "model.safetensors", tt.file)
			w, err := checkpoint.OpenWeights(dir)
			hold(t, err, "model.safetensors", tt.want)
			if err == nil {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := safetensors(`{"f":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"h":{"dtype":"F16","shape":[2],"data_offsets":[8,12]},
		"b":{"dtype":"BF16","shape":[1,2],"data_offsets":[12,16]},"i":{"dtype":"I64","shape":[1],"data_offsets":[16,24]}}`, 0)
	data := binary.LittleEndian.AppendUint32(nil, 0x3fc00000)           // 1.5
	data = binary.LittleEndian.AppendUint32(data, 0x00000001)           // the smallest subnormal
	data = append(data, 0x01, 0x00, 0xff, 0x7b, 0xc0, 0x3f, 0x80, 0x7f) // 2^-24, 65504; 1.5, +Inf
	write(t, dir, "model.safetensors", append(append(file, data...), make([]byte, 8)...))
	w, err := checkpoint.OpenWeights(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for name, want := range map[string]string{"f": "[1.5 1e-45]", "h": "[5.9604645e-08 65504]", "b": "[1.5 +Inf]"} {
		shape := []int{2}
		if name == "b" {
			shape = []int{1, 2}
		}
		if got, err := w.Read(name, shape...); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, want)
		}
	}
	_, err = w.Read("f", 3)
	hold(t, err, "model.safetensors", "its shape is [2], the config asks for [3]")
	_, err = w.Read("i", 1)
	hold(t, err, "model.safetensors", `type "I64" is not supported`)
	_, err = w.Read("none", 1)
	hold(t, err, "read weights", `tensor "none" is missing`)
}

func TestShards(t *testing.T) {
	whole, parts := t.TempDir(), t.TempDir()
	for dir, n := range map[string]int{whole: 1, parts: 3} {
		if err := localtest.Write(dir, localtest.Spec{Arch: "llama", Seed: 9, Shards: n}); err != nil {
			t.Fatal(err)
		}
	}
	read := func(dir string) []float32 {
		w, err := checkpoint.OpenWeights(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		values, err := w.Read("model.layers.1.mlp.down_proj.weight", 64, 136)
		if err != nil {
			t.Fatal(err)
		}
		return values
	}
	if !slices.Equal(read(whole), read(parts)) {
		t.Error("shards hold other values than one file")
	}
	const shard = "model-00002-of-00003.safetensors"
	raw, err := os.ReadFile(filepath.Join(parts, shard))
	if err != nil {
		t.Fatal(err)
	}
	write(t, parts, shard, raw[:len(raw)-1])
	_, err = checkpoint.OpenWeights(parts)
	hold(t, err, shard, "truncated")
	if err := os.Remove(filepath.Join(parts, shard)); err != nil {
		t.Fatal(err)
	}
	_, err = checkpoint.OpenWeights(parts)
	hold(t, err, shard, "no such file")
	for index, want := range map[string]string{
		`{"weight_map":{"a":"../x.safetensors"}}`: `"../x.safetensors" is not a file name`,
		`{"weight_map":{}}`:                       "weight_map is empty",
		`{`:                                       "unexpected end",
	} {
		write(t, parts, "model.safetensors.index.json", []byte(index))
		_, err = checkpoint.OpenWeights(parts)
		hold(t, err, "model.safetensors.index.json", want)
	}
	_, err = checkpoint.OpenWeights(t.TempDir())
	hold(t, err, "model.safetensors", "has neither")
}

// TestDigest: every file that changes answers changes the digest, nothing else
// does.
func TestDigest(t *testing.T) {
	dir := t.TempDir()
	if err := localtest.WriteCheckpoint(dir, "llama", 1); err != nil {
		t.Fatal(err)
	}
	digest := func() string {
		d, err := checkpoint.Digest(dir)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	seen := []string{digest()}
	write(t, dir, "README.md", []byte("hello"))
	if digest() != seen[0] {
		t.Error("README.md changes the digest")
	}
	for _, name := range []string{"config.json", "tokenizer.json", "generation_config.json", "chat_template.jinja", "model.safetensors"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		write(t, dir, name, append(raw, ' '))
		if d := digest(); slices.Contains(seen, d) {
			t.Errorf("%s does not change the digest", name)
		} else {
			seen = append(seen, d)
		}
	}
}

func FuzzOpenWeights(f *testing.F) {
	f.Add([]byte(`{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}`), 24)
	f.Add([]byte(`{"a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]},"__metadata__":{}}`), 2)
	f.Add([]byte(`{"a":null}`), 0)
	f.Fuzz(func(t *testing.T, header []byte, data int) {
		if data < 0 || data > 1<<16 {
			return
		}
		dir := t.TempDir()
		write(t, dir, "model.safetensors", safetensors(string(header), data))
		w, err := checkpoint.OpenWeights(dir)
		if err != nil {
			return
		}
		defer w.Close()
		var names map[string]struct{ Shape []int }
		if json.Unmarshal(header, &names) != nil {
			return
		}
		for name, e := range names { // what is open can be read, unless its type cannot
			if _, err := w.Read(name, e.Shape...); err != nil && name != "__metadata__" && !strings.Contains(err.Error(), "is not supported") {
				t.Errorf("tensor %q: %v", name, err)
			}
		}
	})
}
