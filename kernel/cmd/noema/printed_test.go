package main

import (
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hostile are names of folders that a shell reads something into.
var hostile = []string{"a b", "it's", `say "hi"`, "a&b", "$(touch pwned)", "`id`", "two\nlines", "-dash", "~", "semi;colon", "ü 世", `back\slash`, "#hash", "*"}

// words are what a shell reads of a line of a command.
func words(t *testing.T, line string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\0' `+line)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sh cannot read %s: %v\n%s", line, err, out)
	}
	if left, _ := os.ReadDir(cmd.Dir); len(left) > 0 {
		t.Errorf("a shell did something for %s", line)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// after is what a text has behind a mark.
func after(t *testing.T, text, mark string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, mark)
	if !ok {
		t.Fatalf("no %q in:\n%s", mark, text)
	}
	return strings.TrimSpace(rest)
}

// TestPrintedCommandsAreReadAsMeant: whatever a file or folder is called, a shell reads the
// commands that are printed as the words that are meant.
func TestPrintedCommandsAreReadAsMeant(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	for _, name := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCLI(t)
			dir := filepath.Join(c.dir, name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			means := func(line string, meant ...string) {
				t.Helper()
				if read := words(t, line); !slices.Equal(read, meant) {
					t.Errorf("a shell reads %s as %q, want %q", line, read, meant)
				}
			}
			file := filepath.Join(dir, "my_method.go")
			means(after(t, c.run(0, "plugin", "new", file).stdout, "next: "),
				"noema", "compare", "--task", "arithmetic", "--methods", "direct,"+file, "--limit", "20", "--watch")

			stdout := c.run(0, "plugin", "new", "--lang", "python", "--dir", dir, "vote").stdout
			lines := strings.Split(after(t, stdout, "next: "), "\n      ")
			venv := filepath.Join(dir, "vote", ".venv")
			means(lines[0], "python3", "-m", "venv", venv)
			means(lines[1], ".", filepath.Join(venv, "bin", "activate"))
			means(lines[2], "noema", "plugin", "sdk", dir)
			wheel := words(t, lines[3])
			means(lines[4], "noema", "plugin", "build", filepath.Join(dir, "vote"))
			means(after(t, c.run(0, "plugin", "sdk", dir).stdout, "next: "), "pip", "install", wheel[len(wheel)-1])

			for _, task := range []struct {
				code              int
				rows, mark, query string
			}{
				{exitError, `{"Problem": "x", "Answer": "y"}`, "example\n  --task ", "?input=Problem&target=Answer"},
			} {
				path := filepath.Join(dir, "rows.jsonl")
				if err := os.WriteFile(path, []byte(task.rows+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				said := after(t, c.run(task.code, "task", "validate", path).stderr, task.mark)
				line, _, _ := strings.Cut(said, `. "noema`)
				means(line, path+task.query)
			}

			if strings.ContainsAny(name, "\n\"") {
				return // lists of methods are separated by such
			}
			manifest := "name: asker\ncommand: [python3, main.py]\nnetwork: true\n"
			if err := os.WriteFile(filepath.Join(dir, "plugin.yaml"), []byte(manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			said := c.run(exitError, "compare", "--task", "arithmetic", "--limit", "1", "--methods", dir).stderr
			means(after(t, said, "run: "), "noema", "plugin", "allow", dir)
		})
	}
}

var shownCommand = regexp.MustCompile(`(?s)<small>command</small></p><pre>(.*?)</pre>`)

// TestPageShowsACommandThatRuns: what a page says a run was started by is the run's command.
func TestPageShowsACommandThatRuns(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	c := newCLI(t)
	name := strings.Join(hostile, " <b> ")
	args := []string{"compare", "--task", "arithmetic", "--methods", "direct", "--limit", "1", "--name", name}
	c.run(0, args...)
	c.run(0, "view", "--bundle", "site", "--show", "command", "last")
	found := false
	err := filepath.WalkDir(filepath.Join(c.dir, "site"), func(path string, e os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		raw, err := os.ReadFile(path)
		if m := shownCommand.FindSubmatch(raw); m != nil {
			found = true
			if read := words(t, html.UnescapeString(string(m[1]))); len(read) == 0 || !slices.Equal(read[1:], args) {
				t.Errorf("%s: a shell reads %s\nas %q\nwant %q", path, m[1], read, args)
			}
		}
		return err
	})
	if err != nil || !found {
		t.Errorf("no page shows the command: %v", err)
	}
}
