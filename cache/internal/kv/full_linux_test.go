package kv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
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

// smallDisk mounts a small file system of a kind, where the right to do so is given.
func smallDisk(t *testing.T, kind string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if kind == "tmpfs" {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=160m"); err != nil {
			t.Skipf("no right to mount a small file system: %v", err)
		}
	} else {
		image := filepath.Join(t.TempDir(), "image")
		for _, command := range [][]string{{"truncate", "-s", "192M", image}, {"mkfs.ext4", "-q", "-F", "-m", "0", image}, {"mount", "-o", "loop", image, dir}} {
			if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
				t.Skipf("no right to mount a small file system: %v: %s", err, out)
			}
		}
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// takeAll takes all that is free on a disk at once, into a file.
func takeAll(t *testing.T, filler string) {
	t.Helper()
	f, err := os.OpenFile(filler, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	at := info.Size()
	for step := int64(64 << 20); step >= 4096; step /= 2 {
		for unix.Fallocate(int(f.Fd()), 0, at, step) == nil {
			at += step
		}
	}
}

// grow takes the disk by 2 MiB for every record that the process writes, until little is left, and
// returns what it said where that was its end.
func grow(t *testing.T, p *process, filler string) (said string) {
	t.Helper()
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at := int64(0); unix.Fallocate(int(f.Fd()), 0, at, 2<<20) == nil; at += 2 << 20 {
		if line, ok := p.next(); !ok || strings.HasPrefix(line, "error") {
			return line
		}
	}
	return ""
}

// TestDiskThatFills: whenever somebody takes the rest of the disk, the process that writes ends by an
// error and not by a signal, what it was told is kept can be read on the full disk, and all of
// it is there when there is room again. So it is where the disk fills step by step.
func TestDiskThatFills(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, kind := range []string{"tmpfs", "ext4"} {
		t.Run(kind, func(t *testing.T) {
			disk := smallDisk(t, kind)
			rng := rand.New(rand.NewPCG(5, 6))
			moments := 6
			if os.Getenv("NOEMA_BENCH") != "" {
				moments = 30
			}
			for moment := range moments {
				dir := filepath.Join(disk, fmt.Sprint("store", moment))
				p := startChild(t, dir, "big", "KV_TEST_PAID=1")
				p.wait(t, fmt.Sprint(1+rng.IntN(150)))
				filler := filepath.Join(disk, "filler")
				said := ""
				if moment%5 == 0 { // it fills step by step
					said = grow(t, p, filler)
				}
				takeAll(t, filler)
				for line, ok := p.next(); ok; line, ok = p.next() {
					said = line
				}
				err := p.cmd.Wait()
				if status, ok := errors.AsType[*exec.ExitError](err); !ok || status.ExitCode() != 1 || !strings.Contains(said, "disk full") {
					t.Fatalf("moment %d: the process ended by %v after %d records, and said %q", moment, err, p.last, said)
				}
				db, err := Open(t.Context(), dir, full)
				if err != nil {
					t.Fatalf("moment %d: to read on the full disk: %v", moment, err)
				}
				checkChild(t, db, "big", p.last)
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(filler); err != nil {
					t.Fatal(err)
				}
				if db, err = Open(t.Context(), dir, Options{MinFree: 1}); err != nil {
					t.Fatal(err)
				}
				checkChild(t, db, "big", p.last)
				if err := errors.Join(db.Close(), os.RemoveAll(dir)); err != nil {
					t.Fatal(err)
				}
			}
		})
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
