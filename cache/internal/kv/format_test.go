package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestOlderStores: a store of every earlier format keeps its records, and is marked before
// a record is written: by its owner, and by a process beside an owner that did not.
func TestOlderStores(t *testing.T) {
	t.Parallel()
	for format := 1; format < Format; format++ {
		dir := t.TempDir()
		mark := func(format int) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, formatFile), fmt.Appendf(nil, formatLine+"\n", format), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		marked := func(who string) {
			t.Helper()
			if raw, err := os.ReadFile(filepath.Join(dir, formatFile)); err != nil || string(raw) != fmt.Sprintf(formatLine+"\n", Format) {
				t.Errorf("format %d, %s: FORMAT is %q (%v)", format, who, raw, err)
			}
		}
		first := mustOpen(t, dir)
		if err := first.Apply(t.Context(), Batch{Ops: []Op{{Key: []byte("k"), Value: []byte("old")}}}); err != nil {
			t.Fatal(err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		mark(format)
		owner := mustOpen(t, dir)
		marked("the owner")
		mark(format) // as one that knows no later format leaves it
		beside := mustOpen(t, dir)
		marked("a process beside it")
		if got, err := beside.Get(t.Context(), []byte("k")); err != nil || string(got) != "old" {
			t.Errorf("format %d: %q (%v)", format, got, err)
		}
		if err := errors.Join(beside.Close(), owner.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestManyMarkAtOnce: processes that upgrade at the same time leave one whole mark.
func TestManyMarkAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if err := writeFormat(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v (%v)", left, err)
	}
	if n, err := checkFormat(dir); n != Format || err != nil {
		t.Errorf("format %d (%v)", n, err)
	}
}

// TestNewerStore: what a later noema made is neither read nor written, by any way of opening.
func TestNewerStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := mustOpen(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, formatFile), fmt.Appendf(nil, formatLine+"\n", Format+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), dir, Options{}); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("opened: %v", err)
	}
	if err := upgrade(dir); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("marked as older: %v", err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, formatFile)); err != nil || string(raw) != fmt.Sprintf(formatLine+"\n", Format+1) {
		t.Errorf("FORMAT is %q (%v)", raw, err)
	}
}
