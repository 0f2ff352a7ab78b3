package kv

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// child is the test binary as another process: it opens dir, writes records
// without end, and prints the number of each one that was acknowledged.
func child(dir, name string) {
	var o Options
	if os.Getenv("KV_TEST_PAID") != "" { // write as long as there is any room
		o.MinFree = 1
	}
	db, err := Open(context.Background(), dir, o)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("open", db.Owner())
	if name == "" { // only hold the store, until the parent is gone
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	for i := 0; ; i++ {
		key, value := childRecord(name, i)
		err := db.Apply(context.Background(), Batch{Ops: []Op{{Key: key, Value: value}}, Guard: &Guard{Key: key, Absent: true}, Paid: os.Getenv("KV_TEST_PAID") != ""})
		if err != nil && !errors.Is(err, ErrChanged) { // a lost owner may have made it
			fmt.Println("error:", err)
			os.Exit(1)
		}
		if _, err := fmt.Println(i); err != nil {
			os.Exit(0)
		}
	}
}

// TestLockThatOutlivesItsOwner: a store whose owner was killed is opened once the last of
// its locks is gone, whichever that is.
func TestLockThatOutlivesItsOwner(t *testing.T) {
	for _, held := range []string{"", dataDir} {
		dir := t.TempDir()
		db, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		left, err := os.Open(filepath.Join(dir, held))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(left.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), dir, Options{Patience: time.Millisecond}); err == nil || !strings.Contains(err.Error(), "holds it but has not answered") {
			t.Errorf("while %q is locked: %v", held, err)
		}
		time.AfterFunc(20*time.Millisecond, func() { left.Close() })
		if db, err = Open(t.Context(), dir, Options{}); err != nil {
			t.Fatalf("after the lock of %q is gone: %v", held, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// childRecord alternates between values in tables and values in the log.
func childRecord(name string, i int) (key, value []byte) {
	k := fmt.Sprintf("%s/%06d", name, i)
	if name == "big" {
		return []byte(k), []byte(strings.Repeat(k, 1+i%4*20_000))
	}
	return []byte(k), []byte(strings.Repeat(k, 1+i%2*60))
}

// process is a running child.
type process struct {
	cmd   *exec.Cmd
	lines chan string
	last  int // the last record that was acknowledged, or -1
}

// next reads a line of the child's output.
func (p *process) next() (string, bool) {
	line, ok := <-p.lines
	if n, err := strconv.Atoi(line); err == nil {
		p.last = n
	}
	return line, ok
}

func startChild(t *testing.T, dir, name string, env ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "KV_TEST_CHILD="+dir, "KV_TEST_NAME="+name), env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, make(chan string, 1<<16), -1}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(func() { p.kill(); _ = stdin.Close() })
	return p
}

// kill sends SIGKILL and returns the last acknowledged record, or -1.
func (p *process) kill() int {
	_ = p.cmd.Process.Kill()
	for _, ok := p.next(); ok; _, ok = p.next() {
	}
	_ = p.cmd.Wait()
	return p.last
}

func (p *process) wait(t *testing.T, prefix string) {
	t.Helper()
	for line, ok := p.next(); ok; line, ok = p.next() {
		if strings.HasPrefix(line, prefix) {
			return
		}
		if strings.HasPrefix(line, "error") {
			t.Fatal(line)
		}
	}
	t.Fatalf("the child ended before it printed %q", prefix)
}

func checkChild(t *testing.T, db *DB, name string, last int) {
	t.Helper()
	if last < 0 {
		t.Fatalf("child %s wrote nothing", name)
	}
	for i := range last + 1 {
		key, value := childRecord(name, i)
		wantValue(t, db, string(key), string(value))
	}
}

// TestKill kills an owner in the middle of its writes, again and again, while
// a client goes on writing through whoever owns the store.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	last := map[string]int{}
	var acked []string
	var client *DB
	for round := range 3 {
		name := fmt.Sprint("child", round)
		p := startChild(t, dir, name)
		p.wait(t, "20")
		if client == nil {
			client = mustOpen(t, dir)
			if client.Owner() {
				t.Fatal("two owners")
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 100 {
				key := fmt.Sprintf("client%d/%d", round, i)
				if err := client.Apply(t.Context(), Batch{Ops: []Op{{Key: []byte(key), Value: []byte(key)}}}); err != nil {
					t.Errorf("client: %v", err)
				} else {
					acked = append(acked, key)
				}
			}
		}()
		p.wait(t, fmt.Sprint(30+round))
		last[name] = p.kill()
		<-done
	}
	if !client.Owner() {
		t.Fatal("the client has not taken over")
	}
	for name, n := range last {
		checkChild(t, client, name, n)
	}
	for _, key := range acked {
		wantValue(t, client, key, key)
	}
}

func TestCloseHandsOver(t *testing.T) {
	dir := t.TempDir()
	owner, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	clients := []*DB{mustOpen(t, dir), mustOpen(t, dir), mustOpen(t, dir)}
	var wg sync.WaitGroup
	for c, db := range clients {
		wg.Go(func() {
			for i := range 100 {
				put(t, db, fmt.Sprintf("%d/%d", c, i), "v")
				if c == 0 && i == 30 {
					if err := owner.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	owners := 0
	for _, db := range clients {
		for c := range clients {
			for i := range 100 {
				wantValue(t, db, fmt.Sprintf("%d/%d", c, i), "v")
			}
		}
		if db.Owner() {
			owners++
		}
	}
	if owners != 1 {
		t.Fatalf("%d owners", owners)
	}
}

// TestOpenAtOnce opens a store that does not exist yet from several processes
// and several places in one process.
func TestOpenAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "store")
	var children []*process
	for i := range 3 {
		children = append(children, startChild(t, dir, fmt.Sprint("child", i)))
	}
	dbs := make([]*DB, 4)
	var wg sync.WaitGroup
	for i := range dbs {
		wg.Go(func() {
			db, err := Open(t.Context(), dir, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			dbs[i] = db
			put(t, db, fmt.Sprint("db", i), "v")
		})
	}
	wg.Wait()
	last := make([]int, len(children))
	for i, p := range children {
		p.wait(t, "5")
		last[i] = p.kill()
	}
	for i, db := range dbs {
		if db == nil {
			continue
		}
		wantValue(t, db, fmt.Sprint("db", (i+1)%len(dbs)), "v")
		for c := range children {
			checkChild(t, db, fmt.Sprint("child", c), last[c])
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStoppedOwner: an owner that is there but does not answer holds nobody
// beyond their context or patience.
func TestStoppedOwner(t *testing.T) {
	dir := t.TempDir()
	p := startChild(t, dir, "")
	p.wait(t, "open true")
	client := mustOpen(t, dir)
	put(t, client, "k", "v")
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// The signal is delivered a moment after it was sent: wait for its effect.
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the owner is not stopped: %v, %v", status, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client.Get(ctx, []byte("k")); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("get from a stopped owner: %v", err)
	}
	big := Batch{Ops: []Op{{Key: []byte("big"), Value: make([]byte, 8<<20)}}}
	if err := client.Apply(ctx, big); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("write to a stopped owner: %v", err)
	}
	_, err := Open(t.Context(), dir, Options{Patience: 50 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d holds it", p.cmd.Process.Pid)) {
		t.Fatalf("open beside a stopped owner: %v", err)
	}
	p.kill()
	wantValue(t, client, "k", "v")
}

func TestLongPath(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40), "store")
	p := startChild(t, dir, "")
	p.wait(t, "open true")
	client := mustOpen(t, dir)
	put(t, client, "k", "v")
	if client.Owner() {
		t.Fatal("two owners")
	}
	p.kill() // leaves its socket behind
	wantValue(t, client, "k", "v")
	stale, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*"))
	if len(stale) != 1 {
		t.Fatalf("socket directories: %v, want one", stale)
	}
	second := mustOpen(t, dir)
	wantValue(t, second, "k", "v")
	if err := errors.Join(second.Close(), client.Close()); err != nil {
		t.Fatal(err)
	}
	if stale, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*")); len(stale) != 0 {
		t.Fatalf("left behind: %v", stale)
	}
}

// TestCopiedStore: the address that a copy inherits must not lead to the
// owner of the original.
func TestCopiedStore(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	first := mustOpen(t, dir)
	put(t, first, "k", "original")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	owner := mustOpen(t, dir)
	copied := filepath.Join(t.TempDir(), strings.Repeat("copy", 40))
	if err := os.CopyFS(filepath.Join(copied, runDir), os.DirFS(filepath.Join(dir, runDir))); err != nil {
		t.Fatal(err)
	}
	if _, err := dialOwner(t.Context(), copied, helloTime); err == nil || !strings.Contains(err.Error(), "another store") {
		t.Fatalf("dial through a copied address: %v", err)
	}
	wantValue(t, owner, "k", "original")
}

func TestSocketIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	mustOpen(t, dir)
	for path, want := range map[string]os.FileMode{
		dir:                                    0o700,
		filepath.Join(dir, runDir):             0o700,
		filepath.Join(dir, runDir, socketFile): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

func TestNoGoroutineStays(t *testing.T) {
	run := func() {
		dir := t.TempDir()
		owner, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		client, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		put(t, client, "k", "v")
		if err := errors.Join(client.Close(), owner.Close()); err != nil {
			t.Fatal(err)
		}
	}
	run() // what libraries start once
	before := runtime.NumGoroutine()
	for range 3 {
		run()
	}
	for deadline := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, before %d:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
