package main

import (
	"os"
	"path/filepath"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/methods"
)

// TestRealModel asks a language model in the process by the command: it knows a
// capital, and each method comes to an honest end within few tokens. Then the store
// alone is carried to another folder, where nobody has the model, and the
// run comes again bit for bit.
func TestRealModel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	file := localtest.Real(t)
	user := newCLI(t)
	want(t, user.run(0, "model", "import", file, "--name", "smollm2").stdout, "gguf, 93.8 MiB", "use     --model local/smollm2")
	model := []string{"--model", "local/smollm2", "-M", "max_tokens=10"}
	want(t, user.run(0, append(model, "ask", "--methods", "direct", "What is the capital of France?")...).stdout, "Paris")

	const asked, calls = "direct,cot?retries=0,self-consistency?draws=2", 4
	s := user.summary(append(model, "compare", "--task", "arithmetic?level=1", "--methods", asked, "--limit", "1")...)
	if s.ProviderCalls != calls || s.Simulated || s.RootHash == "" {
		t.Errorf("%d calls, simulated: %v, root %q; want %d calls", s.ProviderCalls, s.Simulated, s.RootHash, calls)
	}
	for _, trial := range user.trials() {
		honest(t, trial.ID.Method, trial.Answer)
		if trial.ID.Method == "direct" && trial.Answer.Outcome != methods.Answered {
			t.Errorf("a schema made the form certain, and direct is %s: %s", trial.Answer.Outcome, trial.Answer.Reason)
		}
	}

	elsewhere := newCLI(t)
	if err := os.CopyFS(filepath.Join(elsewhere.home, "store"), os.DirFS(filepath.Join(user.home, "store"))); err != nil {
		t.Fatal(err)
	}
	if again := elsewhere.replay(); !again.Same || again.RootHash != s.RootHash || again.ProviderCalls != 0 {
		t.Errorf("elsewhere the replay is the same: %v, with %d calls; root %s, want %s", again.Same, again.ProviderCalls, again.RootHash, s.RootHash)
	}
	another := append(model, "compare", "--task", "arithmetic?level=2", "--methods", "direct", "--limit", "1")
	want(t, elsewhere.run(exitUsage, another...).stderr, `no model, folder or file of the name "smollm2"`)
}
