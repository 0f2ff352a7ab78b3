package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"noema/cache"
	"noema/kernel/internal/test/providertest"
	"noema/methods"
)

// The chain's shape: each of chainSteps steps makes chainWidth calls at once.
const chainSteps, chainWidth = 4, 4

// chain is a third party's method in which every call repeats an earlier
// answer, so that the model server can tell which answers were used.
type chain struct{}

func (chain) Describe() methods.Description {
	return methods.Description{Name: "chain", Version: "1", Summary: "asks about answers", Answers: []methods.AnswerKind{methods.Text}}
}

func (chain) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	var lines [chainWidth]string
	var errs [chainWidth]error
	var group sync.WaitGroup
	for line := range chainWidth {
		group.Go(func() {
			lines[line] = fmt.Sprint("line-", line)
			for step := range chainSteps {
				ask := fmt.Sprintf("%s: step %d after %s", p.Query, step, lines[line])
				c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(ask), Path: fmt.Sprintf("L%d/s%d", line, step)})
				if err != nil {
					errs[line] = err
					return
				}
				lines[line] = c.Text
			}
		})
	}
	group.Wait()
	return methods.TextAnswer(strings.Join(lines[:], " ")), errors.Join(errs[:]...)
}

// accounts are the model server's books: which answers were sent whole and
// when, which were used since, and which were asked for again.
type accounts struct {
	mu        sync.Mutex
	delivered map[string]time.Time // by prompt: when its answer was sent whole
	reply     map[string]string    // the prompt by its answer
	asker     map[string]int       // by prompt: the process of its user that asked last
	used      map[string]bool      // prompts whose answers came back in a later prompt
	usedAgain []string             // prompts asked again though their answers had been used
	sentAgain []time.Duration      // answers asked again though sent whole: how long before the kill of the process that had asked
	lives     map[string]int       // by quiz: how often its process or a plugin of it was killed
	died      map[string]time.Time // by quiz and life
	arrived   map[string]int       // requests by quiz
}

// reset closes the books and begins new ones.
func (a *accounts) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.delivered, a.reply, a.asker, a.used = map[string]time.Time{}, map[string]string{}, map[string]int{}, map[string]bool{}
	a.usedAgain, a.sentAgain = nil, nil
	a.lives, a.died, a.arrived = map[string]int{}, map[string]time.Time{}, map[string]int{}
}

// token is the answer to a prompt.
func token(prompt string) string {
	return fmt.Sprintf("token-%x", cache.ToolKey("chain", "1", 0, methods.ToolCall{Name: prompt}).String()[:24])
}

// quizOf is the task file that a prompt is from.
func quizOf(prompt string) string { quiz, _, _ := strings.Cut(prompt, " "); return quiz }

func (a *accounts) arrive(r providertest.Ask) {
	a.mu.Lock()
	defer a.mu.Unlock()
	quiz := quizOf(r.Prompt)
	a.arrived[quiz]++
	if _, last, ok := strings.Cut(r.Prompt, " after token-"); ok {
		a.used[a.reply["token-"+last]] = true
	}
	if a.used[r.Prompt] {
		a.usedAgain = append(a.usedAgain, r.Prompt)
	}
	sent, died := a.delivered[r.Prompt], a.died[fmt.Sprint(quiz, a.asker[r.Prompt])]
	if !sent.IsZero() && sent.Before(died) {
		a.sentAgain = append(a.sentAgain, died.Sub(sent))
	}
	delete(a.delivered, r.Prompt)
	a.asker[r.Prompt] = a.lives[quiz]
	a.reply[token(r.Prompt)] = r.Prompt
}

func (a *accounts) sent(r providertest.Ask) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.delivered[r.Prompt] = time.Now()
}

// kill notes that the present process of a user, or a plugin of it, dies now.
func (a *accounts) kill(quiz string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.died[fmt.Sprint(quiz, a.lives[quiz])] = time.Now()
	a.lives[quiz]++
}

func (a *accounts) requests(quiz string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.arrived[quiz]
}

// contender is one of two users who share a store, each with a comparison that
// it starts again until it has finished.
type contender struct {
	*cli
	quiz   string
	ended  chan result
	cmd    *os.Process
	root   string
	killed bool
}

func (c *contender) args() []string {
	return []string{
		"compare", "--plugins", "plugins", "--task", c.quiz + ".jsonl", "--model", "openai/tiny", "--methods", "chain",
		"--max-samples", "6", "--retries", "0",
	}
}

func (c *contender) begin() {
	cmd := c.command(c.args()...)
	wait := c.start(cmd)
	c.cmd, c.ended, c.killed = cmd.Process, make(chan result, 1), false
	go func() { c.ended <- wait() }()
}

// finish takes note of how a process ended: killed, with failed trials, or well.
func (c *contender) finish(r result) {
	c.t.Helper()
	switch {
	case r.code == 0:
		c.root = rootOf(r.stdout)
	case c.killed:
	case r.code == exitFailed: // a plugin was killed; the next run repeats its trials from the store
	default:
		c.t.Errorf("%s: exit code %d:\n%s", c.quiz, r.code, r.stderr)
	}
}

// owner is the process that has the store open.
func (c *contender) owner() int {
	raw, err := os.ReadFile(filepath.Join(c.home, "store", "data", "LOCK"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
	return pid
}

// strikes counts kills by what was killed, and the finished trials that the
// store was seen to hold before them.
type strikes struct {
	kernel, plugin, owner int
	finished              map[string]string
}

func (s *strikes) all() int { return s.kernel + s.plugin }

// strike kills the contender's kernel or one of its plugins.
func (c *contender) strike(a *accounts, rng *rand.Rand, s *strikes) {
	s.finished = c.finished(s.finished)
	pid := c.cmd.Pid
	if found := children(c.t, pid); rng.IntN(4) == 0 && len(found) > 0 {
		s.plugin++
		a.kill(c.quiz)
		_ = syscall.Kill(found[rng.IntN(len(found))], syscall.SIGKILL) // it may have ended by itself
		return
	}
	s.kernel++
	if c.owner() == pid {
		s.owner++
	}
	a.kill(c.quiz)
	c.killed = true
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// fight lets two users finish their comparisons on one store while kernels,
// plugins and owners of the store are killed at random moments.
func fight(users []*contender, a *accounts, rng *rand.Rand, s *strikes) {
	for _, c := range users {
		c.begin()
	}
	for {
		var running []*contender
		for _, c := range users {
			if c.root == "" {
				running = append(running, c)
			}
		}
		if len(running) == 0 {
			return
		}
		c := running[rng.IntN(len(running))]
		goal := a.requests(c.quiz) + 5 + rng.IntN(40)
		for c.root == "" && a.requests(c.quiz) < goal {
			for _, other := range running {
				other.reap(time.Millisecond)
			}
		}
		if c.root == "" {
			c.reap(time.Duration(rng.IntN(10_000)) * time.Microsecond)
		}
		if c.root == "" {
			c.strike(a, rng, s)
			s.finished = c.finished(s.finished)
		}
	}
}

// reap waits for the contender's process to end, but no longer than d, and
// starts it again if it has not finished.
func (c *contender) reap(d time.Duration) {
	if c.root != "" {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case r := <-c.ended:
		if c.finish(r); c.root == "" {
			c.begin()
		}
	case <-timer.C:
	}
}

// chaosUser prepares a user with a quiz of n questions.
func chaosUser(c *cli, quiz string, n int) *contender {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"id\": \"q%d\", \"input\": \"%s question %d\", \"target\": \"x\"}\n", i, quiz, i)
	}
	c.write(quiz+".jsonl", b.String())
	return &contender{cli: c, quiz: quiz}
}

// TestAnswersSurviveKills kills kernels, plugins and owners of a store that
// two processes share, at random moments: the root hashes are those of
// undisturbed runs, every trial that the store held as finished before a kill is
// there after it with the same hash, and no answer that a method had seen is
// paid again. Answers that were sent but not yet seen may be lost on
// their way; they are counted with their ages. 100 kills with NOEMA_BENCH=1.
func TestAnswersSurviveKills(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	kills, questions := 8, 12
	if os.Getenv("NOEMA_BENCH") == "1" {
		kills, questions = 100, 30
	} else {
		t.Parallel()
	}
	a := &accounts{}
	a.reset()
	server := providertest.New(providertest.Config{
		Answer:  func(r providertest.Ask) providertest.Answer { return providertest.Answer{Text: token(r.Prompt)} },
		Latency: 5 * time.Millisecond,
		Arrived: func(r providertest.Ask) { a.arrive(r) }, Delivered: func(r providertest.Ask) { a.sent(r) },
	})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	if err := os.MkdirAll(filepath.Join(c.dir, "plugins", "chain"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.write("plugins/chain/plugin.yaml", "name: chain\nlanguage: go\ncommand: [chain]\n")
	rng, s := rand.New(rand.NewPCG(15, 3)), strikes{}
	var ages []time.Duration
	calls, trials := 0, 0
	for round := 0; s.all() < kills; round++ {
		users := []*contender{chaosUser(c, fmt.Sprintf("A%d", round), questions), chaosUser(c, fmt.Sprintf("B%d", round), questions)}
		want := []string{}
		for _, u := range users {
			want = append(want, rootOf(u.at(filepath.Join(c.dir, "calm", u.quiz)).run(0, u.args()...).stdout))
		}
		a.reset()
		for _, u := range users {
			u.cli = u.at(filepath.Join(c.dir, fmt.Sprint("chaos", round)))
		}
		s.finished = nil
		fight(users, a, rng, &s)
		s.finished = users[0].finished(s.finished)
		if len(s.finished) < 2*questions {
			t.Errorf("round %d: %d finished trials, want %d or more", round, len(s.finished), 2*questions)
		}
		trials += len(s.finished)
		for i, u := range users {
			if u.root != want[i] {
				t.Errorf("%s: root %s, undisturbed %s", u.quiz, u.root, want[i])
			}
		}
		if len(a.usedAgain) > 0 {
			t.Errorf("round %d: %d answers that had been used were paid again, such as to %q", round, len(a.usedAgain), a.usedAgain[0])
		}
		calls += a.requests(users[0].quiz) + a.requests(users[1].quiz)
		ages = append(ages, a.sentAgain...)
	}
	slices.Sort(ages)
	t.Logf("%d kills of kernels (%d owned the store) and %d of plugins in %d calls and %d trials; answers paid again: none that was used, %d that were on their way",
		s.kernel, s.owner, s.plugin, calls, trials, len(ages))
	if n := len(ages); n > 0 {
		t.Logf("on their way: sent whole %s before the kill (median), %s (9 of 10), %s (all)", ages[n/2], ages[n*9/10], ages[n-1])
	}
}
