package jupyter

import (
	"context"
	"fmt"
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
	received func(*peer, [][]byte) // called from the connection's own goroutine
	joined   func(p *peer, topic string)

	mu     sync.Mutex
	open   map[*net.TCPConn]bool // also those that still shake hands
	peers  map[*peer]bool
	closed bool
	ending sync.WaitGroup
}

// handshake is the time limit of a connection's handshake.
const handshake = 10 * time.Second

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
	return &socket{kind: kind, listener: l.(*net.TCPListener), open: map[*net.TCPConn]bool{}, peers: map[*peer]bool{}}, nil
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

// enter registers a connection, so that closing the socket closes it.
func (s *socket) enter(c *net.TCPConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
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
	_ = c.SetDeadline(time.Now().Add(handshake))
	conn, err := zmq4.Open(newGuarded(c), null.Security(), s.kind, nil, true, nil)
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
	for {
		m, err := conn.RecvMsg()
		if err != nil {
			return
		}
		s.take(p, m.Frames)
	}
}

// take passes a message to received, and a new subscription to joined.
func (s *socket) take(p *peer, frames [][]byte) {
	if s.kind == zmq4.XPub {
		if topic, begun := p.subscribe(frames); begun && s.joined != nil {
			s.joined(p, topic)
		}
		return
	}
	if s.received != nil && len(frames) > 0 {
		s.received(p, frames)
	}
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
