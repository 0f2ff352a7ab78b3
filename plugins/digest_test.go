package plugins

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCodeThatChangedDoesNotStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "method")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	src, err := At(file)
	if err != nil {
		t.Fatal(err)
	}
	if src.Digest, err = CodeDigest(src); err != nil || src.same() != nil {
		t.Fatalf("%v, %v", err, src.same())
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho another\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var failure *Failure
	if _, err := h.Open(t.Context(), src); !errors.Is(err, ErrChanged) || !errors.As(err, &failure) {
		t.Errorf("it starts: %v", err)
	}
}
