package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"noema/kernel/result/record"
)

// TestUnderWay: a run is under way while its lock is held, whatever its file holds, and who
// asks keeps nobody from taking it.
func TestUnderWay(t *testing.T) {
	dir := t.TempDir()
	if _, on := UnderWay(dir, "r"); on {
		t.Error("a run without a lock is under way")
	}
	unlock, err := lockRun(dir, "r")
	if err != nil {
		t.Fatal(err)
	}
	b := newBoard(dir, "r")
	done := b.begin(record.TrialID{Method: "m", Sample: "2"})
	b.begin(record.TrialID{Method: "m", Sample: "1"})
	b.call(record.TrialID{Method: "m", Sample: "1"}, "P1/c1")
	done()
	b.write()
	list, on := UnderWay(dir, "r")
	if !on || len(list) != 1 || list[0].Trial != "m/1/1" || list[0].Calls != 1 || list[0].Last != "P1/c1" {
		t.Errorf("under way %v: %+v", on, list)
	}
	for _, content := range []string{"", "{", "[]", "\x00"} {
		if err := os.WriteFile(lockPath(dir, "r"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, on := UnderWay(dir, "r"); !on || len(list) != 0 {
			t.Errorf("with %q: under way %v: %+v", content, on, list)
		}
	}
	b.close()
	unlock()
	if _, err := os.Stat(lockPath(dir, "r")); !os.IsNotExist(err) {
		t.Error("the file stays", err)
	}
	if err := os.WriteFile(lockPath(dir, "r"), []byte("[]"), 0o600); err != nil { // of a process that was killed
		t.Fatal(err)
	}
	if _, on := UnderWay(dir, "r"); on {
		t.Error("a run whose process was killed is under way")
	}
	ctx, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for range 3 {
		asking.Go(func() {
			for ctx.Err() == nil {
				UnderWay(dir, "r")
			}
		})
	}
	for range 200 {
		unlock, err := lockRun(dir, "r")
		if err != nil {
			t.Fatal("somebody who asked kept the lock: ", err)
		}
		unlock()
		if err := os.WriteFile(lockPath(dir, "r"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	asking.Wait()
}

// TestTags: what is said of a run comes back, in one order and once, and goes with the run.
func TestTags(t *testing.T) {
	store := openStore(t, t.TempDir())
	for _, c := range []struct {
		in   Tags
		want []string
	}{
		{Tags{Tags: []string{"b", "a, b", " a\tc "}, Note: "  a note\n"}, []string{"a", "b", "c"}},
		{Tags{Note: "only"}, nil},
		{Tags{}, nil},
	} {
		if err := WriteTags(store, "r", c.in); err != nil {
			t.Fatal(err)
		}
		got, err := ReadTags(store, "r")
		if err != nil || !slices.Equal(got.Tags, c.want) {
			t.Errorf("%+v comes back as %+v, %v", c.in, got, err)
		}
	}
	if err := WriteTags(store, "r", Tags{Tags: []string{string(make([]byte, maxTag+1))}}); !IsMisuse(err) {
		t.Errorf("a long tag: %v", err)
	}
	if err := WriteTags(store, "r", Tags{Note: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := Remove(context.WithoutCancel(t.Context()), store, "r"); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(filepath.Join(store.Dir(), "tags")); err != nil || len(files) != 0 {
		t.Errorf("what is left: %v, %v", files, err)
	}
}

// TestADeclaredStudyHasItsTrials: the list counts those of all cells, also of a record from
// before studies said how many they have.
func TestADeclaredStudyHasItsTrials(t *testing.T) {
	store, ctx := openStore(t, t.TempDir()), context.WithoutCancel(t.Context())
	config := record.Config{Methods: []record.Method{{Label: "m"}}, Epochs: 2, Task: record.Task{Samples: []string{"a", "b", "c"}}}
	study := &record.Run{Format: record.StudyFormat, ID: "20260101-000000-0000", Cells: []string{"20260101-000001-0000", ""}, Created: time.Now(), Config: record.Config{Study: &record.Study{Cells: []record.Cell{{Task: "a"}, {Task: "b"}}}}}
	cell := &record.Run{Format: record.Format, ID: study.Cells[0], Study: study.ID, Config: config}
	for planned, want := range map[int]int{0: 6, 12: 12} {
		study.Planned = planned
		for _, r := range []*record.Run{study, cell} {
			if err := saveRun(ctx, store, r); err != nil {
				t.Fatal(err)
			}
		}
		runs, err := Declared(ctx, store)
		if err != nil || len(runs) != 1 || runs[0].Size() != want {
			t.Errorf("planned %d: %d runs with %d trials, want %d: %v", planned, len(runs), runs[0].Size(), want, err)
		}
	}
}
