package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runLine holds the one thing of a run's table that differs from run to run.
var runLine = regexp.MustCompile(`(?m)^run       \d{8}-\d{6}-\S+$`)

// TestReadme runs every line that begins with "$" in the README and in those
// of the experiments, in order, and compares the output with what the file
// shows below it, root hashes included. Run with -update to write the outputs
// anew.
func TestReadme(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files, err := filepath.Glob(filepath.Join(root, "experiments", "*", "README.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no experiments found: %v", err)
	}
	commands := 0
	for _, file := range append(files, filepath.Join(root, "plugins", "WRITE.md"), filepath.Join(root, "README.md")) {
		t.Setenv("NOEMA_HOME", t.TempDir())
		commands += checkReadme(t, root, file)
	}
	if commands < 20 {
		t.Errorf("only %d commands found", commands)
	}
}

// checkReadme runs the commands of one file and returns how many they are.
func checkReadme(t *testing.T, root, file string) (commands int) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	blocks := strings.Split(text, "```\n")
	for i := 1; i < len(blocks); i += 2 {
		for _, part := range regexp.MustCompile(`(?m)^\$ `).Split(blocks[i], -1)[1:] {
			command, shown, _ := strings.Cut(part, "\n")
			commands++
			got := readmeCommand(t, root, command)
			if shown == "" {
				continue
			}
			got = runLine.ReplaceAllString(got, "run       20261121-090000-d41d")
			switch {
			case got == shown:
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

// readmeCommand runs one line as a user in the checkout would, with the test
// binary as noema.
func readmeCommand(t *testing.T, root, line string) string {
	t.Helper()
	if line == "go test ./..." { // it would run this test; the gate runs it
		gate, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
		if err != nil || !strings.Contains(string(gate), "\n"+line+"\n") {
			t.Errorf("the gate does not run %q: %v", line, err)
		}
		return ""
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, "go run ./kernel/cmd/noema", "noema"))
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		stderr := ""
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = string(exit.Stderr)
		}
		t.Errorf("$ %s: %v\n%s", line, err, stderr)
	}
	return string(out)
}
