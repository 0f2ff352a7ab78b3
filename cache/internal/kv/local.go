package kv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/dgraph-io/badger/v4"
)

const dataDir = "data"

// local is the owner's backend: the engine, with its queue of writers and its
// guards.
type local struct {
	engine
	space *space

	guards     keyLocks
	collecting sync.Mutex    // outboxes are collected by one at a time
	queue      *queue        // to the committer; nil while reading
	done       chan struct{} // closed when the committer has ended

	// ops is held for reading during each operation, and for writing by
	// close, so that nothing touches Badger's maps after they are gone.
	ops    sync.RWMutex
	closed bool
	// reading is why nothing can be written, or nil. The lock of ops guards it.
	reading error
	alone   bool // no other process reads these files
}

func newLocal(dir string, o Options) *local {
	return &local{
		engine: engine{dir: dir, log: &logger{}},
		space:  &space{dir: dir, min: o.MinFree},
		done:   make(chan struct{}),
	}
}

// openLocal opens Badger below dir, for reading alone if there is a reason not
// to write. The caller holds the lock on dir.
func openLocal(dir string, o Options, reading error) (*local, error) {
	l := newLocal(dir, o)
	l.reading = reading
	data := filepath.Join(dir, dataDir)
	opts := badgerOptions(data).WithLogger(l.log)
	if err := checkTables(data, opts); err != nil {
		return nil, err
	}
	if reading != nil {
		if err := l.readable(); err != nil {
			return nil, err
		}
		return l.open(opts.WithReadOnly(true))
	}
	if err := mendLogs(data); err != nil {
		return nil, err
	}
	return l.open(opts)
}

// open opens Badger and, unless it is for reading, begins to write.
func (l *local) open(opts badger.Options) (*local, error) {
	if err := l.engine.open(opts); err != nil {
		return nil, err
	}
	if l.reading != nil {
		return l, nil
	}
	l.discard.until(l.db, l.version)
	if err := l.start(); err != nil {
		return nil, errors.Join(err, l.db.Close())
	}
	return l, nil
}

// start takes over what the last owner left behind and begins to write.
func (l *local) start() error {
	if err := l.replay(); err != nil {
		return err
	}
	j, err := openJournal(l.dir)
	if err != nil {
		return err
	}
	l.queue = newQueue(j)
	go l.commitAll()
	return nil
}

// enter begins an operation; the caller calls l.ops.RUnlock if it succeeds.
func (l *local) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.ops.RLock()
	if l.closed {
		l.ops.RUnlock()
		return errLost
	}
	return nil
}

func (l *local) get(ctx context.Context, key []byte) ([]byte, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.ops.RUnlock()
	return l.read(key)
}

func (l *local) apply(ctx context.Context, b Batch) error {
	if err := l.writable(); err != nil {
		return err
	}
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.ops.RUnlock()
	// A small value is written three times: to the journal, to the write-ahead
	// log and to a table.
	if err := errors.Join(l.space.take(3*sizeOf(b.Ops)), l.log.syncError()); err != nil {
		return err
	}
	if b.Guard != nil {
		defer l.guards.lock(b.Guard.Key)()
		if err := l.holds(*b.Guard); err != nil {
			return err
		}
		// The next batch with this guard must see this write.
		ctx = context.WithoutCancel(ctx)
	}
	return l.write(ctx, b.Ops)
}

func (l *local) scan(ctx context.Context, r Range) (Page, error) {
	if err := l.enter(ctx); err != nil {
		return Page{}, err
	}
	defer l.ops.RUnlock()
	return l.page(ctx, r)
}

func (l *local) usage(ctx context.Context) (Usage, error) {
	if err := l.enter(ctx); err != nil {
		return Usage{}, err
	}
	defer l.ops.RUnlock()
	disk, err := diskBytes(l.dir)
	if err != nil {
		return Usage{}, err
	}
	free, err := freeBytes(l.dir)
	return Usage{DiskBytes: disk, FreeBytes: free}, err
}

func (l *local) owner() bool { return true }

// close waits for running operations and closes Badger.
func (l *local) close() error {
	l.ops.Lock()
	defer l.ops.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return l.shut()
}

// shut closes Badger; nobody else holds ops.
func (l *local) shut() (err error) {
	defer recovered(&err)
	if l.queue != nil {
		l.queue.end()
		<-l.done
	}
	err = l.db.Close()
	if l.queue != nil {
		err = errors.Join(err, l.queue.journal.close())
	}
	if err != nil {
		return fmt.Errorf("close store %q: %w", l.dir, err)
	}
	return nil
}
