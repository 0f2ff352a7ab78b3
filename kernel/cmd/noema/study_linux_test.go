package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
)

// TestVerifyWithoutNetwork verifies a pack, with a method of its own, for a user without a
// store and where no socket leads anywhere.
func TestVerifyWithoutNetwork(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	if err := offline(exec.Command("true")).Run(); err != nil {
		t.Skipf("no right to take the network away from a process: %v", err)
	}
	author := newCLI(t)
	author.run(0, "plugin", "new", "my_method.go")
	root := rootOf(author.run(0, "compare", "--task", "arithmetic", "--methods", "direct,my_method.go", "--limit", "2").stdout)
	author.run(0, "pack", "last", "-o", "study.noema")
	reader := newCLI(t)
	r := reader.start(offline(reader.command("pack", "verify", filepath.Join(author.dir, "study.noema"))))()
	if r.code != 0 {
		t.Fatalf("exit code %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
	want(t, r.stdout, "every trial computed again gives the root hash "+root[:12], "verified")
	if _, err := os.Stat(reader.home); err == nil {
		t.Error("verify made a store of the reader")
	}
}

// endWhen sends a signal to a command as soon as a file of the pattern is there.
func (c *cli) endWhen(pattern string, sig syscall.Signal, cmd *exec.Cmd) result {
	c.t.Helper()
	wait := c.start(cmd)
	tick, late := time.NewTicker(time.Millisecond), time.After(2*time.Minute)
	defer tick.Stop()
	for {
		if found, err := filepath.Glob(pattern); err != nil || len(found) > 0 {
			_ = cmd.Process.Signal(sig) // it may have ended by itself
			return wait()
		}
		select {
		case <-tick.C:
		case <-late:
			_ = cmd.Process.Kill()
			c.t.Fatalf("no file %s: %s", pattern, wait().stderr)
		}
	}
}

// TestKilledPackAndImport kills a pack, an import and a verification in the middle.
func TestKilledPackAndImport(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	c := newCLI(t)
	root := rootOf(c.run(0, "compare", "--task", "cafes", "--methods", "direct,anot", "--limit", "20", "--epochs", "3").stdout)
	part := filepath.Join(c.dir, ".pack-study.noema")
	c.endWhen(part, syscall.SIGKILL, c.command("pack", "last", "-o", "study.noema"))
	if err := os.WriteFile(part, []byte("what a killed pack leaves"), 0o600); err != nil { // also if it was too fast
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(c.dir, "study.noema"))
	c.run(0, "pack", "last", "-o", "study.noema")
	if left, err := filepath.Glob(filepath.Join(c.dir, ".pack-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %s (%v)", left, err)
	}

	other := c.at(filepath.Join(c.dir, "other"))
	other.endWhen(filepath.Join(other.home, "store", "*"), syscall.SIGKILL, other.command("cache", "import", "study.noema"))
	other.run(0, "cache", "import", "study.noema")
	if got := rootOf(other.run(0, "replay", "last").stdout); got != root {
		t.Errorf("root %s of what was imported, want %s", got, root)
	}
	want(t, other.run(0, "cache", "verify").stdout, " 0 damaged")

	temp := t.TempDir()
	cmd := c.command("pack", "verify", "study.noema")
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	r := c.endWhen(filepath.Join(temp, "noema-verify-*", "store"), syscall.SIGINT, cmd)
	if left, err := filepath.Glob(filepath.Join(temp, "noema-*")); err != nil || len(left) > 0 || r.code == 0 || strings.Contains(r.stdout, "verified") {
		t.Errorf("exit code %d, left %s (%v):\n%s%s", r.code, left, err, r.stdout, r.stderr)
	}
}

// TestRebuild builds the program of a packed plugin again, from right and from other source.
func TestRebuild(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go toolchain")
	}
	c := newCLI(t, "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	c.run(0, "plugin", "new", "my-method", "--source", checkout, "--dir", ".")
	main := filepath.Join("my-method", "main.go")
	source, err := os.ReadFile(filepath.Join(c.dir, main))
	if err != nil {
		t.Fatal(err)
	}
	packed := func(text []byte, file string) string {
		c.write(main, string(text))
		root := rootOf(c.run(0, "compare", "--task", "arithmetic", "--methods", "./my-method", "--limit", "2").stdout)
		c.run(0, "pack", "last", "-o", file)
		return root
	}
	c.run(0, "plugin", "build", "./my-method")
	root := packed(source, "same.noema")
	want(t, c.run(0, "pack", "verify", "same.noema", "--rebuild", "--source", checkout).stdout, "is built again from its source, byte by byte", "gives the root hash "+root[:12])
	packed(append(bytes.Clone(source), "\n// Seen is new.\nvar Seen = map[string]int{}\n\nfunc init() { Seen[\"x\"]++ }\n"...), "more.noema")
	want(t, c.run(0, "pack", "verify", "more.noema", "--rebuild", "--source", checkout).stdout, "from another version of noema or of the source", "every trial computed again gives")
	packed(bytes.Replace(source, []byte("Think step by step"), []byte("Guess"), 1), "other.noema")
	r := c.run(exitDiverged, "pack", "verify", "other.noema", "--rebuild", "--source", checkout)
	want(t, r.stdout, "WRONG", "my-method/")
}

// TestEffortsAreADial: with --effort, a curve shows at each budget what the effort that it pays
// for is worth.
func TestEffortsAreADial(t *testing.T) {
	t.Parallel()
	answer := simulated(t)
	server := providertest.New(providertest.Config{Answer: func(a providertest.Ask) providertest.Answer {
		out := answer(a)
		if a.Body["reasoning_effort"] == "high" {
			out.Text = strings.Repeat("hm ", 300) + out.Text
		}
		return out
	}})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	r := c.run(0, "compare", "--task", "cafes", "--model", "openai/tiny", "--effort", "low,high", "--methods", "direct,cot", "--limit", "4", "--curve", "tokens")
	want(t, r.stdout, "the largest setting of an option or effort", " effort=low", " effort=high", "study of 1 task with 2 models")
}
