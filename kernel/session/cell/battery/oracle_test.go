package battery

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mark begins a snippet's part of the compiled program's output.
const mark = "\x01snippet "

// runner is the compiled program's own text before its list of snippets.
const runner = `// Command battery runs every snippet in a row.
package main

import "fmt"

func run(name string, f func()) {
	fmt.Print(%q, name, "\n")
	defer func() {
		if r := recover(); r != nil {
			fmt.Printf("panic: %%v\n", r)
		}
	}()
	f()
}

`

// compile builds one program of all snippets that Go compiles, each in a
// package of its own, runs it, and returns what each printed. The packages'
// paths and texts are the same at every run, so that the toolchain's cache
// makes all but the first build quick.
func compile(t testing.TB, snippets []*snippet) map[string]string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool here: the battery has nothing to compare with")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module battery\n\ngo 1.26\n")
	var imports, calls strings.Builder
	for _, s := range snippets {
		if s.refusal() != "" {
			continue
		}
		write(t, filepath.Join(dir, s.id(), "snippet.go"), s.program(s.id()))
		fmt.Fprintf(&imports, "import %q\n", "battery/"+s.id())
		fmt.Fprintf(&calls, "\trun(%q, %s.Run)\n", s.id(), s.id())
	}
	head := strings.Replace(fmt.Sprintf(runner, mark), "import \"fmt\"\n", "import \"fmt\"\n"+imports.String(), 1)
	write(t, filepath.Join(dir, "main.go"), head+"func main() {\n"+calls.String()+"}\n")

	return outputs(buildAndRun(t, dir))
}

// buildAndRun is what the program in a folder prints.
func buildAndRun(t testing.TB, dir string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", "all", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GO111MODULE=on")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the snippets: %v\n%s", err, out)
	}
	run := exec.CommandContext(ctx, filepath.Join(dir, "all"))
	run.Dir = dir
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("running the compiled snippets: %v", err)
	}
	return string(out)
}

// outputs cuts the compiled program's output at its marks.
func outputs(all string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(all, mark)[1:] {
		id, text, _ := strings.Cut(part, "\n")
		out[id] = text
	}
	return out
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
