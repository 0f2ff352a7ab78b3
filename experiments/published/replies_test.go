package published_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
	"noema/methods/reply"
)

// agreement is how our reading of a group of sets goes with the scorers of their projects.
type agreement struct{ rows, ours, theirs, agree, wrong, right, told, lost int }

// TestReplies reads public replies and holds the outcome, beside that of the scorer of their own
// project, to the table in README.md.
func TestReplies(t *testing.T) {
	folder := sources(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: it runs the scorers of the projects")
	}
	sets := filepath.Join(t.TempDir(), "sets")
	if out, err := exec.CommandContext(t.Context(), python, "testdata/replies.py", folder, sets).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names, err := os.ReadDir(sets)
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]*agreement{}
	var order []string
	for _, name := range names {
		group, _, _ := strings.Cut(name.Name(), "-")
		if groups[group] == nil {
			groups[group] = &agreement{}
			order = append(order, group)
		}
		groups[group].read(t, filepath.Join(sets, name.Name()))
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range order {
		if line := groups[group].line(group); !strings.Contains(string(readme), line) {
			t.Errorf("README.md lacks the line\n%s", line)
		}
	}
}

// line is a row of the table in README.md.
func (a agreement) line(group string) string {
	n := float64(max(1, a.rows))
	return fmt.Sprintf("| %s | %d | %.4f | %.4f | %.2f %% | %d | %d | %d | %d |", group, a.rows, float64(a.ours)/n, float64(a.theirs)/n, 100*float64(a.agree)/n, a.wrong, a.right, a.told, a.lost)
}

// read adds a set: each reply, read and scored as noema does, beside the verdict of its project.
func (a *agreement) read(t *testing.T, dir string) {
	t.Helper()
	tasks, verdicts := rowsByID(t, filepath.Join(dir, "task.jsonl")), rowsByID(t, filepath.Join(dir, "official.jsonl"))
	meta, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	if err != nil {
		t.Fatal(err)
	}
	for id, pred := range rowsByID(t, filepath.Join(dir, "pred.jsonl")) {
		a.rows++
		theirs := string(verdicts[id]["official"]) == "1"
		answered, ours := conclude(t, tasks[id], textOf(pred["output"]), strings.Contains(string(meta), `"math"`), strings.Contains(string(meta), `"number"`))
		for _, c := range []struct {
			counts bool
			n      *int
		}{
			{ours, &a.ours}, {theirs, &a.theirs}, {ours == theirs, &a.agree}, {answered && theirs && !ours, &a.wrong}, {ours && !theirs, &a.right},
			{!answered, &a.told}, {!answered && theirs, &a.lost},
		} {
			if c.counts {
				*c.n++
			}
		}
	}
}

// conclude reads one reply, and scores what it says.
func conclude(t *testing.T, row map[string]json.RawMessage, text string, math, number bool) (answered, right bool) {
	t.Helper()
	spec, target := methods.AnswerSpec{Kind: methods.Text}, row["target"]
	var choices []string
	switch {
	case json.Unmarshal(row["choices"], &choices) == nil && choices != nil:
		spec.Kind, spec.Texts = methods.Choice, choices
		for i := range choices {
			spec.Labels = append(spec.Labels, string(rune('A'+i)))
		}
	case target[0] != '"':
		spec.Kind = methods.Number
	case number:
		spec.Kind, target = methods.Number, json.RawMessage(strings.ReplaceAll(strings.Trim(string(target), `"`), ",", ""))
	}
	a := reply.Conclude(text, false, spec)
	if a.Outcome != methods.Answered {
		return false, false
	}
	if math {
		said, err := a.Text()
		return true, err == nil && score.SameMath(said, textOf(target))
	}
	s, err := score.For(spec).Score(spec, a, target)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return true, s.Values[score.Accuracy] == 1
}

// rowsByID are the rows of a file of JSON Lines.
func rowsByID(t *testing.T, path string) map[string]map[string]json.RawMessage {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := map[string]map[string]json.RawMessage{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var row map[string]json.RawMessage
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows[textOf(row["id"])] = row
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// textOf is a text, or what stands for it.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(slices.Clone(raw))
	}
	return s
}
