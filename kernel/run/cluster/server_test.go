package cluster_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"noema/kernel/run/cluster"
)

// separate is a NATS server that is not the coordinator's.
type separate struct {
	t    testing.TB
	port int
	*server.Server
}

func newSeparate(t testing.TB) *separate {
	s := &separate{t: t, port: server.RANDOM_PORT}
	s.start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// start starts it with nothing in its streams.
func (s *separate) start() {
	n, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: s.port, NoLog: true, NoSigs: true, JetStream: true, StoreDir: s.t.TempDir(), SyncAlways: true})
	if err != nil {
		s.t.Error(err)
		return
	}
	go n.Start()
	if !n.ReadyForConnections(2 * time.Minute) {
		s.t.Error("the server does not listen")
	}
	s.Server, s.port = n, n.Addr().(*net.TCPAddr).Port
}

func TestTheServerIsLostWithItsQueue(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	want := alone(t, cafes(2))
	s := newSeparate(t)
	l := newLab(t)
	c := start(t, l, cluster.Options{URL: s.ClientURL()})
	for range 2 {
		join(t, s.ClientURL(), 3, nil)
	}
	var restarts sync.WaitGroup
	r := finish(t, l, setup(t, l, cafes(2), c), &after{each: func(done int) {
		if done == 10 {
			restarts.Go(func() {
				s.Shutdown()
				s.WaitForShutdown()
				s.start()
			})
		}
	}})
	restarts.Wait()
	if r.Run.Root != want {
		t.Errorf("the root is %s, on one machine %s", r.Run.Root, want)
	}
	if r.Run.Calls.Provider != calls(r) {
		t.Errorf("%d calls were paid, the trials made %d different ones", r.Run.Calls.Provider, calls(r))
	}
}
