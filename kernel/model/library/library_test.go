package library_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"noema/kernel/base/hub"
	"noema/kernel/internal/test/hubtest"
	"noema/kernel/model/library"
)

const (
	short   = "smollm2-135m"
	shortID = "HuggingFaceTB/SmolLM2-135M-Instruct"
)

// empty is one with nothing in it, on a hub of its own.
func empty(t *testing.T) (library.Library, *hubtest.Hub) {
	t.Helper()
	h := hubtest.New(t)
	return library.Library{Home: t.TempDir(), Hub: &hub.Client{Endpoint: h.URL, Cache: t.TempDir()}}, h
}

func files(names ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for _, name := range names {
		out[name] = &fstest.MapFile{Data: []byte("GGUF or {}: " + name)}
	}
	return out
}

// whole is a model in safetensors with much beside it.
func whole() fstest.MapFS {
	return files("README.md", "config.json", "generation_config.json", "merges.txt", "model.safetensors", "onnx/model.onnx", "pytorch_model.bin",
		"runs/x/config.json", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.json")
}

// sharded is one whose weights are in two files.
func sharded() fstest.MapFS {
	out := files("config.json", "tokenizer.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "consolidated.safetensors")
	out["model.safetensors.index.json"] = &fstest.MapFile{Data: []byte(
		`{"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}}`)}
	return out
}

func TestPull(t *testing.T) {
	l, h := empty(t)
	commit := h.Add("models", shortID, hubtest.Repo{Files: whole(), License: "apache-2.0"})
	h.Add("models", "org/large", hubtest.Repo{Files: sharded()})
	h.Add("models", "org/quants", hubtest.Repo{Files: files("README.md", "q4.gguf", "q8.gguf")})
	for _, c := range []struct {
		pull, name string
		files      []string // in the snapshot; a path that is a file's holds one
	}{
		{short, short, []string{"config.json", "generation_config.json", "model.safetensors", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"}},
		{"local/hf/" + shortID + "@main", short, []string{"config.json", "generation_config.json", "model.safetensors", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"}},
		{"hf/" + shortID + "@" + commit, "hf/" + shortID + "@" + commit, []string{"config.json", "generation_config.json", "model.safetensors", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"}},
		{"hf/org/large", "hf/org/large", []string{"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json", "tokenizer.json"}},
		{"hf/org/quants:q4.gguf", "hf/org/quants:q4.gguf", []string{"q4.gguf"}},
	} {
		p, err := l.Pull(t.Context(), c.pull, func(library.Pulled) {})
		if err != nil {
			t.Errorf("pull %s: %v", c.pull, err)
			continue
		}
		if p.Name != c.name || p.Files != len(c.files) {
			t.Errorf("pull %s: %+v, want %s with %d files", c.pull, p, c.name, len(c.files))
		}
		h.Requests()
		at, err := l.Find(strings.TrimPrefix(c.pull, "local/"))
		if err != nil || at != p.Path {
			t.Errorf("find %s: %s, %v; want %s", c.pull, at, err, p.Path)
		}
		if asked := h.Requests(); len(asked) > 0 {
			t.Errorf("find %s asked the hub for %q", c.pull, asked)
		}
		dir := at
		if strings.HasSuffix(at, ".gguf") {
			dir = filepath.Dir(at)
		}
		var got []string
		for _, e := range entries(t, dir) {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, c.files) {
			t.Errorf("pull %s fetched %q, want %q", c.pull, got, c.files)
		}
	}
	found, err := l.List()
	var names []string
	for _, m := range found {
		names = append(names, m.Name+" "+m.Format)
	}
	if want := []string{short + " safetensors", "hf/org/large safetensors", "hf/org/quants:q4.gguf gguf"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("listed %q, %v; want %q", names, err, want)
	}
}

func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestWrongNames shows what is said of names that cannot be pulled or found.
func TestWrongNames(t *testing.T) {
	l, h := empty(t)
	h.Add("models", "org/quants", hubtest.Repo{Files: files("q4.gguf", "q8.gguf")})
	h.Add("models", "org/pickles", hubtest.Repo{Files: files("config.json", "pytorch_model.bin", "tokenizer.json")})
	h.Add("models", "org/dumb", hubtest.Repo{Files: files("config.json", "model.safetensors")})
	for _, c := range []struct{ pull, want string }{
		{"smollm2-135", `did you mean "smollm2-135m"?`},
		{"hf/a/b/c", `is not the name of a repository: write ORG/NAME`},
		{"hf/org/quants", "noema model pull hf/org/quants:q4.gguf"},
		{"hf/org/quants:q5.gguf", `no file "q5.gguf", did you mean`},
		{"hf/org/quants:q4.bin", "only a GGUF file can be named"},
		{"hf/org/pickles", "no weights in safetensors"},
		{"hf/org/dumb", "no tokenizer.json"},
		{"hf/org/none", "not found: check the name"},
	} {
		_, err := l.Pull(t.Context(), c.pull, func(library.Pulled) {})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("pull %s: %v, want %q", c.pull, err, c.want)
		}
	}
	h.Requests()
	for _, c := range []struct{ find, want string }{
		{short, `is not on this machine: fetch it with "noema model pull smollm2-135m"`},
		{"hf/org/quants:q4.gguf", `fetch it with "noema model pull hf/org/quants:q4.gguf"`},
		{"hf/org/x@v1", `fetch it with "noema model pull hf/org/x@v1"`},
		{"hf/../x", "is not the name of a repository"},
		{"smolm2-135m", `no model, folder or file of the name "smolm2-135m", did you mean "smollm2-135m"?`},
	} {
		if at, err := l.Find(c.find); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("find %s: %s, %v; want %q", c.find, at, err, c.want)
		}
	}
	if asked := h.Requests(); len(asked) > 0 {
		t.Errorf("finding asked the hub for %q", asked)
	}
	if at, err := l.Find("./some/folder"); err != nil || at != "./some/folder" {
		t.Errorf("a path is %q, %v", at, err)
	}
}

// TestPartly: what Python has fetched of a repository may be less than a model.
func TestPartly(t *testing.T) {
	l, h := empty(t)
	h.Add("models", "org/large", hubtest.Repo{Files: sharded()})
	p, err := l.Pull(t.Context(), "hf/org/large", func(library.Pulled) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(p.Path, "model-00002-of-00002.safetensors")); err != nil {
		t.Fatal(err)
	}
	want := `without model-00002-of-00002.safetensors: fetch it with "noema model pull hf/org/large"`
	if _, err := l.Find("hf/org/large"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("find: %v, want %q", err, want)
	}
	if found, err := l.List(); err != nil || len(found) > 0 {
		t.Errorf("listed %+v, %v", found, err)
	}
	if _, err := l.Pull(t.Context(), "hf/org/large", func(library.Pulled) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Find("hf/org/large"); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, dir string, content fstest.MapFS) string {
	t.Helper()
	if err := os.CopyFS(dir, content); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestImport(t *testing.T) {
	l, _ := empty(t)
	dir := write(t, filepath.Join(t.TempDir(), "mine"), whole())
	file := filepath.Join(write(t, t.TempDir(), files("q4.gguf")), "q4.gguf")
	folder, err := l.Import(t.Context(), dir, "mine")
	if err != nil {
		t.Fatal(err)
	}
	single, err := l.Import(t.Context(), file, "quant")
	if err != nil {
		t.Fatal(err)
	}
	if folder.Format != library.Safetensors || single.Format != library.GGUF || !strings.HasPrefix(single.Version, "sha256:") {
		t.Errorf("imported %+v and %+v", folder, single)
	}
	if got := len(entries(t, folder.Path)); got != 7 { // the six and the record
		t.Errorf("%d files were imported", got)
	}
	for _, gone := range []string{dir, file} {
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(single.Path)
	if err != nil || !bytes.HasPrefix(raw, []byte("GGUF")) {
		t.Errorf("without the original: %q, %v", raw, err)
	}
	for name, want := range map[string]string{"mine": folder.Path, "quant": single.Path} {
		if at, err := l.Find(name); err != nil || at != want {
			t.Errorf("find %s: %s, %v; want %s", name, at, err, want)
		}
	}
	if found, err := l.List(); err != nil || len(found) != 2 || found[1] != single {
		t.Errorf("listed %+v, %v", found, err)
	}
}

func TestWrongImports(t *testing.T) {
	l, _ := empty(t)
	dir := write(t, t.TempDir(), files("q4.gguf", "not.txt"))
	if err := os.WriteFile(filepath.Join(dir, "cut.gguf"), []byte("GG"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe.gguf"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Import(t.Context(), filepath.Join(dir, "q4.gguf"), "taken"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ source, name, want string }{
		{"q4.gguf", "taken", `there is a model "taken"`},
		{"q4.gguf", "../x", "cannot be the name of a model"},
		{"q4.gguf", ".x", "cannot be the name of a model"},
		{"q4.gguf", short, "no short name of the hub"},
		{"none.gguf", "x", "no such file"},
		{"not.txt", "x", "not a GGUF file"},
		{"cut.gguf", "x", "not a GGUF file"},
		{"pipe.gguf", "x", "it is a pipe"},
		{".", "x", `import one of them: ["cut.gguf"`},
	} {
		_, err := l.Import(t.Context(), filepath.Join(dir, c.source), c.name)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("import %s as %s: %v, want %q", c.source, c.name, err, c.want)
		}
	}
	var named *library.NameError
	if _, err := l.Import(t.Context(), dir, "a/b"); !errors.As(err, &named) {
		t.Errorf("a wrong name is %T", err)
	}
	if left := entries(t, filepath.Join(l.Home, "models")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
