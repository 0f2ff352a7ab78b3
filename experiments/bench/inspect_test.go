package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestWarmRerun reruns a task of one call a sample from the stores of noema and of
// Inspect AI: both answer everything, and ask nobody. With NOEMA_BENCH=1 it has
// 1,000 questions of 2 KB and logs how long each takes.
func TestWarmRerun(t *testing.T) {
	samples, levels, rounds := 20, []int{16}, 1
	if os.Getenv("NOEMA_BENCH") != "" {
		samples, levels, rounds = 1000, []int{16, 64, 256}, 3
	}
	r := newRerun(t, samples)
	for i, atOnce := range levels {
		if i == 0 { // the rest find the answers of the first
			r.noema(t, atOnce, samples)
			r.inspect(t, atOnce, samples)
		}
		var ours, theirs, bare []time.Duration
		for range rounds { // in turns, so that noise hits both
			ours = append(ours, r.noema(t, atOnce, 0))
			whole, imports := r.inspect(t, atOnce, 0)
			theirs, bare = append(theirs, whole), append(bare, whole-imports)
		}
		a, b, c := median(ours), median(theirs), median(bare)
		t.Logf("%d samples, %d at once: noema %.2f s, Inspect AI %s %.2f s = %.1f times (%.2f s = %.1f times without its imports)",
			samples, atOnce, a, r.version, b, b/a, c, c/a)
	}
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return all[len(all)/2].Seconds()
}

// rerun is a task with the commands and stores of both sides.
type rerun struct {
	command string // noema
	python  string
	version string // of Inspect AI
	dir     string
	server  *modelServer
}

func newRerun(t *testing.T, samples int) *rerun {
	t.Helper()
	r := &rerun{python: inspectPython(t), dir: t.TempDir()}
	r.command = buildNoema(t, r.dir)
	writeQuestions(t, r.questions(), samples)
	r.server = newModelServer(t, 0)
	return r
}

// buildNoema builds the command into a folder.
func buildNoema(t *testing.T, dir string) string {
	t.Helper()
	command := filepath.Join(dir, "noema")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", command, "noema/kernel/cmd/noema").CombinedOutput(); err != nil {
		t.Fatalf("build noema: %v\n%s", err, out)
	}
	return command
}

// writeQuestions writes a task of samples of 2 KB.
func writeQuestions(t *testing.T, file string, samples int) {
	t.Helper()
	var b strings.Builder
	for i := range samples {
		fmt.Fprintf(&b, `{"id": "q%d", "input": "question %d: %s", "target": "yes"}`+"\n", i, i, strings.Repeat("word ", 400))
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *rerun) questions() string { return filepath.Join(r.dir, "questions.jsonl") }

// inspectPython finds an interpreter that has Inspect AI, or skips the test.
func inspectPython(t *testing.T) string {
	t.Helper()
	python := os.Getenv("NOEMA_INSPECT_PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import inspect_ai").CombinedOutput(); err != nil {
		t.Skipf("%s has no Inspect AI: pip install inspect-ai, or set NOEMA_INSPECT_PYTHON to a Python that has it\n%s", python, out)
	}
	return python
}

// noema runs the command as a user does. calls is how many model calls it makes.
func (r *rerun) noema(t *testing.T, atOnce, calls int) time.Duration {
	t.Helper()
	before, n := r.server.Requests(), strconv.Itoa(atOnce)
	out, took := r.run(t, r.command, "compare", "--task", r.questions(), "--model", "openai/tiny", "--methods", "direct",
		"--max-samples", n, "--max-connections", n)
	if asked := r.server.Requests() - before; asked != calls {
		t.Fatalf("noema made %d model calls, want %d", asked, calls)
	}
	if !bytes.Contains(out, []byte("1.00")) || bytes.Contains(out, []byte("error")) {
		t.Fatalf("noema is not right everywhere:\n%s", out)
	}
	return took
}

// inspect runs testdata/warm.py. calls is how many model calls it makes.
func (r *rerun) inspect(t *testing.T, atOnce, calls int) (whole, imports time.Duration) {
	t.Helper()
	out, whole := r.run(t, r.python, "testdata/warm.py", r.questions(), strconv.Itoa(atOnce), filepath.Join(r.dir, "logs"))
	var got struct {
		Version  string
		Asked    int
		Accuracy float64
		Import   float64 `json:"import_s"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Asked != calls || got.Accuracy != 1 {
		t.Fatalf("Inspect AI made %d model calls, want %d, with accuracy %g", got.Asked, calls, got.Accuracy)
	}
	r.version = got.Version
	return whole, time.Duration(got.Import * float64(time.Second))
}

// run runs a program and returns its output with its time, from start to end.
func (r *rerun) run(t *testing.T, program string, args ...string) ([]byte, time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "NOEMA_HOME="+filepath.Join(r.dir, "home"), "INSPECT_CACHE_DIR="+filepath.Join(r.dir, "cache"),
		"OPENAI_API_KEY=none", "OPENAI_BASE_URL="+r.server.URL)
	begun := time.Now()
	out, err := cmd.Output()
	took := time.Since(begun)
	if err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		t.Fatalf("%s: %v\n%s\n%s", program, err, out, exit.Stderr)
	}
	return out, took
}
