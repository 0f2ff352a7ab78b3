// Package published computes published results again; see README.md.
package published_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/methods"
	"noema/methods/deliberate"
	"noema/methods/methodtest"
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
			t.Parallel()
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

// puzzle is the log of one puzzle of the published search.
type puzzle struct {
	Idx   int      `json:"idx"`
	Found []string `json:"ys"` // the best first
	Steps []struct {
		From   []string  `json:"ys"`
		States []string  `json:"new_ys"`
		Values []float64 `json:"values"`
		Kept   []string  `json:"select_new_ys"`
	} `json:"steps"`
}

// published reads the log of the tree search.
func published(t *testing.T) (puzzles []puzzle) {
	t.Helper()
	raw, err := os.ReadFile(sources(t, "tree-of-thought-llm", "logs", "game24", "gpt-4_0.7_propose1_value3_greedy5_start900_end1000.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &puzzles); err != nil {
		t.Fatal(err)
	}
	return puzzles
}

// TestSelections: given the values of the published evaluator, our tree search keeps the states
// that the published search kept, in all steps of all puzzles.
func TestSelections(t *testing.T) {
	selections, states := 0, 0
	for i, p := range published(t) {
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
				if _, ok := verdictOf(v, 3); !ok {
					t.Errorf("puzzle %d, step %d: no judgements have the value %v", i, j, v)
				}
			}
		}
	}
	if selections != 400 || states == 0 {
		t.Errorf("%d selections among %d states", selections, states)
	}
}

// chain is a state as our prompts show it: its steps, one a line.
func chain(state string) string {
	var steps []string
	for line := range strings.Lines(state) {
		if step := strings.Join(strings.Fields(line), " "); step != "" {
			steps = append(steps, step)
		}
	}
	return strings.Join(steps, "\n")
}

// voice says in our forms what GPT-4 said of one puzzle: the proposals from each state, and
// judgements of each that sum to its value.
type voice struct {
	next   map[string][]string
	values map[string]float64
}

func newVoice(p puzzle) voice {
	v := voice{map[string][]string{}, map[string]float64{}}
	for _, s := range p.Steps {
		for i, state := range s.States {
			here := chain(state)
			if from := chain(s.From[slices.IndexFunc(s.From, func(y string) bool { return strings.HasPrefix(state, y) })]); from != here {
				v.next[from] = append(v.next[from], strings.TrimPrefix(strings.TrimPrefix(here, from), "\n"))
			}
			if _, again := v.values[here]; !again { // theirs judges the first of equal states alone
				v.values[here] = s.Values[i]
			}
		}
	}
	return v
}

// Complete implements [methods.Model].
func (v voice) Complete(_ context.Context, r methods.Request) (methods.Completion, error) {
	said := any("no answer")
	switch {
	case r.Schema == nil:
	case r.Schema.Name == "next":
		said = map[string]any{"next": v.next[shown(r)]}
	case r.Schema.Name == "value":
		verdict, _ := verdictOf(v.values[shown(r)], 3)
		words := slices.Concat(slices.Repeat([]string{"sure"}, verdict.Sure), slices.Repeat([]string{"likely"}, verdict.Likely), slices.Repeat([]string{"impossible"}, verdict.Impossible))
		if said = map[string]string{}; r.Draw < len(words) {
			said = map[string]string{"value": words[r.Draw]}
		}
	}
	text, err := json.Marshal(said)
	return methods.Completion{Text: string(text), Finish: methods.FinishStop}, err
}

// shown is the state that a request shows.
func shown(r methods.Request) string {
	_, after, _ := strings.Cut(r.Messages[0].Content, "<steps>\n")
	steps, _, _ := strings.Cut(after, "\n</steps>")
	return steps
}

// TestTreeOfThoughts: our tot, run on the published puzzles by a model that says what GPT-4 said of
// them, goes on in each depth from the states that the published search went on from, in their
// order, and ends with the expression that it ends with.
func TestTreeOfThoughts(t *testing.T) {
	logged := published(t)
	game, err := lab.Open(lab.Options{Catalog: builtin.Catalog{}}).Task(sources(t, "tree-of-thought-llm", "src", "tot", "data", "24", "24.csv"), nil)
	if err != nil {
		t.Fatal(err)
	}
	depths, right, hollow := 0, 0, 0
	for i, p := range logged {
		problem, target, err := game.Samples[p.Idx].Present(1, false)
		if err != nil {
			t.Fatal(err)
		}
		problem.Options = json.RawMessage(`{"breadth": 5, "width": 100, "depth": 4, "votes": 3, "retries": 0}`)
		host := methodtest.NewHost(newVoice(p))
		a, err := deliberate.TreeOfThoughts().Solve(t.Context(), problem, host)
		if err != nil {
			t.Fatal(err)
		}
		expanded := map[string]string{}
		for _, c := range host.Transcript().Calls {
			if s := c.Request.Schema; s == nil || s.Name == "next" {
				expanded[c.Request.Path] = shown(c.Request)
			}
		}
		for j, s := range p.Steps[1:] {
			var want, got []string
			for _, state := range s.From {
				if state = chain(state); !slices.Contains(want, state) { // ours has no two equal states
					want = append(want, state)
				}
			}
			for n := 1; expanded[fmt.Sprintf("depth/%d/s%d", j+2, n)] != ""; n++ {
				got = append(got, expanded[fmt.Sprintf("depth/%d/s%d", j+2, n)])
			}
			if depths++; !slices.Equal(got, want) {
				t.Errorf("puzzle %d, depth %d: from %q, and the log has %q", i, j+2, got, want)
			}
		}
		best := chain(p.Found[0])
		_, want, concluded := strings.Cut(best, "Answer: ")
		var said string
		switch err := json.Unmarshal(a.Value, &said); {
		case strings.HasSuffix(p.Found[0], "\n\n"): // the best state of one puzzle ends in an empty step, which ours leaves out
			hollow++
		case concluded && (err != nil || said != want):
			t.Errorf("puzzle %d: the answer is %s, and the log has %q", i, a.Value, want)
		case !concluded && expanded["finish"] != best:
			t.Errorf("puzzle %d: it ends with %q (%s), and the log with %q", i, expanded["finish"], a.Value, best)
		}
		scored, err := game.Scorer.For(problem.Answer)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := scored.Score(problem.Answer, a, target); err == nil && s.Values[score.Accuracy] == 1 {
			right++
		}
	}
	if depths != 300 || right != 62 || hollow != 1 {
		t.Errorf("%d selections seen, %d puzzles solved, %d that end in an empty step", depths, right, hollow)
	}
}

// verdictOf is what up to so many judgements that sum to a value say; false if none do.
func verdictOf(value float64, votes int) (phases.Verdict, bool) {
	for sure := range votes + 1 {
		for likely := range votes + 1 - sure {
			for impossible := range votes + 1 - sure - likely {
				if of := (phases.Verdict{Sure: sure, Likely: likely, Impossible: impossible}); math.Abs(of.Value()-value) < 1e-9 {
					return of, true
				}
			}
		}
	}
	return phases.Verdict{}, false
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
