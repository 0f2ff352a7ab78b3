package table

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCancel: whatever a table is, it is not read on when the user gave up: neither its
// rows nor its digest, also of a file that another process makes longer all the time.
func TestCancel(t *testing.T) {
	dir := t.TempDir()
	rows := strings.Repeat(`{"question":"q","answer":"a"}`+"\n", 20_000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(rows)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"a.jsonl": rows, "a.json": "[" + strings.TrimSuffix(strings.ReplaceAll(rows, "\n", ","), ",") + "]",
		"a.csv": "question,answer\n" + strings.Repeat("q,a\n", 50_000), "a.jsonl.gz": packed.String(),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = rows.Each(func(Row) error {
			if n++; n == 3 {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || n < 3 || n > 15_000 {
			t.Errorf("%s: after %d rows: %v", name, n, err)
		}
		if _, err := Load(rows, Mapping{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: load: %v", name, err)
		}
		if _, err := describe(rows); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: digest: %v", name, err)
		}
	}
	endless(t, filepath.Join(dir, "endless.jsonl"))
}

// endless reads a file that grows as long as it is read.
func endless(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	more := []byte(strings.Repeat(`{"question":"q","answer":"a"}`+"\n", 100))
	if _, err := f.Write(more); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	rows, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = rows.Each(func(Row) error {
		if n++; n%50 == 0 {
			_, err := f.Write(more)
			return err
		}
		return nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an endless file: after %d rows: %v", n, err)
	}
}
