// Package embedded is the NATS server inside of a coordinator. It is a package of its own,
// since the server is most of what beyond one machine weighs.
package embedded

import (
	"cmp"
	"crypto/subtle"
	"crypto/tls"
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
)

// Options say where a server listens, and which clients it lets in.
type Options struct {
	Listen string      // HOST:PORT; port 0 is any that is free
	TLS    *tls.Config // nil on this machine alone
	// Password is what a worker gives, with its own name as the user. Name reports whether
	// that may be part of a subject: a wildcard would stand for every worker. Publish and
	// Subscribe are the subjects that it may use.
	Password           string
	Name               func(worker string) bool
	Publish, Subscribe func(worker string) []string
}

// Server is a running server.
type Server struct {
	*server.Server
	dir    string
	secret string // of the coordinator's own connection
}

// maxMemory bounds the streams, in bytes, and maxPayload one message.
const (
	maxMemory  = 1 << 30
	maxPayload = 1 << 20
)

// Start starts a server. Its streams are in memory: what they hold can be made again.
func Start(o Options, secret string) (*Server, error) {
	host, number, err := Address(o.Listen)
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
	return &Server{s, dir, secret}, nil
}

// Address reads where a server is to listen, as in 127.0.0.1:4222.
func Address(listen string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("listen %q: %w: write HOST:PORT, as in 127.0.0.1:4222", listen, err)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("listen %q: %q is not a port", listen, text)
	}
	return host, port, nil
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
func (s *Server) Connect(options ...nats.Option) (*nats.Conn, error) {
	return nats.Connect("", append(options, nats.InProcessServer(s.Server), nats.UserInfo(coordinator, s.secret))...)
}

// Close ends the server.
func (s *Server) Close() error {
	s.Shutdown()
	s.WaitForShutdown()
	return os.RemoveAll(s.dir)
}

// coordinator is the user of the coordinator's own connection.
const coordinator = "coordinator"

// door lets the coordinator and workers in.
type door struct {
	o      Options
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
