package plugindev

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/lab"
	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
	sdk "noema/plugins/python"
)

// TestNewGo makes a plugin, builds it, runs its own test and holds it to what
// the kernel relies on.
func TestNewGo(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a plugin")
	}
	dir, err := New(Options{Name: "my-vote", Language: "go", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	built(t, dir)
	cmd := exec.CommandContext(t.Context(), "go", "test", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("its own test: %v\n%s", err, out)
	}
	sound(t, dir)
}

// TestNewFile makes a method in one file, and shows that it does the same
// compiled; and that one that does not is told.
func TestNewFile(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a method")
	}
	file := filepath.Join(t.TempDir(), "my_vote.go")
	if err := NewFile(file); err != nil {
		t.Fatal(err)
	}
	if err := NewFile(file); !lab.IsMisuse(err) {
		t.Errorf("a file is written over: %v", err)
	}
	sound(t, file)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.NewReplacer(`p.Query + "`, `p.Query + filepath.Ext(os.Args[0]) + "`, `"fmt"`, `"fmt"; "os"; "path/filepath"`).Replace(string(raw))
	if err := os.WriteFile(file, []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	report := checked(t, file)
	if report.Failed() != 1 || !strings.Contains(report.String(), "FAIL  compiled    number: ") {
		t.Errorf("a method that compiled does something else:\n%s", report)
	}
	var out bytes.Buffer
	if err := BuildFile(t.Context(), file, filepath.Join(t.TempDir(), "x"), t.TempDir(), &out); !lab.IsMisuse(err) {
		t.Errorf("built without noema's source: %v", err)
	}
}

// TestNewPython does the same where a Python with grpcio is.
func TestNewPython(t *testing.T) {
	python := os.Getenv("NOEMA_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import grpc, google.protobuf").CombinedOutput(); err != nil {
		t.Skipf("%s lacks grpcio: pip install grpcio protobuf, or set NOEMA_TEST_PYTHON\n%s", python, out)
	}
	dir, err := New(Options{Name: "my-vote", Language: "python", Dir: t.TempDir(), Python: python})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Build(t.Context(), plugins.Copies{Folder: t.TempDir()}, dir, &out); err == nil && exec.Command(python, "-c", "import noema").Run() != nil || err != nil && !strings.Contains(out.String(), "lacks the package noema: ") {
		t.Errorf("without the SDK: %v\n%s", err, &out)
	}
	install(t, dir)
	built(t, dir)
	sound(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "broken.py"), []byte("def f(:\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := Build(t.Context(), plugins.Copies{Folder: t.TempDir()}, dir, &out); err == nil || !strings.Contains(out.String(), "broken.py") {
		t.Errorf("a file with an error of syntax builds: %v\n%s", err, &out)
	}
}

// helper is a module that says whether Python finds bytecode of it that it can read and that
// is of this source.
const helper = `import importlib.util

def state():
    try:
        with open(__cached__, "rb") as f:
            head = f.read(16)
        with open(__file__, "rb") as f:
            known = importlib.util.source_hash(f.read())
    except OSError as error:
        return str(error)
    checked = (3).to_bytes(4, "little")  # by the text of the source
    return "compiled" if head[4:16] == checked + known else "stale"
`

// compiledMain is a method that answers with what the helper says.
const compiledMain = `import helper
import noema


class Compiled:
    name = "compiled"
    version = "1"
    answers = ("text",)

    def solve(self, problem, host):
        return noema.Answer.text(helper.state())


if __name__ == "__main__":
    noema.serve(Compiled())
`

// TestBytecode: bytecode is in the copy of the code, where an isolated process reads it, and
// neither in the folder nor in the digest.
func TestBytecode(t *testing.T) {
	python := os.Getenv("NOEMA_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import grpc, google.protobuf").CombinedOutput(); err != nil {
		t.Skipf("%s lacks grpcio: pip install grpcio protobuf, or set NOEMA_TEST_PYTHON\n%s", python, out)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"plugin.yaml": "name: compiled\nlanguage: python\ncommand: [" + python + ", main.py]\n", "main.py": compiledMain, "helper.py": helper, "sub/old.py": "print 1\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	install(t, dir)
	src, err := plugins.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := plugins.CodeDigest(src)
	if err != nil {
		t.Fatal(err)
	}
	copies, out := plugins.Copies{Folder: t.TempDir()}, &bytes.Buffer{}
	for range 2 { // a second build changes nothing
		if err := Build(t.Context(), copies, dir, out); err != nil || !strings.Contains(out.String(), "old.py") {
			t.Fatalf("a file that cannot be compiled: %v\n%s", err, out)
		}
	}
	at, err := copies.Snapshot(src, digest)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []plugins.Source{src, at} {
		if now, err := plugins.CodeDigest(s); err != nil || now != digest {
			t.Errorf("the digest of %s is %s, %v", s.Dir, now, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "__pycache__")); err == nil {
		t.Error("the folder itself has bytecode")
	}
	h, err := plugins.NewHost(plugins.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	p, err := h.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Solve(t.Context(), methods.Problem{Query: "q", Answer: methods.AnswerSpec{Kind: methods.Text}}, methodtest.NewHost(nil))
	if text, _ := a.Text(); err != nil || text != "compiled" {
		t.Errorf("a module is %q, %v", text, err)
	}
}

// install unpacks the SDK's wheel into a folder, as pip does.
func install(t *testing.T, dir string) {
	t.Helper()
	_, wheel, err := sdk.Wheel()
	if err != nil {
		t.Fatal(err)
	}
	files, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
}

func built(t *testing.T, dir string) {
	t.Helper()
	var out bytes.Buffer
	if err := Build(t.Context(), plugins.Copies{Folder: t.TempDir()}, dir, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
}

func sound(t *testing.T, dir string) {
	t.Helper()
	if report := checked(t, dir); report.Failed() > 0 {
		t.Errorf("the check says\n%s", report)
	}
}

func checked(t *testing.T, dir string) *Report {
	t.Helper()
	src, err := plugins.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Check(t.Context(), src, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Name: "Big", Language: "go"}, "use lower-case letters"},
		{Options{Name: "../up", Language: "go"}, "use lower-case letters"},
		{Options{Name: "x", Language: "perl"}, "use go or python"},
		{Options{Name: "taken", Language: "go"}, "already exists"},
		{Options{Name: "x", Language: "go", Checkout: dir}, "find noema's source"},
	} {
		c.o.Dir = dir
		if _, err := New(c.o); err == nil || !strings.Contains(err.Error(), c.want) || !lab.IsMisuse(err) {
			t.Errorf("New(%+v) gives %v, want misuse with %q", c.o, err, c.want)
		}
	}
}

// TestBuildKeepsWhatWorks breaks the source of a plugin that was built.
func TestBuildKeepsWhatWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a plugin")
	}
	dir, err := New(Options{Name: "x", Language: "go", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	built(t, dir)
	binary := filepath.Join(dir, "bin", "x")
	before, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.go"), []byte("package main\n\nvar x int = \"a\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Build(t.Context(), plugins.Copies{Folder: t.TempDir()}, dir, &out); err == nil || !strings.Contains(out.String(), "broken.go:3") {
		t.Errorf("what does not compile builds: %v\n%s", err, &out)
	}
	after, err := os.Stat(binary)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the binary that worked is gone: %v", err)
	}
}

const script = `package main

import (
	"context"
	"strings"

	. "noema/kernel/lab"
	"noema/kernel/session/builtin"
)

// suffix ends prompts.
const suffix = "!"

type asker struct{ n int }

func (a asker) ask(q string) string { return strings.Repeat(q, a.n) + suffix }

func unused() string { return "unused" }

// Shout asks loudly.
func Shout(ctx context.Context, p Problem, h Host) (Answer, error) {
	text, err := Reply(ctx, h, "a", asker{2}.ask(p.Query))
	return TextAnswer(text), err
}

func main() {
	lab := builtin.Open()
	if err := lab.AddMethod("shout@2", Shout, Text); err != nil {
		panic(err)
	}
}
`

func TestPromoteTakesWhatIsNeeded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script.go")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Promote(file, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(p.Dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]bool{
		"// Shout asks loudly.": true, "func (a asker) ask": true, "const suffix": true, "import \"strings\"": true,
		"unused": false, "builtin": false, "lab.AddMethod": false,
	} {
		if strings.Contains(string(raw), part) != want {
			t.Errorf("main.go has %q: %v, want %v\n%s", part, !want, want, raw)
		}
	}
	if serve, err := os.ReadFile(filepath.Join(p.Dir, "serve.go")); err != nil || !strings.Contains(string(serve), `Version: "2"`) {
		t.Errorf("serve.go lacks the version: %v\n%s", err, serve)
	}
	if p.Name != "shout@2" || p.Function != "Shout" || p.Kinds != "Text" {
		t.Errorf("promoted %+v", p)
	}
}

func TestPromoteRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":  {"package main\nfunc main() {}\n", "no method found"},
		"syntax":   {"package main\nfunc (\n", "expected"},
		"literal":  {"package main\nfunc main() { lab.AddMethod(\"x\", func() {}, Text) }\n", "no method found"},
		"foreign":  {"package main\nfunc main() { lab.AddMethod(\"x\", F, Text) }\n", "the file declares no function F"},
		"several":  {"package main\nfunc F() {}\nfunc main() { lab.AddMethod(\"x\", F, Text); lab.AddMethod(\"y\", F, Text) }\n", "adds several methods"},
		"notebook": {"{", "is not JSON"},
	} {
		file := filepath.Join(t.TempDir(), "script.go")
		if name == "notebook" {
			file = strings.TrimSuffix(file, ".go") + ".ipynb"
		}
		if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Promote(file, Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: gives %v, want %q", name, err, c.want)
		}
	}
}

// TestNotebookAsScript makes a script of the tutorial's notebook.
func TestNotebookAsScript(t *testing.T) {
	p, err := Promote("../../../experiments/write-a-method/notebook.ipynb", Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if p.Function != "Vote" || !strings.Contains(p.Declarations, "func Vote(") {
		t.Errorf("promoted %+v", p)
	}
}
