// Package embedded is the NATS server inside of a coordinator. Nothing imports it but tests
// and a program that is built with the tag "queue": compiling the server takes a tenth of the
// time that the whole command takes, and runs on one machine never start it.
package embedded

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"noema/kernel/run/cluster"
)

// running is a running server.
type running struct {
	*server.Server
	dir    string
	secret string // of the coordinator's own connection
}

// maxMemory bounds the streams, in bytes, and maxPayload one message.
const (
	maxMemory  = 1 << 30
	maxPayload = 1 << 20
)

var _ cluster.StartServer = Start

// Start starts a server. Its streams are in memory: what they hold can be made again.
func Start(o cluster.ServerOptions, secret string) (cluster.Server, error) {
	host, number, err := cluster.ListenAddress(o.Listen)
	if err != nil {
		return nil, err
	}
	number = cmp.Or(number, server.RANDOM_PORT)
	sweep()
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	s, err := server.NewServer(&server.Options{
		Host: host, Port: number, NoLog: true, NoSigs: true, JetStream: true, StoreDir: filepath.Join(dir, "js"),
		JetStreamMaxMemory: maxMemory, MaxPayload: maxPayload, MaxPending: 256 << 20, PingInterval: 2 * time.Second, MaxPingsOut: 3,
		TLS: o.TLS != nil, TLSConfig: o.TLS, TLSTimeout: 5, AuthTimeout: 5,
		CustomClientAuthentication: &door{o: o, secret: secret},
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the NATS server: %w", err), os.RemoveAll(dir))
	}
	if number > 0 { // the server's own word for it comes too late
		if err := free(o.Listen); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, errors.Join(fmt.Errorf("start the NATS server: it does not listen on %s", o.Listen), os.RemoveAll(dir))
	}
	return &running{s, dir, secret}, nil
}

// prefix begins the name of a server's folder; the id of its process follows.
const prefix = "noema-nats-"

// sweep removes the folders of processes that were killed.
func sweep() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil { // the pattern is a constant
		return
	}
	for _, dir := range dirs {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir) // another process may sweep at the same time
		}
	}
}

// free is an error if the address cannot be listened on.
func free(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	return l.Close()
}

// Connect is the coordinator's own connection, without a network.
func (s *running) Connect(options ...nats.Option) (*nats.Conn, error) {
	return nats.Connect("", append(options, nats.InProcessServer(s.Server), nats.UserInfo(coordinator, s.secret))...)
}

// Close ends the server.
func (s *running) Close() error {
	s.Shutdown()
	s.WaitForShutdown()
	return os.RemoveAll(s.dir)
}

// coordinator is the user of the coordinator's own connection.
const coordinator = "coordinator"

// door lets the coordinator and workers in.
type door struct {
	o      cluster.ServerOptions
	secret string
}

// Check implements server.Authentication.
func (d *door) Check(c server.ClientAuthentication) bool {
	given := c.GetOpts()
	switch {
	case given.Username == coordinator && same(given.Password, d.secret):
		c.RegisterUser(&server.User{Username: coordinator})
		return true
	case !d.o.Name(given.Username) || given.Username == coordinator || !same(given.Password, d.o.Password):
		return false
	}
	c.RegisterUser(&server.User{
		Username: given.Username,
		Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: d.o.Publish(given.Username)},
			Subscribe: &server.SubjectPermission{Allow: d.o.Subscribe(given.Username)},
		},
	})
	return true
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
