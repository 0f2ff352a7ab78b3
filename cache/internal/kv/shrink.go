package kv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// Shrink gives the space of what was deleted or replaced back to the disk. All other
// operations wait meanwhile, on a large store for many seconds.
func (db *DB) Shrink(ctx context.Context) error {
	_, err := do(ctx, db, func(b backend) (struct{}, error) { return struct{}{}, b.shrink(ctx) })
	return err
}

// shrink opens Badger twice: the first time, nobody reads what was replaced, and what is in
// memory is written to tables and merged with the others, which tells how much of the value
// logs is dead; the second time, logs that are half dead or more are rewritten.
func (l *local) shrink(ctx context.Context) (err error) {
	defer recovered(&err)
	if err := l.writable(); err != nil {
		return err
	}
	l.ops.Lock()
	defer l.ops.Unlock()
	if l.closed {
		return errLost
	}
	opts := badgerOptions(filepath.Join(l.dir, dataDir)).WithLogger(l.log)
	for _, opts := range []badger.Options{opts.WithCompactL0OnClose(true), opts} {
		if err = l.reopen(opts); err != nil {
			return fmt.Errorf("shrink store %q: %w", l.dir, err)
		}
		if err = l.db.Flatten(1); err != nil {
			return fmt.Errorf("shrink store %q: %w", l.dir, err)
		}
	}
	for err == nil && ctx.Err() == nil {
		err = l.db.RunValueLogGC(0.5)
	}
	if err != nil && !errors.Is(err, badger.ErrNoRewrite) {
		return fmt.Errorf("shrink store %q: %w", l.dir, err)
	}
	return ctx.Err()
}

// reopen closes Badger and opens it with other options; nobody else holds ops.
func (l *local) reopen(opts badger.Options) error {
	l.closed = true
	if err := l.shut(); err != nil {
		return err
	}
	l.done, l.discard = make(chan struct{}), discard{}
	_, err := l.open(opts)
	l.closed = err != nil
	return err
}

// Shrink gives unused space back.
func (s *Service) Shrink(_ int, r *Reply) error {
	*r = Reply{Fault: faultOf(s.local.shrink(context.Background()))}
	return nil
}

func (r *remote) shrink(ctx context.Context) error {
	_, err := r.ask(ctx, "Shrink", 0)
	return err
}
