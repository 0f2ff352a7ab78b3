package kv

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesAreGivenBack reads three value logs in random order while it writes: the pages of
// them that stay mapped are bounded, and every value is what was written.
func TestPagesAreGivenBack(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(34, 2))
	db, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	value := func(i int) []byte {
		of := rand.New(rand.NewPCG(uint64(i), 1))
		return bytes.Repeat(fmt.Appendf(nil, "%d %d;", i, of.Uint64()), 20+of.IntN(1000))
	}
	key := func(i int) []byte { return fmt.Appendf(nil, "k%06d", i) }
	const each, batches = 50, 320
	for b := range batches {
		var ops []Op
		for i := b * each; i < (b+1)*each; i++ {
			ops = append(ops, Op{Key: key(i), Value: value(i)})
		}
		if err := db.Apply(t.Context(), Batch{Ops: ops}); err != nil {
			t.Fatal(err)
		}
	}
	most, total := 0, 0
	for n, i := range rng.Perm(each * batches) {
		got, err := db.Get(t.Context(), key(i))
		if err != nil || !bytes.Equal(got, value(i)) {
			t.Fatalf("value %d: %d bytes, %v", i, len(got), err)
		}
		total += len(got)
		if n%50 != 0 {
			continue
		}
		most = max(most, mappedPages(t, filepath.Join(dir, dataDir)))
		if err := db.Apply(t.Context(), Batch{Ops: []Op{{Key: fmt.Appendf(nil, "more%d", n), Value: value(n)}}}); err != nil {
			t.Fatal(err)
		}
	}
	if limit := 120 << 20; most > limit || total < 3*limit/2 {
		t.Errorf("%d MiB of the logs are mapped at most, of %d MiB that were read", most>>20, total>>20)
	}
	t.Logf("%d MiB at most, of %d MiB", most>>20, total>>20)
}

// mappedPages are the bytes of the value logs in a folder that this process has mapped pages of.
func mappedPages(t *testing.T, dir string) (n int) {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	var ours bool
	for line := range strings.Lines(string(raw)) {
		var kb int
		if strings.Contains(strings.Fields(line)[0], "-") {
			ours = strings.Contains(line, dir) && strings.Contains(line, ".vlog")
		} else if _, err := fmt.Sscanf(line, "Rss: %d kB", &kb); err == nil && ours {
			n += kb << 10
		}
	}
	return n
}
