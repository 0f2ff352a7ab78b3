// Package published computes published results again; see README.md.
package published_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/session/builtin"
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

// build is a folder with the program noema.
func build(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "noema"), "../../kernel/cmd/noema").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// TestPublished: each figure is the one that README.md has, and agrees with the published one
// but where README.md says why not.
func TestPublished(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := sources(t)
	bin := build(t)
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

	mu     sync.Mutex
	judged map[string]int // how often
}

func newVoice(p puzzle) *voice {
	v := &voice{next: map[string][]string{}, values: map[string]float64{}, judged: map[string]int{}}
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

// say is the reply to a prompt with a schema of a name.
func (v *voice) say(schema, prompt string) any {
	v.mu.Lock()
	defer v.mu.Unlock()
	state := shown(prompt)
	switch schema {
	case "next":
		return map[string]any{"next": v.next[state]}
	case "value":
		verdict, _ := verdictOf(v.values[state], 3)
		words := slices.Concat(slices.Repeat([]string{"sure"}, verdict.Sure), slices.Repeat([]string{"likely"}, verdict.Likely), slices.Repeat([]string{"impossible"}, verdict.Impossible))
		n := v.judged[state]
		if v.judged[state]++; n < len(words) {
			return map[string]string{"value": words[n]}
		}
		return map[string]string{}
	}
	return "no answer"
}

// shown is the state that a prompt shows.
func shown(prompt string) string {
	_, after, _ := strings.Cut(prompt, "<steps>\n")
	steps, _, _ := strings.Cut(after, "\n</steps>")
	return steps
}

// serve is the address of a server of OpenAI's protocol that speaks with the voice of the
// puzzle that a prompt begins with.
func serve(t *testing.T, voices map[string]*voice) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Content string }
			Format   struct {
				Schema struct{ Name string } `json:"json_schema"`
			} `json:"response_format"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) != 1 {
			http.Error(w, fmt.Sprint("not what a tree asks: ", err), http.StatusBadRequest)
			return
		}
		prompt := asked.Messages[0].Content
		question, _, _ := strings.Cut(prompt, "\n")
		v := voices[question]
		if v == nil {
			http.Error(w, "no such puzzle: "+question, http.StatusBadRequest)
			return
		}
		text, err := json.Marshal(v.say(asked.Format.Schema.Name, prompt))
		chunk, second := json.Marshal(map[string]any{
			"choices": []any{map[string]any{"index": 0, "delta": map[string]string{"content": string(text)}, "finish_reason": "stop"}},
			"usage":   map[string]int{"prompt_tokens": len(prompt) / 4, "completion_tokens": len(text)/4 + 1},
		})
		if errors.Join(err, second) != nil {
			panic(errors.Join(err, second)) // texts always encode
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", chunk)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// command runs noema and returns what it prints.
func command(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args[1:], err, out, errs.String())
	}
	return string(out)
}

// rows decodes lines of JSON.
func rows[T any](t *testing.T, lines string) (all []T) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(lines)); d.More(); {
		var row T
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

// root is the root hash that a command printed.
func root(printed string) string {
	_, after, _ := strings.Cut(printed, "\nroot ")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}

// TestTreeOfThoughts: our tot, run by noema on the published puzzles, in a process of its own, with
// a server that says what GPT-4 said of them, goes on in each depth from the states that the published search went on
// from, in their order, and ends with the expression that it ends with. The run is replayed to its root, and its
// pack is verified.
func TestTreeOfThoughts(t *testing.T) {
	logged := published(t)
	csv := sources(t, "tree-of-thought-llm", "src", "tot", "data", "24", "24.csv")
	game, err := lab.Open(lab.Options{Catalog: builtin.Catalog{}}).Task(csv, nil)
	if err != nil {
		t.Fatal(err)
	}
	voices := map[string]*voice{}
	for _, p := range logged {
		problem, _, err := game.Samples[p.Idx].Present(1, false)
		if err != nil {
			t.Fatal(err)
		}
		voices[problem.Query] = newVoice(p)
	}
	noema, pack := filepath.Join(build(t), "noema"), filepath.Join(t.TempDir(), "tot.noema")
	env := []string{"NOEMA_HOME=" + t.TempDir(), "OPENAI_BASE_URL=" + serve(t, voices), "OPENAI_API_KEY=x"}
	first := root(command(t, env, noema, "compare", "--task", csv, "--limit", "901-1000", "--model", "openai/gpt-4", "--max-connections", "16",
		"--methods", "tot?breadth=5&width=100&depth=4&votes=3&retries=0"))
	type trial struct {
		Sample, Answer string
		Accuracy       float64 `json:"score.accuracy"`
	}
	type call struct {
		Sample, Path string
		Messages     []struct{ Content string }
	}
	trials, calls := map[string]trial{}, map[string]string{}
	for _, one := range rows[trial](t, command(t, env, noema, "runs", "export", "last")) {
		trials[one.Sample] = one
	}
	for _, one := range rows[call](t, command(t, env, noema, "runs", "export", "last", "--rows", "calls")) {
		calls[one.Sample+" "+one.Path] = shown(one.Messages[0].Content)
	}
	env[1] = "OPENAI_BASE_URL=http://127.0.0.1:1" // where nobody answers
	if again := root(command(t, env, noema, "replay", "last")); len(first) != 64 || again != first {
		t.Fatalf("root %q, replayed to %q", first, again)
	}
	command(t, env, noema, "pack", "last", "-o", pack)
	if verified := command(t, []string{"NOEMA_HOME=" + t.TempDir()}, noema, "pack", "verify", pack); !strings.Contains(verified, "gives the root hash "+first[:12]+"\n") {
		t.Errorf("the pack does not verify to the root %s:\n%s", first, verified)
	}
	depths, right, hollow := 0, 0.0, 0
	for i, p := range logged {
		sample := game.Samples[p.Idx].ID
		for j, s := range p.Steps[1:] {
			var want, got []string
			for _, state := range s.From {
				if state = chain(state); !slices.Contains(want, state) { // ours has no two equal states
					want = append(want, state)
				}
			}
			for n := 1; calls[fmt.Sprintf("%s depth/%d/s%d", sample, j+2, n)] != ""; n++ {
				got = append(got, calls[fmt.Sprintf("%s depth/%d/s%d", sample, j+2, n)])
			}
			if depths++; !slices.Equal(got, want) {
				t.Errorf("puzzle %d, depth %d: from %q, and the log has %q", i, j+2, got, want)
			}
		}
		best := chain(p.Found[0])
		_, want, concluded := strings.Cut(best, "Answer: ")
		said, end := trials[sample], calls[sample+" finish"]
		switch answer, err := json.Marshal(want); {
		case err != nil:
			t.Fatal(err)
		case strings.HasSuffix(p.Found[0], "\n\n"): // the best state of one puzzle ends in an empty step, which ours leaves out
			hollow++
		case concluded && said.Answer != string(answer):
			t.Errorf("puzzle %d: the answer is %s, and the log has %s", i, said.Answer, answer)
		case !concluded && end != best:
			t.Errorf("puzzle %d: it ends with %q (%s), and the log with %q", i, end, said.Answer, best)
		}
		right += said.Accuracy
	}
	if depths != 300 || right != 62 || hollow != 1 || len(trials) != 100 {
		t.Errorf("%d selections seen, %v puzzles of %d solved, %d that end in an empty step", depths, right, len(trials), hollow)
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
