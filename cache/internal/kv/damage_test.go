package kv

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fill makes a closed store of n records, odd ones in the value log and even
// ones in tables, and returns what it holds.
func fill(t *testing.T, dir string, n int) map[string]string {
	t.Helper()
	db, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i := range n {
		key, value := childRecord("record", i)
		want[string(key)] = string(value)
		put(t, db, string(key), string(value))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return want
}

func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, dataDir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// flipped returns raw with one byte changed.
func flipped(raw []byte, at int, rng *rand.Rand) []byte {
	out := bytes.Clone(raw)
	out[at] ^= byte(1 + rng.IntN(255))
	return out
}

// copyWith copies the store in dir with another content of one file.
func copyWith(t *testing.T, dir, file string, content []byte) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, dataDir, filepath.Base(file)), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestDamagedValueLog: one flipped byte anywhere in a value log costs one
// record at most, and the store opens.
func TestDamagedValueLog(t *testing.T) {
	dir := t.TempDir()
	want := fill(t, dir, 40)
	log := only(t, dir, "*.vlog")
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	positions := []int{0, 7, 8, 19, 20, 21, 22, 23, 24, 25, len(raw) - 1}
	for range 40 {
		positions = append(positions, rng.IntN(len(raw)))
	}
	for _, at := range positions {
		db, err := Open(t.Context(), copyWith(t, dir, log, flipped(raw, at, rng)), Options{})
		if err != nil {
			t.Fatalf("byte %d of %d: %v", at, len(raw), err)
		}
		var lost []string
		for key, value := range want {
			if got, err := db.Get(t.Context(), []byte(key)); err != nil || string(got) != value {
				lost = append(lost, key)
			}
		}
		if len(lost) > 1 {
			t.Errorf("byte %d of %d: lost %d records: %v", at, len(raw), len(lost), lost)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTornValueLog: what follows the last intact entry is cut off, not kept.
func TestTornValueLog(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 10)
	log := only(t, dir, "*.vlog")
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	torn := append(bytes.Clone(raw[:len(raw)-40]), make([]byte, 1<<20)...)
	path := filepath.Join(t.TempDir(), "000001.vlog")
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := mendLog(path); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, torn) {
		t.Error("an unfinished write at the end was made to look finished")
	}
}

// TestDamagedTable: a flipped byte in a table either does no harm or keeps
// the store from opening with an error that names it and the cure.
func TestDamagedTable(t *testing.T) {
	dir := t.TempDir()
	want := fill(t, dir, 60)
	table := only(t, dir, "*.sst")
	raw, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	refused := 0
	for i := range 60 {
		at := rng.IntN(len(raw))
		if i < 20 {
			at = len(raw) - 1 - i // the footer
		}
		to := copyWith(t, dir, table, flipped(raw, at, rng))
		db, err := Open(t.Context(), to, Options{})
		if err != nil {
			refused++
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), to) || !strings.Contains(err.Error(), "restore") {
				t.Fatalf("byte %d of %d: %v", at, len(raw), err)
			}
			continue
		}
		for key, value := range want {
			wantValue(t, db, key, value)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

func TestDamagedManifest(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 10)
	path := filepath.Join(dir, dataDir, "MANIFEST")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range raw {
		content := bytes.Clone(raw)
		content[at] ^= 1 // also lengths that become a little longer
		to := copyWith(t, dir, path, content)
		if _, err := Open(t.Context(), to, Options{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), to) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

// TestLeftovers: files that a kill during their creation leaves behind.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	want := fill(t, dir, 10)
	for name, content := range map[string]string{
		"000009.vlog": "", "000010.vlog": "short", "00009.mem": "", "000777.sst": "unfinished",
	} {
		if err := os.WriteFile(filepath.Join(dir, dataDir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db := mustOpen(t, dir)
	for key, value := range want {
		wantValue(t, db, key, value)
	}
}

func TestCheckFindsDamage(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 10)
	db := mustOpen(t, dir)
	table := only(t, dir, "*.sst")
	f, err := os.OpenFile(table, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{0xff, 0xfe}, 30); err != nil {
		t.Fatal(err)
	}
	bad, err := db.Check(t.Context())
	if err != nil || len(bad) != 1 || !strings.HasPrefix(bad[0], filepath.Base(table)) {
		t.Fatalf("check: %v, %v", bad, err)
	}
}

func TestFiller(t *testing.T) {
	lengths := []int{1 << 16, 1<<20 + 7}
	for n := logMinEntry; n < 20000; n++ {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		if b := filler(n); len(b) != n || entryLen(b) != n {
			t.Fatalf("filler(%d): %d bytes, of which %d are an entry", n, len(b), entryLen(b))
		}
	}
}

func FuzzDamagedSpans(f *testing.F) {
	f.Add([]byte{}, 3)
	f.Add(append(filler(300), filler(301)...), 40)
	f.Add(append(append(filler(300), make([]byte, 30)...), filler(301)...), 310)
	f.Fuzz(func(t *testing.T, body []byte, at int) {
		raw := append(make([]byte, logHeader), body...)
		if at > 0 && at < len(raw) {
			raw[at]++
		}
		mended := bytes.Clone(raw)
		for _, g := range damagedSpans(raw) {
			copy(mended[g.off:], filler(g.len))
		}
		if len(mended) != len(raw) {
			t.Fatalf("%d bytes became %d", len(raw), len(mended))
		}
		if again := damagedSpans(mended); len(again) > 0 {
			t.Fatalf("still damaged: %v", again)
		}
		for off := logHeader; off < len(raw); {
			n := entryLen(raw[off:])
			if n == 0 {
				break
			}
			if !bytes.Equal(raw[off:off+n], mended[off:off+n]) {
				t.Fatalf("intact entry changed at %d", off)
			}
			off += n
		}
	})
}
