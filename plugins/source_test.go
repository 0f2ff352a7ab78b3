package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// withLimit is a plugin that never answers, with a start_limit.
func withLimit(t *testing.T, limit string) (plugins.Source, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, plugins.ManifestName), []byte("name: slow\ncommand: [sleep, '60']\n"+limit), 0o600); err != nil {
		t.Fatal(err)
	}
	return plugins.At(dir)
}

// TestStartLimit: a manifest's limit is read within its bounds, and refused with what to write.
func TestStartLimit(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "1s": time.Second, "120s": 2 * time.Minute, "10m": 10 * time.Minute, "1m30s": 90 * time.Second} {
		line := "start_limit: " + text + "\n"
		if text == "" {
			line = ""
		}
		if src, err := withLimit(t, line); err != nil || src.StartLimit != want {
			t.Errorf("%q: %v, %v", text, src.StartLimit, err)
		}
	}
	for _, text := range []string{"120", "999ms", "10m1s", "-5s", "1h", "soon", "'1 s'", "9999999999999999h"} {
		if _, err := withLimit(t, "start_limit: "+text+"\n"); err == nil || !strings.Contains(err.Error(), "read manifest ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestStartLimitHolds: it takes the place of the host's, and the error at the limit names it.
func TestStartLimitHolds(t *testing.T) {
	t.Parallel()
	h, err := plugins.NewHost(plugins.HostOptions{StartTimeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for limit, want := range map[string]string{
		"":                  `no handshake after 200ms: if it needs longer to start, write a start_limit in its plugin.yaml, as in start_limit: 120s`,
		"start_limit: 1s\n": `no handshake after 1s: if it needs longer to start, write a start_limit in its plugin.yaml, as in start_limit: 120s`,
	} {
		src, err := withLimit(t, limit)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Open(t.Context(), src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", limit, err, want)
		}
	}
}
