package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"

	"noema/methods"
)

// testMethods are served by the test binary itself when it is started as
// "binary serve NAME".
var testMethods = map[string]methodFunc{
	"bench": bench,
	"echo": func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		h.Emit(methods.Event{Path: "P1", Kind: methods.PhaseStart, Text: p.Query})
		c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query), Path: "P1", Sampling: methods.Sampling{Seed: p.Seed}})
		if err != nil {
			return methods.Answer{}, fmt.Errorf("ask: %w", err)
		}
		return methods.TextAnswer(c.Text), nil
	},
	"many": func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		var wg sync.WaitGroup
		var wrong atomic.Int64
		for i := range 2000 {
			wg.Go(func() {
				want := fmt.Sprint("call ", i)
				c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(want), Path: fmt.Sprintf("P1/c%d", i)})
				if err != nil || c.Text != want {
					wrong.Add(1)
				}
			})
		}
		wg.Wait()
		return methods.NumberAnswer(float64(wrong.Load())), nil
	},
	"tool": func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		r, err := h.CallTool(ctx, methods.ToolCall{Name: "add", Arguments: json.RawMessage(`{"a":1}`), Path: "P1"})
		return methods.TextAnswer(fmt.Sprint(r.Content, r.IsError)), err
	},
	"seed": func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		data, err := h.Seed(ctx, methods.SeedKey{Kind: "formula", Content: p.Query}, func(ctx context.Context) ([]byte, error) {
			c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask("compile"), Path: "seed"})
			return []byte(c.Text), err
		})
		return methods.TextAnswer(string(data)), err
	},
	// mixed does what the query says: dies, panics, or answers with its process.
	"mixed": func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		if _, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query), Path: "P1"}); err != nil {
			return methods.Answer{}, err
		}
		switch p.Query {
		case "die":
			fmt.Fprintln(os.Stderr, "dying of", p.ID)
			os.Exit(7)
		case "panic":
			panic("boom")
		}
		return methods.TextAnswer(fmt.Sprint(os.Getpid())), nil
	},
	"panic": func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) { panic("boom") },
	"exit": func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
		fmt.Fprintln(os.Stderr, "cannot go on")
		os.Exit(7)
		return methods.Answer{}, nil
	},
	"deaf": func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		h.Emit(methods.Event{Text: "started"})
		select {}
	},
	"wait": func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
		fmt.Fprintln(os.Stderr, "about to wait")
		h.Emit(methods.Event{Text: fmt.Sprint(os.Getpid())})
		<-ctx.Done()
		return methods.Answer{}, ctx.Err()
	},
	// prints prints the query, line by line, to the stream of the problem's name, and answers at once.
	"prints": func(_ context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
		to := map[string]*os.File{"stdout": os.Stdout, "stderr": os.Stderr}[p.ID]
		for line := range strings.Lines(p.Query) {
			fmt.Fprint(to, line)
		}
		return methods.TextAnswer(""), nil
	},
	"huge": func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
		return methods.TextAnswer(strings.Repeat("x", 80<<20)), nil
	},
}

type methodFunc func(context.Context, methods.Problem, methods.Host) (methods.Answer, error)

func (f methodFunc) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	return f(ctx, p, h)
}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		switch name := os.Args[2]; name {
		case "future":
			plugin.Serve(&plugin.ServeConfig{
				HandshakeConfig:  handshake(),
				VersionedPlugins: map[int]plugin.PluginSet{99: {pluginName: &servicePlugin{}}},
				GRPCServer:       plugin.DefaultGRPCServer,
			})
		case "chatty":
			fmt.Println("hello, I am not a plugin")
		default:
			Serve(testMethods[name])
		}
		return
	}
	os.Exit(run(m))
}

// buildDir is a folder for what the tests build; it is set before they run.
var buildDir string

// run runs the tests with a folder for what they build.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "plugins-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	buildDir = dir
	return m.Run()
}

func source(name string) Source {
	return Source{Name: name, Command: []string{os.Args[0], "serve", name}, Path: os.Args[0]}
}

func openHost(t testing.TB) *Host {
	t.Helper()
	h, err := NewHost(HostOptions{StopGrace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func open(t testing.TB, h *Host, name string) *Plugin {
	t.Helper()
	p, err := h.Open(t.Context(), source(name))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// kernel is the Host that the tests offer to plugins: it echoes.
type kernel struct {
	complete func(context.Context, methods.Request) (methods.Completion, error)
	seed     func(context.Context, methods.SeedKey, func(context.Context) ([]byte, error)) ([]byte, error)
	events   chan methods.Event
}

func newKernel() *kernel { return &kernel{events: make(chan methods.Event, 100)} }

func (k *kernel) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if k.complete != nil {
		return k.complete(ctx, r)
	}
	return methods.Completion{Text: r.Messages[0].Content, Usage: methods.Usage{Calls: 1, Latency: time.Second}}, nil
}

func (k *kernel) CallTool(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	if c.Name != "add" {
		return methods.ToolResult{}, methods.ErrUnknownTool
	}
	return methods.ToolResult{Content: string(c.Arguments), IsError: true}, nil
}

func (k *kernel) Seed(ctx context.Context, key methods.SeedKey, build func(context.Context) ([]byte, error)) ([]byte, error) {
	if k.seed != nil {
		return k.seed(ctx, key, build)
	}
	return build(ctx)
}

func (k *kernel) Emit(e methods.Event) { k.events <- e }

func TestSolveCrossesTheBoundary(t *testing.T) {
	h := openHost(t)
	p, k := open(t, h, "echo"), newKernel()
	query := "what is {(c1)} \x00 \"quoted\"? \xff"
	a, err := p.Solve(t.Context(), methods.Problem{Query: query, Answer: methods.AnswerSpec{Kind: methods.Text}}, k)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ToValidUTF8(query, "\uFFFD")
	if got, _ := a.Text(); got != want || a.Outcome != methods.Answered {
		t.Errorf("answer = %q (%s), want %q", got, a.Outcome, want)
	}
	if e := <-k.events; e.Path != "P1" || e.Text != want {
		t.Errorf("event = %+v", e)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	p := open(t, openHost(t), "many")
	a, err := p.Solve(t.Context(), methods.Problem{}, newKernel())
	if wrong, _ := a.Number(); err != nil || wrong != 0 {
		t.Fatalf("%v calls got another's answer, err = %v", wrong, err)
	}
}

func TestToolCalls(t *testing.T) {
	p := open(t, openHost(t), "tool")
	a, err := p.Solve(t.Context(), methods.Problem{}, newKernel())
	if got, _ := a.Text(); err != nil || got != `{"a":1}true` {
		t.Fatalf("tool result = %q, %v", got, err)
	}
}

func TestErrorsKeepTheirIdentity(t *testing.T) {
	p := open(t, openHost(t), "echo")
	for _, want := range []error{
		methods.ErrBudget, methods.ErrMiss, methods.ErrUnknownTool, methods.ErrProvider, context.Canceled, context.DeadlineExceeded,
	} {
		k := newKernel()
		k.complete = func(context.Context, methods.Request) (methods.Completion, error) {
			return methods.Completion{}, fmt.Errorf("call P1: %w", want)
		}
		_, err := p.Solve(t.Context(), methods.Problem{}, k)
		if !errors.Is(err, want) {
			t.Errorf("errors.Is(%v, %v) is false", err, want)
		}
		if err == nil || !strings.HasPrefix(err.Error(), "ask: call P1: ") {
			t.Errorf("error text = %v", err)
		}
	}
}

type markKey struct{}

func TestSeedIsBuiltInItsOwnScope(t *testing.T) {
	p := open(t, openHost(t), "seed")
	k := newKernel()
	k.seed = func(ctx context.Context, key methods.SeedKey, build func(context.Context) ([]byte, error)) ([]byte, error) {
		if key != (methods.SeedKey{Kind: "formula", Content: "F"}) {
			t.Errorf("seed key = %+v", key)
		}
		return build(context.WithValue(ctx, markKey{}, "in build"))
	}
	k.complete = func(ctx context.Context, r methods.Request) (methods.Completion, error) {
		mark, _ := ctx.Value(markKey{}).(string)
		return methods.Completion{Text: mark}, nil
	}
	a, err := p.Solve(t.Context(), methods.Problem{Query: "F"}, k)
	if got, _ := a.Text(); err != nil || got != "in build" {
		t.Fatalf("seed = %q, %v; want the call to run in the build's context", got, err)
	}
	k.seed = func(context.Context, methods.SeedKey, func(context.Context) ([]byte, error)) ([]byte, error) {
		return []byte("stored"), nil
	}
	a, err = p.Solve(t.Context(), methods.Problem{Query: "F"}, k)
	if got, _ := a.Text(); err != nil || got != "stored" {
		t.Fatalf("stored seed = %q, %v", got, err)
	}
	k.seed, k.complete = nil, func(context.Context, methods.Request) (methods.Completion, error) {
		return methods.Completion{}, methods.ErrBudget
	}
	if _, err = p.Solve(t.Context(), methods.Problem{Query: "F"}, k); !errors.Is(err, methods.ErrBudget) {
		t.Fatalf("failed build: err = %v, want ErrBudget", err)
	}
}

// TestOutputComesBeforeTheAnswer: when a trial has its answer it has all that its plugin
// printed, line by line, of whatever length, and nothing of another trial.
func TestOutputComesBeforeTheAnswer(t *testing.T) {
	p := open(t, openHost(t), "prints")
	random := rand.New(rand.NewPCG(1, 2))
	for trial := range 100 {
		var query strings.Builder
		for n := range 1 + random.IntN(20) {
			fmt.Fprintf(&query, "%d.%d %s\n", trial, n, strings.Repeat("x", random.IntN(1<<random.IntN(14))))
		}
		for _, stream := range []string{"stdout", "stderr"} {
			var printed strings.Builder
			ctx := WithOutput(t.Context(), func(text []byte, _ bool) { printed.Write(text) })
			if _, err := p.Solve(ctx, methods.Problem{ID: stream, Query: query.String()}, newKernel()); err != nil {
				t.Fatal(err)
			}
			if printed.String() != query.String() {
				t.Fatalf("trial %d, %s: %d bytes came, %d were printed", trial, stream, printed.Len(), query.Len())
			}
		}
	}
}

func TestProcessFailuresNameThePlugin(t *testing.T) {
	h := openHost(t)
	for name, want := range map[string][]string{
		"panic": {`plugin "panic" method panicked: boom`, "goroutine"},
		"exit":  {`plugin "exit" crashed (exit status 7)`, "cannot go on"},
	} {
		p := open(t, h, name)
		for range 50 { // what is printed comes by another way than the answer, and may be later
			_, err := p.Solve(t.Context(), methods.Problem{}, newKernel())
			var f *Failure
			if !errors.As(err, &f) {
				t.Fatalf("%s: err = %v, want a *Failure", name, err)
			}
			for _, part := range want {
				if !strings.Contains(err.Error(), part) {
					t.Fatalf("%s: %q is not in the error:\n%v", name, part, err)
				}
			}
		}
	}
}

// An answer that cannot cross is the method's error, and costs no process.
func TestAnswerThatIsTooLarge(t *testing.T) {
	p := open(t, openHost(t), "huge")
	_, err := p.Solve(t.Context(), methods.Problem{}, newKernel())
	var f *Failure
	if err == nil || errors.As(err, &f) || !strings.Contains(err.Error(), "answer: the message has 80.0 MiB, but the limit is 64 MiB") {
		t.Fatalf("err = %v", err)
	}
}

func TestCancelledTrialEndsSoonAndKeepsTheProcess(t *testing.T) {
	h := openHost(t)
	p, k := open(t, h, "wait"), newKernel()
	var pids [2]string
	for i := range pids {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { _, err := p.Solve(ctx, methods.Problem{}, k); done <- err }()
		pids[i] = (<-k.events).Text
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatalf("err = %v", err)
		}
	}
	if pids[0] != pids[1] {
		t.Errorf("the process was replaced after a clean cancellation: %v", pids)
	}
}

func TestDeafPluginIsKilled(t *testing.T) {
	h := openHost(t)
	p, k := open(t, h, "deaf"), newKernel()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := p.Solve(ctx, methods.Problem{}, k); done <- err }()
	<-k.events
	cancel()
	var f *Failure
	if err := <-done; !errors.As(err, &f) || !strings.Contains(err.Error(), "did not stop within") {
		t.Fatalf("err = %v", err)
	}
}

func TestStartFailures(t *testing.T) {
	h := openHost(t)
	for name, want := range map[string]string{
		"future": "rebuild the plugin for this one with: noema plugin build future",
		"chatty": "is it a noema plugin",
	} {
		if _, err := h.Open(t.Context(), source(name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v, want %q in it", name, err, want)
		}
	}
	missing := Source{Name: "ghost", Command: []string{"/does/not/exist"}, Path: "/does/not/exist"}
	if _, err := h.Open(t.Context(), missing); err == nil || !strings.Contains(err.Error(), `plugin "ghost" did not start`) {
		t.Errorf("missing binary: %v", err)
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	h, err := NewHost(HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, k := open(t, h, "wait"), newKernel()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := p.Solve(ctx, methods.Problem{}, k); done <- err }()
	var pid int
	fmt.Sscan((<-k.events).Text, &pid)
	cancel()
	<-done
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is alive after Close: %v", pid, err)
	}
	if _, err := os.Stat(h.tempDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("temporary folder is left: %v", err)
	}
	if _, err := p.Solve(t.Context(), methods.Problem{}, k); err == nil {
		t.Error("a closed host started a process")
	}
}
