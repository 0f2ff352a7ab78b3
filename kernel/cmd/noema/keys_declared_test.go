package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/run/runner"
)

// TestDeclaredKeys: keys in samples, options and the user's own words are in
// nothing that is stored, shown or exported, and two people with different keys
// have the same root hash.
func TestDeclaredKeys(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	var roots []string
	for _, key := range []string{"open-sesame-0123456789", "another/key+ältogether"} {
		c := newCLI(t)
		c.env = append(c.env, "SOME_API_KEY="+key)
		c.write("quiz.jsonl", fmt.Sprintf(`{"id": "q1", "input": {"query": "my key is %[1]s", "context": {"k": ["%[1]s"], "%[1]s": 1}}, "target": "yes", "metadata": {"note": "%[1]s", "group": "%[1]s"}}
{"id": "%[1]s", "input": "two", "target": "%[1]s"}
{"id": "q3", "input": {"query": "order", "items": ["a", "%[1]s", "c"]}, "target": [2]}
`, key))
		c.write("script.yaml", `default: {reply: '{"answer": "yes"}'}`)
		args := []string{"compare", "--task", "quiz.jsonl", "--model", "scripted/script.yaml", "--methods", "direct",
			"--name", "of " + key, "--question", "what of " + key}
		r := c.run(0, args...)
		roots = append(roots, rootOf(r.stdout))
		out := filepath.Join(t.TempDir(), "page.html")
		c.run(0, append(args, "--html", out)...)
		page, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		shown := r.stdout + r.stderr + string(page)
		keyless := c.at(c.home) // who has no keys sees what the store holds
		keyless.env, keyless.dir = nil, t.TempDir()
		for _, args := range [][]string{
			{"runs", "show", "last"}, {"runs", "show", "last", "--json"}, {"runs", "show", "last", "--trial", "direct/q1"},
			{"runs", "show", "last", "--trial", "direct/[redacted]", "--json"}, {"runs", "export", "last", "--rows", "calls"},
			{"runs", "export", "last"}, {"runs", "export", "last", "--format", "evallog"}, {"runs", "list"}, {"replay", "last"},
		} {
			r := keyless.run(0, args...)
			shown += r.stdout + r.stderr
		}
		shown += stored(t, c.home)
		if i := strings.Index(shown, key); i >= 0 {
			t.Errorf("%q was stored or shown: %.300s", key, shown[max(0, i-100):])
		}
		if n := strings.Count(shown, "[redacted]"); n < 20 {
			t.Errorf("%d keys were taken out", n)
		}
	}
	if roots[0] == "" || roots[0] != roots[1] {
		t.Errorf("root hashes %q", roots)
	}
}

// stored is all that a store holds of its last run, as it was before compression.
func stored(t *testing.T, home string) string {
	t.Helper()
	ctx := context.Background()
	store, err := cache.Open(ctx, filepath.Join(home, "store"), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	runs, err := runner.Runs(ctx, store)
	if err != nil || len(runs) == 0 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	var b bytes.Buffer
	for _, run := range runs {
		fmt.Fprintf(&b, "%+v\n", *run)
		task, err := runner.LoadTask(ctx, store, run)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%+v\n", *task)
		for _, s := range task.Samples {
			fmt.Fprintf(&b, "%s %s %s\n", s.Problem.Context, s.Target, s.Problem.Query)
		}
		for _, id := range run.Config.Trials() {
			raw, err := store.Trial(ctx, run.ID, id.String())
			if err != nil {
				t.Fatal(err)
			}
			b.Write(raw)
		}
	}
	return b.String()
}
