// Package published computes published results again; see README.md.
package published_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"noema/methods/phases"
	"noema/plugins"
)

// sources is the folder that fetch.sh filled; the test is skipped without it.
func sources(t *testing.T, inside ...string) string {
	t.Helper()
	folder := os.Getenv("NOEMA_PUBLISHED")
	if folder == "" {
		t.Skip("NOEMA_PUBLISHED names no folder of sources: sh fetch.sh FOLDER fills one")
	}
	path := filepath.Join(append([]string{folder}, inside...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	return path
}

// TestPublished: each figure is the one that README.md has, and agrees with the published one
// but where README.md says why not.
func TestPublished(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := sources(t)
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "noema"), "../../kernel/cmd/noema").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, source := range map[string]string{
		"tot": "tree-of-thought-llm", "agents": "agent-evals", "cot": "zero_shot_cot", "tau": "tau-bench", "gsm8k": "grade-school-math", "anot": "anot",
	} {
		t.Run(name, func(t *testing.T) {
			sources(t, source)
			cmd := exec.CommandContext(t.Context(), "sh", name+".sh", folder)
			cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			var errs strings.Builder
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil || errs.Len() > 0 {
				t.Fatalf("%v\n%s", err, errs.String())
			}
			for line := range strings.Lines(string(out)) {
				cells := strings.Split(strings.TrimSpace(line), "\t")
				if row := "| " + strings.Join(cells, " | ") + " |"; len(cells) != 3 || !strings.Contains(string(readme), row) {
					t.Errorf("README.md lacks the row\n%s", row)
				}
			}
		})
	}
}

// TestSelections: given the values of the published evaluator, our tree search keeps the states
// that the published search kept, in all steps of all puzzles.
func TestSelections(t *testing.T) {
	raw, err := os.ReadFile(sources(t, "tree-of-thought-llm", "logs", "game24", "gpt-4_0.7_propose1_value3_greedy5_start900_end1000.json"))
	if err != nil {
		t.Fatal(err)
	}
	var puzzles []struct {
		Steps []struct {
			States []string  `json:"new_ys"`
			Values []float64 `json:"values"`
			Kept   []string  `json:"select_new_ys"`
		} `json:"steps"`
	}
	if err := json.Unmarshal(raw, &puzzles); err != nil {
		t.Fatal(err)
	}
	selections, states := 0, 0
	for i, p := range puzzles {
		for j, s := range p.Steps {
			var kept []string
			for _, at := range phases.Best(s.Values, 5) {
				kept = append(kept, s.States[at])
			}
			if selections++; !slices.Equal(kept, s.Kept) {
				t.Errorf("puzzle %d, step %d: %q are kept, and the log has %q", i, j, kept, s.Kept)
			}
			for _, v := range s.Values { // each is a sum of judgements on our scale, or 0 for a state that was judged before
				states++
				if !sum(v) {
					t.Errorf("puzzle %d, step %d: no judgements have the value %v", i, j, v)
				}
			}
		}
	}
	if selections != 400 || states == 0 {
		t.Errorf("%d selections among %d states", selections, states)
	}
}

// sum reports whether up to six judgements sum to a value.
func sum(v float64) bool {
	for sure := range 7 {
		for likely := range 7 - sure {
			for impossible := range 7 - sure - likely {
				if of := (phases.Verdict{Sure: sure, Likely: likely, Impossible: impossible}); math.Abs(of.Value()-v) < 1e-9 {
					return true
				}
			}
		}
	}
	return false
}

// TestPublishedPrograms: the programs that PAL published print, each by itself in our isolation,
// what they print where they run as its authors ran them, all in one process.
func TestPublishedPrograms(t *testing.T) {
	raw, err := os.ReadFile(sources(t, "pal", "datasets", "outputs", "aqua_pal_outputs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	python, err := plugins.FindPython()
	if err != nil {
		t.Skip(err)
	}
	var programs []string
	for line := range bytes.Lines(raw) {
		var row struct {
			Reply string `json:"generated_answer"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(row.Reply, "\n\n\n")
		programs = append(programs, strings.TrimSpace(first)+"\nprint(solution())")
	}
	const batch = 20
	ran := 0
	for part := range slices.Chunk(programs, batch) {
		list, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := python.Run(t.Context(), "import contextlib, io, json, signal\nall = []\ndef late(*a): raise TimeoutError\nsignal.signal(signal.SIGALRM, late)\nfor p in json.loads("+strconv.Quote(string(list))+"):\n    out = io.StringIO()\n    signal.setitimer(signal.ITIMER_REAL, 2)\n    try:\n        with contextlib.redirect_stdout(out): exec(p, {})\n        all.append(out.getvalue())\n    except Exception: all.append(None)\n    finally: signal.setitimer(signal.ITIMER_REAL, 0)\nprint(json.dumps(all))")
		if err != nil || theirs.Fault != "" {
			t.Fatal(theirs.Fault, err)
		}
		var printed []*string
		if err := json.Unmarshal([]byte(theirs.Output), &printed); err != nil {
			t.Fatal(err)
		}
		for i, want := range printed {
			got, err := python.Run(t.Context(), part[i])
			if err != nil || (got.Fault == "") != (want != nil) || want != nil && got.Output != *want {
				t.Errorf("%q printed %q (%s), %v", part[i], got.Output, got.Fault, err)
			}
			if want != nil {
				ran++
			}
		}
	}
	if ran < 150 {
		t.Errorf("only %d of %d programs ran", ran, len(programs))
	}
	t.Logf("%d of %d programs ran to the same answer; the others fail in both, most for the want of sympy", ran, len(programs))
}
