package python_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
)

// echo is the method Echo of testdata in Go.
type echo struct{}

func (echo) Describe() methods.Description {
	return methods.Description{
		Name: "echo", Version: "1", Summary: "asks what it was asked",
		Options: []methods.Option{
			{Name: "width", Type: methods.IntOption, Default: "5", Doc: "how wide"},
			{Name: "mode", Type: methods.StringOption, Default: "a", Choices: []string{"a", "b"}},
		},
	}
}

func (echo) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	h.Emit(methods.Event{Path: "P1", Phase: "P1", Kind: methods.PhaseStart, Text: p.Query, Level: 1})
	c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query), Path: "P1", Sampling: methods.Sampling{Seed: p.Seed}})
	if err != nil {
		return methods.Answer{}, fmt.Errorf("ask: %w", err)
	}
	return methods.TextAnswer(c.Text), nil
}

func textCase() methodtest.Case {
	return methodtest.Case{
		Name:    "text",
		Problem: methods.Problem{ID: "t1", Query: "what is {(c1)} \x00 \"quoted\" ü𝄞?", Answer: methods.AnswerSpec{Kind: methods.Text}, Seed: 1<<63 + 7},
		Model:   methodtest.Reply("ein Wörtchen \u2028 𝄞"),
	}
}

func TestPythonDoesWhatGoDoes(t *testing.T) {
	t.Parallel()
	h := openHost(t)
	for _, name := range []string{"echo", "async-echo"} {
		methodtest.Same(t, echo{}, open(t, h, name), textCase())
	}
}

// TestContract is for asyncio; the example does the same for threads.
func TestContract(t *testing.T) {
	t.Parallel()
	methodtest.Run(t, open(t, openHost(t), "async-echo"), textCase())
}

// TestLogprobsCross demands that what a model said of its tokens reaches a
// method bit by bit, and that the wish for it reaches the kernel.
func TestLogprobsCross(t *testing.T) {
	t.Parallel()
	k := newKernel()
	third := -1.0 / 3
	k.complete = func(_ context.Context, r methods.Request) (methods.Completion, error) {
		if r.Sampling.Logprobs != 3 {
			return methods.Completion{}, fmt.Errorf("asked for %d log probabilities", r.Sampling.Logprobs)
		}
		return methods.Completion{
			Text: "é",
			Logprobs: []methods.TokenLogprob{
				{Token: "\uFFFD", Bytes: []byte{0xc3}, Logprob: third, Top: []methods.TokenLogprob{{Token: "e", Logprob: -5e-324}}},
				{Token: "\uFFFD", Bytes: []byte{0xa9}, Logprob: 0},
			},
			Usage: methods.Usage{
				Calls: 1, ToolCalls: 2, InputTokens: 3, OutputTokens: 4, Cost: 5, Latency: 6, Unpriced: 7, Unmetered: 8,
				CachedTokens: 9, CacheWriteTokens: 10, ReasoningTokens: 11,
			},
		}, nil
	}
	a, err := open(t, openHost(t), "sure").Solve(t.Context(), methods.Problem{}, k)
	want := `[[["\uFFFD","c3","-0x1.5555555555555p-2",[["e","65","-0x0.0000000000001p-1022",[]]]],["\uFFFD","a9","0x0.0p+0",[]]],[1,2,3,4,5,6,7,8,9,10,11]]`
	want = strings.ReplaceAll(want, `\uFFFD`, "\uFFFD")
	if text, _ := a.Text(); err != nil || text != want {
		t.Errorf("%v\n got %s\nwant %s", err, text, want)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	h := openHost(t)
	for _, name := range []string{"many", "async-many"} {
		a, err := open(t, h, name).Solve(t.Context(), methods.Problem{}, newKernel())
		if wrong, _ := a.Number(); err != nil || wrong != 0 {
			t.Errorf("%s: %v calls got another's answer, err = %v", name, wrong, err)
		}
	}
}

func TestToolCalls(t *testing.T) {
	t.Parallel()
	p := open(t, openHost(t), "tool")
	a, err := p.Solve(t.Context(), methods.Problem{}, newKernel())
	if got, _ := a.Text(); err != nil || got != `{"a":1}true` {
		t.Fatalf("tool result = %q, %v", got, err)
	}
}

func TestOptionsHaveTheirDefaults(t *testing.T) {
	t.Parallel()
	p := open(t, openHost(t), "options")
	a, err := p.Solve(t.Context(), methods.Problem{Options: json.RawMessage(`{"mode":"b"}`)}, newKernel())
	if err != nil || string(a.Value) != `{"mode":"b","width":5}` {
		t.Errorf("options = %s, %v", a.Value, err)
	}
	_, err = p.Solve(t.Context(), methods.Problem{Options: json.RawMessage(`{"depth":1}`)}, newKernel())
	if err == nil || !strings.Contains(err.Error(), "unknown option 'depth': there are mode, width") {
		t.Errorf("unknown option: %v", err)
	}
}

func TestErrorsKeepTheirIdentity(t *testing.T) {
	t.Parallel()
	h := openHost(t)
	for _, name := range []string{"echo", "async-echo"} {
		p := open(t, h, name)
		for _, want := range []error{
			methods.ErrBudget, methods.ErrMiss, methods.ErrUnknownTool, methods.ErrProvider, context.DeadlineExceeded,
		} {
			k := newKernel()
			k.complete = func(context.Context, methods.Request) (methods.Completion, error) {
				return methods.Completion{}, fmt.Errorf("call P1: %w", want)
			}
			_, err := p.Solve(t.Context(), methods.Problem{}, k)
			if !errors.Is(err, want) {
				t.Errorf("%s: errors.Is(%v, %v) is false", name, err, want)
			}
			if err == nil || !strings.HasPrefix(err.Error(), "ask: call P1: ") {
				t.Errorf("%s: error text = %v", name, err)
			}
		}
	}
}

type markKey struct{}

func TestSeedIsBuiltInItsOwnScope(t *testing.T) {
	t.Parallel()
	h := openHost(t)
	for _, name := range []string{"seed", "async-seed"} {
		t.Run(name, func(t *testing.T) { testSeed(t, open(t, h, name)) })
	}
}

func testSeed(t *testing.T, p *plugins.Plugin) {
	k, problem := newKernel(), methods.Problem{Query: "F", Seed: 5}
	k.seed = func(ctx context.Context, key methods.SeedKey, build func(context.Context) ([]byte, error)) ([]byte, error) {
		if key != (methods.SeedKey{Kind: "formula", Content: "F"}) {
			t.Errorf("seed key = %+v", key)
		}
		return build(context.WithValue(ctx, markKey{}, "in build"))
	}
	k.complete = func(ctx context.Context, r methods.Request) (methods.Completion, error) {
		if r.Sampling.Seed != 0 {
			t.Errorf("a call of the build has the trial's seed %d", r.Sampling.Seed)
		}
		mark, _ := ctx.Value(markKey{}).(string)
		return methods.Completion{Text: mark}, nil
	}
	a, err := p.Solve(t.Context(), problem, k)
	if got, _ := a.Text(); err != nil || got != "in build" {
		t.Fatalf("seed = %q, %v; want the call to run in the build's context", got, err)
	}
	k.seed = func(context.Context, methods.SeedKey, func(context.Context) ([]byte, error)) ([]byte, error) {
		return []byte("stored"), nil
	}
	a, err = p.Solve(t.Context(), problem, k)
	if got, _ := a.Text(); err != nil || got != "stored" {
		t.Fatalf("stored seed = %q, %v", got, err)
	}
	k.seed, k.complete = nil, func(context.Context, methods.Request) (methods.Completion, error) {
		return methods.Completion{}, methods.ErrBudget
	}
	if _, err = p.Solve(t.Context(), problem, k); !errors.Is(err, methods.ErrBudget) {
		t.Fatalf("failed build: err = %v, want ErrBudget", err)
	}
}

func TestGivenUpCallIsCancelled(t *testing.T) {
	t.Parallel()
	p, k := open(t, openHost(t), "slow"), newKernel()
	given := make(chan struct{})
	k.complete = func(ctx context.Context, r methods.Request) (methods.Completion, error) {
		if r.Path == "P1" {
			<-ctx.Done()
			close(given)
			return methods.Completion{}, ctx.Err()
		}
		<-given // the first call must be cancelled while the trial goes on
		return methods.Completion{Text: "went on"}, nil
	}
	a, err := p.Solve(t.Context(), methods.Problem{}, k)
	if got, _ := a.Text(); err != nil || got != "went on" {
		t.Fatalf("answer = %q, %v", got, err)
	}
}

func TestProcessFailuresNameThePlugin(t *testing.T) {
	h := openHost(t)
	for name, want := range map[string][]string{
		"fault":   {`plugin "fault" raised KeyError: 'boom'`, "main.py:", "Traceback"},
		"nothing": {`plugin "nothing" raised TypeError`, "return a noema.Answer"},
		"exit":    {`plugin "exit" crashed (exit status 7)`, "cannot go on"},
		"huge":    {`plugin "huge" broke its connection`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, h, name).Solve(t.Context(), methods.Problem{}, newKernel())
			var f *plugins.Failure
			if !errors.As(err, &f) {
				t.Fatalf("err = %v, want a *Failure", err)
			}
			for _, part := range want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in the error:\n%v", part, err)
				}
			}
		})
	}
}

// waiting is a kernel whose calls wait for the trial's end.
func waiting() *kernel {
	k := newKernel()
	k.complete = func(ctx context.Context, _ methods.Request) (methods.Completion, error) {
		<-ctx.Done()
		return methods.Completion{}, ctx.Err()
	}
	return k
}

func TestCancelledTrialEndsSoonAndKeepsTheProcess(t *testing.T) {
	t.Parallel()
	h := openHost(t)
	for _, name := range []string{"wait", "async-wait"} {
		p, k := open(t, h, name), waiting()
		var pids [2]string
		for i := range pids {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { _, err := p.Solve(ctx, methods.Problem{}, k); done <- err }()
			pids[i] = k.next(t)
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: err = %v", name, err)
			}
		}
		if pids[0] != pids[1] {
			t.Errorf("%s: the process was replaced after a clean cancellation: %v", name, pids)
		}
	}
}

func TestDeafPluginIsKilled(t *testing.T) {
	t.Parallel()
	p, k := open(t, openHost(t), "deaf"), newKernel()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := p.Solve(ctx, methods.Problem{}, k); done <- err }()
	k.next(t)
	cancel()
	var f *plugins.Failure
	if err := <-done; !errors.As(err, &f) || !strings.Contains(err.Error(), "did not stop within") {
		t.Fatalf("err = %v", err)
	}
}

// TestTrialsShareProcesses: many trials at once run in few processes, each with
// its own answer.
func TestTrialsShareProcesses(t *testing.T) {
	t.Parallel()
	h, err := plugins.NewHost(plugins.HostOptions{MaxProcesses: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	p := open(t, h, "wait")
	ctx, cancel := context.WithCancel(t.Context())
	const trials = 100
	errs, kernels := make(chan error, trials), make([]*kernel, trials)
	for i := range kernels {
		kernels[i] = waiting()
		go func() { _, err := p.Solve(ctx, methods.Problem{}, kernels[i]); errs <- err }()
	}
	pids := map[string]bool{}
	for _, k := range kernels {
		pids[k.next(t)] = true
	}
	if len(pids) > 2 {
		t.Errorf("%d trials took %d processes", trials, len(pids))
	}
	cancel()
	for range trials {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Fatalf("err = %v", err)
		}
	}
}

// TestKilled: a process that is killed from outside is nobody's doing, and alone
// a trial has a new one.
func TestKilled(t *testing.T) {
	t.Parallel()
	p := open(t, openHost(t), "wait")
	killed, again := waiting(), waiting()
	errs := make(chan error, 1)
	go func() { _, err := p.Solve(t.Context(), methods.Problem{}, killed); errs <- err }()
	var pid int
	if _, err := fmt.Sscan(killed.next(t), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var f *plugins.Failure
	if err := <-errs; !errors.As(err, &f) || !f.Shared || !strings.Contains(err.Error(), "signal: killed") || !strings.Contains(err.Error(), "about to wait") {
		t.Fatalf("killed trial: %v", err)
	}
	ctx, cancel := context.WithCancel(plugins.Alone(t.Context()))
	go func() { _, err := p.Solve(ctx, methods.Problem{}, again); errs <- err }()
	again.next(t)
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("alone: %v", err)
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	t.Parallel()
	h, err := plugins.NewHost(plugins.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, k := open(t, h, "wait"), waiting()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := p.Solve(ctx, methods.Problem{}, k); done <- err }()
	var pid int
	if _, err := fmt.Sscan(k.next(t), &pid); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-done
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is alive after Close: %v", pid, err)
	}
}

// TestNoPythonOutlivesItsParent starts a plugin below a shell that dies, where
// no death signal reaches it.
func TestNoPythonOutlivesItsParent(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", append([]string{"-c", `"$0" "$@" & echo $!; read line`}, source(t, "echo").Command...)...)
	cmd.Env = append(os.Environ(), "NOEMA_PLUGIN=method")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	pid, err := strconv.Atoi(lines.Text())
	if err != nil {
		t.Fatal(err)
	}
	for lines.Scan() && !strings.HasSuffix(lines.Text(), "|grpc") {
	}
	if err := in.Close(); err != nil { // the shell ends
		t.Fatal(err)
	}
	// The plugin holds the other end of this pipe for as long as it lives.
	late := time.AfterFunc(10*time.Second, func() {
		t.Error("the plugin outlived its parent by 10 s")
		_ = syscall.Kill(pid, syscall.SIGKILL)
	})
	for lines.Scan() {
	}
	late.Stop()
	_ = cmd.Wait() // read fails at the end of its input
}
