package jupyter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

// A socket is a listener whose connections speak ZMTP. It uses the wire protocol of
// zmq4 but not its sockets, in which one stalled subscriber blocks all others. Here
// every connection has its own queue and goroutine.
type socket struct {
	kind     zmq4.SocketType
	listener *net.TCPListener
	received func(*peer, [][]byte) bool // called from the connection's own goroutine; false rejects the message
	joined   func(p *peer, topic string)
	limit    int64 // bytes of a message
	intake   *intake
	logf     func(format string, args ...any)

	mu     sync.Mutex
	open   map[*net.TCPConn]bool // also those that still shake hands
	peers  map[*peer]bool
	full   bool // the last connection was refused
	closed bool
	ending sync.WaitGroup
}

// handshakeTime is the time limit of a connection's handshake.
const handshakeTime = 10 * time.Second

// listen opens a socket.
func listen(c Connection, port int, kind zmq4.SocketType) (*socket, error) {
	host := c.IP
	if host == "*" {
		host = ""
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("open %s socket: %w", kind, err)
	}
	return &socket{kind: kind, listener: l.(*net.TCPListener), limit: maxMessage, open: map[*net.TCPConn]bool{}, peers: map[*peer]bool{}}, nil
}

// start accepts connections until the socket is closed.
func (s *socket) start() {
	s.ending.Go(func() {
		for {
			c, err := s.listener.AcceptTCP()
			if err != nil {
				return
			}
			if s.enter(c) {
				s.ending.Go(func() { s.connection(c) })
			}
		}
	})
}

// enter registers a connection, so that closing the socket closes it. It closes
// one that is too many.
func (s *socket) enter(c *net.TCPConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := len(s.open) >= maxConnections
	if full && !s.full {
		s.logf("refused: connections to the %s socket: %d are open, which is the limit", s.kind, len(s.open))
	}
	s.full = full
	if s.closed || full {
		_ = c.Close()
		return false
	}
	s.open[c] = true
	return true
}

// connection shakes hands with a peer and reads what it sends.
func (s *socket) connection(c *net.TCPConn) {
	defer func() {
		_ = c.Close()
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
	}()
	_ = c.SetDeadline(time.Now().Add(handshakeTime))
	conn, err := zmq4.Open(&greeter{c, handshake}, null.Security(), s.kind, nil, true, nil)
	if err != nil {
		return // not ZMTP
	}
	_ = c.SetDeadline(time.Time{})
	p := newPeer(conn)
	s.mu.Lock()
	s.peers[p] = true
	s.mu.Unlock()
	s.ending.Go(p.write)
	defer func() {
		s.mu.Lock()
		delete(s.peers, p)
		s.mu.Unlock()
		p.leave()
	}()
	if err := s.read(p, c); err != nil {
		s.logf("closed a connection: %v", err)
	}
}

// read reads messages until the connection ends, which is not an error.
func (s *socket) read(p *peer, c *net.TCPConn) error {
	r := newReceiver(c, s.limit, s.intake)
	defer r.release()
	for rejected := 0; rejected < maxRejected; r.release() {
		frames, command, err := r.message()
		switch {
		case errors.As(err, new(net.Error)) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		case command:
			err = pong(c, frames[0])
		case s.take(p, frames):
			rejected = 0
		default:
			rejected++
		}
		if err != nil {
			return nil
		}
	}
	return fmt.Errorf("its last %d messages were rejected", maxRejected)
}

// pong answers a PING, in one write because others write as well.
func pong(c io.Writer, command []byte) error {
	if !bytes.HasPrefix(command, []byte("\x04PING")) {
		return nil
	}
	_, err := c.Write([]byte{flagCommand, 5, 4, 'P', 'O', 'N', 'G'})
	return err
}

// take passes a message to received, and a new subscription to joined. It reports
// whether the message was one.
func (s *socket) take(p *peer, frames [][]byte) bool {
	if s.kind == zmq4.XPub {
		topic, begun := p.subscribe(frames)
		if begun && s.joined != nil {
			s.joined(p, topic)
		}
		return begun
	}
	return s.received(p, frames)
}

// publish sends a message to the subscribers of its topic that have at most limit
// bytes queued. It returns how many peers miss a message for the first time, and
// how many messages were missed by peers that have caught up since.
func (s *socket) publish(topic string, frames [][]byte, limit int) (begun, over int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		if !p.wants(topic) {
			continue
		}
		caughtUp := p.idle()
		switch sent := p.send(frames, limit); {
		case sent && caughtUp:
			over += p.missed
			p.missed = 0
		case !sent && p.missed == 0:
			begun++
			fallthrough
		case !sent:
			p.missed++
		}
	}
	return begun, over
}

// find returns the peer of an identity. A client without one is found if it is the
// only peer.
func (s *socket) find(identity string) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		if p.identity == identity && (identity != "" || len(s.peers) == 1) {
			return p
		}
	}
	return nil
}

// flush waits until what was queued has been sent, or ctx ends.
func (s *socket) flush(ctx context.Context) {
	for ctx.Err() == nil && s.busy() {
		select {
		case <-ctx.Done():
		case <-tick():
		}
	}
}

// tick is the polling interval of flush.
func tick() <-chan time.Time { return time.After(2 * time.Millisecond) }

func (s *socket) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		if !p.idle() {
			return true
		}
	}
	return false
}

// close ends the socket and its connections.
func (s *socket) close() {
	s.mu.Lock()
	s.closed = true
	for c := range s.open {
		_ = c.Close()
	}
	s.mu.Unlock()
	_ = s.listener.Close()
	s.ending.Wait()
}
