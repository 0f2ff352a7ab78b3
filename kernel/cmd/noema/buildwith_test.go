package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBuildWith builds a noema with a module from the proxy and one in a folder,
// and imports both. It takes half a minute and the network.
func TestBuildWith(t *testing.T) {
	if os.Getenv("NOEMA_BENCH") == "" {
		t.Skip("NOEMA_BENCH is not set")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/local\n\ngo 1.26\n",
		"tool/tool.go": "package tool\n\nimport \"unsafe\"\n\n// Doer does.\ntype Doer interface{ Do(n int) string }\n\nfunc Size() uintptr { return unsafe.Sizeof(1) }\n\nfunc Call(d Doer) string { return d.Do(3) }\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, begun := builder{binary: filepath.Join(dir, "my-noema"), out: t.Output()}, time.Now()
	if err := b.build(t.Context(), []string{"gonum.org/v1/gonum@v0.17.0", "example.com/local=" + dir}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(b.binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("built %.1f MB in %.1f s", float64(info.Size())/1e6, time.Since(begun).Seconds())
	cmd := exec.CommandContext(t.Context(), b.binary, "repl")
	cmd.Env = append(os.Environ(), "NOEMA_HOME="+filepath.Join(dir, "home"))
	cmd.Stdin = strings.NewReader(`import "gonum.org/v1/gonum/mat"
mat.Det(mat.NewDense(2, 2, []float64{1, 2, 3, 4}))
import "example.com/local/tool"
type doer struct{}; func (doer) Do(n int) string { return fmt.Sprint("did ", n) }
tool.Call(doer{})
tool.Size()
`)
	out, err := cmd.CombinedOutput()
	if want := "-2\ndid 3\n8\n"; err != nil || string(out) != want {
		t.Errorf("the cells give %v and print\n%s, want\n%s", err, out, want)
	}
}

// TestBuildWithFaults asks for modules that cannot be compiled in.
func TestBuildWithFaults(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/local\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for with, want := range map[string]string{
		"":                                     "name a module to compile in",
		"example.com/local=" + dir + "/absent": "no such file",
		"example.com/other=" + dir:             "write --with example.com/local=FOLDER",
		"example.com/local=" + dir:             "has no packages that cells could import",
	} {
		b := builder{binary: filepath.Join(dir, "my-noema"), out: t.Output()}
		var all []string
		if with != "" {
			all = []string{with}
		}
		if err := b.build(t.Context(), all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--with %s: error %v, want %q in it", with, err, want)
		}
	}
	t.Setenv("PATH", dir)
	b := builder{binary: filepath.Join(dir, "my-noema"), out: t.Output()}
	if err := b.build(t.Context(), []string{"example.com/local=" + dir}); err == nil || !strings.Contains(err.Error(), "needs the Go toolchain") {
		t.Errorf("without the toolchain: error %v", err)
	}
}
