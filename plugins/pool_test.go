package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"noema/methods"
)

// Many trials at once are served by a few processes.
func TestTrialsShareProcesses(t *testing.T) {
	h, err := NewHost(HostOptions{MaxProcesses: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	p := open(t, h, "wait")
	ctx, cancel := context.WithCancel(t.Context())
	const trials = 200
	kernels, errs := make([]*kernel, trials), make(chan error, trials)
	for i := range kernels {
		kernels[i] = newKernel()
		go func() { _, err := p.Solve(ctx, methods.Problem{}, kernels[i]); errs <- err }()
	}
	pids := map[string]bool{}
	for _, k := range kernels {
		pids[(<-k.events).Text] = true
	}
	if len(pids) > 2 {
		t.Errorf("%d trials at once took %d processes, want 2 at the most", trials, len(pids))
	}
	cancel()
	for range trials {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Fatalf("err = %v", err)
		}
	}
}

// A plugin whose manifest says that it is not concurrent has one trial a process.
func TestSerialPluginsWait(t *testing.T) {
	h, err := NewHost(HostOptions{MaxProcesses: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	src := source("wait")
	src.Serial = true
	p, err := h.Open(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	k, third := newKernel(), newKernel()
	errs := make(chan error, 3)
	first := map[string]bool{}
	for range 2 {
		go func() { _, err := p.Solve(ctx, methods.Problem{}, k); errs <- err }()
		first[(<-k.events).Text] = true
	}
	if len(first) != 2 {
		t.Errorf("two trials at once ran in processes %v", first)
	}
	go func() { _, err := p.Solve(t.Context(), methods.Problem{}, third); errs <- err }()
	cancel()
	for range 2 {
		<-errs
	}
	if pid := (<-third.events).Text; !first[pid] {
		t.Errorf("the third trial ran in process %s, not in one of %v", pid, first)
	}
}

// When a process dies, all of its trials learn that any of them may be to blame.
// Alone, only the one that is fails.
func TestBlame(t *testing.T) {
	h := openHost(t)
	p := open(t, h, "mixed")
	var failed sync.Map
	var trials sync.WaitGroup
	solve := func(ctx context.Context, id, query string) error {
		_, err := p.Solve(ctx, methods.Problem{ID: id, Query: query}, newKernel())
		return err
	}
	for i := range 40 {
		trials.Go(func() {
			id, query := fmt.Sprint(i), "fine"
			if i == 20 {
				query = "die"
			}
			err := solve(t.Context(), id, query)
			var f *Failure
			if errors.As(err, &f) && f.Shared {
				err = solve(Alone(t.Context()), id, query)
			}
			if err != nil {
				failed.Store(id, err)
			}
		})
	}
	trials.Wait()
	failed.Range(func(id, err any) bool {
		var f *Failure
		if id != "20" || !errors.As(err.(error), &f) || f.Shared || !strings.Contains(f.Error(), "dying of 20") {
			t.Errorf("trial %v: %v", id, err)
		}
		return true
	})
	if _, ok := failed.Load("20"); !ok {
		t.Error("the trial that kills its process did not fail")
	}
}

// A panic is the failure of its trial, and the process serves on.
func TestPanicKeepsTheProcess(t *testing.T) {
	h := openHost(t)
	p := open(t, h, "mixed")
	pid := func() string {
		a, err := p.Solve(t.Context(), methods.Problem{Query: "fine"}, newKernel())
		if err != nil {
			t.Fatal(err)
		}
		return string(a.Value)
	}
	before := pid()
	_, err := p.Solve(t.Context(), methods.Problem{Query: "panic"}, newKernel())
	var f *Failure
	if !errors.As(err, &f) || f.Shared || f.Ended || !strings.Contains(err.Error(), "boom") {
		t.Errorf("err = %v", err)
	}
	if after := pid(); after != before {
		t.Errorf("process %s was replaced by %s", before, after)
	}
}

// A trial that does not stop takes its process with it; the others can tell
// that it was not their doing.
func TestDeafTrialAmongOthers(t *testing.T) {
	h, err := NewHost(HostOptions{StopGrace: 200 * time.Millisecond, MaxProcesses: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	p := open(t, h, "deaf")
	k, other := newKernel(), newKernel()
	ctx, cancel := context.WithCancel(t.Context())
	errs, otherErr := make(chan error, 1), make(chan error, 1)
	go func() { _, err := p.Solve(ctx, methods.Problem{}, k); errs <- err }()
	<-k.events
	go func() { _, err := p.Solve(t.Context(), methods.Problem{}, other); otherErr <- err }()
	<-other.events
	cancel()
	var f *Failure
	if err := <-errs; !errors.As(err, &f) || f.Shared || !strings.Contains(f.Reason, "did not stop within") {
		t.Errorf("the trial that did not stop: %v", err)
	}
	if err := <-otherErr; !errors.As(err, &f) || !f.Shared {
		t.Errorf("the other trial: %v", err)
	}
}

// A process that is killed from outside is nobody's doing: run again, its trials
// succeed.
func TestKilledFromOutside(t *testing.T) {
	p := open(t, openHost(t), "wait")
	k, again := newKernel(), newKernel()
	errs := make(chan error, 1)
	go func() { _, err := p.Solve(t.Context(), methods.Problem{}, k); errs <- err }()
	var pid int
	if _, err := fmt.Sscan((<-k.events).Text, &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var f *Failure
	if err := <-errs; !errors.As(err, &f) || !f.Shared || !strings.Contains(err.Error(), "signal: killed") || !strings.Contains(err.Error(), "about to wait") {
		t.Fatalf("err = %v", err)
	}
	ctx, cancel := context.WithCancel(Alone(t.Context()))
	go func() { _, err := p.Solve(ctx, methods.Problem{}, again); errs <- err }()
	<-again.events
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("alone: %v", err)
	}
}

// TestNoNotesForLaterTrials: what a trial writes in its temporary folder is gone in the next one
// of the same process.
func TestNoNotesForLaterTrials(t *testing.T) {
	t.Parallel()
	h, err := NewHost(HostOptions{MaxProcesses: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	p, err := h.Open(t.Context(), misbehaving(t, "remember"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		a, err := p.Solve(t.Context(), methods.Problem{Query: fmt.Sprint("trial ", i)}, newKernel())
		if text, _ := a.Text(); err != nil || text != "found " {
			t.Errorf("trial %d: %q, %v", i, text, err)
		}
	}
}
