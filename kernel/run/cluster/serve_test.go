package cluster_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"noema/kernel/base/files"
	"noema/kernel/internal/test/localtest"
	"noema/kernel/lab"
	"noema/kernel/model/provider"
	"noema/kernel/run/cluster"
	"noema/kernel/run/runner"
	"noema/methods"
)

// small writes a model with random weights, and returns how it is named where it is.
func small(t testing.TB, seed uint64) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := localtest.Write(dir, localtest.Spec{Arch: "llama", Seed: seed, Context: 4096}); err != nil {
		t.Fatal(err)
	}
	return "local/" + dir + "?max_tokens=8"
}

// wanted is how a run names that model where it is not.
const wanted = "local/small?max_tokens=8"

func sums(model string) lab.Experiment {
	return lab.Experiment{Task: "arithmetic", Limit: 4, Methods: []string{"direct", "cot"}, Model: model}
}

// counted is a provider that counts its calls, and has each do something.
type counted struct {
	provider.Provider
	n    atomic.Int64
	each func(n int)
}

func (c *counted) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if n := c.n.Add(1); c.each != nil {
		c.each(int(n))
	}
	return c.Provider.Complete(ctx, r)
}

func open(t testing.TB, name string) *counted {
	t.Helper()
	p, err := newLab(t).ServedModel(name)
	if err != nil {
		t.Fatal(err)
	}
	return &counted{Provider: p}
}

// messages collects what is told.
type messages struct {
	mu   sync.Mutex
	all  []string
	more func(string)
}

func (m *messages) add(text string) {
	m.mu.Lock()
	m.all = append(m.all, text)
	more := m.more
	m.mu.Unlock()
	if more != nil {
		more(text)
	}
}

func (m *messages) has(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Contains(strings.Join(m.all, "\n"), text)
}

// serve starts a worker that only serves a model.
func serve(t testing.TB, address string, p provider.Provider, tell func(string)) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		err := cluster.Work(ctx, cluster.WorkerOptions{
			Join: address, Token: token, Tell: tell, Serves: map[string]provider.Provider{"local/models/small": p},
		}.Quickly())
		if err != nil && ctx.Err() == nil {
			t.Errorf("the worker ended: %v", err)
		}
	})
	leave = func() { cancel(); ended.Wait() }
	t.Cleanup(leave)
	return leave
}

// served is an experiment whose model c has.
func served(t testing.TB, l *lab.Lab, c *cluster.Coordinator, here provider.Provider) runner.Setup {
	t.Helper()
	e := sums("sim")
	s := setup(t, l, e, c)
	s.Model = wanted
	var err error
	if s.Provider, err = c.Model(t.Context(), wanted, here); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWorkersServeAModel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	model := small(t, 1)
	want := alone(t, sums(model))
	for name, here := range map[string]provider.Provider{"workers alone": nil, "the coordinator too": open(t, model)} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			said := &messages{}
			c := start(t, l, cluster.Options{Here: 4, Warn: said.add})
			asked := []*counted{open(t, model), open(t, model)}
			said.more = func(text string) { // nobody serves it yet
				if strings.Contains(text, "noema worker --join "+c.Address()+" --serve "+files.Word(wanted)) {
					serve(t, c.Address(), asked[0], said.add)
				}
			}
			if here != nil {
				serve(t, c.Address(), asked[0], said.add)
			}
			s := served(t, l, c, here)
			serve(t, c.Address(), asked[1], said.add)
			c.Await(func() bool { return len(c.State().Workers) == 2 })
			r := finish(t, l, s, runner.Quiet{})
			if r.Run.Root != want {
				t.Errorf("the root is %s, on one machine %s", r.Run.Root, want)
			}
			n := int(asked[0].n.Load() + asked[1].n.Load())
			if here != nil {
				n += int(here.(*counted).n.Load())
			}
			if asked[0].n.Load() == 0 || asked[1].n.Load() == 0 || n != r.Run.Calls.Provider {
				t.Errorf("of %d calls the workers answered %d and %d", r.Run.Calls.Provider, asked[0].n.Load(), asked[1].n.Load())
			}
		})
	}
}

func TestAWorkerIsLostInTheMiddleOfACall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	model := small(t, 1)
	want := alone(t, sums(model))
	l := newLab(t)
	c := start(t, l, cluster.Options{Here: 4})
	w := newWire(t, c.Address())
	lost, other := open(t, model), open(t, model)
	lost.each = func(n int) {
		if n == 2 {
			w.cut()
		}
	}
	serve(t, w.address(), lost, func(string) {})
	s := served(t, l, c, nil)
	serve(t, c.Address(), other, func(string) {})
	c.Await(func() bool { return len(c.State().Workers) == 2 })
	r := finish(t, l, s, runner.Quiet{})
	if r.Run.Root != want || r.Run.Calls.Provider != calls(r) {
		t.Errorf("the root is %s, on one machine %s; %d calls for %d answers", r.Run.Root, want, r.Run.Calls.Provider, calls(r))
	}
	if other.n.Load() == 0 || c.State().Lost != 1 {
		t.Errorf("the other worker answered %d calls, %d were lost", other.n.Load(), c.State().Lost)
	}
}

func TestOtherWeightsAreRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	said, refused := &messages{}, make(chan struct{})
	c := start(t, l, cluster.Options{Here: 4, Warn: said.add})
	right, wrong := open(t, small(t, 1)), open(t, small(t, 2))
	serve(t, c.Address(), right, func(string) {})
	s := served(t, l, c, nil)
	serve(t, c.Address(), wrong, func(text string) {
		if strings.Contains(text, "is not used") {
			close(refused)
		}
	})
	<-refused
	r := finish(t, l, s, runner.Quiet{})
	if !said.has("other weights or options") || wrong.n.Load() != 0 || int(right.n.Load()) != r.Run.Calls.Provider {
		t.Errorf("the other weights were asked %d times: %v", wrong.n.Load(), said.all)
	}
	serves := 0
	for _, w := range c.State().Workers {
		serves += len(w.Serves)
	}
	if serves != 1 {
		t.Errorf("%d workers serve it", serves)
	}
}

// fake is a provider of another identity than its own.
type fake struct {
	provider.Provider
	info provider.Info
}

func (f fake) Info() provider.Info { return f.info }

func TestOnlyLocalModelsAreServed(t *testing.T) {
	t.Parallel()
	c := start(t, newLab(t), cluster.Options{})
	for name, info := range map[string]provider.Info{
		"a server's":  {ID: methods.ModelID{Provider: "openai", Model: "gpt-5"}},
		"an endpoint": {ID: methods.ModelID{Provider: "local", Model: "x", Weights: "abc", Endpoint: "http://x"}},
		"a long name": {ID: methods.ModelID{Provider: "local", Model: strings.Repeat("x", 2000), Weights: "abc"}},
		"simulated":   {ID: methods.ModelID{Provider: "local", Model: "x", Weights: "abc"}, Simulated: true},
	} {
		err := cluster.Work(t.Context(), cluster.WorkerOptions{
			Join: c.Address(), Token: token, Tell: func(string) {}, Serves: map[string]provider.Provider{"m": fake{info: info}},
		}.Quickly())
		if !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "local models alone") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := newLab(t).ServedModel("sim"); !lab.IsMisuse(err) || !strings.Contains(err.Error(), "local models alone") {
		t.Errorf("sim: %v", err)
	}
}

func TestAServedModelFailsAsItDoesHere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	c := start(t, newLab(t), cluster.Options{})
	here := open(t, small(t, 1))
	ctx, cancel := context.WithCancel(t.Context())
	here.each = func(n int) {
		if n > 2*3 { // the calls below
			cancel()
		}
	}
	serve(t, c.Address(), here, func(string) {})
	there, err := c.Model(t.Context(), wanted, nil)
	if err != nil {
		t.Fatal(err)
	}
	if there.Info().ID != here.Info().ID {
		t.Errorf("the identity is %v, here %v", there.Info().ID, here.Info().ID)
	}
	large := strings.Repeat("a <b> & c ", 60_000) // by the object store
	for name, r := range map[string]methods.Request{
		"too long":    {Messages: methods.Ask(large)},
		"no messages": {},
		"schema":      {Messages: methods.Ask("a"), Schema: &methods.Schema{Name: "s", JSON: []byte(`{"type":"nothing"}`)}},
	} {
		_, want := here.Complete(t.Context(), r)
		_, got := there.Complete(t.Context(), r)
		var a, b *provider.Error
		if !errors.As(want, &a) || !errors.As(got, &b) || a.Error() != b.Error() || a.Kind != b.Kind {
			t.Errorf("%s: %v, here %v", name, got, want)
		}
	}
	if _, err := there.Complete(ctx, methods.Request{Messages: methods.Ask("a")}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was ended: %v", err)
	}
}
