package kv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"
)

// Refusal is why nothing can be written to the store in dir now, or nil.
func Refusal(dir string, o Options) error { return refusal(dir, o.withDefaults()) }

func refusal(dir string, o Options) error {
	for _, name := range []string{"", dataDir, runDir, filepath.Join(dataDir, badger.ManifestFilename)} {
		path := filepath.Join(dir, name)
		err := unix.Access(path, unix.W_OK)
		if errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) {
			return fmt.Errorf("write to store %q: %w (%s: %w): allow writing to it, or copy it and point NOEMA_HOME to the copy", dir, ErrReadOnly, path, err)
		}
	}
	return (&space{dir: dir, min: o.MinFree}).take(0)
}

// readable makes sure that Badger can open the store without writing. It
// cannot after a crash, when it has to bring its files in order.
func (l *local) readable() error {
	if _, err := os.Stat(filepath.Join(l.dir, dataDir, badger.ManifestFilename)); err != nil {
		return l.reading // it was never used
	}
	unwritten, err := filepath.Glob(filepath.Join(l.dir, dataDir, "*.mem"))
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	if _, err := os.Stat(journalPath(l.dir)); err == nil {
		unwritten = append(unwritten, journalPath(l.dir))
	}
	if len(unwritten) > 0 {
		return fmt.Errorf("open store %q to read: %w: %w", l.dir, errUnfinished, l.reading)
	}
	return nil
}

// errUnfinished says that Badger must bring the files in order.
var errUnfinished = errors.New("the process that used it last did not end in good order, and the store must be written to once before it can be read")

// writable makes sure that the store can be written to, and opens it anew once
// what stood against it is gone.
func (l *local) writable() error {
	l.ops.RLock()
	reading := l.reading
	l.ops.RUnlock()
	if reading == nil || !l.alone {
		return reading
	}
	l.ops.Lock()
	defer l.ops.Unlock()
	if l.reading == nil || l.closed {
		return nil
	}
	if err := refusal(l.dir, Options{MinFree: l.space.min}); err != nil {
		return err
	}
	err := errors.Join(upgrade(l.dir), l.shut())
	l.reading = nil
	data := filepath.Join(l.dir, dataDir)
	if err == nil {
		err = mendLogs(data)
	}
	if err == nil {
		_, err = l.open(badgerOptions(data).WithLogger(l.log))
	}
	l.closed = err != nil
	return err
}
