package local_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local"
)

// sentences runs texts through transformers, with the pooling that
// sentence-transformers does.
const sentences = `
import sys, json, torch
from transformers import AutoModel, AutoTokenizer
torch.set_num_threads(1)
for line in sys.stdin:
    job = json.loads(line)
    tokenizer = AutoTokenizer.from_pretrained(job["dir"])
    model = AutoModel.from_pretrained(job["dir"], dtype=torch.float32, attn_implementation="eager").eval()
    vectors = []
    with torch.no_grad():
        for text in job["texts"]:
            batch = tokenizer(text, return_tensors="pt", truncation=True, max_length=job["max"])
            states = model(**batch).last_hidden_state[0]
            state = states[0] if job["first"] else states.mean(0)
            vectors.append(torch.nn.functional.normalize(state, dim=0).tolist())
    print(json.dumps(vectors))
`

var sentencesToEmbed = []string{
	"hello world", "Which are true?", "", "naïve café, 漢字!", strings.Repeat("the answer is in the item ", 60), "one", "two three",
}

func embedder(t *testing.T, s localtest.Spec) (*local.Embedder, string) {
	t.Helper()
	dir := t.TempDir()
	if err := localtest.Write(dir, s); err != nil {
		t.Fatal(err)
	}
	e, err := local.NewEmbedder(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e, dir
}

// pooling writes what sentence-transformers keeps beside a model.
func pooling(t *testing.T, dir, modules, modes string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "1_Pooling"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"modules.json": modules, "1_Pooling/config.json": modes} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const threeModules = `[{"idx":0,"type":"sentence_transformers.models.Transformer"},{"idx":1,"path":"1_Pooling","type":"sentence_transformers.models.Pooling"},
	{"idx":2,"type":"sentence_transformers.models.Normalize"}]`

func TestEmbeddingParity(t *testing.T) {
	spec := localtest.Spec{Arch: "bert", Seed: 1, Context: 128, DType: "F16", Shards: 2}
	mean, dir := embedder(t, spec)
	pooling(t, dir, threeModules, `{"word_embedding_dimension":32,"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}`)
	first, err := local.NewEmbedder(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if mean.ID() == first.ID() {
		t.Error("another pooling has the same identity")
	}
	for i, e := range []*local.Embedder{mean, first} {
		got, err := e.Embed(t.Context(), sentencesToEmbed)
		if err != nil {
			t.Fatal(err)
		}
		var want [][]float32
		jobs := []any{map[string]any{"dir": dir, "texts": sentencesToEmbed, "max": 128, "first": i == 1}}
		localtest.Python(t, sentences, jobs, []any{&want}, "torch", "transformers")
		for i := range want {
			for j := range want[i] {
				if d := math.Abs(float64(got[i][j] - want[i][j])); !(d <= 1e-5) {
					t.Fatalf("text %d: vectors differ by %g", i, d)
				}
			}
		}
	}
}

func TestUnknownPooling(t *testing.T) {
	_, dir := embedder(t, localtest.Spec{Arch: "bert", Seed: 1})
	for fault, files := range map[string][2]string{
		`1_Pooling/config.json pools by max_tokens and mean_tokens`: {threeModules, `{"pooling_mode_mean_tokens":true,"pooling_mode_max_tokens":true}`},
		`modules.json has a module "Dense"`:                         {`[{"type":"sentence_transformers.models.Dense"}]`, `{}`},
		`read ` + filepath.Join(dir, "1_Pooling", "config.json"):    {threeModules, `{`},
		`read ` + filepath.Join(dir, "modules.json"):                {`{}`, `{}`},
	} {
		pooling(t, dir, files[0], files[1])
		if _, err := local.NewEmbedder(dir, local.Options{}); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("error %v, want one with %q", err, fault)
		}
	}
}

func TestEmbeddings(t *testing.T) {
	e, _ := embedder(t, localtest.Spec{Arch: "bert", Seed: 2, Hidden: 96, Inner: 400})
	all, err := e.Embed(t.Context(), sentencesToEmbed)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range all {
		var square float64
		for _, x := range v {
			square += float64(x) * float64(x)
		}
		if len(v) != 96 || math.Abs(square-1) > 1e-5 {
			t.Errorf("text %d: %d numbers, length² %g", i, len(v), square)
		}
	}
	var group sync.WaitGroup
	for i, text := range sentencesToEmbed {
		group.Go(func() {
			one, err := e.Embed(t.Context(), []string{text})
			if err != nil || !slices.Equal(one[0], all[i]) {
				t.Errorf("text %d has another vector by itself (%v)", i, err)
			}
		})
	}
	group.Wait()
	if slices.Equal(all[0], all[1]) {
		t.Error("two texts have the same vector")
	}
	other, _ := embedder(t, localtest.Spec{Arch: "bert", Seed: 3})
	if e.ID() == other.ID() || !strings.Contains(e.ID(), "weights=") {
		t.Errorf("two models are %q and %q", e.ID(), other.ID())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, sentencesToEmbed); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a cancelled call", err)
	}
}

func TestWrongKindOfModel(t *testing.T) {
	dir := t.TempDir()
	if err := localtest.WriteCheckpoint(dir, "gpt2", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := local.NewEmbedder(dir, local.Options{}); err == nil || !strings.Contains(err.Error(), "makes text, not embeddings") {
		t.Errorf("embedder of a decoder: %v", err)
	}
	if err := localtest.WriteCheckpoint(dir, "bert", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := local.New(dir, local.Options{}); err == nil || !strings.Contains(err.Error(), "makes embeddings, not text") {
		t.Errorf("provider of an encoder: %v", err)
	}
}

// BenchmarkEmbed embeds passages of 120 words by a model of MiniLM's size, as many
// at once as there are cores.
func BenchmarkEmbed(b *testing.B) {
	dir := b.TempDir()
	spec := localtest.Spec{Arch: "bert", Seed: 1, Context: 512, Hidden: 384, Inner: 1536, Layers: 6, Heads: 12}
	if err := localtest.Write(dir, spec); err != nil {
		b.Fatal(err)
	}
	e, err := local.NewEmbedder(dir, local.Options{})
	if err != nil {
		b.Fatal(err)
	}
	texts := slices.Repeat([]string{strings.Repeat("the answer is in the item ", 20)}, runtime.GOMAXPROCS(0))
	for b.Loop() {
		if _, err := e.Embed(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(texts))/b.Elapsed().Seconds(), "texts/s")
}
