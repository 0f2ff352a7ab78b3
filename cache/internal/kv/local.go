package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
)

const (
	dataDir   = "data"
	pageLimit = 512
	pageBytes = 4 << 20
)

// local is the owner's backend: Badger itself.
type local struct {
	dir   string
	db    *badger.DB
	log   *logger
	space *space

	// synced is the version of the last commit that is on the disk; reads see
	// it and nothing later. Badger's own versions would make every read wait
	// for the commits under way, an answer's guard among them.
	synced  atomic.Uint64
	version uint64 // of the last commit that was tried; the committer's
	discard discard

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
		dir:   dir,
		log:   &logger{log: o.Logger},
		space: &space{dir: dir, min: o.MinFree},
		done:  make(chan struct{}),
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
	db, err := openBadger(opts)
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w: if it is damaged, restore the directory from a copy, or move it away and start with an empty one", l.dir, err)
	}
	l.db = db
	l.version = db.MaxVersion()
	l.synced.Store(l.version)
	if l.reading != nil {
		return l, nil
	}
	l.discard.until(db, l.version)
	if err := l.start(); err != nil {
		return nil, errors.Join(err, db.Close())
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

// badgerOptions are the measured choice for records of about 2 KB: values in
// the log, small tables and caches, compression by the caller, every write
// synced. VerifyValueChecksum is on because Badger otherwise trusts the
// lengths in a damaged entry, and leaves a lock held that makes Close hang.
func badgerOptions(data string) badger.Options {
	return badger.DefaultOptions(data).
		WithValueThreshold(256).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithIndexCacheSize(32 << 20).
		WithMemTableSize(16 << 20).
		WithNumMemtables(2).
		WithValueLogFileSize(64 << 20).
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithVerifyValueChecksum(true).
		WithSyncWrites(true)
}

func openBadger(opts badger.Options) (db *badger.DB, err error) {
	defer recovered(&err)
	return badger.OpenManaged(opts)
}

// recovered turns a panic of Badger into ErrDamaged.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrDamaged, p)
	}
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

func (l *local) read(key []byte) (value []byte, err error) {
	defer recovered(&err)
	err = l.view(func(txn *badger.Txn) error {
		item, err := txn.Get(key)
		if err != nil {
			return err
		}
		value, err = item.ValueCopy(nil)
		return err
	})
	return value, readError(err)
}

// view runs f on what is synced.
func (l *local) view(f func(*badger.Txn) error) error {
	txn := l.db.NewTransactionAt(l.synced.Load(), false)
	defer txn.Discard()
	return f(txn)
}

func readError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, badger.ErrKeyNotFound):
		return ErrNotFound
	case errors.Is(err, badger.ErrEmptyKey), errors.Is(err, badger.ErrInvalidKey):
		return fmt.Errorf("read store: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
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

// keyLocks serialise guarded batches on the same key: Badger's own conflict
// detection is off, as it costs memory on every write. A lock is held until the
// batch is synced, so no two keys may share one.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the key is free again
}

// lock waits until key is free and takes it.
func (k *keyLocks) lock(key []byte) (unlock func()) {
	name, mine := string(key), make(chan struct{})
	for {
		k.mu.Lock()
		other := k.held[name]
		if other == nil {
			if k.held == nil {
				k.held = map[string]chan struct{}{}
			}
			k.held[name] = mine
		}
		k.mu.Unlock()
		if other == nil {
			return func() {
				k.mu.Lock()
				delete(k.held, name)
				k.mu.Unlock()
				close(mine)
			}
		}
		<-other
	}
}

func (l *local) holds(g Guard) error {
	have, err := l.read(g.Key)
	switch {
	case errors.Is(err, ErrNotFound):
		if g.Absent {
			return nil
		}
	case errors.Is(err, ErrDamaged):
		have, err = nil, nil
		fallthrough
	case err == nil:
		if !g.Absent && bytes.Equal(have, g.Value) {
			return nil
		}
	default:
		return err
	}
	return ErrChanged
}

func (l *local) scan(ctx context.Context, r Range) (Page, error) {
	if err := l.enter(ctx); err != nil {
		return Page{}, err
	}
	defer l.ops.RUnlock()
	return l.page(ctx, r)
}

func (l *local) page(ctx context.Context, r Range) (page Page, err error) {
	defer recovered(&err)
	limit := r.Limit
	if limit <= 0 {
		limit = pageLimit
	}
	opts := badger.DefaultIteratorOptions
	opts.Prefix, opts.PrefetchValues = r.Prefix, false
	err = l.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(opts)
		defer it.Close()
		size := 0
		for it.Seek(start(r)); it.Valid(); it.Next() {
			if len(page.Records) == limit || size > pageBytes {
				page.More = true
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			rec := l.record(it.Item(), r.Values)
			size += len(rec.Value)
			page.Records = append(page.Records, rec)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return page, err
}

// start is the first key of r that may be wanted.
func start(r Range) []byte {
	if r.After == nil {
		return r.Prefix
	}
	return append(bytes.Clone(r.After), 0)
}

// record copies an item. A value that cannot be read is left nil, which no
// envelope is, so that the caller finds it damaged.
func (l *local) record(item *badger.Item, withValue bool) Record {
	rec := Record{Key: item.KeyCopy(nil), Size: item.KeySize() + item.ValueSize()}
	if withValue {
		func() {
			var err error
			defer recovered(&err)
			rec.Value, err = item.ValueCopy(nil)
			if err != nil {
				rec.Value = nil
			}
		}()
	}
	return rec
}

func (l *local) check(ctx context.Context) ([]string, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.ops.RUnlock()
	// The files as they are now: a compaction may take one away meanwhile,
	// which is not damage.
	names, err := filepath.Glob(filepath.Join(l.dir, dataDir, "*.sst"))
	if err != nil {
		return nil, fmt.Errorf("check store: %w", err)
	}
	var bad []string
	for _, path := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := checkTable(path); err != nil && !errors.Is(err, syscall.ENOENT) && l.names(path) {
			bad = append(bad, fmt.Sprintf("%s: %v", filepath.Base(path), err))
		}
	}
	return bad, nil
}

// names reports whether Badger uses the table file at path, which is not so
// while it is still being written.
func (l *local) names(path string) bool {
	for _, t := range l.db.Tables() {
		if filepath.Base(path) == filepath.Base(table.NewFilename(t.ID, "")) {
			return true
		}
	}
	return false
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
