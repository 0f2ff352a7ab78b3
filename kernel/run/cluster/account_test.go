package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"noema/kernel/run/cluster"
	"noema/kernel/run/runner"
)

// TestAServerWithUsers has a server that lets workers use what the README lists alone.
func TestAServerWithUsers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	p := token.Prefix()
	n, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		Users: []*server.User{{Username: "run", Password: "r"}, {Username: "worker", Password: "w", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{p + ".join", p + ".up.>", "$JS.API.>", "$JS.ACK.>", "$JS.FC.>", "$O.>"}},
			Subscribe: &server.SubjectPermission{Allow: []string{p + ".down.>", "_INBOX.>"}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	go n.Start()
	t.Cleanup(func() { n.Shutdown(); n.WaitForShutdown() })
	if !n.ReadyForConnections(2 * time.Minute) {
		t.Fatal("the server does not listen")
	}
	want := alone(t, cafes(1))
	l := newLab(t)
	c := start(t, l, cluster.Options{URL: fmt.Sprintf("nats://run:r@%s", n.Addr())})
	if c.Address() != "nats://"+n.Addr().String() {
		t.Errorf("workers are told to join %s", c.Address())
	}
	join(t, fmt.Sprintf("nats://worker:w@%s", n.Addr()), 4, nil)
	if r := finish(t, l, setup(t, l, cafes(1), c), runner.Quiet{}); r.Run.Root != want {
		t.Errorf("the root is %s, on one machine %s", r.Run.Root, want)
	}
}
