package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/lab"
)

// process is one that a test starts again when it has killed it.
type process struct {
	c    *cli
	make func() *exec.Cmd
	cmd  *exec.Cmd
	end  chan result
}

func (p *process) start() {
	p.c.t.Helper()
	p.cmd, p.end = p.make(), make(chan result, 1)
	wait := p.c.start(p.cmd)
	end := p.end
	go func() { end <- wait() }()
}

// kill kills it as kill -9 does, and returns what it said.
func (p *process) kill() result {
	_ = p.cmd.Process.Kill() // it may have ended
	return <-p.end
}

// clustered is a run with workers in processes of their own.
type clustered struct {
	*cli
	ledger      *ledger
	coordinator *process
	workers     []*process
	server      *process // of NATS, if it is a separate one
}

// freePort is one that nobody listens on.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// newClustered prepares a run of args; server is the program of a separate NATS server, or
// nothing.
func newClustered(c *cli, l *ledger, workers int, server string, args []string) *clustered {
	address := "127.0.0.1:" + freePort(c.t)
	x := &clustered{cli: c, ledger: l}
	at := []string{"--listen", address}
	if server != "" {
		at = []string{"--nats", "nats://" + address}
		_, port, _ := net.SplitHostPort(address)
		x.server = &process{c: c, make: func() *exec.Cmd {
			return exec.CommandContext(c.t.Context(), server, "-a", "127.0.0.1", "-p", port, "-js", "-sd", filepath.Join(c.dir, "nats"))
		}}
	}
	x.coordinator = &process{c: c, make: func() *exec.Cmd {
		return c.command(append(append(args, at...), "--local-workers", "0", "--json")...)
	}}
	for i := range workers {
		own := c.at(filepath.Join(c.dir, fmt.Sprint("worker", i)))
		x.workers = append(x.workers, &process{c: c, make: func() *exec.Cmd {
			return own.command("worker", "--join", "nats://"+address, "--stay", "--slots", "3")
		}})
	}
	return x
}

// TestKillACluster kills workers, the coordinator and the NATS server at random moments of
// one run, and of a study of several: the root hash is that of one machine, no finished trial
// is lost, no kept answer is paid again, and what came of it is replayed, packed and verified.
// 30 kills with NOEMA_BENCH=1.
func TestKillACluster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	const one, study = "--task cafes --limit ", "--task cafes?n=20 --task cafes --task cafes?n=30#weight=2 --model openai/small --limit "
	if os.Getenv("NOEMA_BENCH") == "" {
		t.Run("embedded", func(t *testing.T) { killCluster(t, 3, one+"10", "") })
		t.Run("study", func(t *testing.T) { killCluster(t, 4, study+"3", "") })
		return
	}
	t.Run("embedded", func(t *testing.T) { killCluster(t, 30, one+"60", "") })
	t.Run("study", func(t *testing.T) { killCluster(t, 30, study+"12", "") })
	t.Run("separate", func(t *testing.T) {
		server := filepath.Join(t.TempDir(), "nats-server")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", server, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
			t.Skipf("there is no NATS server: %s", out)
		}
		killCluster(t, 30, one+"60", server)
	})
}

func killCluster(t *testing.T, kills int, over, natsServer string) {
	l := &ledger{asked: map[string]int{}}
	server := providertest.New(providertest.Config{Answer: simulated(t), Arrived: l.call, Latency: 30 * time.Millisecond})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL(), lab.JoinTokenVariable+"=only-for-a-test-of-kills")
	args := append([]string{"compare", "--model", "openai/tiny", "--methods", "direct,cot,anot", "--seed", "2"}, strings.Fields(over)...)
	alone := c.at(filepath.Join(c.dir, "undisturbed"))
	root := rootOf(alone.run(0, args...).stdout)
	calls := server.Requests()
	l.reset()

	x := newClustered(c, l, 3, natsServer, args)
	if x.server != nil {
		x.server.start()
		defer x.server.kill()
	}
	for _, w := range x.workers {
		w.start()
		defer w.kill()
	}
	x.coordinator.start()
	rng := rand.New(rand.NewPCG(22, 1))
	finished := map[string]string{}
	done, began := 0, time.Now()
	for ; done < kills; done++ {
		trigger, release := l.arm(1 + rng.IntN(max(1, calls/kills)))
		select {
		case <-trigger:
		case r := <-x.coordinator.end:
			x.coordinator.end <- r
		case <-time.After(time.Minute):
			release() // the server waits for it when it is closed
			t.Fatal("nothing is asked for a minute")
		}
		if len(x.coordinator.end) > 0 {
			release()
			break // the run was done before all kills
		}
		switch victim := rng.IntN(5); {
		case victim == 0 || done == 0:
			x.coordinator.kill()
			finished = c.finished(finished)
			l.settle(c.kept())
			x.coordinator.start()
		case victim == 1 && x.server != nil:
			x.server.kill()
			x.server.start()
		default:
			w := x.workers[rng.IntN(len(x.workers))]
			w.kill()
			w.start()
		}
		release()
	}
	r := <-x.coordinator.end
	if r.code != 0 {
		t.Fatalf("the run ended with %d:\n%s", r.code, r.stderr)
	}
	want(t, r.stdout, root)
	if _, again := l.totals(); len(again) > 0 {
		t.Errorf("%d kept answers were paid again, such as to %.200q", len(again), again[0])
	}
	if done < kills/2 {
		t.Errorf("only %d of %d kills came in time", done, kills)
	}
	t.Logf("%d kills in %v; %d trials were finished at the coordinator's last one; %d requests for %d calls", done, time.Since(began).Round(time.Second), len(finished), server.Requests()-calls, calls)
	want(t, c.run(0, "replay", "last").stdout, root)
	c.run(0, "pack", "last", "-o", "killed.noema")
	want(t, alone.run(0, "pack", "verify", filepath.Join(c.dir, "killed.noema")).stdout, "root hash "+root[:12], "verified")
}
