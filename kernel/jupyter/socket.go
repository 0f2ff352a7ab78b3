package jupyter

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

// A socket is a listener whose connections speak ZMTP. The wire protocol is
// zmq4's; the rest of its sockets is not used, because there one subscriber
// that stalls holds up all others. Here every connection has a queue and a
// goroutine of its own.
type socket struct {
	kind     zmq4.SocketType
	listener net.Listener
	received func(*peer, [][]byte) // called from the connection's own goroutine
	joined   func(p *peer, topic string)
	limit    int // how many bytes may wait for one peer before more are dropped; 0: no limit

	mu     sync.Mutex
	peers  map[*peer]bool
	closed bool
	ending sync.WaitGroup
}

// peer is one connection.
type peer struct {
	conn     *zmq4.Conn
	identity string

	mu      sync.Mutex
	queue   [][][]byte
	waiting int // bytes
	wake    chan struct{}
	gone    chan struct{}
	once    sync.Once
}

// listen opens a socket.
func listen(c Connection, port int, kind zmq4.SocketType) (*socket, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(c.IP, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("open %s socket: %w", kind, err)
	}
	return &socket{kind: kind, listener: l, peers: map[*peer]bool{}}, nil
}

// serve accepts connections until the socket is closed.
func (s *socket) serve() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.ending.Go(func() { s.connection(c) })
	}
}

// connection shakes hands with a peer and reads what it sends.
func (s *socket) connection(c net.Conn) {
	conn, err := zmq4.Open(c, null.Security(), s.kind, nil, true, nil)
	if err != nil {
		_ = c.Close() // it spoke no ZMTP
		return
	}
	p := &peer{conn: conn, identity: conn.Peer.Meta["Identity"], wake: make(chan struct{}, 1), gone: make(chan struct{})}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		_ = c.Close()
		return
	}
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

// take hands on what a peer sent; a subscription is told to joined.
func (s *socket) take(p *peer, frames [][]byte) {
	if s.kind == zmq4.XPub {
		if len(frames) == 1 && len(frames[0]) > 0 && frames[0][0] == 1 && s.joined != nil {
			s.joined(p, string(frames[0][1:]))
		}
		return
	}
	if s.received != nil && len(frames) > 0 {
		s.received(p, frames)
	}
}

// leave closes the connection.
func (p *peer) leave() {
	p.once.Do(func() {
		close(p.gone)
		_ = p.conn.Close()
	})
}

// send queues a message for the peer. Over the limit it is dropped, unless
// nothing waits: a single message may be of any size.
func (p *peer) send(frames [][]byte, limit int) {
	size := 0
	for _, f := range frames {
		size += len(f)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if limit > 0 && p.waiting > 0 && p.waiting+size > limit {
		return
	}
	p.waiting += size
	p.queue = append(p.queue, frames)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// write sends what is queued.
func (p *peer) write() {
	for {
		select {
		case <-p.wake:
		case <-p.gone:
			return
		}
		for {
			p.mu.Lock()
			if len(p.queue) == 0 {
				p.mu.Unlock()
				break
			}
			frames := p.queue[0]
			p.queue = p.queue[1:]
			p.mu.Unlock()
			m := zmq4.NewMsgFrom(frames...)
			if err := p.conn.SendMsg(m); err != nil {
				p.leave()
				return
			}
			p.mu.Lock()
			for _, f := range frames {
				p.waiting -= len(f)
			}
			p.mu.Unlock()
		}
	}
}

// publish sends a message to all peers.
func (s *socket) publish(frames [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		p.send(frames, s.limit)
	}
}

// find returns the peer of an identity, or any.
func (s *socket) find(identity string) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var other *peer
	for p := range s.peers {
		if p.identity == identity && identity != "" {
			return p
		}
		other = p
	}
	return other
}

// flush waits until what was queued has been sent, or ctx ends.
func (s *socket) flush(ctx context.Context) {
	for ctx.Err() == nil {
		s.mu.Lock()
		busy := false
		for p := range s.peers {
			p.mu.Lock()
			busy = busy || p.waiting > 0
			p.mu.Unlock()
		}
		s.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-ctx.Done():
		case <-tick():
		}
	}
}

// close ends the socket and its connections.
func (s *socket) close() {
	s.mu.Lock()
	s.closed = true
	peers := s.peers
	s.peers = map[*peer]bool{}
	s.mu.Unlock()
	_ = s.listener.Close()
	for p := range peers {
		p.leave()
	}
	s.ending.Wait()
}
