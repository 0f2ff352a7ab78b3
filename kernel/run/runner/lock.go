package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"noema/cache"
)

// errLocked says that another process works on a run.
var errLocked = errors.New("the run is in progress in another process")

// lockRun claims a run for this process until unlock, or until the process
// ends in whatever way.
func lockRun(storeDir, id string) (unlock func(), err error) {
	dir := filepath.Join(storeDir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, lockError(id, storeDir, err)
	}
	path := lockPath(storeDir, id)
	for {
		f, err := lockFile(path)
		if err != nil {
			return nil, lockError(id, storeDir, err)
		}
		// Whoever held the lock before may have removed the file meanwhile:
		// then this lock keeps nobody out.
		if !sameFile(f, path) {
			f.Close()
			continue
		}
		return func() {
			_ = os.Remove(path) // while it is still held, so nobody else's
			f.Close()
		}, nil
	}
}

// lockError names the cure where nothing can be written.
func lockError(id, storeDir string, err error) error {
	if errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("lock run %q: %w: %w: allow writing to %q, or copy it and point NOEMA_HOME to the copy", id, cache.ErrReadOnly, err, storeDir)
	}
	return fmt.Errorf("lock run %q: %w", id, err)
}

func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		// UnderWay may be asking: then a shared lock can be had, and this one soon.
		if errors.Is(err, unix.EWOULDBLOCK) && unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil {
			continue
		}
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
}

func sameFile(f *os.File, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(held, there)
}
