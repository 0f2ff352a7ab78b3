package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/run/cluster"
	"noema/kernel/run/cluster/embedded"
	"noema/kernel/run/runner"
	"noema/kernel/session/builtin"
	"noema/methods"
	"noema/plugins"
)

func TestMain(m *testing.M) {
	if builtin.Serve(os.Args[1:]) || benchWorker(os.Args[1:]) {
		return
	}
	cluster.Embedded = embedded.Start
	os.Exit(m.Run())
}

const token cluster.Token = "a-token-for-tests-only"

func newLab(t testing.TB) *lab.Lab {
	t.Helper()
	l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard})
	t.Cleanup(func() { l.Close() })
	return l
}

// setup is an experiment that l carries out with a crew, if there is one.
func setup(t testing.TB, l *lab.Lab, e lab.Experiment, crew runner.Crew) runner.Setup {
	t.Helper()
	e, err := e.Complete()
	if err != nil {
		t.Fatal(err)
	}
	s := runner.Setup{Experiment: e, Crew: crew}
	if s.Task, err = l.Task(e.Task, e.TaskOptions); err != nil {
		t.Fatal(err)
	}
	if s.Provider, err = l.Model(e.Model, false, 0); err != nil {
		t.Fatal(err)
	}
	if s.Methods, err = l.OpenMethods(t.Context(), e.Methods, e.MethodOptions); err != nil {
		t.Fatal(err)
	}
	return s
}

// finish runs s in a store of its own and returns the result.
func finish(t testing.TB, l *lab.Lab, s runner.Setup, o runner.Observer) *runner.Result {
	t.Helper()
	store, err := l.Store()
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Run.Root == "" {
		t.Fatalf("the run is %s", r.Run.Status)
	}
	return r
}

// start starts a coordinator with workers alone.
func start(t testing.TB, l *lab.Lab, o cluster.Options) *cluster.Coordinator {
	t.Helper()
	o.Token, o.Code, o.Server = token, l.Code, embedded.Start
	if o.URL == "" && o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if os.Getenv("NOEMA_BENCH") == "" {
		o = o.Quickly()
	}
	c, err := cluster.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close the coordinator: %v", err)
		}
	})
	return c
}

// join starts a worker with a home of its own, and returns what ends it and waits for that.
func join(t testing.TB, address string, slots int, wrap func(methods.Method) methods.Method) (leave func()) {
	t.Helper()
	own := newLab(t)
	return joinWith(t, address, slots, func(ctx context.Context, c cluster.Code, write func(string) error) (methods.Method, error) {
		m, err := own.OpenCode(ctx, c, write)
		if err == nil && wrap != nil {
			m = wrap(m)
		}
		return m, err
	})
}

// joinWith is join with what opens methods.
func joinWith(t testing.TB, address string, slots int, open func(context.Context, cluster.Code, func(string) error) (methods.Method, error)) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		o := cluster.WorkerOptions{Join: address, Token: token, Slots: slots, Tell: func(text string) { t.Log(text) }, Open: open}
		if err := cluster.Work(ctx, o.Quickly()); err != nil && ctx.Err() == nil && !errors.Is(err, plugins.ErrChanged) {
			t.Errorf("the worker ended: %v", err)
		}
	})
	leave = func() { cancel(); ended.Wait() }
	t.Cleanup(leave)
	return leave
}

func cafes(n int) lab.Experiment {
	return lab.Experiment{Task: "cafes", TaskOptions: map[string]string{"requests": "20"}, Methods: []string{"direct", "anot"}, Epochs: n}
}

// alone is the root hash of e on one machine.
func alone(t testing.TB, e lab.Experiment) string {
	key := fmt.Sprintf("%+v", e)
	if root, known := roots.Load(key); known {
		return root.(string)
	}
	l := newLab(t)
	root := finish(t, l, setup(t, l, e, nil), runner.Quiet{}).Run.Root
	roots.Store(key, root)
	return root
}

// roots are those that alone has found.
var roots sync.Map

func TestTheRootIsThatOfOneMachine(t *testing.T) {
	t.Parallel()
	want := alone(t, cafes(1))
	for name, workers := range map[string]int{"one worker": 1, "three workers": 3} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			c := start(t, l, cluster.Options{})
			for range workers {
				join(t, c.Address(), 4, nil)
			}
			r := finish(t, l, setup(t, l, cafes(1), c), runner.Quiet{})
			if r.Run.Root != want {
				t.Errorf("the root is %s, on one machine %s", r.Run.Root, want)
			}
			if s := c.State(); s.Done != len(r.Trials) || len(s.Workers) != workers || s.Lost != 0 || s.Foreign != 0 {
				t.Errorf("of %d trials: %+v", len(r.Trials), s)
			}
			again := finish(t, l, setup(t, l, cafes(1), c), runner.Quiet{}) // another run of the same coordinator
			if again.Run.Root != want || again.NewCalls != 0 {
				t.Errorf("again: root %s with %d calls", again.Run.Root, again.NewCalls)
			}
		})
	}
}

// after calls f when so many trials are done.
type after struct {
	runner.Quiet
	n    atomic.Int64
	each func(done int)
}

func (a *after) Trial(*record.Trial, bool) { a.each(int(a.n.Add(1))) }

func TestWorkersComeAndGo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	want := alone(t, cafes(2))
	l := newLab(t)
	c := start(t, l, cluster.Options{Here: 1})
	first := join(t, c.Address(), 3, nil)
	var going sync.WaitGroup
	r := finish(t, l, setup(t, l, cafes(2), c), &after{each: func(done int) {
		switch done {
		case 6:
			join(t, c.Address(), 2, nil)
		case 12:
			going.Go(first)
		case 20:
			join(t, c.Address(), 5, nil)
		}
	}})
	going.Wait()
	if r.Run.Root != want {
		t.Errorf("the root is %s, on one machine %s", r.Run.Root, want)
	}
	if s := c.State(); s.Lost != 0 || s.Done == 0 {
		t.Errorf("%+v", s)
	}
}

// wire is a network between a worker and the server, which can be cut.
type wire struct {
	net.Listener
	to string

	mu    sync.Mutex
	conns []net.Conn
	dead  bool
}

func newWire(t testing.TB, address string) *wire {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, to: u.Host}
	t.Cleanup(func() { w.cut(); l.Close() })
	go w.serve()
	return w
}

func (w *wire) address() string { return "nats://" + w.Addr().String() }

func (w *wire) serve() {
	for {
		in, err := w.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", w.to)
		if err != nil {
			in.Close()
			continue
		}
		w.mu.Lock()
		if w.dead {
			in.Close()
			out.Close()
		}
		w.conns = append(w.conns, in, out)
		w.mu.Unlock()
		go func() { _, _ = io.Copy(out, in); out.Close() }()
		go func() { _, _ = io.Copy(in, out); in.Close() }()
	}
}

// cut ends all connections, and lets no others through until mend.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = false
}

func TestACutNetworkCostsNothingButTime(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	want := alone(t, cafes(2))
	l := newLab(t)
	c := start(t, l, cluster.Options{})
	wires := []*wire{newWire(t, c.Address()), newWire(t, c.Address())}
	for _, w := range wires {
		join(t, w.address(), 3, nil)
	}
	s := setup(t, l, cafes(2), c)
	r := finish(t, l, s, &after{each: func(done int) {
		switch done {
		case 5:
			wires[0].cut()
		case 14:
			wires[1].cut()
			wires[0].mend()
		case 24:
			wires[1].mend()
		}
	}})
	if r.Run.Root != want {
		t.Errorf("the root is %s, on one machine %s", r.Run.Root, want)
	}
	if r.Run.Calls.Provider != calls(r) {
		t.Errorf("%d calls were paid, the trials made %d different ones", r.Run.Calls.Provider, calls(r))
	}
	if c.State().Lost < 2 {
		t.Errorf("%d workers were lost", c.State().Lost)
	}
}

// calls counts the different answers that the trials of a run used.
func calls(r *runner.Result) int {
	seen := map[string]bool{}
	for _, t := range r.Trials {
		for _, c := range t.Calls {
			if c.Kind == record.CompletionCall && c.Fault == "" {
				seen[c.Key] = true
			}
		}
	}
	return len(seen)
}

// deadly is a method whose trial of one sample takes the network of its worker with it.
type deadly struct {
	methods.Method
	sample string
	kill   func()
	revive func()
}

func (d deadly) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	if p.ID == d.sample {
		d.kill()
		<-ctx.Done() // it is lost: an interruption alone would not be enough
		d.revive()
		return methods.Answer{}, ctx.Err()
	}
	return d.Method.Solve(ctx, p, h)
}

func TestATrialThatKillsItsWorkersFails(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	l := newLab(t)
	c := start(t, l, cluster.Options{})
	e := cafes(1)
	e.Methods = []string{"direct"}
	s := setup(t, l, e, c)
	victim := s.Task.Samples[5].ID
	var killed atomic.Int64
	for range 2 {
		w := newWire(t, c.Address())
		join(t, w.address(), 3, func(m methods.Method) methods.Method {
			return deadly{m, victim, func() { killed.Add(1); w.cut() }, w.mend}
		})
	}
	r := finish(t, l, s, runner.Quiet{})
	for _, trial := range r.Trials {
		failed := strings.Contains(trial.Failure, "took three workers with it")
		if failed != (trial.ID.Sample == victim) || failed && !trial.Infra {
			t.Errorf("trial %s: failure %q, infrastructure %v", trial.ID, trial.Failure, trial.Infra)
		}
	}
	if killed.Load() != 3 {
		t.Errorf("%d workers were lost to it", killed.Load())
	}
}

// edited is a method whose code is changed under it.
type edited struct{ methods.Method }

func (edited) Solve(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
	return methods.Answer{}, &plugins.Failure{Plugin: "direct", Reason: "cannot start", Err: plugins.ErrChanged}
}

func TestAWorkerWhoseCodeChangedLeaves(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	want := alone(t, cafes(1))
	l := newLab(t)
	c := start(t, l, cluster.Options{})
	join(t, c.Address(), 3, func(m methods.Method) methods.Method { return edited{m} })
	s := setup(t, l, cafes(1), c)
	var second sync.Once
	r := finish(t, l, s, &begun{Quiet: runner.Quiet{}, f: func() { second.Do(func() { join(t, c.Address(), 3, nil) }) }})
	if r.Run.Root != want {
		t.Errorf("the root is %s, on one machine %s", r.Run.Root, want)
	}
	if s := c.State(); len(s.Workers) != 1 || s.Lost != 0 {
		t.Errorf("%+v", s)
	}
}

// begun calls f when a run begins.
type begun struct {
	runner.Quiet
	f func()
}

func (b *begun) Start(*record.Run, int, int) { b.f() }

func TestWhoMayNotJoin(t *testing.T) {
	t.Parallel()
	c := start(t, newLab(t), cluster.Options{})
	err := cluster.Work(t.Context(), cluster.WorkerOptions{Join: c.Address(), Token: "another-token-than-theirs", Slots: 1, Tell: func(string) {}}.Quickly())
	if !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "join token") {
		t.Errorf("another token: %v", err)
	}
	err = cluster.Work(t.Context(), cluster.WorkerOptions{Join: c.Address(), Token: token, Slots: 1 << 20, Tell: func(string) {}}.Quickly())
	if !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "use 1 to") {
		t.Errorf("too many trials at once: %v", err)
	}
	err = cluster.Work(t.Context(), cluster.WorkerOptions{Join: c.Address(), Token: "short", Slots: 1}.Quickly())
	if err == nil || !strings.Contains(err.Error(), "at least 16") {
		t.Errorf("a short token: %v", err)
	}
	err = cluster.Work(t.Context(), cluster.WorkerOptions{Join: "localhost", Token: token, Slots: 1}.Quickly())
	if err == nil || !strings.Contains(err.Error(), "nats://HOST:PORT") {
		t.Errorf("no URL: %v", err)
	}
}

// parrot is a method in a file of Go, which workers get from the coordinator.
const parrot = `package main

import (
	"context"

	"noema/methods"
	"noema/plugins"
)

type parrot struct{}

func (parrot) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	c, err := h.Complete(ctx, methods.Request{Messages: []methods.Message{{Role: methods.User, Content: p.Query}}, Path: "say"})
	if err != nil {
		return methods.Answer{}, err
	}
	println("it said", len(c.Text))
	return methods.TextAnswer(c.Text), nil
}

func main() { plugins.Serve(parrot{}) }
`

func TestAPluginTravels(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	file := filepath.Join(t.TempDir(), "parrot.go")
	if err := os.WriteFile(file, []byte(parrot), 0o600); err != nil {
		t.Fatal(err)
	}
	e := lab.Experiment{Task: "multihop", Limit: 6, Methods: []string{file}}
	want := alone(t, e)
	l := newLab(t)
	c := start(t, l, cluster.Options{})
	join(t, c.Address(), 4, nil)
	r := finish(t, l, setup(t, l, e, c), runner.Quiet{})
	if r.Run.Root != want {
		t.Errorf("the root is %s, on one machine %s", r.Run.Root, want)
	}
	if len(r.Trials) == 0 || !strings.Contains(r.Trials[0].Printed, "it said") {
		t.Errorf("what the plugin printed is lost: %q", r.Trials[0].Printed)
	}
}
