package main

import (
	"io"
	"testing"
)

// BenchmarkWarmRerun is the README's comparison, 100 samples by 3 methods,
// with every answer in the store: process starts, 900 cached calls through
// the plugin boundary, 300 durable trial records, the root hash.
func BenchmarkWarmRerun(b *testing.B) {
	b.Setenv("NOEMA_HOME", b.TempDir())
	compare := func() {
		if code := run(b.Context(), &signals{}, nil, []string{"compare", "--json"}, io.Discard, io.Discard); code != 0 {
			b.Fatalf("compare: exit code %d", code)
		}
	}
	compare()
	for b.Loop() {
		compare()
	}
}
