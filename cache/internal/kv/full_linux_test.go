package kv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRealFullDisk fills a small file system, where the right to mount one is
// given: writes end with ErrDiskFull, not with the process, and all that was
// acknowledged is there.
func TestRealFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=128m"); err != nil {
		t.Skipf("no right to mount a small file system: %v", err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	for range 2 { // a full store can be opened and read again, given the room for it
		fillDisk(t, dir)
	}
}

func fillDisk(t *testing.T, dir string) {
	db, err := Open(t.Context(), dir, Options{MinFree: 64 << 20})
	if errors.Is(err, ErrDiskFull) {
		db, err = Open(t.Context(), dir, Options{MinFree: 32 << 20})
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	values := map[string]string{}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := 0; err == nil; i++ {
		key, value := fmt.Sprint(i), strings.Repeat(fmt.Sprint(rng.Uint64()), 1<<15)
		err = db.Apply(t.Context(), Batch{Ops: []Op{{Key: []byte(key), Value: []byte(value)}}})
		if err == nil {
			values[key] = value
		}
	}
	if !errors.Is(err, ErrDiskFull) || len(values) == 0 {
		t.Fatalf("after %d values: %v", len(values), err)
	}
	for key, value := range values {
		wantValue(t, db, key, value)
	}
}

// TestReadOnlyMount reads a store on a file system that is mounted read-only,
// where the right to mount one is given.
func TestReadOnlyMount(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=512m"); err != nil {
		t.Skipf("no right to mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	filled(t, dir)
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "size=512m"); err != nil {
		t.Fatal(err)
	}
	readsOnly(t, dir)
	if _, err := Open(t.Context(), filepath.Join(dir, "none"), Options{}); err == nil || !strings.Contains(err.Error(), "read-only file system") {
		t.Errorf("a store that is not there: %v", err)
	}
}
