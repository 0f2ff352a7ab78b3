package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider/sim"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/methods"
)

// cli is a user at a shell: noema as a process, with a folder and a store of
// its own.
type cli struct {
	t    *testing.T
	dir  string   // where it runs
	home string   // NOEMA_HOME
	env  []string // further variables
}

func newCLI(t *testing.T, env ...string) *cli {
	t.Helper()
	dir := t.TempDir()
	return &cli{t: t, dir: dir, home: filepath.Join(dir, "home"), env: env}
}

// at is the same user with another store.
func (c *cli) at(home string) *cli {
	other := *c
	other.home = home
	return &other
}

// write puts a file where noema runs.
func (c *cli) write(name, content string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		c.t.Fatal(err)
	}
}

// command is noema with args, not yet started.
func (c *cli) command(args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "noema", args...)
	cmd.Dir = c.dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TMPDIR=" + os.TempDir(), "NOEMA_HOME=" + c.home, "NOEMA_MAX_SAMPLES=" + fewAtOnce,
	}, c.env...)
	return cmd
}

// result is what a command left behind.
type result struct {
	stdout, stderr string
	code           int
}

// start starts cmd; wait waits for its end.
func (c *cli) start(cmd *exec.Cmd) (wait func() result) {
	c.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return func() result {
		c.t.Helper()
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			c.t.Fatal(err)
		}
		return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	}
}

// run runs noema and demands its exit code.
func (c *cli) run(code int, args ...string) result {
	c.t.Helper()
	r := c.start(c.command(args...))()
	if r.code != code {
		c.t.Fatalf("noema %s: exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", strings.Join(args, " "), r.code, code, r.stdout, r.stderr)
	}
	return r
}

// summary runs noema with --json and reads what it printed.
func (c *cli) summary(args ...string) runner.Summary {
	c.t.Helper()
	var s runner.Summary
	r := c.run(0, append(args, "--json")...)
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil {
		c.t.Fatalf("%v in %s", err, r.stdout)
	}
	return s
}

// store opens the store while no noema runs.
func (c *cli) store(use func(context.Context, *cache.Store)) {
	c.t.Helper()
	s, err := cache.Open(c.t.Context(), filepath.Join(c.home, "store"), cache.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			c.t.Error(err)
		}
	}()
	use(c.t.Context(), s)
}

// trials are those of the last run, nil where one is not finished.
func (c *cli) trials() (trials []*record.Trial) {
	c.t.Helper()
	c.store(func(ctx context.Context, s *cache.Store) {
		run, err := runner.FindRun(ctx, s, "last")
		if err != nil {
			c.t.Fatal(err)
		}
		for _, id := range run.Trials() {
			t, err := runner.Trial(ctx, s, run.ID, id)
			if err != nil {
				c.t.Fatal(err)
			}
			trials = append(trials, t)
		}
	})
	return trials
}

// want demands that text holds each of the parts.
func want(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in:\n%s", p, text)
		}
	}
}

// simulated answers as the simulated model does, over HTTP.
func simulated(t *testing.T) func(providertest.Ask) providertest.Answer {
	t.Helper()
	model, err := sim.New(sim.Options{Error: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	return func(r providertest.Ask) providertest.Answer {
		c, err := model.Complete(context.Background(), methods.Request{Messages: r.Messages})
		if err != nil {
			t.Error(err)
		}
		return providertest.Answer{Text: c.Text}
	}
}

// quiz is a task file of n questions, with ids q1 and up.
func quiz(n int) string {
	var b strings.Builder
	for i := range n {
		id := "q" + string(rune('1'+i))
		b.WriteString(`{"id": "` + id + `", "input": "question ` + id + ` of the quiz", "target": "yes"}` + "\n")
	}
	return b.String()
}

// rootOf is the root hash in a table.
func rootOf(stdout string) string {
	for line := range strings.Lines(stdout) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "root" {
			return f[1]
		}
	}
	return ""
}
