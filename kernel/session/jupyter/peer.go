package jupyter

import (
	"strings"
	"sync"

	"github.com/go-zeromq/zmq4"
)

// peer is one connection.
type peer struct {
	conn     *zmq4.Conn
	identity string
	missed   int // messages, since it last had all; guarded by the socket's mu

	mu      sync.Mutex
	topics  map[string]bool // that it has subscribed to
	queue   [][][]byte
	waiting int // bytes
	wake    chan struct{}
	gone    chan struct{}
	once    sync.Once
}

func newPeer(conn *zmq4.Conn) *peer {
	return &peer{
		conn: conn, identity: conn.Peer.Meta["Identity"], topics: map[string]bool{},
		wake: make(chan struct{}, 1), gone: make(chan struct{}),
	}
}

// leave closes the connection.
func (p *peer) leave() {
	p.once.Do(func() {
		close(p.gone)
		_ = p.conn.Close()
	})
}

// send queues a message for the peer and reports whether it did. A message over the
// limit is dropped, unless the queue is empty. A limit of 0 means no limit.
func (p *peer) send(frames [][]byte, limit int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := sizeOf(frames)
	if limit > 0 && p.waiting > 0 && p.waiting+size > limit {
		return false
	}
	p.waiting += size
	p.queue = append(p.queue, frames)
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return true
}

// sizeOf is the memory that a message takes.
func sizeOf(frames [][]byte) (n int) {
	for _, f := range frames {
		n += len(f) + frameCost
	}
	return n
}

// write sends what is queued, until the peer is gone.
func (p *peer) write() {
	for {
		select {
		case <-p.wake:
		case <-p.gone:
			return
		}
		for frames := p.next(); frames != nil; frames = p.next() {
			if err := p.conn.SendMsg(zmq4.NewMsgFrom(frames...)); err != nil {
				p.leave()
				return
			}
			p.mu.Lock()
			p.waiting -= sizeOf(frames)
			p.mu.Unlock()
		}
	}
}

// next takes a message off the queue; nil means that it is empty.
func (p *peer) next() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.queue = nil // and its memory, of which there may have been much
		return nil
	}
	frames := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	return frames
}

// idle says whether nothing waits to be sent.
func (p *peer) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting == 0
}

// subscribe reads a subscription, or the end of one, and says whether it is new.
// Of too many, the further ones are ignored.
func (p *peer) subscribe(frames [][]byte) (topic string, begun bool) {
	if len(frames) != 1 || len(frames[0]) == 0 || frames[0][0] > 1 {
		return "", false
	}
	topic = string(frames[0][1:])
	p.mu.Lock()
	defer p.mu.Unlock()
	if frames[0][0] == 0 {
		delete(p.topics, topic)
		return topic, false
	}
	if len(p.topics) == maxTopics {
		return topic, false
	}
	p.topics[topic] = true
	return topic, true
}

// wants says whether the peer has subscribed to a topic.
func (p *peer) wants(topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t := range p.topics {
		if strings.HasPrefix(topic, t) {
			return true
		}
	}
	return false
}
