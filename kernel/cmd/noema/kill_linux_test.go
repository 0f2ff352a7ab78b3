package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/cache"
	"noema/kernel/internal/test/providertest"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/methods"
)

// ledger counts what a server was asked, and pulls a trigger at a request.
type ledger struct {
	mu      sync.Mutex
	asked   map[string]int // by prompt
	kept    map[string]bool
	again   []string      // prompts that were asked though their answers were kept
	left    int           // requests until the trigger; below 1 there is none
	trigger chan struct{} // closed at the trigger
	held    chan struct{} // if set, nothing is answered from the trigger until it is closed
}

// said is what tells prompts apart.
func said(model string, messages []methods.Message) string {
	texts := []string{model}
	for _, m := range messages {
		texts = append(texts, m.Content)
	}
	return strings.Join(texts, "\n")
}

func (l *ledger) call(r providertest.Ask) {
	if held := l.note(said(r.Model, r.Messages)); held != nil {
		<-held
	}
}

// note counts a request, and returns what its answer has to wait for, if anything.
func (l *ledger) note(p string) (held chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[p]++
	if l.kept[p] {
		l.again = append(l.again, p)
	}
	if l.left--; l.left == 0 {
		close(l.trigger)
	}
	if l.left > 0 {
		return nil
	}
	return l.held
}

// arm makes the n-th request from now pull the trigger. It and those after it
// get no answer until release, so that no run ends before a slow killer strikes.
func (l *ledger) arm(n int) (trigger <-chan struct{}, release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.trigger, l.held = n, make(chan struct{}), make(chan struct{})
	return l.trigger, sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		close(l.held)
		l.held = nil
	})
}

// reset forgets everything.
func (l *ledger) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.kept, l.again = map[string]int{}, nil, nil
}

// totals are how many different prompts were asked, and which of them again
// though their answers were kept.
func (l *ledger) totals() (prompts int, again []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.asked), l.again
}

// settle notes whose answers the store keeps, and returns how many of the
// prompts asked so far it lacks.
func (l *ledger) settle(kept map[string]bool) (lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = kept
	for p := range l.asked {
		if !kept[p] {
			lost++
		}
	}
	return lost
}

// kept lists the prompts whose answers the store holds.
func (c *cli) kept() map[string]bool {
	prompts := map[string]bool{}
	c.store(func(ctx context.Context, s *cache.Store) {
		for r, err := range s.Requests(ctx) {
			if err != nil {
				c.t.Fatal(err)
			}
			prompts[said(r.Model.Model, r.Request.Messages)] = true
		}
	})
	return prompts
}

// finished returns the hashes of the finished trials in the store, and demands
// that those which it held before are among them.
func (c *cli) finished(before map[string]string) map[string]string {
	c.t.Helper()
	now := map[string]string{}
	c.store(func(ctx context.Context, s *cache.Store) {
		for run, err := range s.Runs(ctx) {
			if err != nil {
				c.t.Fatal(err)
			}
			for e, err := range s.Trials(ctx, run.ID) {
				if err != nil {
					c.t.Fatal(err)
				}
				trial, err := record.UnmarshalTrial(e.Data)
				if err != nil {
					c.t.Fatal(err)
				}
				now[run.ID+"/"+e.ID] = trial.Hash
			}
		}
	})
	for id, hash := range before {
		if now[id] != hash {
			c.t.Errorf("trial %s: hash %q after a kill, %q before", id, now[id], hash)
		}
	}
	return now
}

// TestKillTheKernel kills noema at 20 moments of one run. However often, the
// run goes on: no finished trial is repeated, no kept answer is paid again,
// no plugin outlives the kernel, and the root hash is that of a run that
// nobody disturbed.
func TestKillTheKernel(t *testing.T) {
	t.Parallel()
	const limit, atOnce = 12, 3
	l := &ledger{asked: map[string]int{}}
	server := providertest.New(providertest.Config{Answer: simulated(t), Arrived: l.call, Latency: 10 * time.Millisecond})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	args := []string{
		"compare", "--model", "openai/tiny", "--methods", "direct,cot,anot", "--limit", strconv.Itoa(limit), "--max-samples", strconv.Itoa(atOnce),
		"--seed", "2", // with which no two trials ask in the same words
	}
	undisturbed := c.at(filepath.Join(c.dir, "undisturbed")).summary(args...)
	prompts, _ := l.totals()
	if n := server.Requests(); n != undisturbed.ProviderCalls || n != prompts {
		t.Fatalf("%d requests, %d provider calls, %d different prompts", n, undisturbed.ProviderCalls, prompts)
	}
	l.reset()

	rng := rand.New(rand.NewPCG(20, 9))
	var finished map[string]string
	atStart := server.Requests()
	rounds := 20
	if testing.Short() {
		rounds = 6
	}
	for round := range rounds {
		stderr := c.killed(args, l, rng, round)
		if n := len(finished); n > 0 && stderr != "" {
			want(t, stderr, fmt.Sprintf("goes on: %d of %d trials are done", n, 3*limit))
		}
		finished = c.finished(finished)
		lost := l.settle(c.kept())
		// A trial has as many calls in flight as its plan is wide at the most.
		if bound := atOnce * 8; lost > bound {
			t.Errorf("round %d: %d answers were paid and lost, want at most %d in flight", round, lost, bound)
		}
	}
	final := c.summary(args...)
	if final.RootHash != undisturbed.RootHash {
		t.Errorf("root %s, undisturbed %s", final.RootHash, undisturbed.RootHash)
	}
	if _, again := l.totals(); len(again) > 0 {
		t.Errorf("%d kept answers were paid again, such as to %.200q", len(again), again[0])
	}
	if len(finished) == 0 {
		t.Error("no trial was finished after the last kill: the kills missed the run")
	}
	t.Logf("%d of %d trials were finished after the last kill; %d requests for %d calls", len(finished), 3*limit, server.Requests()-atStart, prompts)
}

// TestCallsOfAKilledStudy kills a study at random moments and resumes it. Of the answers that
// it kept, its calls lack those alone that a trial had when it was killed with the process:
// the store gives them to the trial that is made in its place, and they count as the store's.
func TestCallsOfAKilledStudy(t *testing.T) {
	t.Parallel()
	l := &ledger{asked: map[string]int{}}
	server := providertest.New(providertest.Config{Answer: simulated(t), Arrived: l.call, Latency: 5 * time.Millisecond})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	args := []string{
		"compare", "--model", "openai/tiny", "--model", "openai/small", "--methods", "direct,cot,anot", "--limit", "5", "--max-samples", "3",
		"--seed", "2", // with which no two trials ask in the same words
	}
	rng := rand.New(rand.NewPCG(34, 1))
	cut := map[string]bool{} // answers kept of trials that were under way at a kill
	calls := func() (n struct{ Calls record.Calls }) {
		if err := json.Unmarshal([]byte(c.run(0, "compare", "last", "--json").stdout), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for round := range 10 {
		c.killed(args, l, rng, round)
		_, open := c.keptAnswers()
		maps.Copy(cut, open)
	}
	if len(c.finished(nil)) == 0 {
		t.Error("no trial was finished after the last kill: the kills missed the run")
	}
	c.run(0, args...)
	all, open := c.keptAnswers()
	if len(open) > 0 {
		t.Errorf("%d answers of no trial in the end", len(open))
	}
	got := calls().Calls
	if want := len(all) - len(cut); got.Provider != want || got.Cached < len(cut) {
		t.Errorf("%d calls to the provider and %d from the store: %d answers are kept, and %d were of trials under way at a kill", got.Provider, got.Cached, len(all), len(cut))
	}
	t.Logf("the server was asked %d times, %d answers are kept, %d of them of trials that were killed: %+v", server.Requests(), len(all), len(cut), got)
}

// keptAnswers are the keys of the answers that the store keeps, and those of them that no
// finished trial has.
func (c *cli) keptAnswers() (all, open map[string]bool) {
	all = map[string]bool{}
	c.store(func(ctx context.Context, s *cache.Store) {
		for r, err := range s.Requests(ctx) {
			if err != nil {
				c.t.Fatal(err)
			}
			all[r.Key.String()] = true
		}
		open = maps.Clone(all)
		runs, err := runner.Runs(ctx, s)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, run := range runs {
			for trial, err := range runner.Trials(ctx, s, run) {
				if err != nil {
					c.t.Fatal(err)
				}
				for _, call := range trial.Calls {
					delete(open, call.Key)
				}
			}
		}
	})
	return all, open
}

// killed starts noema, kills it, and returns what it had said. The server gives
// at most nine answers in a round, so that no run ends before it is killed.
func (c *cli) killed(args []string, l *ledger, rng *rand.Rand, round int) (stderr string) {
	c.t.Helper()
	requests, delay := 1+rng.IntN(4), time.Duration(rng.IntN(10000))*time.Microsecond
	byTime := round%5 == 4 // since the start: perhaps before the first request
	if byTime {
		requests, delay = 10, time.Duration(rng.IntN(400))*time.Millisecond
	}
	trigger, release := l.arm(requests)
	defer release()
	cmd := c.command(args...)
	wait := c.start(cmd)
	ended := make(chan result, 1)
	go func() { ended <- wait() }()
	if !byTime {
		select {
		case <-trigger:
		case r := <-ended:
			c.t.Fatalf("round %d: the run ended with exit code %d before it was killed:\n%s", round, r.code, r.stderr)
		}
	}
	<-time.After(delay)
	plugins := children(c.t, cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Fatal(err)
	}
	r := <-ended
	if !byTime && len(plugins) == 0 {
		c.t.Errorf("round %d: the kernel had no plugins", round)
	}
	gone(c.t, plugins)
	return r.stderr
}

// children lists the processes whose parent is pid.
func children(t *testing.T, pid int) (found []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if err != nil {
			t.Fatal(err)
		}
		if _, parent := processState(child); parent == pid {
			found = append(found, child)
		}
	}
	return found
}

// processState is the state letter and the parent of a process; "" if there
// is none.
func processState(pid int) (state string, parent int) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	f := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:])) // the name may hold spaces
	parent, err = strconv.Atoi(f[1])
	if err != nil {
		return "", 0
	}
	return f[0], parent
}

// gone demands that processes end, within what a busy machine needs.
func gone(t *testing.T, pids []int) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		alive := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
			state, _ := processState(pid)
			return state == "" || state == "Z" || state == "X"
		})
		if len(alive) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Errorf("plugin processes %v live on after their kernel", alive)
			return
		}
	}
}
