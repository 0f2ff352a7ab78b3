package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"noema/methods"
)

// buildMisbehave builds the plugin that misbehaves, once.
var buildMisbehave = sync.OnceValues(func() (string, error) {
	if binary := os.Getenv("MISBEHAVE"); binary != "" { // in a test that runs again
		return binary, nil
	}
	binary := filepath.Join(buildDir, "misbehave")
	out, err := exec.Command("go", "build", "-o", binary, "./testdata/misbehave").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return binary, nil
})

func misbehaving(t testing.TB, mode string) Source {
	t.Helper()
	binary, err := buildMisbehave()
	if err != nil {
		t.Fatal(err)
	}
	return Source{Name: mode, Command: []string{binary, mode}, Path: binary}
}

// misdeed is what a plugin does, and what the kernel must say of it.
type misdeed struct {
	mode   string
	limits Limits
	budget bool // the kernel answers every call that the budget is exhausted
	cancel bool // the trial is cancelled at its first event
	want   string
	soft   bool // the method's own error, which costs no process
	tree   bool // it has to do with how processes are found, which differs without cgroups
}

func misdeeds() []misdeed {
	return []misdeed{
		{mode: "flood-stdout", limits: Limits{Output: 1 << 20}, want: "wrote more than 1 MiB to its stdout in one trial", tree: true},
		{mode: "flood-stderr", limits: Limits{Output: 1 << 20}, want: "wrote more than 1 MiB to its stderr in one trial"},
		{mode: "fork", limits: Limits{Processes: 8}, want: "processes at once, but the limit is 8", tree: true},
		{mode: "double-fork", want: "crashed (exit status 3); last lines of its stderr:\nit is all too much", tree: true},
		{mode: "ignore-sigterm", cancel: true, want: "did not stop within 300ms of being asked to, and was killed", tree: true},
		{mode: "leak", limits: Limits{Memory: 128 << 20}, want: "the limit is 128 MiB"},
		{mode: "leak-in-child", limits: Limits{Memory: 128 << 20}, want: "the limit is 128 MiB", tree: true},
		{mode: "gigabyte", want: "broke its connection: the limit of a message is 64 MiB"},
		{mode: "call", budget: true, want: "more calls after its budget was exhausted"},
		{mode: "crash", want: "crashed (exit status 3); last lines of its stderr:\nit is all too much", tree: true},
		{mode: "quit", want: "exited (exit status 0) in the middle of a trial, without an answer"},
		{mode: "spin", limits: Limits{CPUTime: 200 * time.Millisecond}, want: "of CPU time in one trial, but the limit is 200ms", tree: true},
		{mode: "open-files", limits: Limits{Files: 100}, want: "too many open files", soft: true},
		{mode: "flood-events", want: "broke the protocol: it emitted more than 256 MiB of events in one trial"},
		{mode: "flood-seeds", want: "broke the protocol: it asked for more than 1024 seeds at once"},
		{mode: "junk-frames", want: "broke its connection: grpc: failed to unmarshal"},
		{mode: "empty-frames", want: "broke the protocol: it sent a frame of unknown kind"},
		{mode: "same-id", want: "broke the protocol: it reused call id 7, which is still in use"},
		{mode: "no-finish", want: "ended the session without an answer"},
		{mode: "other-service", want: "completed the handshake, but does not serve a noema method"},
		{mode: "describe-hangs", want: "did not answer Describe within"},
		{mode: "silent", want: "exited before the handshake (exit status 0)"},
		{mode: "hang", want: "did not start: no handshake after"},
		{mode: "chat", want: `did not complete the handshake: it wrote "Loading 3 models ..." to stdout: is it a noema plugin`},
		{mode: "long-line", want: "wrote more than 4 KiB to stdout before the handshake"},
		{mode: "wrong-core", want: `announced handshake version "9", want "1"`},
		{mode: "wrong-version", want: `announced "one" as its protocol version, which is not a number`},
		{mode: "wrong-protocol", want: "announced a transport other than gRPC"},
		{mode: "elsewhere", want: `announced the address "tcp 203.0.113.7:80", which is not a socket in its own folder`},
		{mode: "nobody-there", want: "does not serve at the address that it announced"},
		{mode: "others-socket", want: "which is not a socket in its own folder"},
		{mode: "link-to-others-socket", want: "which another process serves"},
		{mode: "junk-bytes", want: "does not serve at the address that it announced"},
		{mode: "old", want: "speaks protocol version 0, which is too old for this noema (it speaks 1): rebuild it with: noema plugin build old"},
		{mode: "two", want: "speaks protocol version 2, which is too new for this noema (it speaks 1): update noema, or rebuild the plugin for this one with: noema plugin build two"},
	}
}

// TestMisbehavingPluginsAreContained runs each with cgroups, where they can be
// had, and those to which it matters without.
func TestMisbehavingPluginsAreContained(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, cageless := range []bool{false, true} {
		for _, m := range misdeeds() {
			if cageless && !m.tree {
				continue
			}
			t.Run(fmt.Sprintf("%s/cageless=%t", m.mode, cageless), func(t *testing.T) {
				t.Parallel()
				contain(t, m, cageless)
			})
		}
	}
}

func contain(t *testing.T, m misdeed, cageless bool) {
	start := 20 * time.Second
	if m.mode == "hang" || m.mode == "describe-hangs" {
		start = 500 * time.Millisecond
	}
	h, err := NewHost(HostOptions{StartTimeout: start, StopGrace: 300 * time.Millisecond, Limits: m.limits, cageless: cageless})
	if err != nil {
		t.Fatal(err)
	}
	heard := otherServer(t, h)
	begun := time.Now()
	err = try(t, h, m)
	if said := heard(); said != "" {
		t.Errorf("the socket of another process was told %q", said)
	}
	var f *Failure
	if isFailure := errors.As(err, &f); isFailure == m.soft || err == nil {
		t.Errorf("a failure of the process: %t, error %v", isFailure, err)
	}
	if err != nil && !strings.Contains(err.Error(), m.want) {
		t.Errorf("error = %v\nwant in it: %s", err, m.want)
	}
	if took := time.Since(begun); took > 2*time.Minute {
		t.Errorf("it took %v to contain it", took)
	}
	if err := try(t, h, misdeed{mode: "well"}); err != nil {
		t.Errorf("another plugin beside it: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if left := marked(h.tempDir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if h.cages.dir != "" {
		if _, err := os.Stat(h.cages.dir); err == nil {
			t.Errorf("its cgroup is left: %s", h.cages.dir)
		}
	}
}

// otherServer serves at a socket beside the plugins' folders, and returns what it was told.
func otherServer(t *testing.T, h *Host) (heard func() string) {
	t.Helper()
	dir := filepath.Join(h.tempDir, "others")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	var said []byte
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			raw, _ := io.ReadAll(conn) // until it is closed
			said = append(said, raw...)
			_ = conn.Close()
		}
	}()
	return func() string {
		_ = l.Close()
		<-ended
		return string(said)
	}
}

// try runs one trial of a plugin that misbehaves.
func try(t *testing.T, h *Host, m misdeed) error {
	p, err := h.Open(t.Context(), misbehaving(t, m.mode))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := &tolerant{Host: newKernel(), event: func() {}}
	if m.cancel {
		k.event = cancel
	}
	if m.budget {
		k.err = fmt.Errorf("call: %w", methods.ErrBudget)
	}
	_, err = p.Solve(ctx, methods.Problem{Query: "q", Answer: methods.AnswerSpec{Kind: methods.Text}}, k)
	return err
}

// tolerant is a kernel that takes any number of events and calls.
type tolerant struct {
	methods.Host
	err       error
	event     func()
	calls     atomic.Int64
	now, most atomic.Int64
}

func (k *tolerant) Emit(methods.Event) { k.event() }

func (k *tolerant) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	k.calls.Add(1)
	now := k.now.Add(1)
	defer k.now.Add(-1)
	for most := k.most.Load(); now > most && !k.most.CompareAndSwap(most, now); most = k.most.Load() {
	}
	if r.Path == "wait" {
		<-ctx.Done()
	}
	return methods.Completion{Text: "t"}, k.err
}

// A hundred thousand calls are worked on a few at a time.
func TestManyCallsWait(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	h := openHost(t)
	p, err := h.Open(t.Context(), misbehaving(t, "call"))
	if err != nil {
		t.Fatal(err)
	}
	k := &tolerant{Host: newKernel(), event: func() {}}
	if _, err := p.Solve(t.Context(), methods.Problem{Query: "q"}, k); err != nil {
		t.Fatal(err)
	}
	if k.calls.Load() != 100_000 || k.most.Load() > maxCalls {
		t.Errorf("%d calls, %d at once", k.calls.Load(), k.most.Load())
	}
}

// TestOldPluginsRun: a plugin of an older version runs on a noema that still
// speaks it, and one of the newest of several versions does.
func TestOldPluginsRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode   string
		speaks []int
		want   string
	}{
		{"one", []int{1, 2, 3}, ""},
		{"two", []int{1, 2, 3}, ""},
		{"old", []int{0, 1}, ""},
		{"one", []int{2, 3}, "speaks protocol version 1, which is too old for this noema (it speaks 2 3): rebuild it with: noema plugin build one"},
		{"two", []int{0, 1}, "update noema, or rebuild the plugin for this one with: noema plugin build two"},
	} {
		h, err := NewHost(HostOptions{speaks: c.speaks})
		if err != nil {
			t.Fatal(err)
		}
		err = try(t, h, misdeed{mode: c.mode})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s for %v: %v", c.mode, c.speaks, err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFrozenProcessIsKilled: a process that answers nothing any more does not
// hold up the kernel's end.
func TestFrozenProcessIsKilled(t *testing.T) {
	t.Parallel()
	h, err := NewHost(HostOptions{StopGrace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := try(t, h, misdeed{mode: "freeze"}); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for _, p := range h.pools {
		pid = p.processes[0].child.cmd.Process.Pid
	}
	for stopped := false; !stopped; {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		stopped = strings.Contains(string(raw), ") T ")
	}
	begun := time.Now()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("Close took %v", took)
	}
	if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("process %d: %v", pid, err)
	}
}

// TestCancelledStart: who cancels does not wait for a plugin that hangs.
func TestCancelledStart(t *testing.T) {
	t.Parallel()
	h := openHost(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := h.Open(ctx, misbehaving(t, "hang")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestWhatAPluginSees: no keys, no descriptors of the kernel, nothing of its
// memory and environment unless both are root's, and a working directory of its own that leads to its files.
func TestWhatAPluginSees(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	t.Setenv("NOEMA_HOME", "/secret")
	file := filepath.Join(t.TempDir(), "inherited")
	fd, err := unix.Open(file, unix.O_CREAT|unix.O_RDWR, 0o600) // without O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	folder := t.TempDir()
	for _, name := range []string{"plugin.yaml", "prompts.txt"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src := misbehaving(t, "tell")
	src.Dir = folder
	h := openHost(t)
	p, err := h.Open(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Solve(t.Context(), methods.Problem{}, newKernel())
	if err != nil {
		t.Fatal(err)
	}
	text, _ := a.Text()
	if strings.Contains(text, "secret") || strings.Contains(text, file) {
		t.Errorf("the plugin sees: %s", text)
	}
	var v struct {
		Dir          string
		Files, Pried []string
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if open, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || open != 0 || os.Geteuid() != 0 && v.Pried != nil {
		t.Errorf("of the kernel's process the plugin can read %v; dumpable %d, %v", v.Pried, open, err)
	}
	if !strings.HasPrefix(v.Dir, h.tempDir+"/") || !slices.Equal(v.Files, []string{"plugin.yaml", "prompts.txt"}) {
		t.Errorf("working directory %s with %v", v.Dir, v.Files)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 2 {
		t.Errorf("the plugin's folder has %v, %v", entries, err)
	}
}

// TestSweepEndsWhatAKilledKernelLeft.
func TestSweepEndsWhatAKilledKernelLeft(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	left := filepath.Join(temp, fmt.Sprintf("%s%d-1", tempPrefix, dead.Process.Pid))
	mine := filepath.Join(temp, fmt.Sprintf("%s%d-1", tempPrefix, os.Getpid()))
	for _, dir := range []string{left, mine} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	orphan := exec.Command("sleep", "600")
	orphan.Env = []string{"TMPDIR=" + filepath.Join(left, "p1")}
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	for { // Start returns before the system shows the variables of what it has started
		if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", orphan.Process.Pid)); err != nil || len(raw) > 0 {
			break
		}
	}
	sweep(temp)
	if err := orphan.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("what it left ended with %v", err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("its folder is left")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("the folder of a living kernel: %v", err)
	}
}
