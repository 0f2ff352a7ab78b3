package cluster

import (
	"time"

	"noema/kernel/result/record"
)

// Batches have at most so many trials, and as many bytes of names.
const (
	maxBatch      = 32
	maxBatchBytes = 128 << 10
)

// lull is how long a batch waits to be filled.
const lull = 2 * time.Millisecond

// feed keeps as many trials in the queue as the workers can begin at once, until there are
// no more or the run ends.
func (r *run) feed() {
	taken := make(chan record.TrialID)
	go func() {
		defer close(taken)
		for {
			id, ok := r.deal.Take(r.ctx, r.can)
			if !ok || !r.room() {
				return
			}
			select {
			case taken <- id:
			case <-r.ctx.Done():
				return
			}
		}
	}()
	filling := map[string]*batchOf{} // by group
	var flush <-chan time.Time
	for {
		select {
		case id, ok := <-taken:
			if !ok {
				r.send(filling)
				return
			}
			r.add(filling, id)
			if flush == nil {
				flush = time.After(lull)
			}
		case <-flush:
			r.send(filling)
			flush = nil
		}
	}
}

// batchOf is a batch that is being filled.
type batchOf struct {
	trials []*queued
	bytes  int
}

// add puts a trial in the batch of its group, which is sent when it is full. A trial that
// runs alone is a batch of its own.
func (r *run) add(filling map[string]*batchOf, id record.TrialID) {
	q := &queued{id: id, name: id.String(), group: r.of[id.Method]}
	r.c.mu.Lock()
	alone := r.lost[id] >= toAlone
	size := r.batchSize()
	r.c.mu.Unlock()
	if alone {
		r.publish(q.group, []*queued{q}, true)
		return
	}
	b := filling[q.group]
	if b == nil {
		b = &batchOf{}
		filling[q.group] = b
	}
	b.trials, b.bytes = append(b.trials, q), b.bytes+len(q.name)
	if len(b.trials) >= size || b.bytes > maxBatchBytes {
		delete(filling, q.group)
		r.publish(q.group, b.trials, false)
	}
}

func (r *run) send(filling map[string]*batchOf) {
	for group, b := range filling {
		delete(filling, group)
		r.publish(group, b.trials, false)
	}
}

// publish puts a batch in the queue. One that cannot be put there is sent again when the
// queue is found to be stuck.
func (r *run) publish(group string, trials []*queued, alone bool) {
	c := r.c
	c.mu.Lock()
	r.last++
	b := batch{Run: r.number, Batch: r.last, Alone: alone}
	for _, q := range trials {
		q.batch = b.Batch
		r.queued[q.name] = q
		b.Trials = append(b.Trials, q.name)
	}
	r.batches[b.Batch] = &sent{left: len(trials)}
	if len(c.members) == 0 { // the last one left meanwhile
		r.drop(nil)
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	if err := c.queue.add(r.ctx, group, b); err != nil && r.ctx.Err() == nil {
		c.o.Warn("put trials in the queue: " + err.Error() + "; trying again")
		c.mu.Lock()
		r.claimed = time.Time{} // stuck
		c.mu.Unlock()
	}
}

// slots is how many trials the workers run at once. The coordinator is locked.
func (r *run) slots() (n int) {
	for _, m := range r.c.members {
		for _, g := range r.groups {
			if m.can(g.ID) {
				n += m.hello.Slots
				break
			}
		}
	}
	return n
}

// batchSize is how many trials a batch should have: a part of what a worker runs at once,
// so that all have some. The coordinator is locked.
func (r *run) batchSize() int {
	return max(1, min(maxBatch, r.slots()/(4*max(1, len(r.c.members)))))
}

// room waits until the workers can have another trial: what they could begin now, and a
// quarter ahead. It is false when the run is over.
func (r *run) room() bool {
	c := r.c
	for {
		c.mu.Lock()
		slots, running := r.slots(), 0
		for _, m := range c.members {
			running += len(m.places)
		}
		free := slots - running + slots/4 + 1 - len(r.queued)
		nobody, changed := len(c.members) == 0, c.changed
		c.mu.Unlock()
		if free > 0 || nobody {
			return r.ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			return false
		}
	}
}

// can reports whether a worker can run a trial. It takes no lock: who deals holds one.
func (r *run) can(id record.TrialID) bool { return (*r.able.Load())[r.of[id.Method]] }

// look notes which groups some worker can run, and has who deals look again. The
// coordinator is locked.
func (r *run) look() {
	able := map[string]bool{}
	for _, g := range r.groups {
		for _, m := range r.c.members {
			able[g.ID] = able[g.ID] || m.can(g.ID)
		}
	}
	r.able.Store(&able)
	r.deal.Look()
}
