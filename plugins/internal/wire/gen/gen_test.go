package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGeneratedCodeIsCurrent generates everything again and compares: a
// changed .proto without "just proto" fails here.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	out := t.TempDir()
	for _, generator := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := exec.Command("go", "tool", "-n", generator).Run(); err != nil {
			t.Skipf("%s, pinned in go.mod, cannot be had here: %v", generator, err)
		}
	}
	if err := run(t.Context(), root, out); err != nil {
		t.Fatal(err)
	}
	generated := 0
	err := filepath.WalkDir(out, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(out, path)
		if err != nil {
			return err
		}
		fresh, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		committed, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if !bytes.Equal(fresh, committed) {
			t.Errorf("%s is not what its .proto gives: run \"just proto\"", name)
		}
		generated++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := 4; generated != want {
		t.Errorf("%d files generated, want %d", generated, want)
	}
}
