package hub_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"noema/kernel/base/hub"
	"noema/kernel/internal/test/hubtest"
)

// content is some bytes that do not compress or repeat.
func content(n int) []byte {
	out := make([]byte, n)
	source := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range out {
		out[i] = byte(source.Uint32())
	}
	return out
}

// model is a repository as models have it.
func model() hubtest.Repo {
	return hubtest.Repo{License: "apache-2.0", Files: fstest.MapFS{
		"README.md": {Data: []byte("# Tiny\n")}, "config.json": {Data: []byte(`{"model_type":"llama"}`)},
		"model.safetensors": {Data: content(300_000)}, "1_Pooling/config.json": {Data: []byte("{}")}, "a b#c.json": {Data: []byte("[]")},
	}}
}

// client fetches from h into a cache of its own. It never waits in earnest.
func client(t *testing.T, h *hubtest.Hub) (*hub.Client, *[]time.Duration) {
	t.Helper()
	env := map[string]string{"HF_ENDPOINT": h.URL + "/", "HF_HOME": t.TempDir()}
	c, err := hub.FromEnvironment(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	var waits []time.Duration
	c.Wait = func(ctx context.Context, d time.Duration) error {
		waits = append(waits, d)
		return ctx.Err()
	}
	return c, &waits
}

// pull lists and fetches all files.
func pull(t *testing.T, c *hub.Client, text string) (hub.Listing, hub.Snapshot, error) {
	t.Helper()
	r, err := hub.Parse(hub.Model, text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.List(t.Context(), r)
	if err != nil {
		return l, hub.Snapshot{}, err
	}
	s, err := c.Fetch(t.Context(), l, l.Files)
	return l, s, err
}

// same demands that dir holds what the repository does.
func same(t *testing.T, dir string, want fs.FS) {
	t.Helper()
	err := fs.WalkDir(want, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		a, err := fs.ReadFile(want, name)
		b, readErr := os.ReadFile(filepath.Join(dir, name))
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs from the hub's: %v", name, readErr)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// left lists what is in a cache, without lock files.
func left(t *testing.T, cache, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cache, "*", pattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestFetch(t *testing.T) {
	h := hubtest.New(t)
	repo := model()
	commit := h.Add("models", "org/tiny", repo)
	c, _ := client(t, h)
	ref := hub.Ref{Kind: hub.Model, ID: "org/tiny"}
	if _, err := c.Find(ref); !errors.Is(err, hub.ErrNotFetched) {
		t.Errorf("found in an empty cache: %v", err)
	}
	l, s, err := pull(t, c, "org/tiny")
	if err != nil {
		t.Fatal(err)
	}
	if l.Commit != commit || l.License != "apache-2.0" || len(l.Files) != 5 {
		t.Errorf("listed %+v, want commit %s and 5 files", l, commit)
	}
	same(t, s.Dir, repo.Files)
	h.Requests()
	for _, revision := range []string{"", "main", commit} {
		ref.Revision = revision
		found, err := c.Find(ref)
		if err != nil || found.Dir != s.Dir || found.Commit != commit {
			t.Errorf("revision %q: found %+v, %v; want %s", revision, found, err, s.Dir)
		}
	}
	if all, err := c.Snapshots(hub.Model); err != nil || len(all) != 1 || all[0].Revision != "main" || all[0].ID != "org/tiny" {
		t.Errorf("the cache lists %+v, %v", all, err)
	}
	if asked := h.Requests(); len(asked) > 0 {
		t.Errorf("looking into the cache asked the hub for %q", asked)
	}
	if _, _, err := pull(t, c, "org/tiny"); err != nil {
		t.Fatal(err)
	}
	if asked := h.Requests(); slices.ContainsFunc(asked, func(r string) bool { return strings.Contains(r, "resolve") }) {
		t.Errorf("the second fetch asked for files again: %q", asked)
	}
}

func TestDatasets(t *testing.T) {
	h := hubtest.New(t)
	repo := hubtest.Repo{Files: fstest.MapFS{"main/test-0.parquet": {Data: content(5000)}, "eval.yaml": {Data: []byte("tasks: []\n")}}}
	h.Add("datasets", "org/tiny", repo)
	c, _ := client(t, h)
	l, err := c.List(t.Context(), hub.Ref{Kind: hub.Dataset, ID: "org/tiny"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Fetch(t.Context(), l, l.Files)
	if err != nil {
		t.Fatal(err)
	}
	same(t, s.Dir, repo.Files)
	if !strings.Contains(s.Dir, "datasets--org--tiny") {
		t.Errorf("the dataset is in %s", s.Dir)
	}
}

// TestResume cuts each answer, as a bad network does: one fetch gets through,
// and never asks for a byte twice.
func TestResume(t *testing.T) {
	h := hubtest.New(t)
	repo := model()
	repo.Cut = 70_000
	h.Add("models", "org/tiny", repo)
	c, _ := client(t, h)
	_, s, err := pull(t, c, "org/tiny")
	if err != nil {
		t.Fatal(err)
	}
	same(t, s.Dir, repo.Files)
	asked := strings.Join(h.Requests(), "\n")
	if !strings.Contains(asked, "bytes=280000-") || strings.Count(asked, " cdn") != 5 {
		t.Errorf("the content was not asked for in five parts:\n%s", asked)
	}
}

// TestResumeLater ends a fetch in the middle of a file; another process goes on.
func TestResumeLater(t *testing.T) {
	for _, c := range []struct {
		name    string
		noRange bool
		spoil   func(path string) error
	}{
		{name: "goes on", spoil: func(string) error { return nil }},
		{name: "server without ranges", noRange: true, spoil: func(string) error { return nil }},
		{name: "spoiled on disk", spoil: func(path string) error { return os.WriteFile(path, make([]byte, 100_000), 0o600) }},
		{name: "longer than the file", spoil: func(path string) error { return os.Truncate(path, 1<<20) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hubtest.New(t)
			repo := model()
			repo.Cut = 70_000
			h.Add("models", "org/tiny", repo)
			client, _ := client(t, h)
			ctx, stop := context.WithCancel(t.Context())
			client.Wait = func(ctx context.Context, _ time.Duration) error {
				stop()
				return ctx.Err()
			}
			l, err := client.List(ctx, hub.Ref{Kind: hub.Model, ID: "org/tiny"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Fetch(ctx, l, l.Files); !errors.Is(err, context.Canceled) {
				t.Fatalf("the cancelled fetch ended with %v", err)
			}
			if _, err := client.Find(l.Ref); !errors.Is(err, hub.ErrNotFetched) {
				t.Errorf("half of a repository is found: %v", err)
			}
			parts := left(t, client.Cache, "blobs/*.incomplete")
			if len(parts) != 1 {
				t.Fatalf("left behind: %q", parts)
			}
			if err := c.spoil(parts[0]); err != nil {
				t.Fatal(err)
			}
			repo.Cut, repo.NoRange = 0, c.noRange
			h.Add("models", "org/tiny", repo)
			s, err := client.Fetch(t.Context(), l, l.Files)
			if err != nil {
				t.Fatal(err)
			}
			same(t, s.Dir, repo.Files)
			if parts := left(t, client.Cache, "blobs/*.incomplete"); len(parts) > 0 {
				t.Errorf("left behind: %q", parts)
			}
		})
	}
}

func TestWrongContent(t *testing.T) {
	h := hubtest.New(t)
	repo := model()
	repo.Wrong = true
	h.Add("models", "org/tiny", repo)
	c, _ := client(t, h)
	_, _, err := pull(t, c, "org/tiny")
	if err == nil || !strings.Contains(err.Error(), `file "model.safetensors": the content has digest`) {
		t.Fatalf("wrong content: %v", err)
	}
	if parts := left(t, c.Cache, "blobs/*.incomplete"); len(parts) > 0 {
		t.Errorf("wrong content is kept: %q", parts)
	}
	if found := left(t, c.Cache, "snapshots/*"); len(found) > 0 {
		t.Errorf("a snapshot of wrong content: %q", found)
	}
}

func TestTwoAtOnce(t *testing.T) {
	h := hubtest.New(t)
	repo := model()
	h.Add("models", "org/tiny", repo)
	one, _ := client(t, h)
	one.Wait = nil
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			other := *one
			l, err := other.List(t.Context(), hub.Ref{Kind: hub.Model, ID: "org/tiny"})
			if err == nil {
				_, err = other.Fetch(t.Context(), l, l.Files)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if asked := strings.Join(h.Requests(), "\n"); strings.Count(asked, " cdn") != 1 {
		t.Errorf("four at once fetched the large file %d times:\n%s", strings.Count(asked, " cdn"), asked)
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"a/b", "gpt2", "a/b@v1.0", "a/b@refs/pr/1", "a/b:x/y.gguf", "a/b@main:x.gguf"} {
		if r, err := hub.Parse(hub.Model, text); err != nil || r.String() != text {
			t.Errorf("Parse(%q) = %v, %v", text, r, err)
		}
	}
	for _, text := range []string{
		"", "/b", "a/", "a/b/c", "../b", "a/..", "a/b--c", "a/b@", "a/b@../../x", "a/b@-x", "a/b:", "a/b:../x", "a/b:/etc/passwd", "a/b:x//y", "a b/c", `a/b:x\y`,
	} {
		if r, err := hub.Parse(hub.Model, text); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", text, r)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "token"), []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  map[string]string
		want hub.Client
	}{
		{map[string]string{"HF_HOME": home}, hub.Client{Endpoint: "https://huggingface.co", Cache: filepath.Join(home, "hub"), Token: "from-file"}},
		{map[string]string{"HF_HOME": home, "HF_TOKEN": " t ", "HF_HUB_OFFLINE": "1"}, hub.Client{Endpoint: "https://huggingface.co", Cache: filepath.Join(home, "hub"), Token: "t", Offline: true}},
		{map[string]string{"XDG_CACHE_HOME": "/c", "HF_ENDPOINT": "http://x/"}, hub.Client{Endpoint: "http://x", Cache: "/c/huggingface/hub"}},
		{map[string]string{"HF_HOME": home, "HF_TOKEN_PATH": "/none", "HF_HUB_CACHE": "/h"}, hub.Client{Endpoint: "https://huggingface.co", Cache: "/h"}},
	} {
		got, err := hub.FromEnvironment(func(name string) string { return c.env[name] })
		if err != nil || got.Endpoint != c.want.Endpoint || got.Cache != c.want.Cache || got.Token != c.want.Token || got.Offline != c.want.Offline {
			t.Errorf("%v: %+v, %v; want %+v", c.env, got, err, c.want)
		}
	}
}

// TestKept: a listing that was kept is found again without a request, by branch and by
// commit, with what there is of its files.
func TestKept(t *testing.T) {
	h := hubtest.New(t)
	h.Add("models", "org/tiny", model())
	c, _ := client(t, h)
	r, err := hub.Parse(hub.Model, "org/tiny")
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.List(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Fetch(t.Context(), l, l.Files[:2]); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Kept(r); !errors.Is(err, hub.ErrNotFetched) {
		t.Errorf("a listing that nobody kept: %v", err)
	}
	if err := c.Keep(l); err != nil {
		t.Fatal(err)
	}
	h.Requests()
	for _, revision := range []string{"", l.Commit} {
		r.Revision = revision
		kept, s, err := c.Kept(r)
		if err != nil || kept.Commit != l.Commit || len(kept.Files) != len(l.Files) || kept.License != l.License {
			t.Fatalf("kept %+v, %v", kept, err)
		}
		for i, f := range kept.Files {
			if _, ok := s.File(f); ok != (i < 2) {
				t.Errorf("file %q is there: %v", f.Path, ok)
			}
		}
	}
	if asked := h.Requests(); len(asked) > 0 {
		t.Errorf("asked for %q", asked)
	}
	path := filepath.Join(c.Cache, "models--org--tiny", ".noema", l.Commit+".json")
	if err := os.WriteFile(path, []byte(`{"Files":[{"Path":"../../x"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Kept(r); err == nil || !strings.Contains(err.Error(), "names a file that cannot be") {
		t.Errorf("a listing that leaves the folder: %v", err)
	}
}
