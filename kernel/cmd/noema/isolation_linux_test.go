package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"noema/kernel/internal/test/providertest"
)

// offline puts a command where there is no network, not even loopback.
func offline(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	return cmd
}

// TestReplayWithoutNetwork replays where no socket leads anywhere.
func TestReplayWithoutNetwork(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	if err := offline(exec.Command("true")).Run(); err != nil {
		t.Skipf("no right to take the network away from a process: %v", err)
	}
	server := providertest.New(providertest.Config{Answer: simulated(t)})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	compare := []string{"compare", "--model", "openai/tiny", "--methods", "direct,anot", "--limit", "3", "--retries", "0"}
	root := rootOf(c.run(0, compare...).stdout)
	connections := server.Connections()
	for _, workers := range []string{"1", "64"} {
		r := c.start(offline(c.command("replay", "last", "--max-samples", workers)))()
		if r.code != 0 || rootOf(r.stdout) != root {
			t.Errorf("%s workers: exit code %d, root %q, want %q:\n%s", workers, r.code, rootOf(r.stdout), root, r.stderr)
		}
	}
	c.run(0, "replay", "last")
	if n := server.Connections(); n != connections {
		t.Errorf("the replay opened %d connections", n-connections)
	}
	// What does need the network fails there, so the test can fail.
	r := c.start(offline(c.command(append(compare, "--seed", "1")...)))()
	if r.code != exitFailed || !strings.Contains(r.stderr, "provider network") {
		t.Errorf("a comparison without network: exit code %d:\n%s", r.code, r.stderr)
	}
}

// smallDisk is a folder on a file system with little more room than a store
// demands.
func smallDisk(t *testing.T) string {
	t.Helper()
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=320m"); err != nil {
		t.Skipf("no right to mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	return disk
}

// TestFullDisk fills the disk of the store in the middle of a run: the run
// stops with an error that names the cure, and goes on when there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	disk := smallDisk(t)
	filler := filepath.Join(disk, "filler")
	var fill sync.Once
	var small atomic.Bool // the store under test is the one on the small disk
	server := providertest.New(providertest.Config{
		Answer: simulated(t),
		Respond: func(r providertest.Ask) providertest.Response {
			if !small.Load() {
				return nil
			}
			if r.Number > 10 {
				fill.Do(func() {
					if err := os.WriteFile(filler, make([]byte, 70<<20), 0o600); err != nil {
						t.Error(err)
					}
				})
			}
			return providertest.Slow(120 * time.Millisecond) // longer than an answer about free space is believed
		},
	})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	args := []string{"compare", "--model", "openai/tiny", "--methods", "direct", "--limit", "6", "--max-samples", "1"}
	root := rootOf(c.run(0, args...).stdout)

	small.Store(true)
	c = c.at(filepath.Join(disk, "home"))
	r := c.run(exitError, args...)
	want(t, r.stderr, "write to store", "disk", "free some space, or point NOEMA_HOME to another disk")
	again := c.run(exitError, args...)
	want(t, again.stderr, "free some space")

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	before := server.Requests()
	r = c.run(0, args...)
	want(t, r.stderr, "goes on: 4 of 6 trials are done")
	if got := rootOf(r.stdout); got != root {
		t.Errorf("root %s, on a disk with space %s", got, root)
	}
	if n := server.Requests() - before; n != 1 { // the answer that came when the disk was full is in the reserve
		t.Errorf("%d requests to go on, want 1", n)
	}
	want(t, c.run(0, "runs", "list").stdout, "finished")
	want(t, c.run(0, "cache", "verify").stdout, " 0 damaged")
}
