package cell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestJournal plays processes that die: each step is a process, whose cells end
// with an error if they are called so.
func TestJournal(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	failed := errors.New("it failed")
	run := func(j *Journal, first int, cells ...string) {
		for i, text := range cells {
			_ = j.Run(first+i, text, func() error {
				if text == "fail" {
					return failed
				}
				return nil
			})
		}
	}
	rerun := func(j *Journal, upTo int) error {
		return j.Rerun(func(c LostCell) error {
			if upTo--; upTo < 0 {
				panic("died") // while nothing of the cell is written
			}
			return j.Run(c.Number, c.Text, func() error { return nil })
		})
	}
	for i, step := range []struct {
		lost string
		last int
		play func(j *Journal)
	}{
		{"[] <nil>", 0, func(j *Journal) { run(j, 1, "a", "fail", "b") }},
		{"[{1 a} {3 b}] <nil>", 3, func(j *Journal) {
			defer func() { _ = recover() }()
			_ = j.Run(4, "kill", func() error { panic("died") })
		}},
		{"[{1 a} {3 b}] &{4 kill}", 4, func(j *Journal) { run(j, 5, "c", "d") }}, // without the lost ones
		{"[{1 a} {3 b} {5 c} {6 d}] <nil>", 6, func(j *Journal) {
			defer func() { _ = recover() }()
			_ = rerun(j, 2)
		}},
		{"[{1 a} {3 b} {5 c} {6 d}] <nil>", 6, func(j *Journal) {
			if err := rerun(j, 9); err != nil {
				t.Error(err)
			}
			if cells, _ := j.Lost(); len(cells) > 0 {
				t.Errorf("after the rerun %v are lost", cells)
			}
			run(j, 7, "e")
		}},
		{"[{1 a} {3 b} {5 c} {6 d} {7 e}] <nil>", 7, func(j *Journal) { j.Clear(); run(j, 8, "f") }},
		{"[{8 f}] <nil>", 8, (*Journal).Clear},
		{"[] <nil>", 0, (*Journal).Clear},
	} {
		j, err := OpenJournal(folder, "name")
		if err != nil {
			t.Fatal(err)
		}
		cells, running := j.Lost()
		if got := fmt.Sprint(cells, " ", running); got != step.lost || j.Last() != step.last {
			t.Errorf("process %d finds %s, last %d; want %s, %d", i, got, j.Last(), step.lost, step.last)
		}
		step.play(j)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestJournalOfAnyContent: a damaged line is left out, and a file that nobody has
// opened for long goes.
func TestJournalOfAnyContent(t *testing.T) {
	folder := t.TempDir()
	text := `{"cell":1,"text":"a"}
{"cell":0,"text":"","ended":true,"ok":true}
{"ended":true,"ok":true}
null
{"cell":2,"text":"b","again":true}
{"ended":true,"ok":true}
{"cell":3,"te`
	for name, changed := range map[string]time.Time{"name": time.Now(), "other": time.Now(), "old": time.Now().Add(-2 * abandonedAfter)} {
		file := filepath.Join(folder, name)
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chtimes(file, changed, changed)); err != nil {
			t.Fatal(err)
		}
	}
	j, err := OpenJournal(folder, "name")
	if err != nil {
		t.Fatal(err)
	}
	want := "the process of this session died\nwhat its cells had declared is gone; :rerun lost runs these again:\n  2  b\n"
	if got := j.Notice(":rerun lost"); got != want {
		t.Errorf("the notice is %q, want %q", got, want)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 2 {
		t.Errorf("left are %v, %v", left, err)
	}
}
