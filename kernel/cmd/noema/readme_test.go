package main

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/kernel/session/cell"
)

// failure is what noema says when it fails, which in a pipe is all that tells it.
var failure = regexp.MustCompile(`(?m)^noema: `)

// runLine holds the one thing of a run's table that differs from run to run.
var runLine = regexp.MustCompile(`(?m)^run       \d{8}-\d{6}-\S+$`)

// TestReadme runs every line that begins with "$" in the project's Markdown
// files, in order, and compares the output with what the file shows below it,
// root hashes included; and it runs the Go snippets of each file as cells of one
// session of each engine. Run with -update to write the outputs anew.
func TestReadme(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	var commands, snippets atomic.Int64
	t.Cleanup(func() {
		if !testing.Short() && (commands.Load() < 40 || snippets.Load() < 1) {
			t.Errorf("only %d commands and %d snippets found", commands.Load(), snippets.Load())
		}
	})
	for _, file := range markdown(t, root) {
		if testing.Short() && file != filepath.Join(root, "README.md") {
			continue
		}
		t.Run(strings.TrimPrefix(file, root+"/"), func(t *testing.T) {
			t.Parallel()
			commands.Add(int64(checkReadme(t, root, file)))
			snippets.Add(int64(runSnippets(t, file)))
		})
	}
}

// markdown lists the project's Markdown files.
func markdown(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata" || e.Name() == "node_modules"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// runSnippets runs the Go snippets of a file and returns how many they are.
func runSnippets(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(raw), -1)
	if len(found) == 0 {
		return 0
	}
	var values [][]string
	for _, engine := range cell.Engines() {
		values = append(values, snippetValues(t, file, engine, found))
	}
	if !slices.Equal(values[0], values[1]) {
		t.Errorf("%s: the engines show\n%q and\n%q", file, values[0], values[1])
	}
	return len(found)
}

// snippetValues runs Go snippets as cells of one session and returns what they show.
func snippetValues(t *testing.T, file, engine string, snippets [][]string) (values []string) {
	t.Helper()
	s, l, err := builtin.NewSession(builtin.SessionOptions{Engine: engine, Lab: lab.Options{
		Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard,
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	defer s.Close()
	for _, snippet := range snippets {
		result, err := s.Run(t.Context(), snippet[1], nil)
		if err != nil {
			t.Errorf("%s: engine %s: %v in\n%s", file, engine, err, snippet[1])
			continue
		}
		values = append(values, runLine.ReplaceAllString(string(result.Value[display.PlainText]), "run"))
	}
	return values
}

// checkReadme runs the commands of one file and returns how many they are.
func checkReadme(t *testing.T, root, file string) (commands int) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	home, text := t.TempDir(), string(raw)
	blocks := strings.Split(text, "```\n")
	for i := 1; i < len(blocks); i += 2 {
		for _, part := range regexp.MustCompile(`(?m)^\$ `).Split(blocks[i], -1)[1:] {
			command, shown, _ := strings.Cut(part, "\n")
			commands++
			got := readmeCommand(t, root, home, command)
			if shown == "" {
				continue
			}
			got = runLine.ReplaceAllString(got, "run       20261121-090000-d41d")
			switch {
			case got == shown:
			case got == "": // a command before a pipe has failed, and nothing would be compared
				t.Errorf("%s: $ %s\nprints nothing", file, command)
			case *update:
				text = strings.Replace(text, part, command+"\n"+got, 1)
			default:
				t.Errorf("%s: $ %s\nprints:\n%s\nit shows:\n%s\n(go test -update writes it anew)", file, command, got, shown)
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return commands
}

// readmeCommand runs one line as a user in the checkout would, with a store in
// home and the test binary as noema.
func readmeCommand(t *testing.T, root, home, line string) string {
	t.Helper()
	if strings.HasPrefix(line, "go test ") { // it would run this test; the gate runs it
		gate, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
		if err != nil || !strings.Contains(string(gate), "\n"+line+"\n") {
			t.Errorf("the gate does not run %q: %v", line, err)
		}
		return ""
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, "go run ./kernel/cmd/noema", "noema"))
	cmd.Dir, cmd.Env = root, append(os.Environ(), "NOEMA_HOME="+home)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || failure.MatchString(stderr.String()) {
		t.Errorf("$ %s: %v\n%s", line, err, &stderr)
	}
	return string(out)
}
