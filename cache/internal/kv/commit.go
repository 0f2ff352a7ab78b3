package kv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/dgraph-io/badger/v4"
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

// write makes ops durable. If the context ends first, they may be written
// nevertheless.
func (l *local) write(ctx context.Context, ops []Op) error {
	c := &commit{ops: ops, done: make(chan error, 1)}
	select {
	case l.queue <- c:
	case <-ctx.Done():
		return ctx.Err()
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
	for first := range l.queue {
		group, ops := l.gather(first)
		err := l.commit(ops)
		if err == nil || len(group) == 1 {
			for _, c := range group {
				c.done <- err
			}
			continue
		}
		for _, c := range group { // the fault of one is not that of the others
			c.done <- l.commit(c.ops)
		}
	}
}

// gather joins first with the commits that are queued already.
func (l *local) gather(first *commit) (group []*commit, ops []Op) {
	group, ops = []*commit{first}, slices.Clone(first.ops)
	for size := sizeOf(first.ops); size < groupBytes; {
		select {
		case c, ok := <-l.queue:
			if !ok {
				return group, ops
			}
			group = append(group, c)
			ops = append(ops, c.ops...)
			size += sizeOf(c.ops)
		default:
			return group, ops
		}
	}
	return group, ops
}

// commit writes ops in one transaction.
func (l *local) commit(ops []Op) (err error) {
	defer recovered(&err)
	err = l.db.Update(func(txn *badger.Txn) error { return set(txn, ops) })
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("write to store %q: %w: %w", l.dir, ErrDiskFull, err)
	}
	if err != nil {
		return fmt.Errorf("write to store %q: %w", l.dir, err)
	}
	return l.log.syncError() // Badger logs a failed sync but does not return it
}

func set(txn *badger.Txn, ops []Op) error {
	for _, op := range ops {
		var err error
		if op.Delete {
			err = txn.Delete(op.Key)
		} else {
			err = txn.Set(op.Key, op.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
