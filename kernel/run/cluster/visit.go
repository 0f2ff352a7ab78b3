package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"noema/kernel/base/pause"
	"noema/methods"
	"noema/plugins"
)

// worker is this process as it takes part.
type worker struct {
	o     WorkerOptions
	name  string // secret
	shown string
	build Build
	nc    *nats.Conn
	js    jetstream.JetStream
	slots *semaphore.Weighted

	patience *time.Timer  // ends a worker that waits in vain
	alone    sync.RWMutex // held for writing by a trial beside which nothing runs

	mu     sync.Mutex
	opened map[string]opened // methods, by group
}

// opened is a method that was opened, or why it cannot be.
type opened struct {
	method methods.Method
	err    error
}

// visit is a worker's time with a coordinator, over one link.
type visit struct {
	*worker
	link     *link
	working  sync.WaitGroup
	sessions atomic.Uint64
	changed  atomic.Pointer[error] // code that is no longer the run's

	mu     sync.Mutex
	groups map[string]context.CancelFunc // those that are fetched
	calls  map[uint64]context.CancelFunc // of models that are served here
}

// handle takes what the coordinator says.
func (v *visit) handle(i item) error {
	switch i.kind {
	case leave:
		return errOver
	case ask:
		return v.answer(i)
	case unserved:
		v.o.Tell(string(i.data))
		return nil
	case offer:
		return said(i, func(o offered) { v.working.Go(func() { v.prepare(o) }) })
	}
	return fmt.Errorf("it sent an item of unknown kind %d", i.kind)
}

// prepare opens the methods of a run and takes trials of those that open.
func (v *visit) prepare(o offered) {
	v.mu.Lock()
	wanted := map[string]bool{}
	for _, g := range o.Groups {
		wanted[g.ID] = true
	}
	for id, cancel := range v.groups {
		if !wanted[id] {
			cancel()
			delete(v.groups, id)
		}
	}
	v.mu.Unlock()
	for _, g := range o.Groups {
		m, err := v.openGroup(g)
		if v.link.ctx.Err() != nil {
			return
		}
		r := readied{Run: o.Run, Group: g.ID}
		if err != nil {
			r.Error = err.Error()
			v.o.Tell(fmt.Sprintf("method %q cannot run here: %v", g.Name, err))
		}
		if v.link.say(ready, 0, r) != nil {
			return
		}
		v.mu.Lock()
		if _, fetched := v.groups[g.ID]; !fetched && m != nil {
			ctx, cancel := context.WithCancel(v.link.ctx)
			v.groups[g.ID] = cancel
			v.working.Go(func() { v.fetch(ctx, g, m) })
		}
		v.mu.Unlock()
	}
}

// openGroup opens a group's method, once.
func (v *visit) openGroup(g group) (methods.Method, error) {
	v.worker.mu.Lock()
	defer v.worker.mu.Unlock()
	if was, ok := v.opened[g.ID]; ok {
		return was.method, was.err
	}
	ctx, cancel := context.WithTimeout(v.link.ctx, time.Minute)
	defer cancel()
	m, err := v.o.Open(ctx, g.Code, func(dir string) error {
		codes, err := v.js.ObjectStore(ctx, v.o.Token.prefix()+"-"+codeBucket)
		if err != nil {
			return err
		}
		info, err := codes.GetInfo(ctx, g.Digest)
		if err == nil && info.Size > maxCode {
			err = fmt.Errorf("it has more than %d MiB", maxCode>>20)
		}
		if err != nil {
			return fmt.Errorf("fetch the code: %w", err)
		}
		packed, err := codes.GetBytes(ctx, g.Digest)
		if err != nil {
			return fmt.Errorf("fetch the code: %w", err)
		}
		return unpackCode(packed, dir)
	})
	if ctx.Err() == nil {
		v.opened[g.ID] = opened{m, err}
	}
	return m, err
}

// fetchWait is how long one request for a batch waits.
const fetchWait = 5 * time.Second

// fetch takes batches of a group, one at a time, and runs their trials.
func (v *visit) fetch(ctx context.Context, g group, m methods.Method) {
	for ctx.Err() == nil {
		if v.slots.Acquire(ctx, 1) != nil {
			return
		}
		v.slots.Release(1) // what waits for the queue keeps nobody waiting
		b, ack, err := v.next(ctx, g)
		if err != nil {
			if !errors.Is(err, errNothing) {
				pause.For(ctx, v.o.pace.retry)
			}
			continue
		}
		if v.link.say(took, 0, taken{Run: b.Run, Batch: b.Batch, Ack: ack.Reply()}) != nil {
			return
		}
		v.runBatch(ctx, b, ack, m)
	}
}

var errNothing = errors.New("the queue is empty")

// next takes a batch from the queue.
func (v *visit) next(ctx context.Context, g group) (b batch, m jetstream.Msg, err error) {
	consumer, err := v.js.Consumer(ctx, v.o.Token.prefix(), g.ID)
	if err != nil {
		return b, nil, err
	}
	fetched, err := consumer.Fetch(1, jetstream.FetchMaxWait(fetchWait))
	if err != nil {
		return b, nil, err
	}
	select {
	case m = <-fetched.Messages():
	case <-ctx.Done():
		return b, nil, ctx.Err()
	}
	if m == nil {
		if err := fetched.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) {
			return b, nil, err
		}
		return b, nil, errNothing
	}
	if err := json.Unmarshal(m.Data(), &b); err != nil || len(b.Trials) == 0 {
		return b, nil, errors.Join(fmt.Errorf("the queue holds something else than batches: %w", ErrForeign), m.Term())
	}
	return b, m, nil
}

// runBatch begins the trials of a batch as slots get free. It keeps the batch until they
// have ended.
func (v *visit) runBatch(ctx context.Context, b batch, ack jetstream.Msg, m methods.Method) {
	var trials sync.WaitGroup
	over := make(chan struct{})
	v.working.Go(func() {
		tick := time.NewTicker(v.o.pace.claim / 3)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = ack.InProgress() // else it comes again, to no harm
			case <-over:
				return
			}
		}
	})
	for _, name := range b.Trials {
		if v.slots.Acquire(v.link.ctx, 1) != nil {
			break
		}
		trials.Add(1)
		v.working.Go(func() {
			defer trials.Done()
			defer v.slots.Release(1)
			v.trial(claimed{Run: b.Run, Trial: name, Alone: b.Alone}, m)
		})
	}
	v.working.Go(func() {
		trials.Wait()
		close(over)
	})
}

// trial begins one trial and serves it to its end, which the coordinator keeps.
func (v *visit) trial(what claimed, m methods.Method) {
	if what.Alone {
		v.alone.Lock()
		defer v.alone.Unlock()
	} else {
		v.alone.RLock()
		defer v.alone.RUnlock()
	}
	c := v.link.open(v.sessions.Add(1))
	defer c.done()
	if v.link.say(claim, c.session, what) != nil {
		return
	}
	for again := true; again; {
		first, err := c.next()
		if err != nil || first.kind != start || len(first.data) != 1 {
			return
		}
		ctx := plugins.WithOutput(v.link.ctx, func(text []byte, shared bool) {
			flag := byte(0)
			if shared {
				flag = 1
			}
			_ = v.link.put(item{kind: printed, session: c.session, data: append([]byte{flag}, text...)})
		})
		for range min(first.data[0], 2) {
			ctx = plugins.Alone(ctx)
		}
		again, err = plugins.Attend(ctx, c, m)
		if errors.Is(err, plugins.ErrChanged) {
			_ = v.link.put(item{kind: leave}) // its trials run elsewhere
			v.link.close()
			v.link.cancel(err)
			v.changed.Store(&err)
		} // any other error is the link's, or is told there
	}
}
