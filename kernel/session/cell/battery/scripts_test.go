package battery

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/session/builtin"
	"noema/kernel/session/cell"
)

// leastScripts is how many scripts of experiments must run both ways.
const leastScripts = 3

// TestMain lets the test's own program serve the built-in methods, which a
// script starts as plugins.
func TestMain(m *testing.M) {
	if builtin.Serve(os.Args[1:]) {
		return
	}
	os.Exit(m.Run())
}

// runID is a run's name, which has its time in it.
var runID = regexp.MustCompile(`\b` + record.RunIDPattern + `\b`)

// times are what a trial took, which has the time of its tools in it.
var times = regexp.MustCompile(`\d+(\.\d+)? m?s\b`)

// steady is a script's output without what differs from one execution to the next.
func steady(output string) string {
	return times.ReplaceAllString(runID.ReplaceAllString(output, "RUN"), "TIME")
}

// TestExperimentScripts runs every script of experiments with "go run" and in a session of
// each engine, each in a store of its own, and demands the same output, which is also the one
// that the experiment's folder has.
func TestExperimentScripts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	root, err := filepath.Abs("../../../..")
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
			if source, err := os.ReadFile(path); err != nil || bytes.Contains(source, []byte(`"local/`)) {
				t.Skipf("it asks a language model, which takes minutes: run it as its README says (%v)", err)
			}
			printed := compiledScript(t, goTool, root, path)
			want := steady(printed)
			for _, engine := range cell.Engines() {
				if got := steady(sessionScript(t, path, engine)); got != want {
					t.Errorf("in a session of engine %s it prints\n%s\nwith go run\n%s", engine, got, want)
				}
			}
			pinned := filepath.Join(filepath.Dir(path), "output.txt")
			if *update {
				must(t, os.WriteFile(pinned, []byte(runID.ReplaceAllString(printed, "RUN")), 0o644))
			}
			text, err := os.ReadFile(pinned)
			must(t, err)
			if steady(string(text)) != want {
				t.Errorf("it prints\n%s\nand %s has\n%s", want, pinned, text)
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
func sessionScript(t *testing.T, path, engine string) string {
	t.Helper()
	home := t.TempDir()
	session, l, err := builtin.NewSession(builtin.SessionOptions{
		Lab: lab.Options{Home: home, Catalog: builtin.Catalog{}}, Args: []string{path}, Script: true, Engine: engine,
	})
	must(t, err)
	defer session.Close()
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out recorder
	if err := session.RunFile(ctx, path, &out); err != nil {
		t.Fatalf("in a session: %v\nafter it printed\n%s", err, out.text())
	}
	return out.text()
}
