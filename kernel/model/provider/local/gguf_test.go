package local_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local"
	"noema/methods"
)

func ggufFile(t *testing.T, s localtest.Spec, kind string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "model.gguf")
	if err := localtest.WriteGGUF(file, s, kind); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestGGUF holds that a model answers the same from a file as from a folder, to
// the last bit in 32 bits, and that quantised it still answers.
func TestGGUF(t *testing.T) {
	for _, spec := range []localtest.Spec{
		{Arch: "smollm"}, {Arch: "qwen3"},
		{Arch: "mistral", Config: map[string]any{"sliding_window": nil}}, // a SentencePiece tokenizer
		{Arch: "gemma3", Layers: 7, Config: map[string]any{"sliding_window_pattern": 6, "query_pre_attn_scalar": 40}},
	} {
		t.Run(spec.Arch, func(t *testing.T) {
			spec.Seed, spec.Hidden, spec.Inner = 3, 128, 256
			r := ask("Which of the items answers the condition? 12 <|im_end|>", methods.Sampling{MaxTokens: 20, Logprobs: 3})
			want := generate(t, model(t, spec, local.Options{}), r)
			for _, kind := range []string{"F32", "Q8_0"} {
				p, err := local.New(ggufFile(t, spec, kind), local.Options{})
				if err != nil {
					t.Fatal(err)
				}
				got := generate(t, p, r)
				if got.Usage.InputTokens != want.Usage.InputTokens {
					t.Errorf("%s: %d tokens of prompt, in a folder %d", kind, got.Usage.InputTokens, want.Usage.InputTokens)
				}
				if kind == "F32" && (got.Text != want.Text || got.Logprobs[0].Logprob != want.Logprobs[0].Logprob) {
					t.Errorf("text %q, in a folder %q", got.Text, want.Text)
				}
				if got.Usage.OutputTokens == 0 {
					t.Errorf("%s: no tokens", kind)
				}
			}
		})
	}
}

// TestGGUFFolder holds that a folder with one GGUF file is that file.
func TestGGUFFolder(t *testing.T) {
	file := ggufFile(t, localtest.Spec{Arch: "smollm", Seed: 1}, "F32")
	a, err := local.New(file, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := local.New(filepath.Dir(file), local.Options{})
	if err != nil || a.Info().ID != b.Info().ID {
		t.Errorf("%+v and %+v, %v", a.Info().ID, b.Info().ID, err)
	}
}

// TestWrongGGUF holds that a wrong file is refused in one line that says where,
// without taking much memory.
func TestWrongGGUF(t *testing.T) {
	file := ggufFile(t, localtest.Spec{Arch: "smollm", Seed: 1}, "F32")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	header := func(tensors, entries uint64, rest ...byte) []byte {
		return append(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte("GGUF\x03\x00\x00\x00"), tensors), entries), rest...)
	}
	list := append(binary.LittleEndian.AppendUint64(nil, 1), "k\x09\x00\x00\x00\x08\x00\x00\x00\xff\xff\xff\xff\xff\xff\x00\x00"...)
	arch := &localtest.GGUF{}
	arch.Set("general.architecture", "mamba")
	bare := &localtest.GGUF{}
	bare.Set("general.architecture", "llama")
	wide := &localtest.GGUF{}
	wide.Tensor("t", 0, []int{1 << 30, 1 << 30}, nil)
	odd := &localtest.GGUF{}
	odd.Tensor("t", 77, []int{2}, nil)
	tests := map[string]struct {
		data []byte
		want string
	}{
		"empty":          {nil, `it begins with ""`},
		"another kind":   {[]byte("version https://git-lfs"), `not a GGUF file: it begins with "vers"`},
		"version":        {[]byte("GGUF\x01\x00\x00\x00"), "GGUF version 1 is not supported"},
		"counts":         {header(1<<60, 1<<60), "are more than the 65536"},
		"no entries":     {header(0, 3), "metadata entry 1 of 3"},
		"endless list":   {header(0, 1, list...), "truncated"},
		"cut header":     {good[:200], "truncated"},
		"cut weights":    {good[:len(good)-100], "truncated: tensor"},
		"architecture":   {arch.Bytes(), `unknown architecture "mamba"; known are [gemma3 llama qwen2 qwen3]`},
		"no tokenizer":   {bare.Bytes(), "it has no tokenizer"},
		"huge tensor":    {wide.Bytes(), "is too large"},
		"unknown type":   {odd.Bytes(), "type 77 is not supported"},
		"pre-tokenizer":  {bytes.Replace(good, []byte("\x06\x00\x00\x00\x00\x00\x00\x00smollm"), []byte("\x06\x00\x00\x00\x00\x00\x00\x00ooloom"), 1), `pre-tokenizer "ooloom" is not supported`},
		"chat template":  {bytes.ReplaceAll(good, []byte("im_start"), []byte("xx_start")), "its chat template is of an unknown family"},
		"missing tensor": {bytes.Replace(good, []byte("blk.0.attn_norm"), []byte("blk.9.attn_norm"), 1), "layers.0.input_layernorm.weight\" is missing"},
		"strange tensor": {bytes.Replace(good, []byte("blk.0.attn_norm"), []byte("blk.0.attn_dorm"), 1), "is not part of a llama model"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.gguf")
			if err := os.WriteFile(file, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := local.New(file, local.Options{})
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "x.gguf") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q and the file", err, tt.want)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("it took %d MB to fail", took>>20)
			}
		})
	}
}
