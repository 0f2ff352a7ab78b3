package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"noema/kernel/result/record"
	"noema/kernel/session/builtin"
)

// Every built-in method can be made into one of the user's own, as a file that is
// interpreted or as a folder, and then makes the same calls. One that has been changed is
// told apart.
func TestFromEveryBuiltin(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	c := newCLI(t, "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	files := 0
	for _, name := range (builtin.Catalog{}).Methods() {
		file := filepath.Join(t.TempDir(), "my_"+strings.ReplaceAll(name, "-", "_")+".go")
		made := file
		if refused := c.start(c.command("plugin", "new", "--from", name, file))(); refused.code == 0 {
			files++
		} else {
			if !strings.Contains(refused.stderr, "give a name without .go, which makes a folder") {
				t.Fatalf("plugin new --from %s FILE: %s", name, refused.stderr)
			}
			if _, err := os.Lstat(file); err == nil {
				t.Errorf("a file of %s is left that cannot be interpreted", name)
			}
			made = filepath.Join(t.TempDir(), "my-"+name)
			c.run(0, "plugin", "new", "--from", name, "--dir", filepath.Dir(made), "my-"+name)
			c.run(0, "plugin", "build", made)
		}
		own := c.at(t.TempDir()) // so that the copy asks the model itself
		own.run(0, "compare", "--task", taskFor(name), "--methods", made, "--limit", "2", "--model", "sim?error=0")
		c.run(0, "compare", "--task", taskFor(name), "--methods", name, "--limit", "2", "--model", "sim?error=0")
		if got, want := calls(own.trials(), "my-"+name), calls(c.trials(), name); got != want || want == "" {
			t.Errorf("a copy of %s made the calls\n%swant\n%s", name, got, want)
		}
	}
	if files < 8 { // the baselines
		t.Errorf("%d built-in methods can be a file", files)
	}
}

// calls lists what a method asked in its trials, and what it answered.
func calls(trials []*record.Trial, method string) string {
	var lines []string
	for _, t := range trials {
		if t.ID.Method != method {
			continue
		}
		for _, c := range t.Calls {
			if c.Kind == record.SeedCall {
				c.Key = "" // a seed belongs to the method that built it
			}
			lines = append(lines, fmt.Sprintln(t.ID.Sample, c.Path, c.Draw, c.Key, c.Digest))
		}
		lines = append(lines, fmt.Sprintln(t.ID.Sample, t.Answer.Outcome, string(t.Answer.Value)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// A copy is checked against what it was made from. One that was changed passes, and the difference is told.
func TestChangedCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	c := newCLI(t, "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	file := filepath.Join(t.TempDir(), "my_direct.go")
	c.run(0, "plugin", "new", "--from", "direct", file)
	if checked := c.run(0, "plugin", "check", file).stdout; !strings.Contains(checked, " calls as direct and gives the same answers") {
		t.Errorf("plugin check of a copy:\n%s", checked)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "prompt: phases.DirectPrompt", `prompt: phases.DirectPrompt + " Be brief."`, 1)
	if changed == string(text) {
		t.Fatal("the prompt is not in the file")
	}
	if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	checked := c.run(0, "plugin", "check", file).stdout
	if !strings.Contains(checked, "origin      changed since it was made from direct: ") {
		t.Errorf("plugin check of a changed copy:\n%s", checked)
	}
}
