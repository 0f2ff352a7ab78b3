package kv

import (
	"bytes"
	"context"
	"errors"
	"slices"
)

// groupBytes bounds a group of batches, well below what Badger takes as one
// transaction.
const groupBytes = 1 << 20

// commit is one batch on its way to the disk.
type commit struct {
	ops  []Op
	done chan error // of capacity 1
}

// sizeOf is the number of bytes in ops.
func sizeOf(ops []Op) int {
	n := 0
	for _, op := range ops {
		n += len(op.Key) + len(op.Value)
	}
	return n
}

// queue is what waits to be written, in the order of the journal. The lock of
// the journal guards it.
type queue struct {
	*journal
	waiting []*commit
	wake    chan struct{} // of capacity 1: something waits
	closed  bool
}

func newQueue(j *journal) *queue { return &queue{journal: j, wake: make(chan struct{}, 1)} }

// add writes a commit to the journal, which from then on survives kill -9.
func (q *queue) add(c *commit) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.write(Batch{Ops: c.ops}); err != nil {
		return err
	}
	q.waiting = append(q.waiting, c)
	q.signal()
	return nil
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns what waits, up to groupBytes; ok is false at the end of all.
func (q *queue) take() (group []*commit, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.waiting) && size < groupBytes {
		size += sizeOf(q.waiting[n].ops)
		n++
	}
	group = slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return group, n > 0 || !q.closed
}

// end lets commitAll return when nothing waits.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

// write makes ops durable. If the context ends first, they may be written
// nevertheless.
func (l *local) write(ctx context.Context, ops []Op) error {
	c := &commit{ops: ops, done: make(chan error, 1)}
	if err := l.queue.add(c); err != nil {
		return l.writeError(err)
	}
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// commitAll joins what waits to be written into one transaction after the
// other, until the queue is closed. Badger syncs its write-ahead log once for
// each transaction, so 64 writers share the wait for the disk instead of
// standing in a line.
func (l *local) commitAll() {
	defer close(l.done)
	for {
		group, ok := l.queue.take()
		if !ok {
			return
		}
		if len(group) == 0 {
			<-l.queue.wake
			continue
		}
		errs := l.commitGroup(group)
		l.queue.done(len(group))
		for i, c := range group {
			c.done <- errs[i]
		}
		l.giveBack()
	}
}

// commitGroup writes a group in one transaction, or each by itself if that
// fails: the fault of one is not that of the others.
func (l *local) commitGroup(group []*commit) []error {
	var ops []Op
	for _, c := range group {
		ops = append(ops, c.ops...)
	}
	errs := make([]error, len(group))
	err := l.commit(ops)
	if err != nil && len(group) > 1 {
		for i, c := range group {
			errs[i] = l.commit(c.ops)
		}
		return errs
	}
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// replay writes what a killed owner left in its journal, unless it is there.
func (l *local) replay() error {
	ops, err := readJournal(l.dir)
	if err != nil {
		return err
	}
	var group []Op
	for i, op := range ops {
		have, err := l.read(op.Key)
		same := err == nil && !op.Delete && bytes.Equal(have, op.Value) || errors.Is(err, ErrNotFound) && op.Delete
		if !same {
			group = append(group, op)
		}
		if len(group) == 0 || i < len(ops)-1 && len(group) < pageLimit && sizeOf(group) < groupBytes {
			continue
		}
		if err := l.commit(group); err != nil {
			return err
		}
		group = nil
	}
	return nil
}
