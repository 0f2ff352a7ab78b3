package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"time"
)

const (
	service = "Store"
	// protocol is the version of the calls below. Both sides must agree.
	protocol = 1
)

// errProtocol says that the owner is of another version of noema.
var errProtocol = errors.New("the other noema has an incompatible version")

// The replies of the calls. They are exported because net/rpc demands it. An
// error travels as a Fault, since net/rpc would reduce it to its text.
type (
	// HelloReply says which owner the caller has reached.
	HelloReply struct {
		Protocol int
		Dev, Ino uint64
	}
	// Reply answers every other call, in the field that the call is about.
	Reply struct {
		Fault Fault
		Value []byte
		Page  Page
		Bad   []string
		Usage Usage
	}
)

// Fault is an error on its way: the sentinel that it wraps, by number, and
// its text.
type Fault struct {
	Code int
	Text string
}

// sentinels are the errors that keep their identity, by Fault.Code-2. Their
// order is part of the protocol.
var sentinels = [...]error{errLost, ErrNotFound, ErrDamaged, ErrChanged, ErrDiskFull, ErrReadOnly}

func faultOf(err error) Fault {
	if err == nil {
		return Fault{}
	}
	for i, s := range sentinels {
		if errors.Is(err, s) {
			return Fault{Code: i + 2, Text: err.Error()}
		}
	}
	return Fault{Code: 1, Text: err.Error()}
}

func (f Fault) err() error {
	if f.Code == 0 {
		return nil
	}
	i := f.Code - 2
	if i < 0 || i >= len(sentinels) {
		return errors.New(f.Text)
	}
	if sentinels[i].Error() == f.Text {
		return sentinels[i]
	}
	return &remoteError{f.Text, sentinels[i]}
}

// remoteError is an error that the owner met.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }

// Service is what the owner offers to the other processes.
type Service struct {
	local *local
	id    identity
}

// Hello says who the owner is. The caller finds what dead processes had.
func (s *Service) Hello(_ int, r *HelloReply) error {
	s.local.collect()
	*r = HelloReply{Protocol: protocol, Dev: s.id.dev, Ino: s.id.ino}
	return nil
}

// Get reads one value.
func (s *Service) Get(key []byte, r *Reply) error {
	v, err := s.local.get(context.Background(), key)
	*r = Reply{Value: v, Fault: faultOf(err)}
	return nil
}

// Apply writes a batch.
func (s *Service) Apply(b Batch, r *Reply) error {
	r.Fault = faultOf(s.local.apply(context.Background(), b))
	return nil
}

// Scan reads a page.
func (s *Service) Scan(q Range, r *Reply) error {
	p, err := s.local.scan(context.Background(), q)
	*r = Reply{Page: p, Fault: faultOf(err)}
	return nil
}

// Check verifies the tables.
func (s *Service) Check(_ int, r *Reply) error {
	bad, err := s.local.check(context.Background())
	*r = Reply{Bad: bad, Fault: faultOf(err)}
	return nil
}

// Usage measures the directory.
func (s *Service) Usage(_ int, r *Reply) error {
	u, err := s.local.usage(context.Background())
	*r = Reply{Usage: u, Fault: faultOf(err)}
	return nil
}

// remote is the backend of a process that is not the owner.
type remote struct{ client *rpc.Client }

// dialOwner connects to the owner of dir within limit, and makes sure that it
// is the owner.
func dialOwner(ctx context.Context, dir string, limit time.Duration) (*remote, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	path, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	r := &remote{client: rpc.NewClient(conn)}
	var hello HelloReply
	if err := r.call(ctx, "Hello", 0, &hello); err != nil {
		return nil, errors.Join(err, r.close())
	}
	if err := hello.check(dir); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (h HelloReply) check(dir string) error {
	if h.Protocol != protocol {
		return fmt.Errorf("open store %q: %w (protocol %d, this noema %d): end the older noema process, or update this one",
			dir, errProtocol, h.Protocol, protocol)
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	id, err := identify(f)
	if err == nil && id != (identity{h.Dev, h.Ino}) {
		err = errors.New("the socket belongs to another store")
	}
	return err
}

// socketPath is where the owner of dir listens.
func socketPath(dir string) (string, error) {
	path := filepath.Join(dir, runDir, socketFile)
	if len(path) <= maxSocketPath {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, runDir, addrFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("the owner has not opened its socket yet")
	}
	return string(raw), err
}

// call makes one call. A call whose context ends is left behind: its
// goroutine ends with the answer or the connection.
func (r *remote) call(ctx context.Context, method string, args, reply any) error {
	done := make(chan error, 1)
	go func() { done <- r.client.Call(service+"."+method, args, reply) }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		if _, ok := errors.AsType[rpc.ServerError](err); ok {
			return fmt.Errorf("ask the owner of the store: %w", err)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		return nil
	}
}

// ask makes one call, with the error that the owner met.
func (r *remote) ask(ctx context.Context, method string, args any) (*Reply, error) {
	reply := new(Reply)
	if err := r.call(ctx, method, args, reply); err != nil {
		return new(Reply), err // a call that was left behind may still write to reply
	}
	return reply, reply.Fault.err()
}

func (r *remote) get(ctx context.Context, key []byte) ([]byte, error) {
	reply, err := r.ask(ctx, "Get", key)
	return reply.Value, err
}

func (r *remote) apply(ctx context.Context, b Batch) error {
	_, err := r.ask(ctx, "Apply", b)
	return err
}

func (r *remote) scan(ctx context.Context, q Range) (Page, error) {
	reply, err := r.ask(ctx, "Scan", q)
	return reply.Page, err
}

func (r *remote) check(ctx context.Context) ([]string, error) {
	reply, err := r.ask(ctx, "Check", 0)
	return reply.Bad, err
}

func (r *remote) usage(ctx context.Context) (Usage, error) {
	reply, err := r.ask(ctx, "Usage", 0)
	return reply.Usage, err
}

func (r *remote) owner() bool  { return false }
func (r *remote) close() error { return r.client.Close() }
