package cache

import (
	"errors"
	"fmt"

	"noema/cache/internal/kv"
)

// Errors that a Store returns, as sentinels for errors.Is.
var (
	// ErrNotFound says that the store has no such record.
	ErrNotFound = errors.New("not in the store")
	// ErrCorrupt says that a record is there but damaged; the error is a
	// *CorruptError.
	ErrCorrupt = errors.New("corrupt record")
	// ErrDiskFull says that too little space is free to write safely. Nothing
	// is lost; reading still works.
	ErrDiskFull = kv.ErrDiskFull
	// ErrReadOnly says that the store's files may be read but not written.
	ErrReadOnly = kv.ErrReadOnly
	// ErrDamaged says that the store cannot be opened or read as its files
	// are damaged.
	ErrDamaged = kv.ErrDamaged
	// ErrNewerFormat says that a newer noema wrote the store or the record.
	ErrNewerFormat = kv.ErrNewerFormat
	// ErrClosed says that the Store was closed.
	ErrClosed = kv.ErrClosed
)

// CorruptError is a damaged record.
type CorruptError struct {
	Space Space  // the kind of record
	Key   string // its key: hex, or the id of a run or trial
	Err   error  // what is wrong with it
}

// Error names the record.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt record %s %s: %v", e.Space, e.Key, e.Err)
}

// Unwrap makes errors.Is find both ErrCorrupt and the cause.
func (e *CorruptError) Unwrap() []error { return []error{ErrCorrupt, e.Err} }
