package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

const (
	pageLimit = 512
	pageBytes = 4 << 20
)

func (e *engine) read(key []byte) (value []byte, err error) {
	defer recovered(&err)
	err = e.view(func(txn *badger.Txn) error {
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
func (e *engine) view(f func(*badger.Txn) error) error {
	txn := e.db.NewTransactionAt(e.synced.Load(), false)
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

func (e *engine) page(ctx context.Context, r Range) (page Page, err error) {
	defer recovered(&err)
	limit := r.Limit
	if limit <= 0 {
		limit = pageLimit
	}
	opts := badger.DefaultIteratorOptions
	opts.Prefix, opts.PrefetchValues = r.Prefix, false
	err = e.view(func(txn *badger.Txn) error {
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
			rec := e.record(it.Item(), r.Values)
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
func (e *engine) record(item *badger.Item, withValue bool) Record {
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
