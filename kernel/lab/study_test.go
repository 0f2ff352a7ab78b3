package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/lab"
)

// TestStudyOfOneCellIsItsRun: the study of one task with one model is one run, whose root
// hash is that of the run by itself.
func TestStudyOfOneCellIsItsRun(t *testing.T) {
	t.Parallel()
	l := open(t)
	e := lab.Experiment{Task: "cafes", Methods: []string{"direct", "cot"}, Limit: 3}
	run, err := l.Run(e)
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Study(e)
	if err != nil {
		t.Fatal(err)
	}
	if cells := s.Results(); len(cells) != 1 || cells[0].Root() != run.Root() {
		t.Errorf("cells %v, want one with the root %s", cells, run.Root())
	}
	if text := string(s.Display()["text/plain"]); !strings.Contains(text, s.Run.Root) {
		t.Errorf("shown: %s", text)
	}
}

// TestSettingsOfOneTask: what stands behind the # of a task is of its cells alone.
func TestSettingsOfOneTask(t *testing.T) {
	t.Parallel()
	l := open(t)
	s, err := l.Study(lab.Experiment{
		Tasks: []string{"cafes#limit=2&weight=3&call-limit=9", "cafes?n=20"}, Models: []string{"sim", "sim?error=0.2"}, Methods: []string{"direct"}, Limit: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		samples, calls int
		weight         float64
	}{{2, 9, 3}, {2, 9, 3}, {3, 0, 1}, {3, 0, 1}} {
		c := s.Cells[i].Run.Config
		if len(c.Task.Samples) != want.samples || c.Limits.Calls != want.calls || s.Run.Config.Study.Cells[i].Weight != want.weight {
			t.Errorf("cell %d: %d samples, limit of %d calls, weight %v; want %+v", i, len(c.Task.Samples), c.Limits.Calls, s.Run.Config.Study.Cells[i].Weight, want)
		}
	}
	if _, err := l.Run(lab.Experiment{Tasks: []string{"cafes", "policy"}, Methods: []string{"direct"}}); err == nil || !strings.Contains(err.Error(), "Study carries it out") {
		t.Errorf("%v", err)
	}
	if _, err := l.LoadStudy(s.Run.Cells[0]); err == nil || !strings.Contains(err.Error(), "one task and one model") {
		t.Errorf("%v", err)
	}
}

// TestFaultsOfCellsAreToldOnce: what is wrong with every cell is one line, and what is wrong
// with two of them is two.
func TestFaultsOfCellsAreToldOnce(t *testing.T) {
	t.Parallel()
	l := open(t)
	for text, lines := range map[string]int{`unknown method "cott"`: 1, `option "error"`: 2} {
		e := lab.Experiment{Tasks: []string{"cafes", "arithmetic", "policy"}, Models: []string{"sim", "sim?error=0.2"}, Methods: []string{"direct"}, Limit: 2}
		if e.Methods[0] = "cott"; text[0] == 'o' {
			e.Methods[0], e.Models = "direct", []string{"sim?error=7", "sim?error=8"}
		}
		if _, err := l.Study(e); err == nil || strings.Count(err.Error(), text) != lines || strings.Count(err.Error(), "\n") != lines-1 {
			t.Errorf("want %d of %s: %v", lines, text, err)
		}
	}
}

// TestStudyOfATaskWithoutTargets is refused before a call: it would have no verdict, and would
// not be packed.
func TestStudyOfATaskWithoutTargets(t *testing.T) {
	t.Parallel()
	l := open(t)
	file := filepath.Join(t.TempDir(), "open.jsonl")
	const open = `{"input": {"query": "What is 1 + 1?", "answer": "number"}}` + "\n"
	for rows, refused := range map[string]bool{open: true, open + `{"input": "And 1 + 2?", "target": 3}` + "\n": false} {
		if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
		e := lab.Experiment{Tasks: []string{"arithmetic", file}, Models: []string{"sim"}, Methods: []string{"direct"}, Limit: 2}
		s, err := l.Study(e)
		if is := err != nil && lab.IsMisuse(err) && strings.Contains(err.Error(), "no sample has a target"); is != refused || !is && err != nil {
			t.Errorf("%s: %v", rows, err)
		}
		if s != nil {
			if _, err := s.Numbers(lab.Comparing{}); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFileNamedWithASharp: a # that no setting follows is part of a file's name.
func TestFileNamedWithASharp(t *testing.T) {
	e, err := lab.Settle(lab.Experiment{Task: "notes#1.csv"})
	if err != nil || e.Task != "notes#1.csv" {
		t.Errorf("%q, %v", e.Task, err)
	}
	if e, err = lab.Settle(lab.Experiment{Task: "cafes#limit=5"}); err != nil || e.Task != "cafes" || e.Limit != "5" {
		t.Errorf("%q, limit %v, %v", e.Task, e.Limit, err)
	}
}
