package battery

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestYaegiPrograms runs the programs by which the interpreter yaegi tests itself,
// from the module cache. Each ends with a comment that says what it prints, or that
// it is an error. It takes minutes: NOEMA_BENCH=1.
func TestYaegiPrograms(t *testing.T) {
	if os.Getenv("NOEMA_BENCH") == "" {
		t.Skip("takes minutes: set NOEMA_BENCH=1")
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/traefik/yaegi").Output()
	root := filepath.Join(strings.TrimSpace(string(dir)), "_test")
	files, _ := filepath.Glob(filepath.Join(root, "*.go"))
	if err != nil || len(files) == 0 {
		t.Skipf("no programs of yaegi in the module cache (%v): run go mod download github.com/traefik/yaegi", err)
	}
	suite{root, files, yaegiWant, yaegiCounts, yaegiDiffers}.test(t)
}

// yaegiCounts are the outcomes of yaegi's programs.
var yaegiCounts = map[string]counts{"ssa": {835, 88, 0, 0}, "yaegi": {760, 137, 0, 6}}

// yaegiDiffers are those that sessions do not run as they say.
var yaegiDiffers = map[string]string{
	"/closure9.go":    "its loops have one variable, as before Go 1.22",
	"/closure10.go":   "as closure9.go",
	"/closure11.go":   "as closure9.go",
	"/closure12.go":   "as closure9.go",
	"/import4.go":     "a random number",
	"/method16.go":    "shows the name that yaegi gives an unexported field",
	"/restricted0.go": "ends by os.Exit, which yaegi restricts",
	"/restricted1.go": "as restricted0.go",
	"/tag0.go":        "needs a build tag",
	"/type5.go":       "shows a limit of yaegi; compiled, it prints what ssa prints",
	"/type6.go":       "as type5.go",
	"/type24.go":      "shows the positions that yaegi adds to an error",
}

// yaegiWant is what the last comment of a program of yaegi says.
func yaegiWant(t *testing.T, file string) (output string, fails, ok bool) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || len(f.Comments) == 0 {
		return "", true, err != nil
	}
	text := f.Comments[len(f.Comments)-1].Text()
	if output, ok := strings.CutPrefix(text, "Output:\n"); ok {
		return output, false, true
	}
	return "", true, strings.HasPrefix(text, "Error:\n")
}

// TestGoByExample runs the programs of gobyexample.com, of which NOEMA_GOBYEXAMPLE
// names a copy (git clone https://github.com/mmcgrana/gobyexample), and compares
// with go run. Those that are not the same from run to run are left out.
func TestGoByExample(t *testing.T) {
	root := os.Getenv("NOEMA_GOBYEXAMPLE")
	if root == "" {
		t.Skip("takes minutes: clone https://github.com/mmcgrana/gobyexample and set NOEMA_GOBYEXAMPLE to the folder")
	}
	files, err := filepath.Glob(filepath.Join(root, "examples", "*", "*.go"))
	must(t, err)
	want := map[string]string{}
	for _, file := range files {
		if first, ok := compiledOutput(t, file); ok {
			if again, ok := compiledOutput(t, file); ok && first == again {
				want[file] = first
			}
		}
	}
	t.Logf("%d of %d files are programs that print the same twice", len(want), len(files))
	suite{root, files, func(_ *testing.T, file string) (string, bool, bool) {
		output, ok := want[file]
		return output, false, ok
	}, exampleCounts, nil}.test(t)
}

// exampleCounts are the outcomes of Go by Example.
var exampleCounts = map[string]counts{}

// compiledOutput is what a compiled program prints to both streams.
func compiledOutput(t *testing.T, file string) (string, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := filepath.Join(t.TempDir(), "program")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, file)
	build.Dir = filepath.Dir(file)
	if build.Run() != nil {
		return "", false
	}
	run, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	out, err := exec.CommandContext(run, program).CombinedOutput()
	return string(out), err == nil
}
