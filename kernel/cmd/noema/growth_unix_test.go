//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// listed is n texts as JSON, or n of anything else that a format makes of its number.
func listed(n int, format string) string {
	return "[" + strings.TrimSuffix(numbered(n, format+","), ",") + "]"
}

// notebookOf is a notebook of n cells.
func notebookOf(n int) string {
	return `{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": ` +
		listed(n, `{"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": ["y := %d"]}`) + `}`
}

// growing are inputs that grow with n, for the commands that read them.
var growing = []struct {
	name, file string
	n          int // of the smallest
	make       func(n int) string
	args       string
}{
	{"columns of a CSV", "f.csv", 500, func(n int) string {
		return numbered(n, "c%d,") + "question,answer\n" + strings.Repeat(numbered(n, "v%d,")+"q,a\n", 3)
	}, "task validate f.csv"},
	{"rows of a CSV", "f.csv", 2000, func(n int) string { return "question,answer\n" + strings.Repeat("q,a\n", n) }, "task validate f.csv"},
	{"new columns", "f.jsonl", 500, func(n int) string { return numbered(n, `{"question":"q","answer":"a","c%d":1}`+"\n") }, "task validate f.jsonl"},
	{"labels", "f.jsonl", 5000, func(n int) string {
		return `{"input":{"query":"q","labels":` + listed(n, `"l%d"`) + `},"target":` + listed(n, `"l%d"`) + `}`
	}, "task validate f.jsonl"},
	{"items", "f.jsonl", 5000, func(n int) string { return `{"input":{"query":"q","items":` + listed(n, `"l%d"`) + `},"target":[1,2]}` }, "task validate f.jsonl"},
	{"fields", "f.jsonl", 2000, func(n int) string { return `{"input":"q","target":{` + numbered(n, `"k%d":1,`) + `"z":1}}` }, "task validate f.jsonl"},
	{"metadata", "f.jsonl", 2000, func(n int) string {
		return `{"input":"q","target":"a","metadata":` + strings.Repeat(`{"a":[`, 50) + numbered(n, `{"k%d":1},`) + `1` + strings.Repeat(`]}`, 50) + `}`
	}, "task validate f.jsonl"},
	{"messages", "f.jsonl", 2000, func(n int) string {
		return `{"input":` + listed(n, `{"role":"user","content":"%d"}`) + `,"target":"a"}`
	}, "task validate f.jsonl"},
	{"a list of elements", "f.json", 2000, func(n int) string { return listed(n, `{"question":"q%d","answer":"a"}`) }, "task validate f.json"},
	{"steps in a row", "f.lwt", 1000, func(n int) string {
		return "(0)=LLM(\"{(query)}\")\n" + chained(n) + fmt.Sprintf("(final)=LLM(\"{(%d)}\")\n", n)
	}, "plan show f.lwt"},
	{"steps of one step", "f.lwt", 1000, func(n int) string {
		return numbered(n, "(%d)=LLM(\"{(query)}\")\n") + "(final)=LLM(\"" + numbered(n, "{(%d)}") + "\")\n"
	}, "plan show f.lwt"},
	{"references to one step", "f.lwt", 5000, func(n int) string {
		return "(1)=LLM(\"{(query)}\")\n(final)=LLM(\"" + strings.Repeat("{(1)}", n) + "\")\n"
	}, "plan show f.lwt"},
	{"atoms", "f.json", 200, func(n int) string {
		return `{"kind":"atoms","version":1,"atoms":` + listed(n, `{"id":%d,"question":"q"}`) + `}`
	}, "plan show f.json"},
	{"steps of a seed", "f.json", 200, func(n int) string {
		return `{"steps":` + listed(n, `{"id":"s%d","op":"formula","formula":"1+1"}`) + `}`
	}, "plan validate f.json"},
	{"methods", "f.yaml", 2000, func(n int) string { return "methods: " + listed(n, "m%d") }, "run f.yaml"},
	{"options", "f.yaml", 1500, func(n int) string { return "methods: [direct]\nmethod-options:\n" + numbered(n, "  k%d: 1\n") }, "run f.yaml"},
	{"settings", "noema.yaml", 1000, func(n int) string { return "methods: " + listed(n, "m%d") }, "runs list"},
	{"keys", ".env", 1000, func(n int) string { return numbered(n, "NOT_A_KEY%d=x\n") }, "runs list"},
	{"arguments of a manifest", "plugin.yaml", 1000, func(n int) string { return "name: p\ncommand: " + listed(n, "a%d") }, "plugin check ."},
	{"cells", "f.ipynb", 100, notebookOf, "run f.ipynb"},
	{"a long cell", "f.go", 2000, func(n int) string { return "package main\nfunc main() { x := 0; " + strings.Repeat("x++; ", n) + "}\n" }, "run f.go"},
	{"a long sum", "f.go", 2000, func(n int) string {
		return "package main\nfunc main() { x := 1; x = " + strings.Repeat("x+", n) + "1 }\n"
	}, "run f.go"},
	{"paragraphs", "home/a.md", 1000, func(n int) string { return numbered(n, "# h%d\n\ntext\n\n") }, "task validate s.jsonl?corpus=home"},
}

// chained are steps of which each needs the one before.
func chained(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "(%d)=LLM(\"{(%d)}\")\n", i+1, i)
	}
	return b.String()
}

// TestInputsThatGrow reads inputs of one, two and four times a drawn size, and counts
// the memory that is taken to read them. To double the input again takes about twice as
// much more as to double it, or the input is refused; a quadratic reader takes four
// times as much more.
func TestInputsThatGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := rand.New(rand.NewPCG(13, 30))
	for _, c := range growing {
		n := c.n + r.IntN(c.n/4)
		t.Run(c.name, func(t *testing.T) {
			var took [3]int64
			for i := range took {
				took[i] = allocated(t, c.file, c.make(n<<i), c.args)
			}
			first, second := took[1]-took[0], took[2]-took[1]
			t.Logf("%d: %d KB, and %d and %d KB more", n, took[0]>>10, first>>10, second>>10)
			if second > 3*max(first, 2<<20) {
				t.Errorf("twice the input takes %d KB more, and twice that %d KB more", first>>10, second>>10)
			}
		})
	}
}

// allocated is how many bytes a command allocates that reads a file.
func allocated(t *testing.T, file, content, args string) int64 {
	work := t.TempDir()
	t.Chdir(work)
	t.Setenv("NOEMA_HOME", filepath.Join(work, "home"))
	check(t, os.MkdirAll(filepath.Join(work, "home"), 0o700))
	check(t, os.WriteFile("s.jsonl", []byte(`{"input":"q","target":"a"}`), 0o600))
	check(t, os.WriteFile(file, []byte(content), 0o600))
	var before, after runtime.MemStats
	var stdout, stderr strings.Builder
	runtime.ReadMemStats(&before)
	code := run(t.Context(), &signals{}, nil, strings.Fields(args), &stdout, &stderr)
	runtime.ReadMemStats(&after)
	said, _ := json.Marshal(stderr.String())
	t.Logf("%s of %d bytes: code %d, %.160s", file, len(content), code, said)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
