package battery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"noema/kernel/session/cell"
)

// suite is a collection of programs that others wrote.
type suite struct {
	root  string
	files []string
	// want is what a program prints, and whether it ends with an error. The program
	// is left out if not ok.
	want    func(t *testing.T, file string) (output string, fails, ok bool)
	counts  map[string]counts // as measured, by engine
	differs map[string]string // programs that sessions do not run as they say, each with why
}

// counts are the outcomes of a suite on a busy machine.
type counts struct{ right, refused, slow, differ int }

// goCounts are those of the toolchain's programs, on the toolchain of go.mod.
var goCounts = map[string]counts{"ssa": {838, 49, 22, 6}, "yaegi": {510, 392, 13, 0}}

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
//	NOEMA_BENCH=1 go test ./kernel/session/cell/battery -run GoPrograms -v -timeout 30m
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
	suite{root, files, goWant, goCounts, differs}.test(t)
}

// goWant is what the file beside a program of the toolchain says.
func goWant(t *testing.T, file string) (output string, fails, ok bool) {
	raw, err := os.ReadFile(file)
	must(t, err)
	text := string(raw)
	if !strings.HasPrefix(text, "// run\n") || !strings.Contains(text, "\npackage main") || closed.MatchString(text) {
		return "", false, false
	}
	want, err := os.ReadFile(strings.TrimSuffix(file, ".go") + ".out")
	if err != nil {
		return anything, false, true
	}
	return string(want), false, true
}

// anything is the output of programs that check themselves.
const anything = "\x00"

// test runs the programs with each engine.
func (s suite) test(t *testing.T) {
	for _, engine := range cell.Engines() {
		t.Run(engine, func(t *testing.T) { s.with(t, engine) })
	}
}

// with runs the programs with one engine: each must do as it says, be refused, or be
// among those that differ.
func (s suite) with(t *testing.T, engine string) {
	count := map[string]int{}
	for _, file := range s.files {
		want, fails, ok := s.want(t, file)
		if !ok {
			continue
		}
		outcome, err := goProgram(t, engine, file, want, fails)
		name := strings.TrimPrefix(file, s.root)
		if why := s.differs[name]; outcome == "wrong" && why != "" {
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
	if right := count["right"]; right < s.counts[engine].right-10 { // some are about as slow as the limit
		t.Errorf("%d programs run as they say, want about %d", right, s.counts[engine].right)
	}
}

// goProgram runs one in a session of its own.
func goProgram(t *testing.T, engine, file, want string, fails bool) (outcome string, err error) {
	t.Helper()
	session, err := cell.New(cell.Options{Args: []string{file}, Engine: engine})
	must(t, err)
	defer func() { go session.Close() }() // which may wait for a goroutine that never ends
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out := both{&recorder{}}
	err = session.RunFile(ctx, file, out)
	var fault *cell.Error
	switch is := errors.As(err, &fault); {
	case is && fault.Kind == "interrupted":
		return "slow", err
	case fails && err != nil:
		return "right", nil
	case is && (fault.Kind == "unsupported" || fault.Kind == "type error"):
		return "refused", err
	case err != nil:
		return "wrong", err
	case fails:
		return "wrong", errors.New("ends without an error")
	case want != anything && !sameText(out.text(), want):
		return "wrong", fmt.Errorf("prints\n%.2000s\nwant\n%.2000s", out.text(), want)
	}
	return "right", nil
}

// sameText reports whether a program printed what it should. Its two streams are not
// one: lines may come in another order.
func sameText(got, want string) bool {
	lines := func(text string) []string { return slices.Sorted(strings.Lines(strings.TrimSpace(text) + "\n")) }
	return slices.Equal(lines(got), lines(want))
}

// both records the two streams as one.
type both struct{ *recorder }

func (b both) Stream(_ string, text []byte) { b.recorder.Stream("stdout", text) }
