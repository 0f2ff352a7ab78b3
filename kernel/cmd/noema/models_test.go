package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"noema/kernel/internal/test/hubtest"
	"noema/kernel/internal/test/localtest"
)

// TestPullToAnswer goes from nothing to a compared and replayed run with a
// model of a hub: after the pull, the hub may be gone.
func TestPullToAnswer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	dir := t.TempDir()
	if err := localtest.Write(dir, localtest.Spec{Arch: "smollm", Seed: 1, Context: 4096}); err != nil {
		t.Fatal(err)
	}
	h := hubtest.New(t)
	commit := h.Add("models", "HuggingFaceTB/SmolLM2-135M-Instruct", hubtest.Repo{Files: os.DirFS(dir), License: "apache-2.0"})
	user := newCLI(t, "HF_ENDPOINT="+h.URL)
	model := "local/smollm2-135m"
	ask := []string{"compare", "--task", "arithmetic", "--methods", "direct", "--model", model + "?max_tokens=8", "--limit", "1"}
	want(t, user.run(exitUsage, ask...).stderr, `fetch it with "noema model pull smollm2-135m"`)

	r := user.run(0, "model", "pull", "smollm2-135m")
	want(t, r.stdout, "licence  apache-2.0", "use   --model "+model)
	want(t, r.stderr, "model.safetensors  ")
	if strings.ContainsAny(r.stderr, "\r\x1b") {
		t.Errorf("a pipe gets the lines of a terminal: %q", r.stderr)
	}
	h.Requests()
	pinned := "local/hf/HuggingFaceTB/SmolLM2-135M-Instruct@" + commit + "?max_tokens=8"
	root := rootOf(user.run(0, ask...).stdout)
	ask[6] = pinned
	if r := user.run(0, ask...); rootOf(r.stdout) != root || !strings.Contains(r.stdout, "arithmetic?level=0&n=100&seed=0 · "+pinned) {
		t.Errorf("the run that names the commit differs from root %s:\n%s", root, r.stdout)
	}
	cache := filepath.Join(user.dir, ".cache", "huggingface", "hub")
	want(t, user.run(0, "model", "list").stdout, model+"  ", "safetensors", cache)
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	want(t, user.run(0, "replay", "last").stdout, "replayed: the root hash is that of run")
	if asked := h.Requests(); len(asked) > 0 {
		t.Errorf("the hub was asked for %q", asked)
	}

	want(t, user.run(0, "model", "import", dir, "--name", "mine").stdout, "sha256:", "use     --model local/mine")
	ask[6] = "local/mine?max_tokens=8"
	want(t, user.run(0, ask...).stdout, " · local/mine?max_tokens=8")
}

// TestPullRefused shows the exit codes of what cannot be pulled.
func TestPullRefused(t *testing.T) {
	t.Parallel()
	h := hubtest.New(t)
	h.Add("models", "google/gemma-3-270m-it", hubtest.Repo{Gated: true, Files: fstest.MapFS{
		"config.json": {Data: []byte("{}")}, "tokenizer.json": {Data: []byte("{}")}, "model.safetensors": {Data: []byte("x")},
	}})
	user := newCLI(t, "HF_ENDPOINT="+h.URL)
	for _, c := range []struct {
		code int
		name string
		want string
	}{
		{exitError, "gemma-3-270m-it", "accept its terms at " + h.URL + "/google/gemma-3-270m-it, then set HF_TOKEN"},
		{exitUsage, "gema-3-270m-it", `did you mean "gemma-3-270m-it"?`},
		{exitUsage, "hf/org/none", "not found: check the name"},
		{exitUsage, "hf/a/b/c/d", "write ORG/NAME"},
	} {
		want(t, user.run(c.code, "model", "pull", c.name).stderr, c.want)
	}
	want(t, user.run(exitUsage, "model", "import", "x").stderr, `"name"`)
	want(t, user.run(exitError, "model", "import", "x", "--name", "x").stderr, "no such file")
}
