package table

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// someParquet are files of rows with texts, lists and numbers that may be absent, in several groups.
func someParquet(t *testing.T, options ...parquet.WriterOption) []byte {
	t.Helper()
	type row struct {
		Input  string   `parquet:"input,dict"`
		Target *int64   `parquet:"target,optional"`
		Tags   []string `parquet:"tags,list"`
		Score  float64  `parquet:"score"`
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, options...)
	for i := range 300 {
		n := int64(i)
		r := row{Input: fmt.Sprint("question ", i%40), Tags: strings.Fields(strings.Repeat("tag ", i%4)), Score: float64(i)}
		if i%3 > 0 {
			r.Target = &n
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// rowsOf reads all rows of a file, and returns how many and what was allocated for them.
func rowsOf(t *testing.T, raw []byte) (rows int, allocated uint64, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	table, err := Open(t.Context(), path)
	if err == nil {
		err = table.Each(func(Row) error { rows++; return nil })
	}
	runtime.ReadMemStats(&after)
	return rows, after.TotalAlloc - before.TotalAlloc, err
}

// TestLengthsAreClaims: of files with changed bytes, and of one of 12 bytes that announces a footer
// of four gigabytes, none takes more memory than a file of its size can need; and whole files
// are read as they are.
func TestLengthsAreClaims(t *testing.T) {
	const most = 100 << 20
	if _, allocated, err := rowsOf(t, []byte("PAR1\xff\xff\xff\xffPAR1")); err == nil || allocated > most {
		t.Errorf("a footer that is not there: %v, with %d MiB", err, allocated>>20)
	}
	r := rand.New(rand.NewPCG(9, 10))
	for name, raw := range map[string][]byte{
		"plain":  someParquet(t),
		"snappy": someParquet(t, parquet.Compression(&parquet.Snappy)),
		"zstd":   someParquet(t, parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(1)),
	} {
		if rows, _, err := rowsOf(t, raw); err != nil || rows != 300 {
			t.Fatalf("%s: %d rows, %v", name, rows, err)
		}
		refused := 0
		for range 400 {
			changed := bytes.Clone(raw)
			for range 1 + r.IntN(4) {
				at := r.IntN(len(changed))
				if r.IntN(2) == 0 { // in the footer
					at = len(changed) - 1 - r.IntN(min(len(changed), 1500))
				}
				switch r.IntN(3) {
				case 0:
					changed[at] = byte(r.IntN(256))
				case 1:
					changed[at] = 0xff
				default:
					copy(changed[at:], []byte{0xfe, 0xff, 0xff, 0xff, 0x0f}[:min(5, len(changed)-at)])
				}
			}
			_, allocated, err := rowsOf(t, changed)
			if err != nil {
				refused++
			}
			if allocated > most {
				t.Errorf("%s: %d bytes with changes took %d MiB: %v", name, len(changed), allocated>>20, err)
			}
		}
		t.Logf("%s: %d of 400 are refused", name, refused)
	}
}
