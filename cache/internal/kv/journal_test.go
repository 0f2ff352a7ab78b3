package kv

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// killedStore is a directory whose owner was killed with entries in its
// journal that had not reached Badger.
func killedStore(t *testing.T, batches ...[]Op) (dir string) {
	t.Helper()
	dir = t.TempDir()
	db := mustOpen(t, dir)
	for _, key := range []string{"old", "gone"} {
		if err := db.Apply(t.Context(), Batch{Ops: []Op{{Key: []byte(key), Value: []byte("1")}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, ops := range batches {
		if err := j.add(Batch{Ops: ops}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.file.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func setOp(key, value string) Op { return Op{Key: []byte(key), Value: []byte(value)} }

var left = [][]Op{
	{setOp("new", "1"), setOp("old", "2")},
	{setOp("old", "3"), {Key: []byte("gone"), Delete: true}},
	{setOp("large", string(bytes.Repeat([]byte("x"), 2<<20)))},
}

func wantGone(t *testing.T, db *DB, key string) {
	t.Helper()
	if _, err := db.Get(t.Context(), []byte(key)); err != ErrNotFound {
		t.Errorf("%s: %v", key, err)
	}
}

// TestJournal opens a store whose owner was killed: what had arrived is there.
func TestJournal(t *testing.T) {
	dir := killedStore(t, left...)
	for range 2 {
		db := mustOpen(t, dir)
		wantValue(t, db, "new", "1")
		wantValue(t, db, "old", "3")
		wantValue(t, db, "large", string(left[2][0].Value))
		wantGone(t, db, "gone")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(journalPath(dir)); !os.IsNotExist(err) {
			t.Errorf("a closed store has a journal: %v", err)
		}
	}
}

// TestJournalOfAnotherBoot: unsynced bytes mean nothing after a restart of the
// machine, when older ones may have come back.
func TestJournalOfAnotherBoot(t *testing.T) {
	dir := killedStore(t, left...)
	f, err := os.OpenFile(journalPath(dir), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(journalLine("another"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	db := mustOpen(t, dir)
	wantValue(t, db, "old", "1")
	wantValue(t, db, "gone", "1")
	wantGone(t, db, "new")
}

// TestJournalRounds reads only the last round, and of that only what is whole.
func TestJournalRounds(t *testing.T) {
	dir := killedStore(t)
	j, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer j.file.Close()
	add := func(key string) {
		t.Helper()
		if err := j.add(Batch{Ops: []Op{setOp(key, key)}}); err != nil {
			t.Fatal(err)
		}
	}
	keys := func() (keys []string) {
		t.Helper()
		ops, err := readJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			keys = append(keys, string(op.Key))
		}
		return keys
	}
	for _, key := range []string{"a", "b", "c"} {
		add(key)
	}
	j.done(3)
	add("d")
	if got := keys(); !slices.Equal(got, []string{"d"}) {
		t.Errorf("after a new round: %q", got)
	}
	add("e")
	if _, err := j.file.WriteAt([]byte{'!'}, j.size-1); err != nil {
		t.Fatal(err)
	}
	if got := keys(); !slices.Equal(got, []string{"d"}) {
		t.Errorf("with a torn entry: %q", got)
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x0c\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, b := range append(journalBatches(raw), bodyBatch(raw)) {
			for _, op := range b.Ops {
				if len(op.Key) == 0 || len(op.Key)+len(op.Value) > len(raw) {
					t.Errorf("op %+v out of %d bytes", op, len(raw))
				}
			}
			if b.Guard != nil && len(b.Guard.Key)+len(b.Guard.Value) > len(raw) {
				t.Errorf("guard %+v out of %d bytes", b.Guard, len(raw))
			}
		}
	})
}

// TestJournalStartsAgain writes more than the journal takes, from many sides.
func TestJournalStartsAgain(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	value := bytes.Repeat([]byte("x"), 1<<20)
	var group sync.WaitGroup
	for i := range 3 * journalRoom >> 20 {
		group.Go(func() {
			if err := db.Apply(t.Context(), Batch{Ops: []Op{{Key: fmt.Append(nil, i), Value: value}}}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i := range 3 * journalRoom >> 20 {
		wantValue(t, db, fmt.Sprint(i), string(value))
	}
	info, err := os.Stat(journalPath(db.dir))
	if err != nil || info.Size() > journalRoom+2<<20 {
		t.Errorf("the journal has %d bytes: %v", info.Size(), err)
	}
}

// BenchmarkApply is what it costs to sync an answer before it is used: the
// same writes with Badger's sync and without, in turns. x-unsynced is the
// ratio of their times.
func BenchmarkApply(b *testing.B) {
	for _, writers := range []int{1, 64, 1000} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) {
			synced, unsynced := benchLocal(b, true), benchLocal(b, false)
			var took, without []time.Duration
			var wall [2]time.Duration
			for round := range 4 {
				n := b.N/4 + 1
				wall[0] += applyAll(b, synced, writers, round, n, &took)
				wall[1] += applyAll(b, unsynced, writers, round, n, &without)
			}
			b.ReportMetric(float64(len(took))/wall[0].Seconds(), "synced/s")
			b.ReportMetric(float64(len(without))/wall[1].Seconds(), "unsynced/s")
			b.ReportMetric(wall[0].Seconds()/wall[1].Seconds(), "x-unsynced")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

func benchLocal(b *testing.B, sync bool) *local {
	b.Helper()
	dir := b.TempDir()
	l := newLocal(dir, Options{}.withDefaults())
	l, err := l.open(badgerOptions(dir + "/" + dataDir).WithLogger(l.log).WithSyncWrites(sync))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := l.close(); err != nil {
			b.Error(err)
		}
	})
	return l
}

// applyAll makes n writes of 2 KB.
func applyAll(b *testing.B, l *local, writers, round, n int, took *[]time.Duration) time.Duration {
	b.Helper()
	value := bytes.Repeat([]byte("answer "), 300)
	var next atomic.Int64
	var mu sync.Mutex
	var group sync.WaitGroup
	start := time.Now()
	for range writers {
		group.Go(func() {
			var mine []time.Duration
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				at := time.Now()
				if err := l.apply(b.Context(), Batch{Ops: []Op{{Key: fmt.Appendf(nil, "%d/%d", round, i), Value: value}}}); err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, time.Since(at))
			}
			mu.Lock()
			*took = append(*took, mine...)
			mu.Unlock()
		})
	}
	group.Wait()
	return time.Since(start)
}
