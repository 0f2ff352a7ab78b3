package cluster_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"noema/kernel/lab"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/run/cluster"
	"noema/kernel/run/runner"
	"noema/methods"
)

// asks is a method that waits, and makes so many calls.
type asks struct {
	Calls int
	Wait  time.Duration
}

func (a asks) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	if a.Wait > 0 {
		select {
		case <-time.After(a.Wait):
		case <-ctx.Done():
		}
	}
	for n := range a.Calls {
		r := methods.Request{Messages: []methods.Message{{Role: methods.User, Content: p.Query + " " + strconv.Itoa(n)}}, Path: "ask"}
		if _, err := h.Complete(ctx, r); err != nil {
			return methods.Answer{}, err
		}
	}
	return methods.TextAnswer("done"), nil
}

// benchWorker is a worker in a process of its own: benchWorker ADDRESS SLOTS METHOD.
func benchWorker(args []string) bool {
	if len(args) != 4 || args[0] != "benchWorker" {
		return false
	}
	slots, err := strconv.Atoi(args[2])
	if err != nil {
		panic(err)
	}
	var a asks
	if err := json.Unmarshal([]byte(args[3]), &a); err != nil {
		panic(err)
	}
	if err := cluster.Work(context.Background(), cluster.WorkerOptions{
		Join: args[1], Token: token, Slots: slots, Tell: func(string) {},
		Open: func(context.Context, cluster.Code, func(string) error) (methods.Method, error) { return a, nil },
	}); err != nil {
		panic(err)
	}
	return true
}

// bench starts a coordinator with workers in processes of their own, and returns when all
// are there.
func bench(t *testing.T, l *lab.Lab, workers, slots int, a asks) *cluster.Coordinator {
	t.Helper()
	if os.Getenv("NOEMA_BENCH") == "" {
		t.Skip("NOEMA_BENCH is not set")
	}
	c := start(t, l, cluster.Options{})
	method, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	for range workers {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "benchWorker", c.Address(), strconv.Itoa(slots), string(method))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Wait() }) // it ends with the coordinator
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for len(c.State().Workers) < workers {
		<-tick.C
	}
	return c
}

// method is a as runs have it.
func (a asks) method() runner.Method {
	return runner.Method{Label: "asks", Solver: a, Plugin: record.Plugin{Method: "asks", Builtin: true, Digest: "of this test"}}
}

// resident is the most memory that this process has had, in MB.
func resident(t testing.TB) int64 { return taken(t).Maxrss / 1024 } // of Linux, in KiB

// handOut hands out n trials that a run does not keep.
func handOut(t *testing.T, c *cluster.Coordinator, n int, a asks) time.Duration {
	t.Helper()
	var given atomic.Int64
	deal := runner.NewDeal(func(context.Context) (record.TrialID, bool) {
		i := given.Add(1)
		return record.TrialID{Method: "asks", Sample: strconv.FormatInt(i, 10)}, int(i) <= n
	})
	began := time.Now()
	if err := c.Work(t.Context(), []runner.Method{a.method()}, deal, func(ctx context.Context, id record.TrialID, at runner.Place) error {
		_, err := at.Solve(ctx, methods.Problem{ID: id.Sample}, nil)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// TestHandingOut logs what handing out trials costs the coordinator, of trials that do
// nothing, and of trials that wait, with NOEMA_BENCH=1.
func TestHandingOut(t *testing.T) {
	const n = 100_000
	for _, workers := range []int{1, 2, 4, 8} {
		c := bench(t, newLab(t), workers, 64, asks{})
		before := cpu(t)
		took := handOut(t, c, n, asks{})
		t.Logf("%d workers: %d trivial trials in %v: %.0f/s, %v CPU of the coordinator each, %d MB resident at most so far", workers, n, took.Round(time.Millisecond), n/took.Seconds(), (cpu(t)-before)/n, resident(t))
	}
	for _, wait := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, time.Second} {
		const n = 20_000
		a := asks{Wait: wait}
		took := handOut(t, bench(t, newLab(t), 8, 250, a), n, a)
		t.Logf("8 workers: %d trials that wait %v, 2,000 at once, in %v: %.2fx ideal", n, wait, took.Round(time.Millisecond), took.Seconds()/(n/2000*wait.Seconds()))
	}
}

// TestWarmCalls logs how many calls a second the gateway answers from the store to eight
// workers, with NOEMA_BENCH=1.
func TestWarmCalls(t *testing.T) {
	const trials, each = 200, 500
	a := asks{Calls: each}
	l := newLab(t)
	c := bench(t, l, 8, 16, a)
	var samples []lab.Sample
	for i := range trials {
		samples = append(samples, lab.Pick("question "+strconv.Itoa(i), "done", "done", "not"))
	}
	task, err := lab.NewTask("many", samples...)
	if err != nil {
		t.Fatal(err)
	}
	s := runner.Setup{Task: task, Methods: []runner.Method{a.method()}, Provider: constant{}, Crew: c}
	finish(t, l, s, runner.Quiet{})
	s.Fresh = true
	for range 3 {
		began, before := time.Now(), cpu(t)
		r := finish(t, l, s, runner.Quiet{})
		took := time.Since(began)
		if r.NewCalls > 0 {
			t.Errorf("%d calls were not warm", r.NewCalls)
		}
		t.Logf("8 workers: %d warm calls in %v: %.0f/s, %v CPU of the coordinator each", r.CachedCalls, took.Round(time.Millisecond), float64(r.CachedCalls)/took.Seconds(), (cpu(t)-before)/(trials*each))
	}
}

// constant is a model that always says the same.
type constant struct{}

func (constant) Info() provider.Info {
	return provider.Info{ID: methods.ModelID{Provider: "constant", Model: "constant"}, Simulated: true}
}

func (constant) Complete(context.Context, methods.Request) (methods.Completion, error) {
	return methods.Completion{Text: "an answer of a few words, as models give them", Model: "constant"}, nil
}

// cpu is the CPU time of this process.
func cpu(t testing.TB) time.Duration {
	u := taken(t)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// taken is what this process has taken of the machine.
func taken(t testing.TB) (u syscall.Rusage) {
	t.Helper()
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u
}
