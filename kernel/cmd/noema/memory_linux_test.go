package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"noema/kernel/session/cell"
)

// growths are statements that take all the memory they can, each in another way: a
// little at a time, or twice as much as before.
var growths = []string{
	`s := "0123456789abcdef"; for { s += s }`,
	`s := "0123456789abcdef"; for { s = s + "-" + s }`,
	`type text string; s := map[int]text{1: "0123456789abcdef"}; for { s[1] += s[1] }`,
	`b := []byte("0123"); for { b = append(b, b...) }`,
	`b := []byte("0123"); for { b = append(b, string(b)...) }`,
	`r := []rune{'a'}; for { r = append(r, []rune(string(r))...) }`,
	`var all [][]byte; for n := 1; ; n *= 2 { all = append(all, make([]byte, n)) }`,
	`var all []chan int; for n := 1; ; n *= 2 { all = append(all, make(chan int, n)) }`,
	`all := map[int][]int{}; for i := 0; ; i++ { all[i] = make([]int, 1<<13) }`,
	`var deep func(s string) string; deep = func(s string) string { return deep(s + s) + s }; deep("01234567")`,
}

// faces run a statement in the ways that there are; the arguments follow.
var faces = map[string]func(c *cli, text string) (args []string, in io.Reader){
	"repl": func(_ *cli, text string) ([]string, io.Reader) {
		return []string{"repl"}, strings.NewReader(text + "\n")
	},
	"script": func(c *cli, text string) ([]string, io.Reader) {
		c.write("script.go", fmt.Sprintf("package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"begun\")\n\t%s\n}\n", text))
		return []string{"run", "script.go"}, nil
	},
	"notebook": func(c *cli, text string) ([]string, io.Reader) {
		source, _ := json.Marshal(text)
		c.write("book.ipynb", fmt.Sprintf(`{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
			{"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": [%s]}]}`, source))
		return []string{"run", "book.ipynb"}, nil
	},
}

// TestMemoryOfAProcess runs statements that take all the memory they can, with both
// engines, at every face. They end with an error that names the limit, and the process
// never has much more than the limit. With NOEMA_BENCH=1 each runs everywhere.
func TestMemoryOfAProcess(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	const limit = 256 << 20
	r := rand.New(rand.NewPCG(30, 10))
	for _, engine := range cell.Engines() {
		for _, face := range slices.Sorted(maps.Keys(faces)) {
			of := faces[face]
			texts := []string{growths[r.IntN(len(growths))]}
			if os.Getenv("NOEMA_BENCH") != "" {
				texts = growths
			}
			for _, text := range texts {
				c := newCLI(t)
				args, in := of(c, text)
				cmd := c.command(append([]string{args[0], "--engine", engine, "--memory", "256MiB"}, args[1:]...)...)
				cmd.Stdin = in
				ended := c.start(cmd)()
				if ended.code != exitError || !strings.Contains(ended.stdout+ended.stderr, "the limit is 256 MiB") {
					t.Errorf("%s, %s: %s\nends with %d:\n%s%s", engine, face, text, ended.code, ended.stdout, ended.stderr)
				}
				peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
				if peak > 3*limit+(256<<20) {
					t.Errorf("%s, %s: %s\ntakes %d MiB, the limit is 256", engine, face, text, peak>>20)
				}
			}
		}
	}
}

// TestTerminateAGrowingCell sends SIGTERM to a process whose statement takes and drops
// memory up to near its limit for ever. It ends.
func TestTerminateAGrowingCell(t *testing.T) {
	t.Parallel()
	const text = `fmt.Println("begun"); s := "0123456789abcdef"; for { if s += s; len(s) > 1<<26 { s = s[:16] } }`
	for _, engine := range cell.Engines() {
		for face, of := range faces {
			if face == "notebook" {
				continue // prints at its end
			}
			c := newCLI(t)
			args, in := of(c, text)
			cmd := c.command(append([]string{args[0], "--engine", engine, "--memory", "512MiB"}, args[1:]...)...)
			cmd.Stdin = in
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(stdout, make([]byte, len("begun"))); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(os.Signal(syscall.SIGTERM)); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, stdout)
			if err := cmd.Wait(); err == nil {
				t.Errorf("%s, %s: ended well by a signal", engine, face)
			}
		}
	}
}
