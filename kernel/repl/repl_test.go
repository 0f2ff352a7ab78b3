package repl

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/cell"
)

// piped runs a REPL on an input and returns what it printed.
func piped(t *testing.T, input string) (exit int, out, errs string) {
	t.Helper()
	s, err := cell.New(cell.Options{Imports: []string{"fmt"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var o, e bytes.Buffer
	exit, err = Run(t.Context(), s, Options{In: strings.NewReader(input), Out: &o, Err: &e})
	if err != nil {
		t.Fatal(err)
	}
	return exit, o.String(), e.String()
}

func TestPipe(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "cells.go")
	for _, c := range []struct {
		name, input string
		exit        int
		out, errs   string
	}{
		{"value", "1 + 1\n", 0, "2\n", ""},
		{"several lines", "func f(n int) int {\n\treturn n + 1\n}\n\nf(1)\n", 0, "2\n", ""},
		{"no end of line", "\"a\" + \"b\"", 0, "ab\n", ""},
		{"an error goes on", "nothere\n3\n", 1, "3\n", "type error: cell 1, line 1: undefined: nothere\n    nothere\n    ^\n"},
		{"a panic has its line", "x := []int{}\nx[1]\n", 1, "", "panic: cell 2, line 1: runtime error: index out of range [1] with length 0\n    x[1]\n     ^\n"},
		{"incomplete at the end", "f(1,\n", 1, "", "syntax error"},
		{"print is not a value", "fmt.Println(\"x\")\n", 0, "x\n", ""},
		{"input", "var name string\nfmt.Scanln(&name)\nann\nfmt.Println(\"hi\", name)\n", 0, "hi ann\n", ""},
		{"shell", "!echo hi; echo oops >&2; exit 3\n", 1, "hi\n", "oops\n!echo hi; echo oops >&2; exit 3: exit status 3\n"},
		{"type", "x := 1.5\n:type x * 2\n", 0, "float64\n", ""},
		{"type of a call", ":type fmt.Sprint(1)\n", 0, "string\n", ""},
		{"doc", "import \"strings\"\n:doc strings.ToUpper\n", 0, "func ToUpper(s string) string\n\nToUpper returns s with all Unicode letters mapped to their upper case.\n", ""},
		{"unknown command", ":nothere\n", 1, "", "unknown command :nothere: see :help\n"},
		{"reset", "x := 1\n:reset\nx\n", 1, "", "undefined: x"},
		{"save and load", "x := 20\nx + 1\n:save " + saved + "\n:reset\n:load " + saved + "\nx\n", 0,
			"21\nwrote 2 cells to " + saved + "\n21\n20\n", ""},
		{"quit", "1\n:quit\n2\n", 0, "1\n", ""},
		{"exit", "import \"os\"\nos.Exit(3)\n1\n", 1, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			exit, out, errs := piped(t, c.input)
			if exit != c.exit || out != c.out || !strings.Contains(errs, c.errs) || c.errs == "" && errs != "" {
				t.Errorf("exit %d, prints %q and %q, want %d, %q and %q", exit, out, errs, c.exit, c.out, c.errs)
			}
		})
	}
}

func TestHelpListsEveryCommand(t *testing.T) {
	_, out, _ := piped(t, ":help\n")
	for _, c := range (&repl{}).own() {
		if !strings.Contains(out, "  :"+c.Name) {
			t.Errorf(":help does not list :%s", c.Name)
		}
	}
}

// TestHistoryKeepsEachCellOnce writes a history and reads it again.
func TestHistoryKeepsEachCellOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	h := openHistory(file)
	for _, c := range []string{"a", "b\nc", "a", "  "} {
		if _, err := h.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("junk\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again := openHistory(file)
	if got := again.Dump().([]string); strings.Join(got, "|") != "b\nc|a" {
		t.Errorf("the history is %q", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
}
