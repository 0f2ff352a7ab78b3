package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("KV_TEST_CHILD"); dir != "" {
		child(dir, os.Getenv("KV_TEST_NAME"))
		return
	}
	os.Exit(m.Run())
}

func mustOpen(t testing.TB, dir string) *DB {
	t.Helper()
	db, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func put(t testing.TB, db *DB, key, value string) {
	t.Helper()
	if err := db.Apply(t.Context(), Batch{Ops: []Op{{Key: []byte(key), Value: []byte(value)}}}); err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
}

func wantValue(t testing.TB, db *DB, key, want string) {
	t.Helper()
	got, err := db.Get(t.Context(), []byte(key))
	if err != nil || string(got) != want {
		t.Fatalf("get %q: %.40q, %v; want %.40q", key, got, err, want)
	}
}

// bothSides runs f on the owner of a store and on a client of it.
func bothSides(t *testing.T, f func(t *testing.T, db *DB)) {
	t.Run("owner", func(t *testing.T) { f(t, mustOpen(t, t.TempDir())) })
	t.Run("client", func(t *testing.T) {
		dir := t.TempDir()
		owner := mustOpen(t, dir)
		db := mustOpen(t, dir)
		if !owner.Owner() || db.Owner() {
			t.Fatal("the first to open must own the store, and only it")
		}
		f(t, db)
	})
}

func TestGetAndApply(t *testing.T) {
	bothSides(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		if _, err := db.Get(ctx, []byte("k")); !errors.Is(err, ErrNotFound) {
			t.Fatalf("get of nothing: %v", err)
		}
		put(t, db, "k", "v")
		wantValue(t, db, "k", "v")
		big := strings.Repeat("x", 3<<20)
		put(t, db, "big", big)
		wantValue(t, db, "big", big)
		if err := db.Apply(ctx, Batch{Ops: []Op{{Key: []byte("k"), Delete: true}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Get(ctx, []byte("k")); !errors.Is(err, ErrNotFound) {
			t.Fatalf("get of a deleted key: %v", err)
		}
		if err := db.Apply(ctx, Batch{Ops: []Op{{Key: []byte("k"), Value: make([]byte, MaxValue+1)}}}); err == nil {
			t.Fatal("a value over the limit was taken")
		}
		if _, err := db.Get(ctx, nil); err == nil || errors.Is(err, ErrNotFound) {
			t.Fatalf("get of the empty key: %v", err)
		}
		// A batch with an impossible key changes nothing.
		err := db.Apply(ctx, Batch{Ops: []Op{{Key: []byte("a"), Value: []byte("1")}, {Key: nil, Value: []byte("2")}}})
		if err == nil {
			t.Fatal("an empty key was taken")
		}
		if _, err := db.Get(ctx, []byte("a")); !errors.Is(err, ErrNotFound) {
			t.Fatalf("half a batch was written: %v", err)
		}
	})
}

func TestGuard(t *testing.T) {
	bothSides(t, func(t *testing.T, db *DB) {
		set := func(value string, g Guard) error {
			g.Key = []byte("k")
			return db.Apply(t.Context(), Batch{Ops: []Op{{Key: g.Key, Value: []byte(value)}}, Guard: &g})
		}
		for _, step := range []struct {
			value string
			guard Guard
			want  error
		}{
			{"1", Guard{Value: []byte("0")}, ErrChanged},
			{"1", Guard{Absent: true}, nil},
			{"2", Guard{Absent: true}, ErrChanged},
			{"2", Guard{Value: []byte("0")}, ErrChanged},
			{"2", Guard{Value: []byte("1")}, nil},
		} {
			if err := set(step.value, step.guard); !errors.Is(err, step.want) {
				t.Fatalf("set %q if %+v: %v, want %v", step.value, step.guard, err, step.want)
			}
		}
		wantValue(t, db, "k", "2")
	})
}

func TestGuardAdmitsOne(t *testing.T) {
	dir := t.TempDir()
	dbs := []*DB{mustOpen(t, dir), mustOpen(t, dir)}
	var mu sync.Mutex
	won := 0
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			key := []byte("k")
			err := dbs[i%2].Apply(t.Context(), Batch{
				Ops:   []Op{{Key: key, Value: []byte{byte(i)}}},
				Guard: &Guard{Key: key, Absent: true},
			})
			if err == nil {
				mu.Lock()
				won++
				mu.Unlock()
			} else if !errors.Is(err, ErrChanged) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Fatalf("%d of 32 found the key absent", won)
	}
}

func TestScan(t *testing.T) {
	bothSides(t, func(t *testing.T, db *DB) {
		var want []string
		for i := range 25 {
			key := fmt.Sprintf("a%02d", i)
			want = append(want, key)
			put(t, db, key, strings.Repeat(key, 200))
		}
		put(t, db, "b", "beyond the prefix")
		var got []string
		r := Range{Prefix: []byte("a"), Limit: 10, Values: true}
		for {
			page, err := db.Scan(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			for _, rec := range page.Records {
				if string(rec.Value) != strings.Repeat(string(rec.Key), 200) || rec.Size == 0 {
					t.Fatalf("record %q: %d bytes %.20q", rec.Key, rec.Size, rec.Value)
				}
				got = append(got, string(rec.Key))
			}
			if !page.More {
				break
			}
			r.After = page.Records[len(page.Records)-1].Key
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v", got)
		}
	})
}

func TestScanCutsPagesBySize(t *testing.T) {
	bothSides(t, func(t *testing.T, db *DB) {
		for i := range 4 {
			put(t, db, fmt.Sprint("k", i), strings.Repeat("x", 3<<20))
		}
		page, err := db.Scan(t.Context(), Range{Prefix: []byte("k"), Values: true})
		if err != nil || len(page.Records) != 2 || !page.More {
			t.Fatalf("%d records, more %v, %v; want 2 of 3 MiB each and more", len(page.Records), page.More, err)
		}
	})
}

func TestUsageAndCheck(t *testing.T) {
	bothSides(t, func(t *testing.T, db *DB) {
		put(t, db, "k", "v")
		u, err := db.Usage(t.Context())
		if err != nil || u.DiskBytes <= 0 || u.DiskBytes > 8<<20 || u.FreeBytes == 0 {
			t.Fatalf("usage %+v, %v", u, err)
		}
		if bad, err := db.Check(t.Context()); err != nil || len(bad) > 0 {
			t.Fatalf("check: %v, %v", bad, err)
		}
	})
}

func TestClose(t *testing.T) {
	bothSides(t, func(t *testing.T, db *DB) {
		put(t, db, "k", "v")
		if err := errors.Join(db.Close(), db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Get(t.Context(), []byte("k")); !errors.Is(err, ErrClosed) {
			t.Fatalf("get after close: %v", err)
		}
	})
}

func TestContextIsHonoured(t *testing.T) {
	bothSides(t, func(t *testing.T, db *DB) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, getErr := db.Get(ctx, []byte("k"))
		_, scanErr := db.Scan(ctx, Range{})
		for _, err := range []error{getErr, scanErr, db.Apply(ctx, Batch{})} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("with a cancelled context: %v", err)
			}
		}
	})
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // part of the error; empty for none
		newer bool
	}{
		{"fresh", nil, "", false},
		{"creation was interrupted", map[string]string{"FORMAT.tmp": "noe"}, "", false},
		{"creation was interrupted twice", map[string]string{"FORMAT.tmp77": "noe", "FORMAT.tmp78": ""}, "", false},
		{"marked", map[string]string{"FORMAT": "noema store 4\n"}, "", false},
		{"older", map[string]string{"FORMAT": "noema store 1\n"}, "", false},
		{"newer", map[string]string{"FORMAT": "noema store 5\n"}, "has format 5 and this noema knows 4: update noema, or point NOEMA_HOME elsewhere", true},
		{"unreadable", map[string]string{"FORMAT": "noema store one"}, "unreadable FORMAT", false},
		{"zero", map[string]string{"FORMAT": "noema store 0"}, "unreadable FORMAT", false},
		{"empty", map[string]string{"FORMAT": ""}, "unreadable FORMAT", false},
		{"foreign", map[string]string{"thesis.tex": "x"}, `it holds "thesis.tex" but no FORMAT file`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			db, err := Open(t.Context(), dir, Options{})
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				raw, _ := os.ReadFile(filepath.Join(dir, "FORMAT"))
				if string(raw) != "noema store 4\n" {
					t.Errorf("FORMAT is %q", raw)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Fatalf("error %v, want it to say %q and name the directory", err, c.want)
			}
			if errors.Is(err, ErrNewerFormat) != c.newer {
				t.Errorf("%v: ErrNewerFormat: %v", err, !c.newer)
			}
			if left, _ := os.ReadDir(dir); len(left) != len(c.files) {
				t.Errorf("a refused directory was written to: %v", left)
			}
		})
	}
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(t.Context(), dir, Options{MinFree: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	client := mustOpen(t, dir)
	put(t, db, "k", "v")
	watch := db.cur.(*own).space
	watch.mu.Lock()
	watch.min, watch.at = 1<<62, time.Time{}
	watch.mu.Unlock()
	for _, side := range []*DB{db, client} {
		err := side.Apply(t.Context(), Batch{Ops: []Op{{Key: []byte("k"), Value: []byte("w")}}})
		if !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "MiB are free") {
			t.Fatalf("write to a full disk: %v", err)
		}
		wantValue(t, side, "k", "v")
	}
	if _, err := Open(t.Context(), t.TempDir(), Options{MinFree: 1 << 62}); !errors.Is(err, ErrDiskFull) {
		t.Fatalf("open on a full disk: %v", err)
	}
}

func TestFailedSyncStopsWrites(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	put(t, db, "k", "v")
	db.cur.(*own).log.Errorf("Error while curlf sync: %v\n", errors.New("input/output error"))
	err := db.Apply(t.Context(), Batch{Ops: []Op{{Key: []byte("k"), Value: []byte("w")}}})
	if err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Fatalf("write after a failed sync: %v", err)
	}
	wantValue(t, db, "k", "v")
}

func TestFaultKeepsIdentity(t *testing.T) {
	for _, err := range []error{
		nil, ErrNotFound, ErrChanged, errLost,
		fmt.Errorf("write: %w: 3 MiB", ErrDiskFull),
		fmt.Errorf("%w: block 3", ErrDamaged),
		errors.New("plain"),
	} {
		got := faultOf(err).err()
		if fmt.Sprint(got) != fmt.Sprint(err) {
			t.Errorf("%v arrived as %v", err, got)
		}
		for _, s := range sentinels {
			if errors.Is(got, s) != errors.Is(err, s) {
				t.Errorf("%v arrived as another kind of error", err)
			}
		}
	}
	if err := (Fault{Code: 99, Text: "from the future"}).err(); err == nil || err.Error() != "from the future" {
		t.Errorf("unknown code: %v", err)
	}
}

func TestStart(t *testing.T) {
	after := []byte("abc")[:2:3]
	if got := start(Range{After: after}); !bytes.Equal(got, []byte("ab\x00")) || string(after[:3]) != "abc" {
		t.Errorf("start %q, and After became %q", got, after[:3])
	}
}
