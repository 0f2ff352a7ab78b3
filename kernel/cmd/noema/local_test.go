package main

import (
	"path/filepath"
	"testing"

	"noema/kernel/internal/test/localtest"
)

// TestLocalModel compares methods on a model with random weights, in the
// process and without a network, and replays the run. The answers are noise;
// what is tested is that their outcomes say so, and that they come again.
func TestLocalModel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	dir := t.TempDir()
	if err := localtest.Write(dir, localtest.Spec{Arch: "llama", Seed: 1, Context: 4096}); err != nil {
		t.Fatal(err)
	}
	user := newCLI(t)
	model := "local/" + dir
	r := user.run(0, "compare", "--task", "arithmetic", "--methods", "direct,cot", "--model", model+"?max_tokens=8", "--limit", "1")
	want(t, r.stdout, "unparsed", model[:6])
	want(t, user.run(0, "replay", "last").stdout, "replayed: the root hash is that of run")
	for _, c := range []struct{ model, want string }{
		{"local", "as in local/smollm2-135m"},
		{filepath.Join(model, "nothere"), "config.json"},
		{model + "?speed=9", "unknown option \"speed\""},
		{model + "?batch=x", "is not a whole number"},
	} {
		want(t, user.run(exitUsage, "compare", "--task", "arithmetic", "--methods", "direct", "--model", c.model, "--limit", "1").stderr, c.want)
	}
}
