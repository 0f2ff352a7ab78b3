package kv

import (
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
)

// TestShrink deletes most of a store on either side and gives the space back.
func TestShrink(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	dir := t.TempDir()
	db := mustOpen(t, dir)
	client := mustOpen(t, dir)
	value := make([]byte, 256<<10)
	const records = 400 // in two value logs
	for i := range records {
		if _, err := rand.Read(value); err != nil {
			t.Fatal(err)
		}
		if err := db.Apply(t.Context(), Batch{Ops: []Op{{Key: fmt.Appendf(nil, "k%d", i), Value: value}}}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := db.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range records - 20 {
		if err := client.Apply(t.Context(), Batch{Ops: []Op{{Key: fmt.Appendf(nil, "k%d", i), Delete: true}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := db.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after.DiskBytes > before.DiskBytes/2 {
		t.Errorf("%d bytes, and after deleting most of it %d", before.DiskBytes, after.DiskBytes)
	}
	for i := range records {
		got, err := client.Get(t.Context(), fmt.Appendf(nil, "k%d", i))
		if deleted := i < records-20; deleted != errors.Is(err, ErrNotFound) || !deleted && len(got) != len(value) {
			t.Errorf("record %d: %d bytes, %v", i, len(got), err)
		}
	}
	if err := db.Apply(t.Context(), Batch{Ops: []Op{{Key: []byte("later"), Value: value}}}); err != nil {
		t.Error(err)
	}
}
