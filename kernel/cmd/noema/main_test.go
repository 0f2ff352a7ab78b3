package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"noema/kernel/run/cluster/embedded"
	"noema/kernel/session/builtin"
	"noema/methods"
	"noema/plugins"
)

// TestMain lets the test binary be noema: under that name in scripts and
// tests, and as its own plugin. The other names are plugins of third parties.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && (os.Args[1] == builtin.ServeVerb || os.Args[1] == plugins.FileVerb) {
		main()
		return
	}
	testscript.Main(m, map[string]func(){
		"noema":   func() { noema(embedded.Start) },
		"shouter": func() { plugins.Serve(shouter{}) },
		"fragile": func() { plugins.Serve(fragile{}) },
		"brittle": func() { plugins.Serve(brittle{}) },
		"chain":   func() { plugins.Serve(chain{}) },
		"cheat":   func() { plugins.Serve(cheat{}) },
	})
}

// shouter is a third party's method: it asks the model and answers in capitals.
type shouter struct{}

func (shouter) Describe() methods.Description {
	return methods.Description{
		Name: "shouter", Version: "7", Summary: "answers loudly", Answers: []methods.AnswerKind{methods.Text},
		Options: []methods.Option{{Name: "marks", Type: methods.IntOption, Default: "1", Doc: "how many exclamation marks"}},
	}
}

func (shouter) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	options := struct {
		Marks int `json:"marks"`
	}{1}
	if err := methods.DecodeOptions(p, &options); err != nil {
		return methods.Answer{}, err
	}
	c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query), Path: "ask"})
	if err != nil {
		return methods.Answer{}, err
	}
	return methods.TextAnswer(strings.ToUpper(c.Text) + strings.Repeat("!", options.Marks)), nil
}

// fragile is a third party's method whose process dies on some problems.
type fragile struct{}

func (fragile) Solve(_ context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
	if strings.Contains(p.Query, "heavy") {
		fmt.Fprintln(os.Stderr, "fragile: the load is too heavy")
		os.Exit(7)
	}
	return methods.TextAnswer("held"), nil
}

// brittle is a third party's method whose process dies in the middle of some
// problems, after a call.
type brittle struct{ shouter }

func (b brittle) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	for i := range 3 {
		if _, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query), Path: fmt.Sprint("ask/", i), Draw: i}); err != nil {
			return methods.Answer{}, err
		}
		if i == 1 && strings.Contains(p.Query, "heavy") {
			fmt.Fprintln(os.Stderr, "brittle: it breaks at", p.ID)
			os.Exit(7)
		}
	}
	return methods.TextAnswer("yes"), nil
}

// fewAtOnce is the tests' default of --max-samples: with fewer trials at once
// fewer plugin processes are started.
const fewAtOnce = "3"

func TestScripts(t *testing.T) { runScripts(t, "testdata/script") }

func TestLongScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	runScripts(t, "testdata/script/long")
}

func runScripts(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:       dir,
		Condition: func(name string) (bool, error) { return name == "isolated" && isolates(t), nil },
		Setup: func(env *testscript.Env) error {
			env.Setenv("NOEMA_HOME", env.Getenv("WORK")+"/home")
			env.Setenv("HOME", env.Getenv("WORK"))
			env.Setenv("NOEMA_MAX_SAMPLES", fewAtOnce)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"pick":    pick,
			"alike":   alike,
			"exit":    exit,
			"empty":   empty,
			"install": install,
			"spoil":   spoil,
		},
	})
}

// install NAME DIR puts a third party's plugin into a folder.
func install(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: install NAME DIR")
	}
	program, err := exec.LookPath(args[0])
	ts.Check(err)
	ts.Check(os.Symlink(program, filepath.Join(ts.MkAbs(args[1]), args[0])))
}

// spoil FROM TO flip|cut copies a file with a bit changed in its middle, or without its end.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: spoil FROM TO flip|cut")
	}
	raw := []byte(ts.ReadFile(args[0]))
	if args[2] == "cut" {
		raw = raw[:len(raw)*2/3]
	} else {
		raw[len(raw)/2] ^= 1
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), raw, 0o600))
}

// pick VAR NAME sets VAR to the second field of the line of the last output
// whose first field is NAME.
func pick(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pick VAR NAME")
	}
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == args[1] {
			ts.Setenv(args[0], f[1])
			return
		}
	}
	ts.Fatalf("the output has no line %q", args[1])
}

// alike FILE FILE NAME... demands that two files are equal, but for the lines
// whose first field is one of the NAMEs.
func alike(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: alike FILE FILE NAME...")
	}
	a, b := without(ts.ReadFile(args[0]), args[2:]), without(ts.ReadFile(args[1]), args[2:])
	if a != b {
		ts.Fatalf("%s:\n%s\n%s:\n%s", args[0], a, args[1], b)
	}
}

// without is text without the lines that begin with one of the names.
func without(text string, names []string) string {
	var kept strings.Builder
lines:
	for line := range strings.Lines(text) {
		for _, name := range names {
			if f := strings.Fields(line); len(f) > 0 && f[0] == name {
				continue lines
			}
		}
		kept.WriteString(line)
	}
	return kept.String()
}

// exit CODE COMMAND... runs a command that must end with the exit code CODE.
func exit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("ended with %s, want exit status %s", code, args[0])
	}
}

// empty FILE demands that a file, or stdout or stderr, holds nothing.
func empty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: empty FILE")
	}
	if text := ts.ReadFile(args[0]); text != "" {
		ts.Fatalf("%s holds:\n%s", args[0], text)
	}
}
