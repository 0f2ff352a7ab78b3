package cluster

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// link is the connection between the coordinator and one worker: packets each way, in
// order, each once. A packet that is missing ends it, and what ran over it runs again.
type link struct {
	nc      *nats.Conn
	subject string // of what is sent
	key     []byte // of its packets
	theirs  []byte // key of the other side's packets
	objects jetstream.ObjectStore
	handle  func(item) error
	foreign func() // counts a message that is not the other side's
	pace    pace
	first   chan struct{} // if any, closed when the other side is there; nothing is sent before

	sub    *nats.Subscription
	ctx    context.Context // ends with the link
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	waiting []item
	bytes   int // of waiting
	more    chan struct{}
	room    *sync.Cond
	heard   time.Time
	conns   map[uint64]*conn

	received uint64 // packets; only the subscription's goroutine uses it
}

// maxWaiting is how many bytes may wait to be sent before who sends waits.
const maxWaiting = 64 << 20

// maxUnread is how many bytes a client holds that it has not read yet.
const maxUnread = 256 << 20

// errClosed is the cause of a link that ended as it should.
var errClosed = errors.New("the link is closed")

// connect begins a link. handle is called with each item that is not for a conn, one at a
// time, and must not block.
func (l *link) connect(from string) error {
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	l.more = make(chan struct{}, 1)
	l.room = sync.NewCond(&l.mu)
	l.heard, l.conns = time.Now(), map[uint64]*conn{}
	sub, err := l.nc.Subscribe(from, l.receive)
	if err != nil {
		return err
	}
	if err := sub.SetPendingLimits(-1, maxUnread); err != nil {
		return err
	}
	l.sub = sub
	context.AfterFunc(l.ctx, l.over)
	go l.send()
	go l.beats()
	return nil
}

// over frees who waits for the link.
func (l *link) over() {
	_ = l.sub.Unsubscribe() // the connection may be gone
	l.mu.Lock()
	defer l.mu.Unlock()
	l.room.Broadcast()
	for _, c := range l.conns {
		c.close(context.Cause(l.ctx))
	}
}

// beats tells the other side that this one is there, and ends the link when the other
// one is silent.
func (l *link) beats() {
	tick := time.NewTicker(l.pace.beat)
	defer tick.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-tick.C:
		}
		l.mu.Lock()
		silent := time.Since(l.heard)
		l.mu.Unlock()
		if silent > l.pace.silence {
			l.cancel(fmt.Errorf("no message from it for %v", silent.Round(time.Second)))
			return
		}
		_ = l.put(item{kind: beat})
	}
}

// put queues an item. It waits while too much is queued, and fails when the link is over.
func (l *link) put(i item) error {
	l.mu.Lock()
	for l.bytes > maxWaiting && l.ctx.Err() == nil && i.kind == frames {
		l.room.Wait()
	}
	if l.ctx.Err() != nil {
		l.mu.Unlock()
		return context.Cause(l.ctx)
	}
	l.waiting, l.bytes = append(l.waiting, i), l.bytes+len(i.data)
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return nil
}

// say queues what [said] decodes on the other side.
func (l *link) say(k kind, session uint64, what any) error {
	raw, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return l.put(item{kind: k, session: session, data: raw})
}

// send packs what is queued until the link is over.
func (l *link) send() {
	var sent uint64
	if l.first != nil {
		select {
		case <-l.first:
		case <-l.ctx.Done():
			return
		}
	}
	for {
		select {
		case <-l.more:
		case <-l.ctx.Done():
			return
		}
		l.mu.Lock()
		batch := l.waiting
		l.waiting, l.bytes = nil, 0
		l.room.Broadcast()
		l.mu.Unlock()
		for len(batch) > 0 {
			var packet []byte
			var err error
			if packet, batch, err = l.pack(sent+1, batch); err == nil {
				err = l.nc.Publish(l.subject, packet)
			}
			if err != nil {
				l.cancel(fmt.Errorf("send to it: %w", err))
				return
			}
			sent++
		}
	}
}

// pack makes a packet of the first items of a batch, and returns the rest.
func (l *link) pack(number uint64, batch []item) ([]byte, []item, error) {
	packet := binary.BigEndian.AppendUint64(make([]byte, macSize, 4<<10), number)
	for len(batch) > 0 && len(packet) < packetSize {
		i := batch[0]
		if len(i.data) > maxItem {
			name := strconv.FormatUint(number, 10) + "-" + strconv.Itoa(len(batch)) + "-" + l.subject
			if _, err := l.objects.PutBytes(l.ctx, name, i.data); err != nil {
				return nil, nil, err
			}
			i.kind, i.data = i.kind|inObject, []byte(name)
		}
		packet, batch = appendItem(packet, i), batch[1:]
	}
	copy(packet, mac(l.key, packet[macSize:]))
	return packet, batch, nil
}

// receive takes one packet.
func (l *link) receive(m *nats.Msg) {
	packet, err := open(l.theirs, m.Data)
	if err != nil || len(packet) < 8 {
		l.foreign()
		return
	}
	if l.ctx.Err() != nil {
		return
	}
	number := binary.BigEndian.Uint64(packet)
	if number <= l.received { // sent again by somebody else
		l.foreign()
		return
	}
	if number != l.received+1 {
		l.cancel(fmt.Errorf("%d messages from it were lost", number-l.received-1))
		return
	}
	if l.received++; number == 1 && l.first != nil {
		close(l.first)
	}
	l.mu.Lock()
	l.heard = time.Now()
	l.mu.Unlock()
	if err := items(packet[8:], l.dispatch); err != nil {
		l.cancel(err)
	}
}

// dispatch hands an item to its addressee.
func (l *link) dispatch(i item) (err error) {
	if i.kind&inObject != 0 {
		if i, err = l.fetch(i); err != nil {
			return err
		}
	}
	switch i.kind {
	case beat:
		return nil
	case frames, start, end:
		l.mu.Lock()
		c := l.conns[i.session]
		l.mu.Unlock()
		if c != nil {
			c.deliver(i)
		}
		return nil
	}
	return l.handle(i)
}

// fetch gets the data of an item from the object store, and removes it there. The store
// checks its digest.
func (l *link) fetch(i item) (item, error) {
	ctx, cancel := context.WithTimeout(l.ctx, time.Minute)
	defer cancel()
	name := string(i.data)
	info, err := l.objects.GetInfo(ctx, name)
	if err == nil && info.Size > maxData {
		err = fmt.Errorf("it has %d MiB, more than %d", info.Size>>20, maxData>>20)
	}
	if err == nil {
		i.data, err = l.objects.GetBytes(ctx, name)
	}
	if err != nil {
		return i, fmt.Errorf("fetch a large message: %w", err)
	}
	i.kind &^= inObject
	return i, l.objects.Delete(ctx, name)
}

// close ends the link after what is queued was sent.
func (l *link) close() {
	for l.ctx.Err() == nil {
		l.mu.Lock()
		waiting := len(l.waiting)
		l.mu.Unlock()
		if waiting == 0 {
			break
		}
		_ = l.nc.FlushTimeout(time.Second)
	}
	_ = l.nc.FlushTimeout(time.Second)
	l.cancel(errClosed)
}

// open returns the end of a session here.
func (l *link) open(session uint64) *conn {
	c := &conn{link: l, session: session, more: make(chan struct{}, 1), gone: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[session] = c
	if l.ctx.Err() != nil {
		c.close(context.Cause(l.ctx))
	}
	return c
}

// conn is one end of the session of a trial. It is a [plugins.Conn].
type conn struct {
	link    *link
	session uint64
	more    chan struct{}
	gone    chan struct{}

	mu   sync.Mutex
	in   []item
	over error
}

// Send implements [plugins.Conn].
func (c *conn) Send(message []byte) error {
	return c.link.put(item{kind: frames, session: c.session, data: message})
}

// Recv implements [plugins.Conn].
func (c *conn) Recv() ([]byte, error) {
	i, err := c.next()
	if err == nil && i.kind != frames {
		err = errors.New("the trial is over")
	}
	return i.data, err
}

// next waits for the next item of the session.
func (c *conn) next() (item, error) {
	for {
		c.mu.Lock()
		if len(c.in) > 0 {
			i := c.in[0]
			c.in = c.in[1:]
			c.mu.Unlock()
			return i, nil
		}
		err := c.over
		c.mu.Unlock()
		if err != nil {
			return item{}, err
		}
		select {
		case <-c.more:
		case <-c.gone:
		}
	}
}

func (c *conn) deliver(i item) {
	c.mu.Lock()
	c.in = append(c.in, i)
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// close ends the session here; who waits for more gets why.
func (c *conn) close(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil {
		c.over = why
		close(c.gone)
	}
}

// done frees the session.
func (c *conn) done() {
	c.link.mu.Lock()
	delete(c.link.conns, c.session)
	c.link.mu.Unlock()
	c.close(errClosed)
}
