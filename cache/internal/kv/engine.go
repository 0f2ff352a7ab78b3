package kv

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// engine is Badger with versions that we count, one commit after the other.
type engine struct {
	dir string
	db  *badger.DB
	log *logger

	// synced is the version of the last commit that is on the disk; reads see
	// it and nothing later. Badger's own versions would make every read wait
	// for the commits under way, an answer's guard among them.
	synced  atomic.Uint64
	version uint64 // of the last commit that was tried; the committer's
	discard discard
	reserve reserve
	needed  int // bytes of files that stay mapped when pages are given back; the committer's
}

// open opens Badger, which then is at the version that it had.
func (e *engine) open(opts badger.Options) error {
	db, err := openBadger(opts)
	if err != nil {
		return fmt.Errorf("open store %q: %w: if it is damaged, restore the directory from a copy, or move it away and start with an empty one", e.dir, err)
	}
	e.db = db
	e.version = db.MaxVersion()
	e.synced.Store(e.version)
	return nil
}

// badgerOptions are the measured choice for records of about 2 KB: values in
// the log, small tables and caches, compression by the caller, every write
// synced. VerifyValueChecksum is on because Badger otherwise trusts the
// lengths in a damaged entry, and leaves a lock held that makes Close hang.
func badgerOptions(data string) badger.Options {
	return badger.DefaultOptions(data).
		WithValueThreshold(inTables).
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

// commit writes ops in one transaction. There is one at a time.
func (e *engine) commit(ops []Op) (err error) {
	defer recovered(&err)
	if err := e.reserve.hold(ops); err != nil {
		return err
	}
	defer e.reserve.again()
	version := e.version + 1
	e.version = version // never used twice, as a failed commit may have left something
	txn := e.db.NewTransactionAt(version, true)
	defer txn.Discard()
	if err := set(txn, ops); err != nil {
		return e.writeError(err)
	}
	if err := txn.CommitAt(version, nil); err != nil {
		return e.writeError(err)
	}
	if err := e.log.syncError(); err != nil { // Badger logs a failed sync but does not return it
		return err
	}
	e.synced.Store(version)
	e.discard.until(e.db, version)
	return nil
}

// discardAfter is longer than any read of one key takes.
const discardAfter = 30 * time.Second

// discard lets Badger drop replaced versions when nobody can be reading them.
type discard struct {
	version uint64 // the next to discard, with all before it
	at      time.Time
}

func (d *discard) until(db *badger.DB, version uint64) {
	now := time.Now()
	if d.at.IsZero() {
		d.version = version // nobody reads yet
	} else if now.Sub(d.at) < discardAfter {
		return
	}
	db.SetDiscardTs(d.version)
	d.version, d.at = version, now
}

func (e *engine) writeError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("write to store %q: %w: %w", e.dir, ErrDiskFull, err)
	}
	return fmt.Errorf("write to store %q: %w", e.dir, err)
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
