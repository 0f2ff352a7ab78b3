package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReadWhereNothingCanBeWritten: on a disk without a free byte, and on one
// that is mounted read-only, runs can be listed, shown, replayed and viewed,
// and what must write says why it cannot.
func TestReadWhereNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	disk := smallDisk(t)
	c := newCLI(t).at(filepath.Join(disk, "home"))
	compare := []string{"compare", "--task", "cafes", "--methods", "direct", "--limit", "3"}
	root := rootOf(c.run(0, compare...).stdout)
	other := append(compare, "--seed", "1")

	filler := fillUp(t, disk)
	c.reads(root)
	want(t, c.run(exitError, other...).stderr, "disk full", "free some space")
	want(t, c.run(0, append(other, "--dry-run")...).stdout, "would be refused", "disk full")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	c.run(0, other...)
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "size=320m"); err != nil {
		t.Fatal(err)
	}
	c.run(0, "runs", "show", "last")
	want(t, c.run(0, "replay", "last").stdout, "the root hash is that of run")
	want(t, c.run(exitError, append(compare, "--seed", "2")...).stderr, "store is read-only", "copy it and point NOEMA_HOME to the copy")
	want(t, c.run(0, append(compare, "--dry-run")...).stdout, "would be refused", "store is read-only")
	want(t, c.run(exitError, "runs", "rm", "last").stderr, "store is read-only")
}

// fillUp writes to a disk until nothing more fits.
func fillUp(t *testing.T, disk string) (filler string) {
	t.Helper()
	filler = filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(block)
	}
	if !strings.Contains(err.Error(), "no space left") {
		t.Fatal(err)
	}
	return filler
}

// reads uses whatever only reads.
func (c *cli) reads(root string) {
	c.t.Helper()
	want(c.t, c.run(0, "runs", "list").stdout, "finished")
	want(c.t, c.run(0, "runs", "show", "last", "--trial", "direct/R01").stdout, "answer")
	want(c.t, c.run(0, "cache", "verify").stdout, " 0 damaged")
	if got := rootOf(c.run(0, "replay", "last").stdout); got != root {
		c.t.Errorf("replayed root %s, want %s", got, root)
	}
	cmd := c.command("view")
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	var address string
	for s := bufio.NewScanner(out); address == "" && s.Scan(); {
		if i := strings.Index(s.Text(), "http://"); i >= 0 {
			address = strings.Fields(s.Text()[i:])[0]
		}
	}
	jar, err := cookiejar.New(nil) // for the token in the address
	if err != nil {
		c.t.Fatal(err)
	}
	page, err := (&http.Client{Jar: jar}).Get(address)
	if err != nil {
		c.t.Fatal(err)
	}
	defer page.Body.Close()
	body, err := io.ReadAll(page.Body)
	if err != nil || page.StatusCode != http.StatusOK || !strings.Contains(string(body), "cafes") {
		c.t.Errorf("the page: %s, %d bytes, %v", page.Status, len(body), err)
	}
}
