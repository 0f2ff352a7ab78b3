package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

var runID = regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f.]+`)

// TestFormerVerbsWork: a verb that was moved does under its old name what it does under the
// new one, and says so in a line.
func TestFormerVerbsWork(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	c := newCLI(t)
	c.write("f.json", "{}")
	c.run(0, "compare", "--task", "cafes", "--methods", "direct", "--limit", "1")
	for _, v := range []struct {
		code          int
		was, now      string // the verb
		beneath, args string
	}{
		{0, "check", "plugin replay", "", "direct --limit 1"},
		{exitUsage, "check", "plugin replay", "", "nothere"},
		{exitUsage, "seed", "plan", "validate", "f.json"},
		{0, "seed", "plan", "show", "last"},
		{exitUsage, "prove", "pack prove", "", "last"},
		{exitError, "verify", "pack verify", "", "nothere"},
	} {
		rest := strings.Fields(v.beneath + " " + v.args)
		was := c.run(v.code, append(strings.Fields(v.was), rest...)...)
		now := c.run(v.code, append(strings.Fields(v.now), rest...)...)
		was.stderr, now.stderr = runID.ReplaceAllString(was.stderr, "ID"), runID.ReplaceAllString(now.stderr, "ID")
		if moved := `noema: "noema ` + v.was + `" is now "noema ` + v.now + `"` + "\n"; was.stderr != moved+now.stderr {
			t.Errorf("%s: stderr\n%s\nwant\n%s%s", v.was, was.stderr, moved, now.stderr)
		}
		if was.stdout != now.stdout {
			t.Errorf("%s prints\n%s\n%s prints\n%s", v.was, was.stdout, v.now, now.stdout)
		}
	}
}

// TestVerbsBesideArguments: a verb that takes arguments and has verbs of its own keeps both,
// and the help does not list old names.
func TestVerbsBesideArguments(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	if help := c.run(0, "--help").stdout; regexp.MustCompile(`(?m)^  (check|prove|verify|seed) `).MatchString(help) || !strings.Contains(help, "\n  pack ") {
		t.Errorf("the help lists:\n%s", help)
	}
	want(t, c.run(exitUsage, "pack").stderr, "pack needs RUN")
	want(t, c.run(exitUsage, "pack", "nothere").stderr, `find run "nothere"`)
	want(t, c.run(exitUsage, "pack", "verify").stderr, "pack verify needs FILE")
	want(t, c.run(0, "pack", "--help").stdout, "verify", "prove")
	for _, group := range []string{"plugin", "plan", "runs"} {
		want(t, c.run(exitUsage, group, "nothere").stderr, `unknown command "nothere"`)
	}
	want(t, c.run(exitUsage, "nothere").stderr, `unknown command "nothere"`)
}

// asked are, for each flag of ask that says what is computed, arguments that have it, and
// those beside it that it needs.
var asked = map[string]struct{ with, beside []string }{
	"methods": {with: []string{"--methods", "direct"}}, "model": {with: []string{"--model", "sim?error=1"}},
	"method-option": {[]string{"-M", "react.max_steps=1"}, []string{"--methods", "react", "--task", "arithmetic"}},
	"epochs":        {with: []string{"--epochs", "2"}}, "seed": {with: []string{"--seed", "7"}},
	"sampling": {with: []string{"-S", "max_tokens=9"}}, "temperature": {with: []string{"--temperature", "1"}},
	"call-limit": {[]string{"--call-limit", "1"}, []string{"--methods", "aot"}}, "token-limit": {[]string{"--token-limit", "1"}, []string{"--methods", "aot"}},
	"cost-limit": {[]string{"--cost-limit", "1e-9"}, []string{"--methods", "aot"}}, "time-limit": {[]string{"--time-limit", "1ns"}, []string{"--methods", "aot"}},
	"task":        {[]string{"--task", "arithmetic"}, []string{"--methods", "react"}},
	"task-option": {[]string{"-T", "search=semantic"}, []string{"--methods", "research-tree", "--corpus", "notes"}},
	"corpus":      {with: []string{"--corpus", "notes"}}, "answer": {with: []string{"--answer", "number"}},
}

// TestEveryFlagOfAskCounts: no flag that says what is computed is taken and then ignored: the
// answers, or the calls that they took, are others than without it, or it is refused.
func TestEveryFlagOfAskCounts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	ask, _, err := newRoot(&app{}).Find([]string{"ask"})
	if err != nil {
		t.Fatal(err)
	}
	ask.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		part := f.Annotations[partOf]
		if f.Name == "name" || !slices.Contains(part, "what") && !slices.Contains(part, "ask") {
			return
		}
		flag, known := asked[f.Name]
		if !known {
			t.Errorf("--%s: what does it change in an answer?", f.Name)
			return
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			if with, without := answers(t, append(flag.with, flag.beside...)), answers(t, flag.beside); with == without {
				t.Errorf("--%s changes nothing of\n%s", f.Name, with)
			}
		})
	})
}

// answers are what a question was answered in a home of its own, with its calls.
func answers(t *testing.T, args []string) string {
	t.Helper()
	c := newCLI(t)
	if err := os.Mkdir(filepath.Join(c.dir, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.write("notes/a.md", "# Gull\nA gull is a bird.\n")
	r := c.start(c.command(append([]string{"ask", "What is 17 * 23 - 4?"}, args...)...))()
	if r.code == exitUsage {
		return r.stderr
	}
	text := ""
	for _, trial := range c.trials() {
		text += fmt.Sprintln(trial.ID, trial.Failure, trial.Answer.Outcome, string(trial.Answer.Value), trial.Answer.Reason)
		for _, call := range trial.Calls {
			text += fmt.Sprintln(call.Path, call.Key, call.Digest)
		}
	}
	return text
}
