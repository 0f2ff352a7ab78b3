package local_test

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/local"
	"noema/methods"
)

// spoiler damages a model folder.
type spoiler func(t *testing.T, dir string)

func remove(name string) spoiler {
	return func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func replace(name, old, text string) spoiler {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, name)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(raw), old) {
			t.Fatalf("%s has no %q", name, old)
		}
		put(name, strings.Replace(string(raw), old, text, 1))(t, dir)
	}
}

func cut(name string) spoiler {
	return func(t *testing.T, dir string) {
		if err := os.Truncate(filepath.Join(dir, name), 5000); err != nil {
			t.Fatal(err)
		}
	}
}

func put(name, text string) spoiler {
	return func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// all spoils a folder in several ways.
func all(spoilers ...spoiler) spoiler {
	return func(t *testing.T, dir string) {
		for _, s := range spoilers {
			s(t, dir)
		}
	}
}

// notANumber damages the last value of the weights.
func notANumber(t *testing.T, dir string) {
	path := filepath.Join(dir, "model.safetensors")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(raw[len(raw)-4:], math.Float32bits(float32(math.NaN())))
	put("model.safetensors", string(raw))(t, dir)
}

// wrongFolders are faults of model folders and what their errors must say.
var wrongFolders = map[string]struct {
	spoil spoiler
	want  []string
}{
	"no folder":          {func(_ *testing.T, dir string) { os.RemoveAll(dir) }, []string{"config.json", "no such file"}},
	"no config":          {remove("config.json"), []string{"config.json", "no such file"}},
	"no weights":         {remove("model.safetensors"), []string{"model.safetensors"}},
	"no tokenizer":       {remove("tokenizer.json"), []string{"tokenizer.json", "no such file"}},
	"cut weights":        {cut("model.safetensors"), []string{"model.safetensors", "truncated"}},
	"cut tokenizer":      {cut("tokenizer.json"), []string{"tokenizer.json", "unexpected end of JSON"}},
	"architecture":       {replace("config.json", `"model_type": "qwen2"`, `"model_type": "mamba2"`), []string{"config.json", `unknown architecture "mamba2"`}},
	"width":              {replace("config.json", `"hidden_size": 64`, `"hidden_size": 32`), []string{"model.safetensors", "embed_tokens.weight", "its shape is"}},
	"layers":             {replace("config.json", `"num_hidden_layers": 2`, `"num_hidden_layers": 3`), []string{`"model.layers.2.input_layernorm.weight" is missing`}},
	"huge width":         {replace("config.json", `"hidden_size": 64`, `"hidden_size": 1000000000`), []string{"model.safetensors", "its shape is"}},
	"huge MLP":           {replace("config.json", `"intermediate_size": 136`, `"intermediate_size": 4611686018427387904`), []string{"model.safetensors", "its shape is"}},
	"huge heads":         {replace("config.json", `"hidden_size": 64`, `"hidden_size": 64, "head_dim": 2000000000`), []string{"model.safetensors", "its shape is"}},
	"huge layers":        {replace("config.json", `"num_hidden_layers": 2`, `"num_hidden_layers": 1000000000`), []string{`"model.layers.2.input_layernorm.weight" is missing`}},
	"negative layers":    {replace("config.json", `"num_hidden_layers": 2`, `"num_hidden_layers": -2`), []string{"config.json", "number of layers is missing or not positive"}},
	"heads":              {replace("config.json", `"num_key_value_heads": 2`, `"num_key_value_heads": 3`), []string{"config.json", "4 attention heads are not a multiple of 3"}},
	"no whole number":    {replace("config.json", `"hidden_size": 64`, `"hidden_size": 1e99`), []string{"config.json", "cannot unmarshal number 1e99"}},
	"rope":               {replace("config.json", `"rope_theta": 10000`, `"rope_theta": -1`), []string{"config.json", "rope_theta -1 is not positive"}},
	"end token":          {replace("config.json", `"eos_token_id": `, `"eos_token_id": 99999, "x": `), []string{"config.json", "eos_token_id 99999 is not among the"}},
	"weights no numbers": {notANumber, []string{"model.safetensors", `tensor "lm_head.weight"`, "is not a number"}},
	"weights not fetched": {put("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"),
		[]string{"model.safetensors", "git lfs pull"}},
	"tokenizer not fetched": {put("tokenizer.json", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"),
		[]string{"tokenizer.json", "git lfs pull"}},
	"other weights": {all(remove("model.safetensors"), put("pytorch_model.bin", "PK")), []string{"model.safetensors", "pytorch_model.bin", "save_pretrained"}},
	"old tokenizer": {all(remove("tokenizer.json"), put("vocab.json", "{}"), put("merges.txt", "")), []string{"tokenizer.json", "vocab.json", "save_pretrained"}},
	"missing shard": {put("model.safetensors.index.json", `{"weight_map":{"lm_head.weight":"model-00001-of-00002.safetensors"}}`),
		[]string{"model-00001-of-00002.safetensors", "no such file"}},
	"vocabulary":       {replace("config.json", `"vocab_size": `, `"vocab_size": 436, "x": `), []string{"tokenizer.json", "437 tokens, the model 436"}},
	"tokenizer config": {replace("tokenizer_config.json", `{`, `{"eos_token": 5, "eos_token": [],`), []string{"tokenizer_config.json"}},
	"template":         {replace("tokenizer_config.json", `"chat_template": "`, `"chat_template": 5, "x": "`), []string{"tokenizer_config.json", "chat_template"}},
	"generation config": {func(t *testing.T, dir string) {
		os.WriteFile(filepath.Join(dir, "generation_config.json"), []byte(`{"eos_token_id":"x"}`), 0o600)
	}, []string{"generation_config.json", "eos_token_id"}},
	"generation end": {put("generation_config.json", `{"eos_token_id":[2,-7]}`), []string{"generation_config.json", "eos_token_id -7 is not among the"}},
}

// TestWrongFolders: each fault is one line with the file and the cause, and
// takes no more memory than the files.
func TestWrongFolders(t *testing.T) {
	for name, tt := range wrongFolders {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "model")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := localtest.WriteCheckpoint(dir, "qwen2", 1); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, dir)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := local.New(dir, local.Options{})
			if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 64<<20 {
				t.Errorf("it took %d MB to fail", (after.TotalAlloc-before.TotalAlloc)>>20)
			}
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %v, want one line", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestWrongOptions(t *testing.T) {
	for _, o := range []local.Options{{MaxTokens: -1}, {Context: -1}, {Context: 1 << 20}, {Batch: -1}, {Batch: 17}, {Engine: "xla"}} {
		dir := t.TempDir()
		if err := localtest.WriteCheckpoint(dir, "gpt2", 1); err != nil {
			t.Fatal(err)
		}
		if _, err := local.New(dir, o); err == nil {
			t.Errorf("options %+v were taken", o)
		}
	}
}

// TestDamagedWeights: scores that are not numbers are an error, not a reply.
func TestDamagedWeights(t *testing.T) {
	p := model(t, localtest.Spec{Arch: "llama", Seed: 1, Config: map[string]any{"rms_norm_eps": -1e9}}, local.Options{})
	_, err := p.Complete(t.Context(), ask("hello", methods.Sampling{}))
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Rejected || !strings.Contains(err.Error(), "not numbers") {
		t.Errorf("error %v", err)
	}
}
