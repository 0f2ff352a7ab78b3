package hub_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"noema/kernel/internal/test/hubtest"
)

// TestFullDisk: what cannot fit is refused before it is begun; a disk that
// fills in the middle leaves nothing broken behind; then there is space again.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no right to mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	h := hubtest.New(t)
	repo := model()
	h.Add("models", "org/tiny", repo)
	c, _ := client(t, h)
	c.Cache = disk
	filler := filepath.Join(disk, "filler")
	fill := func() {
		f, err := os.Create(filler)
		for block := make([]byte, 4096); err == nil; {
			_, err = f.Write(block)
		}
		if f.Close(); !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
	}
	fill()
	h.Requests()
	if _, _, err := pull(t, c, "org/tiny"); err == nil || !strings.Contains(err.Error(), "no space left") && !strings.Contains(err.Error(), "MiB free") {
		t.Errorf("on a full disk: %v", err)
	}
	if asked := contents(h.Requests()); len(asked) > 0 {
		t.Errorf("fetched what cannot be kept: %q", asked)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	c.Progress = func(file string, have, _ int64) {
		if _, err := os.Stat(filler); err != nil && file == "model.safetensors" && have > 0 {
			fill()
		}
	}
	_, _, err := pull(t, c, "org/tiny")
	if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "free some space, or set HF_HOME") {
		t.Errorf("a disk that fills in the middle: %v", err)
	}
	if parts := left(t, disk, "blobs/*.incomplete"); len(parts) > 0 {
		t.Errorf("left behind: %q", parts)
	}
	if found := left(t, disk, "snapshots/*/*"); len(found) > 0 {
		t.Errorf("a part of a snapshot is left: %q", found)
	}
	c.Progress = nil
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	_, s, err := pull(t, c, "org/tiny")
	if err != nil {
		t.Fatal(err)
	}
	same(t, s.Dir, repo.Files)
}
