package repl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/session/cell"
)

// piped runs a REPL on an input and returns what it printed.
func piped(t *testing.T, input string) (exit int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	exit, err := Run(t.Context(), realSession(t), Options{In: strings.NewReader(input), Out: &o, Err: &e})
	if err != nil {
		t.Fatal(err)
	}
	return exit, o.String(), e.String()
}

// pipeCase is an input, and what a REPL makes of it.
type pipeCase struct {
	name, input string
	exit        int
	out, errs   string
}

// check runs the cases; an empty errs says that nothing is printed there.
func check(t *testing.T, cases []pipeCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			exit, out, errs := piped(t, c.input)
			if exit != c.exit || out != c.out || !strings.Contains(errs, c.errs) || c.errs == "" && errs != "" {
				t.Errorf("exit %d, prints %q and %q, want %d, %q and %q", exit, out, errs, c.exit, c.out, c.errs)
			}
		})
	}
}

func TestPipe(t *testing.T) { check(t, pipeCases) }

// pipeCases need no files.
var pipeCases = []pipeCase{
	{"value", "1 + 1\n", 0, "2\n", ""},
	{"several lines", "func f(n int) int {\n\treturn n + 1\n}\n\nf(1)\n", 0, "2\n", ""},
	{"no end of line", "\"a\" + \"b\"", 0, "ab\n", ""},
	{"an error goes on", "nothere\n3\n", 1, "3\n", "type error: cell 1, line 1 (line 1 of the input): undefined: nothere\n    nothere\n    ^\n"},
	{"a panic has its line", "x := []int{}\nx[1]\n", 1, "", "panic: cell 2, line 1 (line 2 of the input): runtime error: index out of range [1] with length 0\n    x[1]\n     ^\n"},
	{"the line of the input", "1\n\n\nfunc f() int {\n\treturn zz\n}\n", 1, "1\n",
		"type error: cell 2, line 2 (line 5 of the input): undefined: zz\n    \treturn zz\n    \t       ^\n"},
	{"a line that a cell read counts", "var s string\nfmt.Scanln(&s)\nann\nzz\n", 1, "", "(line 4 of the input)"},
	{"a panic in another cell", "func f(x []int) int {\n\treturn x[5]\n}\n_ = f(\n\tnil,\n)\n", 1, "",
		"panic: cell 1, line 2 (line 2 of the input): runtime error: index out of range [5] with length 0\n    \treturn x[5]\n"},
	{"wide characters", "_, _ = \"日本\", zz\n", 1, "", "    _, _ = \"日本\", zz\n                   ^\n"},
	{"strings may hold brackets", "s := \"{\" + `(\n[` /* { */ // (\nlen(s)\n", 0, "4\n", ""},
	{"an end too many", "}\n1\n", 1, "1\n", "syntax error"},
	{"ends of line of Windows", "func f() int {\r\n\treturn 3\r\n}\r\nf()\r\n", 0, "3\n", ""},
	{"not text", "\x00\xff\n1\n", 1, "1\n", "not UTF-8"},
	{"a command that needs more", ":load\n:type\n:doc\n:time\n:save\n", 1, "", ":load needs an argument: \":load FILE\""},
	{"a value on its own line", "fmt.Print(\"a\")\n1\n", 0, "a\n1\n", ""},
	{"the shell has no input", "!cat\n1\n", 0, "1\n", ""},
	{"incomplete at the end", "f(1,\n", 1, "", "syntax error"},
	{"print is not a value", "fmt.Println(\"x\")\n", 0, "x\n", ""},
	{"input", "var name string\nfmt.Scanln(&name)\nann\nfmt.Println(\"hi\", name)\n", 0, "hi ann\n", ""},
	{"shell", "!echo hi; echo oops >&2; exit 3\n", 1, "hi\n", "oops\n!echo hi; echo oops >&2; exit 3: exit status 3\n"},
	{"type", "x := 1.5\n:type x * 2\n", 0, "float64\n", ""},
	{"type of a call", ":type fmt.Sprint(1)\n", 0, "string\n", ""},
	{"doc", "import \"strings\"\n:doc strings.ToUpper\n", 0, "func ToUpper(s string) string\n\nToUpper returns s with all Unicode letters mapped to their upper case.\n", ""},
	{"unknown command", ":nothere\n", 1, "", "unknown command :nothere: see :help\n"},
	{"reset", "x := 1\n:reset\nx\n", 1, "", "undefined: x"},
	{"quit", "1\n:quit\n2\n", 0, "1\n", ""},
	{"exit", "import \"os\"\nos.Exit(3)\n1\n", 1, "", ""},
}

func TestPipeWithFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	saved := filepath.Join(dir, "cells.go")
	broken := file("broken.go", "1"+separator+"fmt.Println(\n\tzz,\n)\n")
	script := file("script.go", "// Package main is no declaration.\n/* package x */ package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"main\") }\n")
	wrong := file("wrong.go", "package main\n\nfunc main() {\n\tzz()\n}\n")
	check(t, []pipeCase{
		{"a file that is not there", ":load " + saved + ".no\n", 1, "", "load: open "},
		{"load says where", ":load " + broken + "\n", 1, "1\n", "type error: cell 2, line 2: undefined: zz\n    \tzz,\n    \t^\n"},
		{"load a script", ":load " + script + "\n", 0, "main\n", ""},
		{"load a script with a fault", ":load " + wrong + "\n", 1, "", "wrong.go, line 4: undefined: zz\n    \tzz()\n    \t^\n"},
		{"save and load", "x := 20\nx + 1\n:save " + saved + "\n:reset\n:load " + saved + "\nx\n", 0,
			"21\nwrote 2 cells to " + saved + "\n21\n20\n", ""},
	})
}

// TestRerunStale: a variable is set again, and what came from it runs again.
func TestRerunStale(t *testing.T) {
	check(t, []pipeCase{
		{"stale and rerun", "x := 1\ny := x + 1\nfmt.Println(y)\n:stale\nx = 10\n:stale\n:rerun stale\n:stale\n", 0,
			"2\nno cell is stale\n" +
				"cell  begins          used  changed by\n2     y := x + 1      x     cell 4\n3     fmt.Println(y)  y     cell 4\n" +
				"cell 2 again: y := x + 1\ncell 3 again: fmt.Println(y)\n11\nno cell is stale\n", ""},
		{"the first that fails ends it", "x := 1\n10 / x\n11 / x\nx = 0\n:rerun stale\n", 1,
			"10\n11\ncell 2 again: 10 / x\n", "panic: cell 5, line 1: runtime error: integer divide by zero\n    10 / x\n       ^\n"},
		{"only stale", ":rerun all\n", 1, "", "rerun \"all\": write \":rerun stale\" or \":rerun lost\"\n"},
	})
}

func TestHelpListsEveryCommand(t *testing.T) {
	_, out, _ := piped(t, ":help\n")
	for _, c := range (&repl{}).own() {
		if !strings.Contains(out, "  :"+c.Name) {
			t.Errorf(":help does not list :%s", c.Name)
		}
	}
}

// TestSavedCellsAreTheSameCells saves, loads and saves again.
func TestSavedCellsAreTheSameCells(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.go"), filepath.Join(dir, "two.go")
	_, _, errs := piped(t, "func f() int {\n\treturn 1\n}\nx := f()\n\n:save "+one+"\n:reset\n:load "+one+"\n:save "+two+"\n")
	first, err := os.ReadFile(one)
	if err != nil || errs != "" {
		t.Fatal(err, errs)
	}
	second, err := os.ReadFile(two)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("%v: saved %q, and then %q", err, first, second)
	}
}

// TestLongCells reads a cell of many lines, in time that grows with their
// number and not with its square: half a minute and more otherwise.
func TestLongCells(t *testing.T) {
	const lines = 20_000
	var b strings.Builder
	b.WriteString("func long() int {\n")
	for i := range lines {
		fmt.Fprintf(&b, "\tuse(%d) // (\n", i)
	}
	b.WriteString("}\nnext\n")
	asked := 0
	p := newPipe(strings.NewReader(b.String()), func(string) cell.Completeness {
		asked++
		return cell.Completeness{Status: "complete"}
	})
	text, line, err := p.cell(t.Context())
	if strings.Count(text, "\n") != lines+2 || line != 1 || err != nil {
		t.Errorf("reads %d lines from line %d on, %v", strings.Count(text, "\n"), line, err)
	}
	if text, line, err = p.cell(t.Context()); text != "next\n" || line != lines+3 || err != nil {
		t.Errorf("then reads %q from line %d on, %v", text, line, err)
	}
	if asked != 2 {
		t.Errorf("asks %d times whether a cell is complete", asked)
	}
}

func TestTimeSaysHowLong(t *testing.T) {
	exit, out, errs := piped(t, ":time zz + 1\n:time 1 + 1\n")
	if exit != 1 || !strings.Contains(errs, "undefined: zz\n    zz + 1\n    ^\n") {
		t.Errorf("exit %d, %q", exit, errs)
	}
	lines := strings.Split(out, "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "took ") || lines[1] != "2" || !strings.HasPrefix(lines[2], "took ") {
		t.Errorf("prints %q", out)
	}
}
