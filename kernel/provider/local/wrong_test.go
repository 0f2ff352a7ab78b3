package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/provider"
	"noema/kernel/provider/local"
	"noema/kernel/provider/local/localtest"
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

// TestWrongFolders: each fault is one line with the file and the cause.
func TestWrongFolders(t *testing.T) {
	tests := map[string]struct {
		spoil spoiler
		want  []string
	}{
		"no folder":        {func(_ *testing.T, dir string) { os.RemoveAll(dir) }, []string{"config.json", "no such file"}},
		"no config":        {remove("config.json"), []string{"config.json", "no such file"}},
		"no weights":       {remove("model.safetensors"), []string{"model.safetensors"}},
		"no tokenizer":     {remove("tokenizer.json"), []string{"tokenizer.json", "no such file"}},
		"cut weights":      {cut("model.safetensors"), []string{"model.safetensors", "truncated"}},
		"cut tokenizer":    {cut("tokenizer.json"), []string{"tokenizer.json", "unexpected end of JSON"}},
		"architecture":     {replace("config.json", `"model_type": "qwen2"`, `"model_type": "mamba2"`), []string{"config.json", `unknown architecture "mamba2"`}},
		"width":            {replace("config.json", `"hidden_size": 64`, `"hidden_size": 32`), []string{"model.safetensors", "embed_tokens.weight", "its shape is"}},
		"layers":           {replace("config.json", `"num_hidden_layers": 2`, `"num_hidden_layers": 3`), []string{`"model.layers.2.input_layernorm.weight" is missing`}},
		"vocabulary":       {replace("config.json", `"vocab_size": `, `"vocab_size": 1, "x": `), []string{"tokenizer.json", "tokens, the model 1"}},
		"tokenizer config": {replace("tokenizer_config.json", `{`, `{"eos_token": 5, "eos_token": [],`), []string{"tokenizer_config.json"}},
		"template":         {replace("tokenizer_config.json", `"chat_template": "`, `"chat_template": 5, "x": "`), []string{"tokenizer_config.json", "chat_template"}},
		"generation config": {func(t *testing.T, dir string) {
			os.WriteFile(filepath.Join(dir, "generation_config.json"), []byte(`{"eos_token_id":"x"}`), 0o600)
		}, []string{"generation_config.json", "eos_token_id"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "model")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := localtest.WriteCheckpoint(dir, "qwen2", 1); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, dir)
			_, err := local.New(dir, local.Options{})
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
	for _, o := range []local.Options{{MaxTokens: -1}, {Context: -1}, {Batch: -1}, {Batch: 9}, {Backend: "no such backend"}} {
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
