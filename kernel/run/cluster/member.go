package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// member is a worker that joined.
type member struct {
	c     *Coordinator
	hello hello
	link  *link
	since time.Time
	left  atomic.Bool // it said that it goes

	// The coordinator guards these.
	ready  map[string]string      // by group: why it cannot run it, or nothing
	places map[uint64]*place      // by session: what runs there
	serves []served               // models that are used
	calls  map[uint64]chan []byte // of these models, under way: who waits
	done   int
}

// stay makes the worker a member from its first word to its last.
func (m *member) stay() {
	c := m.c
	select {
	case <-m.link.first:
	case <-m.link.ctx.Done():
		return
	}
	c.mu.Lock()
	if was := c.members[m.hello.Worker]; was != nil {
		was.link.cancel(errors.New("it joined again"))
	}
	c.accept(m)
	c.members[m.hello.Worker] = m
	if c.run != nil {
		m.offer(c.run)
	}
	c.wake()
	c.mu.Unlock()

	<-m.link.ctx.Done()
	why := context.Cause(m.link.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.members[m.hello.Worker] == m {
		delete(c.members, m.hello.Worker)
	}
	if !m.left.Load() && !errors.Is(why, errClosed) {
		c.gone++
		c.o.Warn(fmt.Sprintf("worker %s is lost: %v; its %d trials go back", shown(m.hello.Shown), why, len(m.places)))
	}
	if c.run != nil {
		c.run.look()
		c.run.drop(m)
	}
	c.wake()
}

// offer tells the worker the methods of a run.
func (m *member) offer(r *run) {
	if m.hello.Slots == 0 { // it serves models alone
		return
	}
	if err := m.link.say(offer, 0, offered{Run: r.number, Groups: r.groups}); err != nil {
		m.link.cancel(err)
	}
}

// handle takes what the worker says. An error ends the link.
func (m *member) handle(i item) error {
	switch i.kind {
	case leave:
		m.left.Store(true)
		m.link.cancel(errClosed)
		return nil
	case ready:
		return said(i, m.isReady)
	case took:
		return said(i, m.tookBatch)
	case claim:
		return said(i, func(what claimed) { m.claims(i.session, what) })
	case told:
		m.told(i)
		return nil
	case printed:
		m.print(i)
		return nil
	}
	return fmt.Errorf("it sent an item of unknown kind %d", i.kind)
}

// said decodes what an item says.
func said[T any](i item, f func(T)) error {
	var what T
	if err := json.Unmarshal(i.data, &what); err != nil {
		return fmt.Errorf("it sent an item that cannot be read: %w", err)
	}
	f(what)
	return nil
}

func (m *member) isReady(what readied) {
	c := m.c
	c.mu.Lock()
	defer c.mu.Unlock()
	m.ready[what.Group] = what.Error
	if r := c.run; r != nil && r.number == what.Run {
		if name := r.names[what.Group]; what.Error != "" && name != "" {
			c.o.Warn(fmt.Sprintf("worker %s cannot run method %q: %s", shown(m.hello.Shown), name, shown(what.Error)))
		}
		r.look()
	}
	c.wake()
}

// can reports whether the worker runs a group. The coordinator is locked.
func (m *member) can(group string) bool {
	fault, known := m.ready[group]
	return known && fault == ""
}

func (m *member) tookBatch(what taken) {
	c := m.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if !strings.HasPrefix(what.Ack, "$JS.ACK."+c.o.Token.prefix()+".") {
		return
	}
	r := c.run
	if r == nil || r.number != what.Run || r.batches[what.Batch] == nil { // it is done
		_ = c.nc.Publish(what.Ack, []byte("+ACK")) // else it comes again
		return
	}
	b := r.batches[what.Batch]
	b.ack, b.holder = what.Ack, m
}

func (m *member) claims(session uint64, what claimed) {
	c := m.c
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.run
	if r == nil || r.number != what.Run || r.queued[what.Trial] == nil {
		_ = m.link.put(item{kind: end, session: session}) // the link's end tells as much
		return
	}
	t := r.queued[what.Trial]
	delete(r.queued, what.Trial)
	r.claimed = time.Now()
	p := &place{m: m, conn: m.link.open(session), alone: what.Alone, trial: t}
	m.places[session] = p
	r.trials.Go(func() { r.carryOut(p) })
	c.wake()
}

// print shows what a plugin printed.
func (m *member) print(i item) {
	c := m.c
	if len(i.data) == 0 {
		return
	}
	c.mu.Lock()
	p := m.places[i.session]
	c.mu.Unlock()
	if p == nil {
		return
	}
	if show := p.show.Load(); show != nil {
		(*show)(i.data[1:], i.data[0] == 1)
	}
}
