package kv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// once is a batch that sets key to value unless there is one.
func once(key, value string) Batch {
	return Batch{Ops: []Op{setOp(key, value)}, Guard: &Guard{Key: []byte(key), Absent: true}}
}

// leave makes the outbox of a process that was killed.
func leave(t *testing.T, dir string, batches ...Batch) {
	t.Helper()
	o := outbox{dir: dir}
	for _, b := range batches {
		if _, err := o.keep(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.journal.file.Close(); err != nil { // releases the lock, too
		t.Fatal(err)
	}
}

func outboxes(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, runDir, outboxPattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var leftOut = []Batch{
	once("new", "1"),
	once("key", "overtaken"),
	{Ops: []Op{setOp("replaced", "2")}, Guard: &Guard{Key: []byte("replaced"), Value: []byte("1")}},
	{Ops: []Op{setOp("again", "1")}, Again: true},
	{Ops: []Op{setOp("moved on", "2")}, Guard: &Guard{Key: []byte("moved on"), Value: []byte("0")}},
}

func wantCollected(t *testing.T, db *DB) {
	t.Helper()
	wantValue(t, db, "new", "1")
	wantValue(t, db, "key", "value")
	wantValue(t, db, "replaced", "2")
	wantValue(t, db, "moved on", "1")
	wantValue(t, db, "again", "1")
	if found := outboxes(t, db.dir); len(found) > 0 {
		t.Errorf("left behind: %v", found)
	}
}

// TestOutboxes of dead processes are collected by the next owner, by the
// present one before it greets a process, and when a process has gone.
func TestOutboxes(t *testing.T) {
	prepared := func(t *testing.T) string {
		dir := t.TempDir()
		filled(t, dir)
		db := mustOpen(t, dir)
		put(t, db, "replaced", "1")
		put(t, db, "moved on", "1")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	t.Run("by the next owner", func(t *testing.T) {
		dir := prepared(t)
		leave(t, dir, leftOut...)
		wantCollected(t, mustOpen(t, dir))
	})
	t.Run("at a greeting", func(t *testing.T) {
		dir := prepared(t)
		mustOpen(t, dir)
		leave(t, dir, leftOut[:2]...)
		leave(t, dir, leftOut[2:]...)
		wantCollected(t, mustOpen(t, dir))
	})
	t.Run("after a process has gone", func(t *testing.T) {
		dir := prepared(t)
		owner, client := mustOpen(t, dir), mustOpen(t, dir)
		leave(t, dir, leftOut...)
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the outbox is collected", func() bool { return len(outboxes(t, dir)) == 0 })
		wantCollected(t, owner)
	})
	t.Run("not of a live process", func(t *testing.T) {
		dir := prepared(t)
		mustOpen(t, dir)
		live := outbox{dir: dir}
		if _, err := live.keep(leftOut[0]); err != nil {
			t.Fatal(err)
		}
		wantGone(t, mustOpen(t, dir), "new")
		if err := live.close(); err != nil || len(outboxes(t, dir)) > 0 {
			t.Errorf("closed: %v, left behind: %v", err, outboxes(t, dir))
		}
	})
	t.Run("of another boot", func(t *testing.T) {
		dir := prepared(t)
		leave(t, dir, leftOut...)
		if err := os.WriteFile(outboxes(t, dir)[0], journalLine("another"), 0o600); err != nil {
			t.Fatal(err)
		}
		db := mustOpen(t, dir)
		wantGone(t, db, "new")
		if found := outboxes(t, dir); len(found) > 0 {
			t.Errorf("left behind: %v", found)
		}
	})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// TestKillBoth kills a process while the owner does not take its answer, and
// the owner as well: the answer is there.
func TestKillBoth(t *testing.T) {
	for _, ownerDies := range []bool{true, false} {
		dir := t.TempDir()
		owner := startChild(t, dir, "")
		owner.wait(t, "open true")
		client := startChild(t, dir, "client")
		client.wait(t, "10")
		if err := owner.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(owner.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("the owner is not stopped: %v, %v", status, err)
		}
		waits := -1 // the record that the owner does not take
		eventually(t, "a record waits in the outbox", func() bool {
			for len(client.lines) > 0 {
				client.next()
			}
			waits = max(waits, inOutbox(t, dir))
			return waits == client.last+1
		})
		client.kill()
		if ownerDies {
			owner.kill()
		} else if err := owner.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		db := mustOpen(t, dir)
		checkChild(t, db, "client", waits)
		if found := outboxes(t, dir); len(found) > 0 {
			t.Errorf("left behind: %v", found)
		}
	}
}

// inOutbox is the number of the record in the outbox of a child, or -1.
func inOutbox(t *testing.T, dir string) int {
	t.Helper()
	raw, err := os.ReadFile(outboxes(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	n := -1
	if batches := journalBatches(raw[min(journalHeader, len(raw)):]); len(batches) > 0 {
		_, _ = fmt.Sscanf(string(batches[0].Ops[0].Key), "client/%d", &n)
	}
	return n
}
