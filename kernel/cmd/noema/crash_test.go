package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
)

// TestCrashAmongMany: of 200 trials, 64 at once in shared processes, one kills its
// process. It alone fails, the others are as in an undisturbed run, and no call is
// paid twice.
func TestCrashAmongMany(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	const trials, heavy = 200, "q100"
	var quiz strings.Builder
	for i := range trials {
		word := "light"
		if fmt.Sprint("q", i) == heavy {
			word = "heavy"
		}
		fmt.Fprintf(&quiz, `{"id": "q%d", "input": "%s question %d", "target": "yes"}`+"\n", i, word, i)
	}
	server := providertest.New(providertest.Config{Answer: yes, Latency: 5 * time.Millisecond})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL(), "OPENAI_API_KEY="+rightKey)
	c.write("quiz.jsonl", quiz.String())
	r := c.run(exitFailed, "compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", program(t, "brittle"),
		"--max-samples", "64", "--max-connections", "64")
	for _, want := range []string{"1 of 200 trials failed", "it breaks at " + heavy} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("no %q in: %s", want, r.stderr)
		}
	}
	if want := 3*trials - 1; server.Requests() != want { // the trial that fails makes two calls, not three
		t.Errorf("%d requests, want %d", server.Requests(), want)
	}
	// Undisturbed, one trial at a time, each trial has the same transcript.
	if r := c.run(0, "replay", "last", "--max-samples", "1"); !strings.Contains(r.stdout, "the root hash is that of run") {
		t.Errorf("replay: %s", r.stdout)
	}
}

// program is the path of a program that the test binary serves.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
