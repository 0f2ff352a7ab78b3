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

// leastGo is how many of the toolchain's programs must run as they say, on the
// toolchain of go.mod.
const leastGo = 815

// closed are packages that cells do not have.
var closed = regexp.MustCompile(`"(unsafe|os/exec|syscall|syscall/js|runtime/cgo|C)"`)

// TestGoPrograms runs the programs by which the Go toolchain tests itself, as
// scripts: each must end without an error, and print what the file beside it
// says. Those that look at the compiled code itself (lines of the stack,
// allocations, finalizers, methods by reflection) cannot. It takes minutes:
//
//	NOEMA_GO_PROGRAMS=1 go test ./kernel/cell/battery -run GoPrograms -v -timeout 30m
func TestGoPrograms(t *testing.T) {
	if os.Getenv("NOEMA_GO_PROGRAMS") == "" {
		t.Skip("takes minutes: set NOEMA_GO_PROGRAMS=1")
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
	passed, tried := 0, 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		must(t, err)
		text := string(raw)
		if !strings.HasPrefix(text, "// run\n") || !strings.Contains(text, "\npackage main") || closed.MatchString(text) {
			continue
		}
		tried++
		if err := goProgram(t, file); err != nil {
			name, _ := filepath.Rel(root, file) // it is below root
			t.Logf("%s: %.150v", name, err)
			continue
		}
		passed++
	}
	t.Logf("%d of %d programs run as they say", passed, tried)
	if passed < leastGo {
		t.Errorf("%d of %d programs run as they say, want at least %d", passed, tried, leastGo)
	}
}

// goProgram runs one in a session of its own.
func goProgram(t *testing.T, file string) error {
	t.Helper()
	session, err := cell.New(cell.Options{Args: []string{file}})
	must(t, err)
	defer session.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
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
