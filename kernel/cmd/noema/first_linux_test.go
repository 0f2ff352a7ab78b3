package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"noema/kernel/internal/test/hubtest"
	"noema/kernel/internal/test/localtest"
)

// TestFirstAnswer goes from nothing to the first answer of a language model: it is
// pulled from a hub on this machine, and asked one question. It logs the time and
// the most memory that each command took.
func TestFirstAnswer(t *testing.T) {
	if os.Getenv("NOEMA_BENCH") == "" {
		t.Skip("it measures: set NOEMA_BENCH=1")
	}
	file := localtest.Real(t)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h := hubtest.New(t)
	h.Add("models", "org/smollm2", hubtest.Repo{Files: fstest.MapFS{filepath.Base(file): {Data: raw}}, License: "apache-2.0"})
	user := newCLI(t, "HF_ENDPOINT="+h.URL)
	model := "hf/org/smollm2:" + filepath.Base(file)
	user.measure("model", "pull", model)
	user.measure("ask", "--methods", "direct", "--model", "local/"+model+"?max_tokens=16", "What is the capital of France?")
}

// measure runs noema and logs what it took.
func (c *cli) measure(args ...string) {
	c.t.Helper()
	cmd, start := c.command(args...), time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%v\n%s", err, out)
	}
	s := cmd.ProcessState
	c.t.Logf("%s: %.1f s, %.1f s of processor time, %d MiB", args[0], time.Since(start).Seconds(),
		(s.UserTime() + s.SystemTime()).Seconds(), s.SysUsage().(*syscall.Rusage).Maxrss>>10)
}
