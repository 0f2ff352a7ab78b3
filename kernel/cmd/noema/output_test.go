package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestLostOutputIsAnError(t *testing.T) {
	t.Setenv("NOEMA_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	for _, line := range []string{
		"version", "help", "compare --help", "task list", "task show cafes --task-option n=5", "model list", "plugin list", "schema experiment",
		"runs list", "runs list --json", "cache stats",
		"compare --task cafes --methods direct --limit 2", "runs show last", "runs show last --json", "runs export last", "replay last",
	} {
		args := strings.Fields(line)
		var stderr strings.Builder
		if code := run(t.Context(), &signals{}, nil, args, full{}, &stderr); code != exitError || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("noema %s: exit code %d, want %d: %s", line, code, exitError, stderr.String())
		}
	}
	if code := run(t.Context(), &signals{}, nil, []string{"runs", "list"}, io.Discard, io.Discard); code != 0 {
		t.Errorf("with its output the exit code is %d", code)
	}
}
