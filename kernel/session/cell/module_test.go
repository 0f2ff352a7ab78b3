package cell

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// moduleFolder holds the files of testdata/module.txtar.
func moduleFolder(t testing.TB) string {
	t.Helper()
	files, err := txtar.ParseFile("testdata/module.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := txtar.Write(files, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestModuleCells imports packages of a module in cells, in the order of a session.
func TestModuleCells(t *testing.T) {
	dir := moduleFolder(t)
	s := newSession(t, func(o *Options) { o.Dir = filepath.Join(dir, "stats") })
	for _, tt := range []struct{ text, want string }{
		{`import "example.com/study/stats"`, "init 3 true\n"},
		{"s := stats.Sample{Name: \"n\"}\ns.Add(3, 1, 2)\nfmt.Println(s, stats.Calls)", "<n [3 1 2]> 101\n"},
		{"m, err := s.Median()\nfmt.Println(m, err)", "2 <nil>\n"},
		{"import \"example.com/study/stats/internal/deep\"\nfmt.Println(deep.Ready)", "true\n"},
		{"type named struct{ stats.Sample; n int }\nfmt.Println(named{s, 1}, fmt.Stringer(s))", "<n [3 1 2]> <n [3 1 2]>\n"},
		{"import \"example.com/study/gen\"\nvar k gen.Stack[stats.Sample]\nk.Push(s)\nfmt.Println(k.Len(), gen.Sum([]float64{1, .5}))", "1 1.5\n"},
		{"import \"example.com/other\"\nfor _, f := range other.Funcs() { fmt.Print(f(), \" \") }", "3 3 3 "},
		{"import \"example.org/kept\"\nfmt.Println(kept.Word)", "vendored\n"},
		{"for _, f := range kept.Funcs() { fmt.Print(f(), \" \") }", "3 3 3 "},
	} {
		if got := run(t, s, tt.text); got != tt.want {
			t.Errorf("%s\nprints %q, want %q", tt.text, got, tt.want)
		}
	}
	e := fails(t, s, "stats.Boom()", "panic", "stats.go, line 47: assignment to entry in nil map")
	if len(e.Trace) != 2 || !strings.HasPrefix(e.Trace[1], "cell ") {
		t.Errorf("the trace is %q", e.Trace)
	}
	if c := s.Complete("stats.S", 7); len(c.Items) != 2 || c.Items[0].Text != "Sample" {
		t.Errorf("completes %v", c)
	}
	yaegi := newSession(t, func(o *Options) { o.Dir, o.Engine = dir, "yaegi" })
	fails(t, yaegi, "import \"example.com/study/gen\"\ngen.Sum([]int{1})", "unsupported", "comes from source")
}

// TestModuleFaults imports packages that do not build, each in the same session.
func TestModuleFaults(t *testing.T) {
	s := newSession(t, func(o *Options) { o.Dir = moduleFolder(t) })
	for _, tt := range []struct{ path, want string }{
		{"bad/types", "bad/types/a.go:4:15: undefined: nope"},
		{"bad/syntax", "bad/syntax/a.go:3:9: "},
		{"bad/cycle", "import cycle not allowed: example.com/study/bad/cycle imports example.com/study/bad/back imports example.com/study/bad/cycle"},
		{"bad/cgo", `bad/cgo/a.go:3:8: import "C" is not available in cells: noema build --with example.com/study=. -o my-noema`},
		{"bad/unsafe", `bad/unsafe/a.go:3:8: import "unsafe" is not available`},
		{"bad/embed", "bad/embed/a.go:5:12: //go:embed is not available"},
		{"bad/assembler", "bad/assembler/a.s:1:1: assembler is not available"},
		{"bad/linked", "bad/linked/a.go:3:1: function F has no body"},
		{"bad/program", "bad/program: package main is a program"},
		{"bad/two", "bad/two: files of the packages one and two are in one folder"},
		{"bad/none", "bad/none: no Go files that this platform builds"},
		{"bad/closed", `bad/closed/a.go:3:8: package "syscall" is not available in cells: use package os`},
		{"bad/guest", "bad/guest/a.go:3:8: use of internal package example.com/other/internal/x not allowed"},
		{"stats/internal/deep", "use of internal package"},
		{"nowhere", "is not in the module: there is no folder"},
	} {
		fails(t, s, "import \"example.com/study/"+tt.path+"\"", "type error", tt.want)
	}
	fails(t, s, "import \"example.com/study/bad/panics\"\npanics.X", "panic", "bad/panics/a.go, line 3: runtime error: index out of range [3]")
	fails(t, s, `import _ "embed"`, "type error", "read the file with os.ReadFile")
	fails(t, s, `import "gonum.org/v1/gonum/mat"`, "type error", "noema build --with gonum.org/v1/gonum@v0.17.0 -o my-noema makes one that has it")
	fails(t, s, `import "github.com/nobody/none"`, "type error", "noema build --with github.com/nobody/none@latest -o my-noema")
	if got := value(t, s, "import \"example.com/study/gen\"\ngen.Sum([]int{1, 2})"); got != "3" {
		t.Errorf("after the faults, the sum is %s", got)
	}
}

// TestModuleScript runs a script in a session and with the Go toolchain.
func TestModuleScript(t *testing.T) {
	dir := moduleFolder(t)
	for _, name := range []string{"bad", "vendor"} { // the toolchain wants a list of what is vendored
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	var out recorder
	if err := newSession(t).RunFile(t.Context(), filepath.Join(dir, "main.go"), &out); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", "main.go")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	want, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go run: %v\n%s", err, want)
	}
	if got := out.stdout(); !bytes.Equal([]byte(got), want) {
		t.Errorf("prints\n%s, with the toolchain\n%s", got, want)
	}
}

// TestModuleChanges changes a package that a session has read.
func TestModuleChanges(t *testing.T) {
	dir := moduleFolder(t)
	s := newSession(t, func(o *Options) { o.Dir = dir })
	const cell = "import \"example.org/kept\"\nfmt.Println(kept.Word)"
	run(t, s, cell)
	name := filepath.Join(dir, "vendor/example.org/kept/kept.go")
	if err := os.WriteFile(name, []byte("package kept\n\nconst Word = \"changed\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var out recorder
	if _, err := s.Run(t.Context(), cell, &out); err != nil || out.stdout() != "vendored\n" || !strings.Contains(out.stderr(), "has changed on disk") {
		t.Errorf("gives %v, prints %q and %q", err, out.stdout(), out.stderr())
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	if got := run(t, s, cell); got != "changed\n" {
		t.Errorf("after a reset prints %q", got)
	}
}

// TestAddedImports uses packages of the standard library that no cell imports.
func TestAddedImports(t *testing.T) {
	for _, engine := range Engines() {
		s := newSession(t, func(o *Options) { o.Engine = engine })
		for _, tt := range []struct{ text, want, told string }{
			{"fmt.Println(strings.ToUpper(\"a\"), math.Pi > 3)", "A true\n", "import \"math\"\nimport \"strings\"\n"},
			{"fmt.Println(strings.ToLower(\"A\"))", "a\n", ""},
			{"func f() int { return len(os.Args) }\nfmt.Println(f() >= 0)", "true\n", "import \"os\"\n"},
			{"path := \"x\"\nfmt.Println(path)", "x\n", ""},
		} {
			var out recorder
			if _, err := s.Run(t.Context(), tt.text, &out); err != nil || out.stdout() != tt.want || out.stderr() != tt.told {
				t.Errorf("%s: %s\ngives %v, prints %q and %q", engine, tt.text, err, out.stdout(), out.stderr())
			}
		}
		e := fails(t, s, "rand.Intn(3)", "type error", "undefined: rand")
		if want := `add the one you mean: import "crypto/rand" or import "math/rand" or import "math/rand/v2"`; e.Faults[0].Hint != want {
			t.Errorf("%s: the hint is %q", engine, e.Faults[0].Hint)
		}
		fails(t, s, "nobody.Knows()", "type error", "undefined: nobody")
		fails(t, s, "list.Sort()", "type error", "undefined: list")
	}
	script := filepath.Join(t.TempDir(), "script.go")
	if err := os.WriteFile(script, []byte("package main\n\nfunc main() { println(strings.ToUpper(\"a\")) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := newSession(t).RunFile(t.Context(), script, &recorder{}); !errors.As(err, &e) || e.Faults[0].Hint != `add import "strings"` {
		t.Errorf("the script gives %v", err)
	}
}
