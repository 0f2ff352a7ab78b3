package battery

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"noema/kernel/cell"
)

// leastScripts is how many scripts of experiments must run both ways.
const leastScripts = 0

// TestScripts runs every script of experiments with "go run" and in a session,
// each in a store of its own, and demands the same output.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../../..")
	must(t, err)
	paths, err := filepath.Glob(filepath.Join(root, "experiments", "*", "main.go"))
	must(t, err)
	if len(paths) < leastScripts {
		t.Fatalf("experiments holds %d scripts, want at least %d", len(paths), leastScripts)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool here: nothing to compare the scripts with")
	}
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			want := compiledScript(t, goTool, root, path)
			if got := sessionScript(t, path); got != want {
				t.Errorf("in a session it prints\n%s\nwith go run\n%s", got, want)
			}
		})
	}
}

// compiledScript is what a script prints with go run.
func compiledScript(t *testing.T, goTool, root, path string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, goTool, "run", filepath.Dir(path))
	run.Dir = root
	run.Env = append(os.Environ(), "NOEMA_HOME="+t.TempDir())
	var errs bytes.Buffer
	run.Stderr = &errs
	out, err := run.Output()
	if err != nil {
		t.Fatalf("go run: %v\n%s", err, errs.Bytes())
	}
	return string(out)
}

// sessionScript is what it prints in a session.
func sessionScript(t *testing.T, path string) string {
	t.Helper()
	t.Setenv("NOEMA_HOME", t.TempDir())
	session, err := cell.New(cell.Options{Args: []string{path}})
	must(t, err)
	defer session.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out recorder
	if err := session.RunFile(ctx, path, &out); err != nil {
		t.Fatalf("in a session: %v\nafter it printed\n%s", err, out.text())
	}
	return out.text()
}
