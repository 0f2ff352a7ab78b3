package kv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Badger writes its logs through maps of files with holes, and its tables through maps of new files:
// on a full disk each is a signal that ends the process. The reserve has room for both. The logs
// that are written to have blocks ahead of what is written, and a file beside them takes as much of
// the disk as tables may need. It is given back before Badger may make new files, and taken again
// when it has: what another process takes in that moment is the one thing that can still be missing.
const (
	reserveFile = "reserve"
	reserveSize = 48 << 20

	// From these sizes on a group may make Badger begin a new log or table. They are counted from
	// above, so that it is known too early rather than too late.
	nearTable = 12 << 20
	nearLog   = 60 << 20

	inTables  = 256 // bytes from which a value stands in the log alone
	entryRoom = 256 // at most, of an entry beside key and value
)

// reserve holds room on the disk; it is the committer's, or of who opens and closes.
type reserve struct {
	dir                   string
	table, log, discarded written
	logs                  int          // write-ahead logs: more than one means that a table is being made
	beside                bool         // the file is there
	spare                 atomic.Int64 // bytes of all of it that nothing is written to
	given                 bool         // no file is made: the room is needed for what is under way
}

func reservePath(dir string) string { return filepath.Join(dir, runDir, reserveFile) }

// hold gives the logs blocks for a group and takes the file, unless Badger may need the room of it now.
// Without room for the logs it is an ErrDiskFull.
func (r *reserve) hold(ops []Op) error {
	if !canReserve {
		return nil
	}
	defer func() {
		spare := r.table.room - r.table.used + r.log.room - r.log.used + r.discarded.room + journalReserve
		if r.beside {
			spare += reserveSize
		}
		r.spare.Store(spare)
	}()
	next, small := sizeOf(ops)+entryRoom*len(ops), entryRoom*len(ops)
	for _, op := range ops {
		small += len(op.Key) + min(len(op.Value), inTables)
	}
	if err := r.fill(next, small); err != nil {
		return err
	}
	if r.given {
		return nil
	}
	if r.logs > 1 || r.table.used > nearTable || r.log.used > nearLog {
		r.giveBack()
		if free, err := freeBytes(r.dir); err == nil && free < reserveSize+uint64(next) {
			_ = r.take() // what there still is, to bring the files in order
			return fmt.Errorf("write to store %q: %w: %d MiB are free, and the next files of the store need %d MiB", r.dir, ErrDiskFull, free>>20, (reserveSize+next)>>20)
		}
		return nil
	}
	return r.take()
}

// again takes the file after a group was written, unless a table is being made.
func (r *reserve) again() {
	if canReserve && !r.given && !r.beside && r.logs == 1 {
		_ = r.take() // without room for it the next group is refused
	}
}

// fill gives blocks to the logs that are written to, ahead of what the next group may write.
func (r *reserve) fill(next, small int) error {
	tables, err := filepath.Glob(filepath.Join(r.dir, dataDir, "*.mem"))
	if err != nil {
		return err
	}
	values, err := filepath.Glob(filepath.Join(r.dir, dataDir, "*.vlog"))
	if err != nil {
		return err
	}
	r.logs = len(tables)
	// By name: numbers of equal width, so by age.
	return errors.Join(r.table.ahead(newest(tables), small), r.log.ahead(newest(values), next), r.discarded.ahead(filepath.Join(r.dir, dataDir, "DISCARD"), 0))
}

func newest(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return paths[len(paths)-1]
}

// written is a log, how much went into it at most, and how far it has blocks.
type written struct {
	path       string
	used, room int64
}

// aheadBytes is how much further than needed a log gets blocks.
const aheadBytes = 12 << 20

// ahead counts what goes into the log at path next, and gives the log blocks for it.
func (w *written) ahead(path string, next int) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) || err == nil && w.path == path && w.used+int64(next) <= w.room {
		if err == nil {
			w.used += int64(next)
			err = f.Close()
		}
		return err
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if w.path != path {
		*w = written{path: path}
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			w.used = s.Blocks * 512
		}
	}
	room := min(info.Size(), w.used+int64(next)+aheadBytes)
	err = blocks(f, room)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf("write to store %q: %w: no room for the log that is written to: free some space, or point NOEMA_HOME to another disk", filepath.Dir(filepath.Dir(path)), ErrDiskFull)
	}
	if err == nil {
		w.room, w.used = room, w.used+int64(next)
	}
	return err
}

// take makes the file, of half its size where there is not more. Without room for that there is
// none; the next hold tries again.
func (r *reserve) take() error {
	if r.beside {
		return nil
	}
	f, err := os.OpenFile(reservePath(r.dir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return r.full(err)
	}
	for size := int64(reserveSize); ; size -= reserveSize / 8 {
		if err = blocks(f, size); err == nil || size <= reserveSize/2 {
			break
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		r.giveBack()
		return r.full(err)
	}
	r.beside = true
	return nil
}

func (r *reserve) full(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf("write to store %q: %w: no room for the reserve of %d MiB", r.dir, ErrDiskFull, reserveSize>>20)
	}
	return fmt.Errorf("write to store %q: %w", r.dir, err)
}

// giveBack removes the file.
func (r *reserve) giveBack() {
	r.beside = false
	_ = os.Remove(reservePath(r.dir)) // one that is not there gives nothing
}

// held is what the reserve of a store has of the disk, and Badger has not used yet, as far as
// can be seen from outside.
func held(dir string) (bytes uint64) {
	paths, _ := filepath.Glob(filepath.Join(dir, dataDir, "*.mem")) // the pattern is right
	for _, path := range append(paths, reservePath(dir), journalPath(dir)) {
		if info, err := os.Stat(path); err == nil {
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				bytes += uint64(s.Blocks) * 512
			}
		}
	}
	return bytes
}

// roomToMend reports whether Badger can bring the files of a store in order that was not closed,
// with what a killed owner had in reserve.
func roomToMend(dir string) bool {
	free, err := freeBytes(dir)
	if info, statErr := os.Stat(reservePath(dir)); statErr == nil {
		free += uint64(info.Size())
	}
	return err == nil && free >= reserveSize/2 // a table is at most a third of the reserve
}
