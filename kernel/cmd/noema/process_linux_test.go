package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
)

// TestKillAPlugin kills a plugin in the middle of a trial from outside: nobody is
// to blame, the trial is run again, and no call is made twice.
func TestKillAPlugin(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	server := providertest.New(providertest.Config{
		Answer:  yes,
		Respond: once(map[string]providertest.Response{"q2": providertest.Slow(300 * time.Millisecond)}),
		Arrived: func(r providertest.Ask) {
			if strings.Contains(r.Prompt, "question q2 ") {
				asked <- struct{}{}
			}
		},
	})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(4))
	args := []string{"compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "direct", "--max-samples", "1"}
	cmd := c.command(args...)
	wait := c.start(cmd)
	<-asked
	for _, pid := range children(t, cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	r := wait()
	if r.code != 0 {
		t.Fatalf("exit code %d:\n%s", r.code, r.stderr)
	}
	want(t, r.stdout, "4 answered")
	if n := server.Requests(); n != 4 {
		t.Errorf("%d requests, want 4: the call under way is joined, not made again", n)
	}

	again := c.summary(args...)
	if again.ProviderCalls != 0 || again.CachedCalls != 4 || again.Methods[0].Outcomes["answered"] != 4 {
		t.Errorf("again: %d provider calls, %d cached, outcomes %v", again.ProviderCalls, again.CachedCalls, again.Methods[0].Outcomes)
	}
}

// TestTwoKernels runs one comparison in two processes on one store at once:
// both finish with the same root hash, and the store is whole.
func TestTwoKernels(t *testing.T) {
	t.Parallel()
	server := providertest.New(providertest.Config{Answer: simulated(t), Latency: 5 * time.Millisecond})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	args := []string{"compare", "--model", "openai/tiny", "--methods", "direct,anot", "--limit", "6"}
	first, second := c.start(c.command(args...)), c.start(c.command(args...))
	results := []result{first(), second()}
	root := rootOf(results[0].stdout)
	for _, r := range results {
		if r.code != 0 || root == "" || rootOf(r.stdout) != root {
			t.Errorf("exit code %d, root %q, want %q:\n%s", r.code, rootOf(r.stdout), root, r.stderr)
		}
	}
	list := c.run(0, "runs", "list").stdout
	if strings.Count(list, "finished") != 2 {
		t.Errorf("want two finished runs:\n%s", list)
	}
	want(t, c.run(0, "cache", "verify").stdout, " 0 damaged")
	want(t, c.run(0, "replay", "last").stdout, root)
	before := server.Requests()
	want(t, c.run(0, args...).stdout, root)
	if server.Requests() != before {
		t.Error("a third run made calls")
	}
}

// TestInterrupt presses Ctrl-C, which reaches the plugins as well: the run
// stops with what it has, no trial fails of it, and it can go on.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	server := providertest.New(providertest.Config{
		Answer:  yes,
		Respond: once(map[string]providertest.Response{"q3": providertest.Fail(providertest.Silent)}),
		Arrived: func(r providertest.Ask) {
			if strings.Contains(r.Prompt, "question q3 ") {
				asked <- struct{}{}
			}
		},
	})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(4))
	args := []string{"compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "direct", "--max-samples", "1"}
	cmd := c.command(args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	wait := c.start(cmd)
	<-asked
	plugins := children(t, cmd.Process.Pid)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	r := wait()
	if r.code != exitError {
		t.Errorf("exit code %d, want %d", r.code, exitError)
	}
	want(t, r.stderr, "noema: interrupted: run the same command to go on")
	want(t, r.stdout, "2 answered", "root      none: the run is unfinished")
	gone(t, plugins)

	resumed := c.run(0, args...)
	want(t, resumed.stderr, "goes on: 2 of 4 trials are done")
	want(t, resumed.stdout, "4 answered")
	want(t, c.run(0, "replay", "last").stdout, rootOf(resumed.stdout))
	if n := server.Requests(); n != 5 {
		t.Errorf("%d requests, want each question once and the interrupted one again", n)
	}
}
