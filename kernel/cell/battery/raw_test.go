package battery

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"
)

// rawEnv tells the test binary that it is the process that feeds snippets to
// the bare interpreter, and with which one to start.
const rawEnv = "NOEMA_BATTERY_RAW"

// patience is how long a snippet may take in the bare interpreter. None that
// ends by itself needs a tenth of a second.
const patience = 10 * time.Second

// rawReport is what the process says of one snippet: first that it starts, then
// what it printed.
type rawReport struct {
	Index  int
	Done   bool
	Output string
}

// TestRawChild is the process itself. It writes its reports to file 3.
func TestRawChild(t *testing.T) {
	from, err := strconv.Atoi(os.Getenv(rawEnv))
	if err != nil {
		t.Skip("runs only as a process of TestBattery")
	}
	reports := json.NewEncoder(os.NewFile(3, "reports"))
	for i, s := range all(loadThemes(t)) {
		if i < from || !s.rawWorthy() {
			continue
		}
		must(t, reports.Encode(rawReport{Index: i}))
		out, ended := s.runRaw(t)
		must(t, reports.Encode(rawReport{Index: i, Done: true, Output: out}))
		if !ended {
			return // something still runs: let a fresh process go on
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rawOutputs runs the snippets in the bare interpreter, in processes of their
// own since some bring them down, and returns what those printed that came to
// an end.
func rawOutputs(t testing.TB, snippets []*snippet) map[string]string {
	t.Helper()
	out := map[string]string{}
	for next := 0; next < len(snippets); {
		last := rawProcess(t, next, snippets, out)
		if last < 0 {
			break
		}
		next = last + 1
	}
	return out
}

// rawProcess runs one process from a snippet on. It returns the last one that
// the process started, or -1 if it got to the end.
func rawProcess(t testing.TB, from int, snippets []*snippet, out map[string]string) int {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, exe, "-test.run=^TestRawChild$")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%d", rawEnv, from))
	child.ExtraFiles = []*os.File{w}
	must(t, child.Start())
	must(t, w.Close())
	last, done := -1, true
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var rep rawReport
		must(t, json.Unmarshal(lines.Bytes(), &rep))
		last, done = rep.Index, rep.Done
		if rep.Done {
			out[snippets[rep.Index].id()] = rep.Output
		}
	}
	if err := child.Wait(); err == nil && done && len(lastWorthy(snippets, last)) == 0 {
		return -1
	}
	if last < from {
		t.Fatalf("the interpreter's process does not start snippet %d", from)
	}
	return last
}

// lastWorthy are the snippets after one that the process should still try.
func lastWorthy(snippets []*snippet, after int) (left []*snippet) {
	for _, s := range snippets[after+1:] {
		if s.rawWorthy() {
			left = append(left, s)
		}
	}
	return left
}

// rawWorthy says whether the snippet may be given to the bare interpreter.
func (s *snippet) rawWorthy() bool {
	for _, c := range s.Cells {
		if c.Interrupted {
			return false
		}
	}
	return s.refusal() == "" && s.Raw != "hangs" && s.Raw != "dies"
}

// runRaw gives the snippet to a bare interpreter: the file that the compiler
// gets where there is only one cell, else chunk by chunk, as one types. It
// returns what was printed, with the error if there was one, and whether all
// of it came to an end.
func (s *snippet) runRaw(t testing.TB) (string, bool) {
	file, err := os.CreateTemp(t.TempDir(), "out")
	must(t, err)
	defer file.Close()
	i := interp.New(interp.Options{Stdout: file, Stderr: os.Stderr})
	must(t, i.Use(stdlib.Symbols))
	var texts []string
	if len(s.Cells) == 1 && s.Go == "" && s.Raw != "typed" {
		texts = []string{s.program("main"), "main.Run()"}
	} else {
		for _, c := range s.Cells {
			for _, ch := range chunksOf(c.Text) {
				texts = append(texts, ch.text)
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tail := ""
	for _, text := range texts {
		if _, err = evalRaw(ctx, i, text); err != nil {
			tail += fmt.Sprintf("panic: %v\n", err)
		}
	}
	raw, err := os.ReadFile(file.Name())
	must(t, err)
	return string(raw) + tail, ctx.Err() == nil
}

// evalRaw evaluates and turns the interpreter's own panics into errors.
func evalRaw(ctx context.Context, i *interp.Interpreter, text string) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the interpreter gave up: %v", r)
		}
	}()
	v, err = i.EvalWithContext(ctx, text)
	if p := (interp.Panic{}); errors.As(err, &p) {
		err = fmt.Errorf("%v", p.Value)
	}
	return v, err
}
