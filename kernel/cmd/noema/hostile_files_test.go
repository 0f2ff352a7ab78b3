//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"noema/methods/methodtest"
)

// A hostile file is made at a path of its folder.
type maker func(t *testing.T, path string)

func text(s string) maker {
	return func(t *testing.T, path string) { check(t, os.WriteFile(path, []byte(s), 0o600)) }
}

func fifo(t *testing.T, path string) { check(t, syscall.Mkfifo(path, 0o600)) }
func dir(t *testing.T, path string)  { check(t, os.Mkdir(path, 0o700)) }

func link(to string) maker {
	return func(t *testing.T, path string) { check(t, os.Symlink(to, path)) }
}

// sparse is a file of a tebibyte that takes no space.
func sparse(t *testing.T, path string) {
	text("")(t, path)
	check(t, os.Truncate(path, 1<<40))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bomb is YAML of ten short lines that stands for 10^10 values.
func bomb(key string) string {
	b := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		b += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return b + key + ": *a9\n"
}

// numbered is n parts of a text, each with its number.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestHostileFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const (
		run      = "run f.yaml"
		compare  = "compare --limit 1 --methods direct --task "
		scripted = compare + "cafes --model scripted/f.yaml"
		logs     = "task validate ."
		priced   = compare + "cafes --model openai/m"
		plugin   = "plugin check ."
		oneLine  = `{"input":"q","target":"a"}`
	)
	rep := strings.Repeat
	deep := rep("[", 50_000) + rep("]", 50_000)
	for _, c := range []struct {
		name string
		file string // the hostile one, in the working folder
		make maker
		args string
		want string // in the error
	}{
		{"experiment: aliases", "f.yaml", text(bomb("methods")), run, "aliases stand for too many values"},
		{"experiment: depth", "f.yaml", text("methods: " + deep), run, "levels deep"},
		{"experiment: dashes", "f.yaml", text(rep("- ", 50_000)), run, "levels deep"},
		{"experiment: in itself", "f.yaml", text("methods: &m [*m]"), run, "alias"},
		{"experiment: not YAML", "f.yaml", text("\x00\x01{{{"), run, "read experiment f.yaml"},
		{"experiment: many keys", "f.yaml", text(rep("k: v\n", 100_000)), run, "words and marks"},
		{"experiment: methods", "f.yaml", text("methods: [" + numbered(25_000, "m%d,") + "]"), run, "25000 methods: at most 500 are compared"},
		{"experiment: keys", "f.yaml", text(numbered(50_000, "k%d: 1\n")), run, "line 4097: a map of the YAML has more than 4096 keys"},
		{"experiment: FIFO", "f.yaml", fifo, run, "pipe"},
		{"experiment: folder", "f.yaml", dir, run, "directory"},
		{"experiment: zeros", "f.yaml", link("/dev/zero"), run, "device"},
		{"experiment: of the system", "f.yaml", link("/proc/self/environ"), run, "read experiment f.yaml"},
		{"experiment: tebibyte", "f.yaml", sparse, run, "larger than 4 MiB"},
		{"settings: aliases", "noema.yaml", text(bomb("methods")), "runs list", "aliases stand for"},
		{"settings: depth", "noema.yaml", text("methods: " + deep), "runs list", "levels deep"},
		{"settings: tebibyte", "noema.yaml", sparse, "runs list", "larger than 4 MiB"},
		{"keys: doubling", ".env", text("A=xx\n" + rep("A=$A$A\n", 40)), "runs list", "name other variables"},
		{"keys: lines", ".env", text(numbered(80_000, "A%d=x\n")), "runs list", "more than 10000 lines"},
		{"keys: tebibyte", ".env", sparse, "runs list", "larger than 1 MiB"},
		{"script: aliases", "f.yaml", text(bomb("rules")), scripted, "aliases stand for"},
		{"script: depth", "f.yaml", text(deep), scripted, "levels deep"},
		{"script: FIFO", "f.yaml", fifo, scripted, "pipe"},
		{"script: negative tokens", "f.yaml", text("default: {reply: x, usage: {input_tokens: -5}}"), scripted, "cannot be negative"},
		{"prices: aliases", "home/prices.yaml", text(bomb("openai")), priced, "aliases stand for"},
		{"prices: depth", "home/prices.yaml", text("openai: " + deep), priced, "levels deep"},
		{"prices: folder", "home/prices.yaml", dir, priced, "directory"},
		{"plugin: aliases", "plugin.yaml", text(bomb("command")), plugin, "aliases stand for"},
		{"plugin: depth", "plugin.yaml", text("command: " + deep), plugin, "levels deep"},
		{"plugin: FIFO", "plugin.yaml", fifo, plugin, "pipe"},
		{"plugin: tebibyte", "plugin.yaml", sparse, plugin, "larger than 4 MiB"},
		{"log: aliases", "logs.yaml", text(bomb("queries")), logs, "aliases stand for"},
		{"log: workflows in depth", "logs.yaml", text("workflows: " + deep), logs, "levels deep"},
		{"log: FIFO", "logs.yaml", fifo, logs, "pipe"},
		{"log: pattern", "logs.yaml", text("file: a.log\nformat: text\npattern: '(?P<a>(((a{100}){100}){100}))'\n"), logs, "pattern"},
		{"samples: FIFO", "f.jsonl", fifo, "task validate f.jsonl", "pipe"},
		{"samples: folder", "f.jsonl", dir, "task validate f.jsonl", "found none of"},
		{"samples: zeros", "f.jsonl", link("/dev/zero"), "task validate f.jsonl", "device"},
		{"samples: tebibyte", "f.jsonl", sparse, "task validate f.jsonl", "longer than 24 MiB"},
		{"samples: depth", "f.jsonl", text(`{"input":"q","target":` + deep + `}`), "task validate f.jsonl", "f.jsonl:1:"},
		{"samples: twice", "f.jsonl", text(`{"id":1,"input":"q","target":"a"}` + "\n" + `{"id":1,"input":"q","target":"a"}`), "task validate f.jsonl", "f.jsonl:2:1"},
		{"samples: not UTF-8", "f.jsonl", text(oneLine + "\n" + `{"input":"` + "\xff" + `","target":"a"}`), "task validate f.jsonl", "f.jsonl:2:11"},
		{"samples: a key twice", "f.jsonl", text(oneLine + "\n" + `{"input":"q","target":"a","metadata":{"x":[{"k":1,"\u006b":2}]}}`), "task validate f.jsonl", `f.jsonl:2:51: the key "k" stands twice`},
		{"questions: a key twice", "f.json", text(`[{"question":"q","answer":"a","answer":"b"}]`), "task validate f.json", `element 1: the key "answer" stands twice`},
		{"questions: columns", "f.csv", text(rep("c,", 100_000) + "question,answer\n"), "task validate f.csv", "f.csv:1: 100002 columns: at most 4096 are read"},
		{"questions: a column in each row", "f.jsonl", text(numbered(100_000, `{"question":"q","answer":"a","c%d":1}`+"\n")), "task validate f.jsonl", "f.jsonl:4095:1: 4097 columns up to here"},
		{"samples: cut", "f.jsonl", text(`{"input":"q","target":`), "task validate f.jsonl", "f.jsonl:1:"},
		{"questions: many empty ones", "f.json", text("[" + rep("{},", 1_000_000) + "{}]"), "task validate f.json", "no column is called input, question or prompt"},
		{"questions: cut", "f.json", text(`[{"question":"q"`), "task validate f.json", "element 1"},
		{"questions: one without end", "f.json", text(`["` + rep("x", 25<<20)), "task validate f.json", "larger than 24 MiB"},
		{"questions: depth", "f.json", text(deep), "task validate f.json", "element 1"},
		{"puzzles: a quote without end", "f.csv", text("Puzzles\n\"" + rep("1 1\n", 9<<20)), "task validate f.csv", "a record is longer than 24 MiB"},
		{"puzzles: FIFO", "f.csv", fifo, "task validate f.csv", "pipe"},
		{"articles: quotes in quotes", "home/a.md", text(rep("> ", 200_000)), "task validate s.jsonl?corpus=home", "a.md:1: more than 100 quotes"},
		{"articles: depth", "home/a.html", text(rep("<div>", 200_000)), "task validate s.jsonl?corpus=home", "512 nodes"},
		{"plan: steps", "f.lwt", text(numbered(100_000, "(%d)=LLM(\"x\")\n")), "plan show f.lwt", "f.lwt:10001:1: step 10000: a program has at most 10000 steps"},
		{"plan: depth", "f.json", text(deep), "plan show f.json", "plan"},
		{"plan: tebibyte", "f.json", sparse, "plan show f.json", "larger than 4 MiB"},
		{"seed: depth", "f.json", text(deep), "plan validate f.json", "read plan f.json"},
		{"seed: FIFO", "f.json", fifo, "plan validate f.json", "pipe"},
		{"option: FIFO", "f.txt", fifo, compare + "cafes -M k=@f.txt", "pipe"},
		{"notebook: one cell", "f.ipynb", text(`{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": ["` +
			rep("x++; ", 4<<20) + `"]}]}`), "run f.ipynb", "the text has 20.0 MiB: a cell or script may have 2"},
		{"program: one statement", "f.go", text("package main\nfunc main() { x := 0; " + rep("x++; ", 4<<20) + "}\n"), "run f.go", "the text has 20.0 MiB: a cell or script may have 2"},
		{"program: FIFO", "f.go", fifo, "run f.go", "pipe"},
		{"program: tebibyte", "f.go", sparse, "run f.go", "larger than 32 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) { hostileFile(t, c.file, c.make, c.args, c.want) })
	}
}

// hostileFile runs a command on a file: it must name what is wrong, soon, and
// without much memory.
func hostileFile(t *testing.T, file string, make maker, args, want string) {
	work := t.TempDir()
	t.Chdir(work)
	t.Setenv("NOEMA_HOME", filepath.Join(work, "home"))
	t.Setenv("OPENAI_API_KEY", "k")
	t.Setenv("A", "") // which a .env of the test would set
	check(t, os.Mkdir("home", 0o700))
	check(t, os.WriteFile("s.jsonl", []byte(`{"input":"q","target":"a"}`), 0o600))
	make(t, file)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var stdout, stderr strings.Builder
	var code int
	took := methodtest.CPU(func() { code = run(ctx, &signals{}, nil, strings.Fields(args), &stdout, &stderr) })
	runtime.ReadMemStats(&after)
	said := stderr.String()
	if len(said) > 500 {
		said = said[:500]
	}
	if code != exitError && code != exitUsage || !strings.Contains(stdout.String()+stderr.String(), want) {
		t.Errorf("exit code %d, want %q in: %s%.300s", code, want, said, stdout.String())
	}
	if all := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 5*time.Second || all > 400 {
		t.Errorf("it took %v and allocated %d MB", took, all)
	}
	t.Logf("%.3f s, code %d: %.200s", took.Seconds(), code, strings.TrimSpace(said))
}
