package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"noema/cache"
	"noema/kernel/internal/test/providertest"
)

// killing kills noema at a request that its model server gets. From that request on the server
// holds its answers until noema is dead, so that the kill hits a run in its middle at any speed.
type killing struct {
	mu      sync.Mutex
	left    int           // requests until the kill; below 1 there is none
	due     chan struct{} // closed when it is due
	dead    chan struct{} // closed when noema is dead, and while none is to be killed
	whole   int           // requests of an undisturbed run
	kept    int           // answers that the store had after the kill
	resumed int           // requests before the run went on
}

func newKilling() *killing {
	k := &killing{due: make(chan struct{}), dead: make(chan struct{})}
	close(k.dead)
	return k
}

// arrived counts a request.
func (k *killing) arrived(providertest.Ask) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left--; k.left == 0 {
		k.dead = make(chan struct{})
		close(k.due)
	}
}

// held answers as answer does, but not while noema is to be killed.
func (k *killing) held(answer func(providertest.Ask) providertest.Answer) func(providertest.Ask) providertest.Answer {
	return func(a providertest.Ask) providertest.Answer {
		k.mu.Lock()
		dead := k.dead
		k.mu.Unlock()
		<-dead
		return answer(a)
	}
}

// killed starts noema and kills it when the server has got so many requests. All that it started
// must end, and of what was asked only what was in flight may be lost: width requests at most.
func (k *killing) killed(c *cli, server *providertest.Server, args []string, requests, width int) {
	c.t.Helper()
	k.mu.Lock()
	k.whole, k.left, k.due = server.Requests(), requests, make(chan struct{})
	due := k.due
	k.mu.Unlock()
	mark, err := os.MkdirTemp("/tmp", "nk") // short: sockets are made there
	if err != nil {
		c.t.Fatal(err)
	}
	defer os.RemoveAll(mark)
	cmd := c.command(args...)
	cmd.Env = append(cmd.Env, "TMPDIR="+mark)
	wait, ended := c.start(cmd), make(chan error, 1)
	go func() { // without reaping it: else the next noema on this machine could sweep up what it left behind
		ended <- unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}()
	select {
	case <-due:
	case <-ended:
		r := wait()
		c.t.Fatalf("noema ended before it was killed, with %d:\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	running := marked(c.t, mark)
	if err := cmd.Process.Kill(); err != nil {
		c.t.Error(err)
	}
	if err := <-ended; err != nil {
		c.t.Error(err)
	}
	k.mu.Lock()
	close(k.dead)
	k.mu.Unlock()
	if len(running) < 3 { // noema, what serves the program, the program
		c.t.Errorf("%d processes ran before the kill: %v", len(running), running)
	}
	allEnd(c.t, mark)
	wait()
	k.resumed = server.Requests()
	k.kept = c.answers()
	if asked := k.resumed - k.whole; k.kept == 0 || asked-k.kept > width {
		c.t.Errorf("%d requests before the kill, of which the store kept %d, and at most %d were in flight", asked, k.kept, width)
	}
}

// paid demands that the run which went on asked what the store did not have, and nothing else.
func (k *killing) paid(t *testing.T, server *providertest.Server) {
	t.Helper()
	if n := server.Requests() - k.resumed; n != k.whole-k.kept {
		t.Errorf("%d requests after the kill, want %d: the run has %d, of which %d were kept", n, k.whole-k.kept, k.whole, k.kept)
	}
}

// marked are the living processes whose environment names a folder.
func marked(t *testing.T, folder string) map[int]string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for _, dir := range all {
		env, err := os.ReadFile(filepath.Join(dir, "environ")) // of a zombie it is empty
		if pid, bad := strconv.Atoi(filepath.Base(dir)); err == nil && bad == nil && bytes.Contains(env, []byte(folder)) {
			command, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // for people
			found[pid] = string(bytes.ReplaceAll(command, []byte{0}, []byte{' '}))
		}
	}
	return found
}

// allEnd demands that all processes whose environment names a folder end. It waits for long, since
// what was not killed would live for an hour.
func allEnd(t *testing.T, folder string) {
	t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for {
		left := marked(t, folder)
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Errorf("a minute after noema was killed there live %v", left)
			return
		}
	}
}

// answers is how many answers the store holds.
func (c *cli) answers() (n int) {
	c.store(func(ctx context.Context, s *cache.Store) {
		for _, err := range s.Requests(ctx) {
			if err != nil {
				c.t.Error(err)
			}
			n++
		}
	})
	return n
}
