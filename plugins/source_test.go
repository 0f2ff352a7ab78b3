package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/plugins"
)

// A path that is not a plugin is refused with what a plugin is.
func TestAtRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "notes")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		if _, err := plugins.At(path); err == nil || !strings.Contains(err.Error(), path+`" is neither an executable, nor a file of Go, nor a folder with plugin.yaml`) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
