package kv

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// full is what a disk without room looks like to a DB.
var full = Options{MinFree: math.MaxInt64}

// filled is a closed store with one record.
func filled(t *testing.T, dir string) {
	t.Helper()
	db := mustOpen(t, dir)
	put(t, db, "key", "value")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func refuses(t *testing.T, db *DB, want error, cure string) {
	t.Helper()
	err := db.Apply(t.Context(), Batch{Ops: []Op{setOp("other", "value")}})
	if !errors.Is(err, want) || !strings.Contains(err.Error(), cure) {
		t.Errorf("writing: %v", err)
	}
}

// TestFullDiskReads: a store on a full disk can be read by many processes,
// and written to as soon as there is room.
func TestFullDiskReads(t *testing.T) {
	dir := t.TempDir()
	filled(t, dir)
	owner, err := Open(t.Context(), dir, full)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	client := mustOpen(t, dir)
	for _, db := range []*DB{owner, client} {
		wantValue(t, db, "key", "value")
		refuses(t, db, ErrDiskFull, "free some space")
	}
	if !owner.Owner() || client.Owner() {
		t.Error("the first one to come does not own the store")
	}
	owner.cur.(*own).space.min = DefaultMinFree // there is room
	put(t, client, "more", "2")
	wantValue(t, owner, "more", "2")
	wantValue(t, owner, "key", "value")
}

// TestFullDiskAfterCrash: what a killed process left can be read all the same.
func TestFullDiskAfterCrash(t *testing.T) {
	dir := t.TempDir()
	p := startChild(t, dir, "child")
	p.wait(t, "20")
	last := p.kill()
	db, err := Open(t.Context(), dir, full)
	if err != nil {
		t.Fatal(err)
	}
	checkChild(t, db, "child", last)
	refuses(t, db, ErrDiskFull, "free some space")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	checkChild(t, mustOpen(t, dir), "child", last)
}

// TestFullDiskFresh: nothing can be read where there is nothing.
func TestFullDiskFresh(t *testing.T) {
	if _, err := Open(t.Context(), t.TempDir(), full); !errors.Is(err, ErrDiskFull) {
		t.Error(err)
	}
}

// readsOnly demands that two processes' worth of DBs read dir at once.
func readsOnly(t *testing.T, dir string) {
	t.Helper()
	for range 2 {
		db := mustOpen(t, dir)
		wantValue(t, db, "key", "value")
		refuses(t, db, ErrReadOnly, "copy it and point NOEMA_HOME to the copy")
	}
}

// TestWithoutPermission reads a store whose files may not be written.
func TestWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write to every file; see TestReadOnlyMount")
	}
	dir := t.TempDir()
	filled(t, dir)
	mode := func(dirs, files os.FileMode) {
		for _, name := range []string{".", dataDir, runDir} {
			if err := os.Chmod(filepath.Join(dir, name), dirs); err != nil {
				t.Fatal(err)
			}
		}
		names, err := filepath.Glob(filepath.Join(dir, dataDir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if err := os.Chmod(name, files); err != nil {
				t.Fatal(err)
			}
		}
	}
	mode(0o500, 0o400)
	t.Cleanup(func() { mode(0o700, 0o600) })
	readsOnly(t, dir)
}
