package plugindev_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/kernel/lab/plugindev"
	"noema/kernel/session/builtin"
	"noema/methods"
	"noema/plugins"
)

// flawed are the plugins of these tests, which the test binary itself serves:
// one without a flaw, and others with one each.
func flawed() map[string]solver {
	return map[string]solver{
		"good":    good,
		"moody":   moody(),
		"spender": spender,
		"deaf":    deaf,
		"fragile": fragile,
		"keeper":  keeper(),
		"picky":   picky,
	}
}

type solver func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error)

func (f solver) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	return f(ctx, p, h)
}

func (f solver) Describe() methods.Description {
	return methods.Description{Name: "flawed", Version: "3", PromptVersion: "1", Answers: []methods.AnswerKind{methods.Text},
		Options: []methods.Option{{Name: "depth", Type: methods.IntOption, Default: "1"}}}
}

func ask(ctx context.Context, p methods.Problem, h methods.Host, path string) (string, error) {
	c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query), Path: path, Sampling: methods.Sampling{Seed: p.Seed}})
	return c.Text, err
}

func good(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	if _, err := ask(ctx, p, h, "first"); err != nil {
		return methods.Answer{}, err
	}
	text, err := ask(ctx, p, h, "second")
	return methods.TextAnswer(text), err
}

// moody remembers, in its process, what it did before.
func moody() solver {
	solved := 0
	var mu sync.Mutex
	return func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		mu.Lock()
		solved++
		if solved > 3 {
			p.Query += " again"
		}
		mu.Unlock()
		return good(ctx, p, h)
	}
}

// spender tries again and again.
func spender(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	for i := range 50 {
		a, err := good(ctx, p, h)
		if !errors.Is(err, methods.ErrBudget) || i == 49 {
			return a, err
		}
	}
	return methods.Answer{}, nil
}

// deaf does not return before the model has answered.
func deaf(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	a, err := good(ctx, p, h)
	if ctx.Err() != nil {
		select {}
	}
	return a, err
}

// fragile falls over options that it does not know.
func fragile(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	var o map[string]int
	if len(p.Options) > 0 && json.Unmarshal(p.Options, &o) != nil {
		fmt.Fprintln(os.Stderr, "what is this?")
		os.Exit(4)
	}
	return good(ctx, p, h)
}

// keeper keeps a megabyte of each trial.
func keeper() solver {
	var kept [][]byte
	var mu sync.Mutex
	return func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		mu.Lock()
		kept = append(kept, block)
		mu.Unlock()
		return good(ctx, p, h)
	}
}

// picky cannot stand long queries.
func picky(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	if len(p.Query) > 1<<19 {
		panic("too long")
	}
	return good(ctx, p, h)
}

func TestMain(m *testing.M) {
	if builtin.Serve(os.Args[1:]) { // a file of Go, which this program runs
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		plugins.Serve(flawed()[os.Args[2]])
		return
	}
	os.Exit(m.Run())
}

func check(t *testing.T, name string, o plugindev.CheckOptions) *plugindev.Report {
	t.Helper()
	src := plugins.Source{Name: name, Command: []string{os.Args[0], "serve", name}, Path: os.Args[0]}
	r, err := plugindev.Check(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGoodPluginPasses(t *testing.T) {
	t.Parallel()
	var told []string
	r := check(t, "good", plugindev.CheckOptions{Progress: func(res plugindev.Result) { told = append(told, res.Name) }})
	if r.Failed() != 0 {
		t.Errorf("a good plugin fails:\n%s", r)
	}
	var names []string
	for _, res := range r.Results {
		names = append(names, res.Name)
		if res.Detail == "" {
			t.Errorf("check %s says nothing", res.Name)
		}
	}
	if !slices.Equal(names, told) || len(names) < 19 {
		t.Errorf("checks %v, told of %v", names, told)
	}
	if r.Usage.Memory < 1<<20 || r.Usage.Processes < 1 {
		t.Errorf("usage = %+v", r.Usage)
	}
	for _, want := range []string{"plugin good (version 3, prompts 1) at ", "\npass  fresh       a new process", "\ntook  at most ", " checks passed\n"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("%q is not in the report:\n%s", want, r)
		}
	}
}

func TestFlawsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct{ plugin, check, want string }{
		{"moody", "fresh", "text: a new process differs from a used one: "},
		{"spender", "budget", "it goes on and makes 50 calls: without the limit it makes 2"},
		{"deaf", "cancel", "did not stop within 1s of being asked to, and was killed"},
		{"fragile", "options", "crashed (exit status 4)"},
		{"fragile", "options", "what is this?"},
		{"keeper", "memory", "MiB: something is kept from trial to trial"},
		{"picky", "problems", "panicked: too long"},
	} {
		t.Run(c.plugin+"/"+c.check, func(t *testing.T) {
			t.Parallel()
			r := check(t, c.plugin, plugindev.CheckOptions{})
			i := slices.IndexFunc(r.Results, func(res plugindev.Result) bool { return res.Name == c.check })
			if i < 0 || r.Results[i].Passed || !strings.Contains(strings.Join(r.Results[i].Faults, "\n"), c.want) {
				t.Errorf("want %q of check %s:\n%s", c.want, c.check, r)
			}
			if s := r.String(); !strings.Contains(s, "FAIL  "+c.check) || !strings.Contains(s, " checks failed\n") {
				t.Errorf("the report does not say so:\n%s", s)
			}
		})
	}
}

// A plugin that does not start gets a report of one line.
func TestPluginThatDoesNotStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mute")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho hello\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	src, err := plugins.At(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := plugindev.Check(t.Context(), src, plugindev.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 1 || r.Failed() != 1 || !strings.Contains(r.String(), `it wrote "hello" to stdout`) {
		t.Errorf("report:\n%s", r)
	}
}

func TestCheckStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	src := plugins.Source{Name: "good", Command: []string{os.Args[0], "serve", "good"}, Path: os.Args[0]}
	begun := time.Now()
	_, err := plugindev.Check(ctx, src, plugindev.CheckOptions{Progress: func(plugindev.Result) { cancel() }})
	if !errors.Is(err, context.Canceled) || time.Since(begun) > time.Minute {
		t.Errorf("err = %v after %v", err, time.Since(begun))
	}
}
