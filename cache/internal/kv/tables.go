package kv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"
)

// checkTables verifies every table that Badger's manifest names. It runs
// before Badger opens them, because Badger would drop a table with a damaged
// index without a word (its records would seem never to have been there, and
// older versions of them would come back), would read wrong data from a
// damaged block, and would end the process over a damaged footer. Tables hold
// keys and small values only, so this reads a few per cent of a store.
func checkTables(data string, opts badger.Options) error {
	f, err := os.Open(filepath.Join(data, badger.ManifestFilename))
	if errors.Is(err, os.ErrNotExist) {
		return nil // a fresh directory
	}
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer f.Close()
	manifest, end, err := badger.ReplayManifestFile(f, 0, opts)
	if err == nil {
		err = checkTail(data, f, end)
	}
	if err != nil {
		return damaged(data, badger.ManifestFilename, err)
	}
	for id := range manifest.Tables {
		path := table.NewFilename(id, data)
		if err := checkTable(path); err != nil {
			return damaged(data, filepath.Base(path), err)
		}
	}
	return nil
}

// checkTail refuses a manifest whose last record is unfinished though Badger
// was closed in good order, which shows in that no write-ahead log is left.
// Badger would take it for a crash and delete the tables that the rest of the
// manifest does not name.
func checkTail(data string, manifest *os.File, end int64) error {
	info, err := manifest.Stat()
	if err != nil || info.Size() == end {
		return err
	}
	logs, err := filepath.Glob(filepath.Join(data, "*.mem"))
	if err == nil && len(logs) == 0 {
		err = fmt.Errorf("it ends at byte %d of %d", end, info.Size())
	}
	return err
}

func damaged(data, file string, cause error) error {
	return fmt.Errorf("open store %q: %w: %s: %w: restore the directory from a copy, or move it away and start with an empty one",
		filepath.Dir(data), ErrDamaged, filepath.Join(filepath.Base(data), file), cause)
}

// checkTable verifies the index and all blocks of one table file:
//
//	blocks, index, index length, checksum of the index, its length
//
// where numbers are 4 bytes, big endian, and checksums are protobufs.
func checkTable(path string) (err error) {
	defer func() {
		if p := recover(); p != nil { // an index or a checksum that makes no sense
			err = fmt.Errorf("unreadable: %v", p)
		}
	}()
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	rest, sum, err := cutTail(b)
	if err != nil {
		return err
	}
	_, index, err := cutTail(rest)
	if err != nil {
		return err
	}
	if err := verifySum(index, sum); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	root := fb.GetRootAsTableIndex(index, 0)
	var at fb.BlockOffset
	for i := range root.OffsetsLength() {
		if !root.Offsets(&at, i) {
			return fmt.Errorf("block %d has no offset", i)
		}
		block := b[at.Offset() : at.Offset()+at.Len()]
		body, sum, err := cutTail(block)
		if err == nil {
			err = verifySum(body, sum)
		}
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

// cutTail splits b, which ends in a tail and the tail's length.
func cutTail(b []byte) (rest, tail []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errors.New("too short")
	}
	end := len(b) - 4
	n := int64(binary.BigEndian.Uint32(b[end:]))
	if n > int64(end) {
		return nil, nil, errors.New("a length is beyond the file")
	}
	start := end - int(n)
	return b[:start], b[start:end], nil
}

func verifySum(data, sum []byte) error {
	var want pb.Checksum
	if err := proto.Unmarshal(sum, &want); err != nil {
		return err
	}
	return y.VerifyChecksum(data, &want)
}

// check verifies the tables in use and describes the damaged ones.
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
func (e *engine) names(path string) bool {
	for _, t := range e.db.Tables() {
		if filepath.Base(path) == filepath.Base(table.NewFilename(t.ID, "")) {
			return true
		}
	}
	return false
}
