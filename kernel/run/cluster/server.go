package cluster

import (
	"crypto/tls"
	"fmt"
	"net"
	"strconv"

	"github.com/nats-io/nats.go"
)

// Server is a NATS server in the coordinator's own process.
type Server interface {
	Addr() net.Addr
	// Connect is the coordinator's own connection, without a network.
	Connect(...nats.Option) (*nats.Conn, error)
	Close() error
}

// StartServer starts a server; secret is what the coordinator's own connection gives. There
// is one, embedded.Start, which not every program has: see there.
type StartServer func(o ServerOptions, secret string) (Server, error)

// ServerOptions say where a server listens, and which clients it lets in.
type ServerOptions struct {
	Listen string      // HOST:PORT; port 0 is any that is free
	TLS    *tls.Config // nil on this machine alone
	// Password is what a worker gives, with its own name as the user. Name reports whether
	// that may be part of a subject: a wildcard would stand for every worker. Publish and
	// Subscribe are the subjects that it may use.
	Password           string
	Name               func(worker string) bool
	Publish, Subscribe func(worker string) []string
}

// ListenAddress reads where a server is to listen, as in 127.0.0.1:4222.
func ListenAddress(listen string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("listen %q: %w: write HOST:PORT, as in 127.0.0.1:4222", listen, err)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("listen %q: %q is not a port", listen, text)
	}
	return host, port, nil
}
