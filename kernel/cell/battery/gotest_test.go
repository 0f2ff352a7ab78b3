package battery

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"noema/kernel/cell"
)

// goCounts are the outcomes of the toolchain's programs, on the toolchain of go.mod
// and a busy machine.
var goCounts = map[string]struct{ right, refused, slow, differ int }{
	"ssa": {838, 49, 22, 6}, "yaegi": {424, 478, 13, 0},
}

// differs are programs that a session does not run as they say, each with why.
var differs = map[string]string{
	"/closure.go":               "counts allocations, which are the engine's too",
	"/peano.go":                 "nests calls deeper than 100,000",
	"/fixedbugs/issue21808.go":  "at times: the two streams are not one",
	"/fixedbugs/issue30116u.go": "the words of a panic with an index beyond the greatest int",
	"/fixedbugs/issue72844.go":  "go/ssa dereferences the nil pointer in: for range *p",
	"/fixedbugs/issue73476.go":  "as issue72844.go",
	"/fixedbugs/issue77779.go":  "what reflection takes out of a value has no methods of cells",
	"/typeparam/issue48318.go":  "encoding/xml does not see the name of a generic type",
}

// closed are packages that cells do not have.
var closed = regexp.MustCompile(`"(unsafe|os/exec|syscall|syscall/js|runtime/cgo|C)"`)

// TestGoPrograms runs the programs by which the Go toolchain tests itself, as
// scripts: each must end without an error, and print what the file beside it
// says, be refused, or be among those that differ. It takes minutes:
//
//	NOEMA_BENCH=1 go test ./kernel/cell/battery -run GoPrograms -v -timeout 30m
func TestGoPrograms(t *testing.T) {
	if os.Getenv("NOEMA_BENCH") == "" {
		t.Skip("takes minutes: set NOEMA_BENCH=1")
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no go tool here: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "test")
	var files []string
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		must(t, err)
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skipf("no Go programs in %s: this distribution of Go has none", root)
	}
	for _, engine := range cell.Engines() {
		t.Run(engine, func(t *testing.T) { goPrograms(t, engine, root, files) })
	}
}

// goPrograms runs the programs with one engine.
func goPrograms(t *testing.T, engine, root string, files []string) {
	count := map[string]int{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		must(t, err)
		text := string(raw)
		if !strings.HasPrefix(text, "// run\n") || !strings.Contains(text, "\npackage main") || closed.MatchString(text) {
			continue
		}
		err = goProgram(t, engine, file)
		outcome, name := "wrong", strings.TrimPrefix(file, root)
		var fault *cell.Error
		switch {
		case err == nil:
			outcome = "right"
		case errors.As(err, &fault) && (fault.Kind == "unsupported" || fault.Kind == "type error"):
			outcome = "refused"
		case errors.As(err, &fault) && fault.Kind == "interrupted":
			outcome = "slow"
		}
		if why := differs[name]; outcome == "wrong" && engine == "ssa" && why != "" {
			outcome = "different"
		}
		count[outcome]++
		switch outcome {
		case "right":
		case "wrong":
			t.Errorf("%s goes wrong: %v", name, err)
		default:
			t.Logf("%s %s: %.150v", outcome, name, err)
		}
	}
	t.Logf("%s: %v", engine, count)
	if right := count["right"]; right < goCounts[engine].right-10 { // some are about as slow as the limit
		t.Errorf("%d programs run as they say, want about %d", right, goCounts[engine].right)
	}
}

// goProgram runs one in a session of its own.
func goProgram(t *testing.T, engine, file string) error {
	t.Helper()
	session, err := cell.New(cell.Options{Args: []string{file}, Engine: engine})
	must(t, err)
	defer func() { go session.Close() }() // which may wait for a goroutine that never ends
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out := both{&recorder{}}
	if err := session.RunFile(ctx, file, out); err != nil {
		return err
	}
	want, err := os.ReadFile(strings.TrimSuffix(file, ".go") + ".out")
	if err == nil && string(want) != out.text() {
		return errors.New("prints something else")
	}
	return nil
}

// both records the two streams as one.
type both struct{ *recorder }

func (b both) Stream(_ string, text []byte) { b.recorder.Stream("stdout", text) }
