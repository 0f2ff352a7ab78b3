// Package kv keeps bytes under keys in one directory, for many processes at
// once. It exists because Badger, which does the keeping, admits one process
// to a directory: the first process to open it becomes the owner and serves
// the others through a Unix socket, and when the owner goes, by Close or by
// kill -9, one of the others takes over. A [DB] behaves the same on both
// sides.
//
// The package also protects Badger from what it does not survive: a
// full disk (a bus error there), damaged files (see mend.go and tables.go),
// and panics while reading. It does not check what it stores: records carry
// their own checksums, added by the package cache.
//
// The directory holds
//
//	FORMAT          "noema store 2"; see [Format]
//	data/           Badger's own files
//	run/owner.sock  the owner's socket, mode 0600 in a directory of mode 0700
//	run/owner.addr  where the socket is, if the path above is too long for one
//	run/reserve     room on the disk, for when there is no other (see reserve.go)
//	run/journal     what waits for Badger's next sync (see journal.go)
//	run/outbox-N    what another process has asked of the owner (see outbox.go)
//
// and the owner holds a lock (flock) on the directory itself, which the
// operating system releases whatever way the owner ends.
package kv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// Errors that operations return, as sentinels for errors.Is.
var (
	// ErrNotFound says that there is no record under the key.
	ErrNotFound = errors.New("not found")
	// ErrDamaged says that the files hold something unreadable.
	ErrDamaged = errors.New("store files are damaged")
	// ErrChanged says that a Batch's guard did not hold, so nothing was written.
	ErrChanged = errors.New("record changed meanwhile")
	// ErrDiskFull says that too little space is free to write safely.
	ErrDiskFull = errors.New("disk full")
	// ErrReadOnly says that the directory may be read but not written.
	ErrReadOnly = errors.New("store is read-only")
	// ErrNewerFormat says that a newer noema wrote the directory.
	ErrNewerFormat = errors.New("newer format")
	// ErrClosed says that the DB was closed in this process.
	ErrClosed = errors.New("store is closed")

	// errLost says that the connection to the owner, or the ownership, is
	// gone before the operation's outcome is known. Every operation may be
	// repeated: with the same arguments it has the same effect.
	errLost = errors.New("lost the owner of the store")
)

// MaxValue is the size of the largest value, in bytes. It keeps a value well
// inside one of Badger's value logs.
const MaxValue = 32 << 20

// MaxKey is the size of the longest key, in bytes.
const MaxKey = 60_000

// Options are the settings of a DB. The zero value is fit for use.
type Options struct {
	// MinFree is how many bytes must be free on the disk for a write to be
	// tried. 0 means DefaultMinFree; less than 64 MiB is not enough for what
	// Badger writes in the background.
	MinFree uint64
	// Patience is how long to wait for an owner that holds the directory but
	// does not answer, as it may while it opens a large store. 0 means
	// DefaultPatience. A context may end the wait sooner.
	Patience time.Duration
}

// The defaults of Options.
const (
	DefaultMinFree  = 256 << 20
	DefaultPatience = 30 * time.Second
)

func (o Options) withDefaults() Options {
	o.MinFree, o.Patience = cmp.Or(o.MinFree, DefaultMinFree), cmp.Or(o.Patience, DefaultPatience)
	return o
}

// Op is one change of a Batch.
type Op struct {
	Key, Value []byte
	Delete     bool // remove Key; Value is ignored
}

// Guard is a condition on the record under Key: that it is absent, or that it
// holds exactly Value.
type Guard struct {
	Key, Value []byte
	Absent     bool
}

// Batch is a set of changes that are made together or not at all. It is
// durable when Apply returns nil.
type Batch struct {
	Ops   []Op
	Guard *Guard // if set and untrue, nothing is changed and the error is ErrChanged
	// Again says that the changes may be made a second time, whatever others
	// have written meanwhile. With a Guard they always may.
	Again bool
	// Paid says that what is written cannot be had again for nothing: it is written as long as
	// there is any room for it, below MinFree, too.
	Paid bool
}

// Range selects records in key order.
type Range struct {
	Prefix []byte // of the keys
	After  []byte // if set, only keys greater than this one
	Limit  int    // at most this many records; 0 means 512
	Values bool   // fill Record.Value
}

// Record is one record of a Page.
type Record struct {
	Key, Value []byte
	Size       int64 // bytes of key and value as stored
}

// Page is a part of a Range. Pages are cut at about 4 MiB of values.
type Page struct {
	Records []Record
	More    bool // there may be further records after the last one
}

// Usage says what the directory takes up.
type Usage struct {
	DiskBytes int64  // really allocated, not the sparse sizes of Badger's files
	FreeBytes uint64 // available on the disk
}

// backend is what both sides can do: the owner by itself, the others by
// asking the owner.
type backend interface {
	get(ctx context.Context, key []byte) ([]byte, error)
	apply(ctx context.Context, b Batch) error
	scan(ctx context.Context, r Range) (Page, error)
	check(ctx context.Context) ([]string, error)
	usage(ctx context.Context) (Usage, error)
	shrink(ctx context.Context) error
	owner() bool
	close() error
}

// DB is an open directory. It is safe for concurrent use.
type DB struct {
	dir  string
	opts Options

	gate   chan struct{} // holds one token while nobody elects or closes
	outbox outbox

	mu     sync.RWMutex
	cur    backend // nil while the owner is lost
	closed bool
}

// Open opens dir, creates it if it does not exist, and becomes its owner or
// connects to the owner.
func Open(ctx context.Context, dir string, opts Options) (*DB, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	db := &DB{dir: dir, opts: opts.withDefaults(), gate: make(chan struct{}, 1), outbox: outbox{dir: dir}}
	db.gate <- struct{}{}
	if _, err := db.current(ctx); err != nil {
		return nil, err
	}
	return db, nil
}

// Get returns the value under key. The value is nil with ErrDamaged where the
// record exists but cannot be read.
func (db *DB) Get(ctx context.Context, key []byte) ([]byte, error) {
	return do(ctx, db, func(b backend) ([]byte, error) { return b.get(ctx, key) })
}

// Apply makes the changes of b, which are durable when it returns nil. If the
// context ends first, it is not known whether they were made.
func (db *DB) Apply(ctx context.Context, b Batch) error {
	for _, op := range b.Ops {
		if len(op.Key) == 0 || len(op.Key) > MaxKey {
			return fmt.Errorf("write record under a key of %d bytes: it must have 1 to %d", len(op.Key), MaxKey)
		}
		if len(op.Value) > MaxValue {
			return fmt.Errorf("write record of %d bytes: the limit is %d", len(op.Value), MaxValue)
		}
	}
	defer db.keep(b)()
	_, err := do(ctx, db, func(x backend) (struct{}, error) { return struct{}{}, x.apply(ctx, b) })
	return err
}

// keep keeps b in the outbox unless this process owns the store.
func (db *DB) keep(b Batch) (forget func()) {
	nothing := func() {}
	if cur, err := db.peek(); b.Guard == nil && !b.Again || err != nil || cur != nil && cur.owner() {
		return nothing
	}
	forget, err := db.outbox.keep(b)
	if err != nil { // where the owner cannot write either, it says so
		return nothing
	}
	return forget
}

// Scan returns the first records of r, as they are at one moment.
func (db *DB) Scan(ctx context.Context, r Range) (Page, error) {
	return do(ctx, db, func(b backend) (Page, error) { return b.scan(ctx, r) })
}

// Check verifies the checksums of Badger's tables and describes what is
// damaged.
func (db *DB) Check(ctx context.Context) ([]string, error) {
	return do(ctx, db, func(b backend) ([]string, error) { return b.check(ctx) })
}

// Usage returns what the directory takes up.
func (db *DB) Usage(ctx context.Context) (Usage, error) {
	return do(ctx, db, func(b backend) (Usage, error) { return b.usage(ctx) })
}

// Owner reports whether this DB is the owner at the moment.
func (db *DB) Owner() bool {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.cur != nil && db.cur.owner()
}

// Close lets running operations finish and gives the directory up. Closing
// twice is fine.
func (db *DB) Close() error {
	<-db.gate
	defer func() { db.gate <- struct{}{} }()
	db.mu.Lock()
	cur := db.cur
	db.cur, db.closed = nil, true
	db.mu.Unlock()
	if cur == nil {
		return db.outbox.close()
	}
	return errors.Join(cur.close(), db.outbox.close())
}

// maxMoves bounds how often one operation follows the ownership.
const maxMoves = 16

// do runs f on the present backend, and again on the next one as often as the
// owner is lost in between.
func do[T any](ctx context.Context, db *DB, f func(backend) (T, error)) (T, error) {
	var zero T
	for range maxMoves {
		if err := ctx.Err(); err != nil {
			return zero, err
		}
		b, err := db.current(ctx)
		if err != nil {
			return zero, err
		}
		v, err := f(b)
		if !errors.Is(err, errLost) {
			return v, err
		}
		db.drop(b)
	}
	return zero, fmt.Errorf("use store %q: its owner went away %d times in a row", db.dir, maxMoves)
}

// current returns the backend, electing one if there is none.
func (db *DB) current(ctx context.Context) (backend, error) {
	if b, err := db.peek(); b != nil || err != nil {
		return b, err
	}
	select {
	case <-db.gate:
		defer func() { db.gate <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if b, err := db.peek(); b != nil || err != nil {
		return b, err
	}
	b, err := elect(ctx, db.dir, db.opts)
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	db.cur = b
	db.mu.Unlock()
	return b, nil
}

func (db *DB) peek() (backend, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.closed {
		return nil, ErrClosed
	}
	return db.cur, nil
}

// drop forgets a lost backend, unless another caller already did.
func (db *DB) drop(b backend) {
	db.mu.Lock()
	lost := db.cur == b
	if lost {
		db.cur = nil
	}
	db.mu.Unlock()
	if lost {
		_ = b.close() // it is lost already: there is nothing to report
	}
}
