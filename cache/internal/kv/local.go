package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
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
		engine: engine{dir: dir, log: &logger{}, reserve: reserve{dir: dir}},
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
		err := l.readable()
		if errors.Is(reading, ErrDiskFull) && errors.Is(err, errUnfinished) && roomToMend(dir) {
			if err = l.finish(opts); err == nil {
				l = newLocal(dir, o)
				l.reading, opts = reading, opts.WithLogger(l.log)
			}
		}
		if err != nil {
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

// finish brings the files of a store in order whose owner was killed, on a disk that has no room
// but the reserve.
func (l *local) finish(opts badger.Options) error {
	reading := l.reading
	l.reserve.giveBack()
	l.reserve.given = true
	err := mendLogs(opts.Dir)
	if err == nil {
		err = l.engine.open(opts)
	}
	if err != nil {
		return err
	}
	l.discard.until(l.db, l.version)
	l.reading = nil
	err = l.replay()
	l.reading = reading
	if err = errors.Join(err, l.db.Close()); err == nil {
		err = os.Remove(journalPath(l.dir))
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return err
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
	if err := l.log.syncError(); err != nil {
		return err
	}
	if err := l.space.take(3 * sizeOf(b.Ops)); err != nil && !(b.Paid && canReserve && errors.Is(err, ErrDiskFull)) {
		return err // what is paid for goes into the reserve
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
	return Usage{DiskBytes: max(1, disk-l.reserve.spare.Load()), FreeBytes: free}, err
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
		l.reserve.giveBack() // for the tables that closing makes
		if free, err := freeBytes(l.dir); canReserve && err == nil && free < uint64(l.reserve.table.used)+1<<20 {
			return fmt.Errorf("close store %q: %w: nothing is lost, and the store can be read when %d MiB are free", l.dir, ErrDiskFull, reserveSize>>20)
		}
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
