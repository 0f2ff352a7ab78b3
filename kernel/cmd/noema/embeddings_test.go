package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/internal/test/localtest"
)

// embeddingModel writes an embedding model with random weights: what is near to
// what is noise, and comes again all the same.
func embeddingModel(t *testing.T) (dir, option string) {
	t.Helper()
	dir = t.TempDir()
	if err := localtest.Write(dir, localtest.Spec{Arch: "bert", Seed: 1, Context: 128}); err != nil {
		t.Fatal(err)
	}
	return dir, "embeddings=local/" + dir
}

func (c *cli) embeddings() int {
	c.t.Helper()
	var st struct {
		Spaces []struct {
			Space   string
			Entries int
		}
	}
	if err := json.Unmarshal([]byte(c.run(0, "cache", "stats", "--json").stdout), &st); err != nil {
		c.t.Fatal(err)
	}
	for _, s := range st.Spaces {
		if s.Space == "embeddings" {
			return s.Entries
		}
	}
	c.t.Fatal("the store tells nothing of embeddings")
	return 0
}

// questionsAndCorpus writes a question and articles to search for its answer.
func questionsAndCorpus(t *testing.T) (questions, corpus string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var articles strings.Builder
	for _, title := range []string{"Oak", "Elm", "Ash", "Yew", "Fir", "Larch", "Alder"} {
		fmt.Fprintf(&articles, `{"title":%q,"text":"The %s is a tree.","section":"Tree"}`+"\n", title, title)
	}
	return write("questions.jsonl", `{"id":"q1","input":"Which tree is the oldest?","target":"Yew"}`), write("corpus.jsonl", articles.String())
}

// TestSearchByMeaning: a run that searches by embeddings reruns from the store,
// and replays where the model is not.
func TestSearchByMeaning(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	dir, option := embeddingModel(t)
	questions, corpus := questionsAndCorpus(t)
	user := newCLI(t)
	compare := func(more ...string) string {
		args := []string{"compare", "--task", questions, "-T", "corpus=" + corpus, "--methods", "research-tree,react", "--model", "sim"}
		return rootOf(user.run(0, append(args, more...)...).stdout)
	}
	words, meaning := compare(), compare("-T", option)
	kept := user.embeddings()
	if kept < 14 { // each article's name and section
		t.Errorf("%d embeddings are in the store", kept)
	}
	if again := compare("-T", option); again != meaning || user.embeddings() != kept {
		t.Errorf("the rerun has root %s and %d embeddings, the run %s and %d", again, user.embeddings(), meaning, kept)
	}
	hybrid := compare("-T", option, "-T", "search=hybrid")
	if words == meaning || hybrid == meaning || hybrid == words {
		t.Errorf("roots: by words %s, by meaning %s, hybrid %s", words, meaning, hybrid)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	want(t, user.run(0, "replay", "last").stdout, "replayed: the root hash is that of run", hybrid)
}

// TestSemanticFilter: General ANoT picks reviews by meaning.
func TestSemanticFilter(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	_, option := embeddingModel(t)
	user := newCLI(t)
	args := []string{
		"compare", "--task", "policy", "-T", "policy=noise", "-T", "restaurants=1", "--model", "sim",
		"--methods", "general-anot?filter=union,general-anot?filter=semantic&threshold=-1,general-anot",
	}
	first := user.run(0, append(args, "-T", option)...).stdout
	want(t, first, "general-anot?filter=union", "answered")
	want(t, user.run(0, "replay", "last").stdout, "replayed", rootOf(first))
	if n := user.embeddings(); n < 25 {
		t.Errorf("%d embeddings are in the store", n)
	}
	r := user.run(exitFailed, append(args, "--limit", "1")...)
	want(t, r.stdout+r.stderr, `the task has no tool "similarity": give it an embedding model, as in -T embeddings=local/FOLDER`)
}

func TestEmbeddingsMisused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	dir, option := embeddingModel(t)
	decoder := t.TempDir()
	if err := localtest.WriteCheckpoint(decoder, "gpt2", 1); err != nil {
		t.Fatal(err)
	}
	broken := t.TempDir()
	if err := localtest.Write(broken, localtest.Spec{Arch: "bert", Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(broken, "model.safetensors"), 1000); err != nil {
		t.Fatal(err)
	}
	user := newCLI(t)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"name a model of the BERT family", []string{"policy", "-T", "embeddings=minilm"}},
		{"name a model of the BERT family", []string{"policy", "-T", "embeddings=openai/text-embedding-3-small"}},
		{"config.json", []string{"policy", "-T", "embeddings=local/" + dir + "x"}},
		{"makes text, not embeddings", []string{"policy", "-T", "embeddings=local/" + decoder}},
		{"model.safetensors", []string{"policy", "-T", "embeddings=local/" + broken}},
		{"leave embeddings out", []string{"multihop", "-T", option, "-T", "search=words"}},
		{"use words, meaning or hybrid", []string{"multihop", "-T", option, "-T", "search=bm25"}},
		{"needs an embedding model", []string{"multihop", "-T", "search=hybrid"}},
		{"leave search=hybrid out", []string{"policy", "-T", option, "-T", "search=hybrid"}},
		{"embeddings need a corpus", []string{"multihop", "-T", option, "-T", "wikipedia=http://127.0.0.1:1"}},
	} {
		want(t, user.run(exitUsage, append([]string{"task", "validate"}, c.args...)...).stderr, c.want)
	}
	want(t, user.run(0, "task", "validate", "policy", "-T", option).stdout, "similarity")
	want(t, user.run(0, "task", "validate", "multihop", "-T", "search=words").stdout, "search")
}
