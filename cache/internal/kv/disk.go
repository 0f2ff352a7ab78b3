package kv

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// spaceFresh is how long an answer about free space is believed, less what
// this process writes meanwhile.
const spaceFresh = 100 * time.Millisecond

// space watches the free space of a directory's disk. Badger writes through
// memory maps, where a full disk is a signal that kills the process, so the
// space is checked before each write. Quotas of a user are not seen by it.
type space struct {
	dir string
	min uint64

	mu   sync.Mutex
	at   time.Time
	free uint64
	err  error
}

// take makes sure of space for n more bytes. It returns an ErrDiskFull that
// names the directory if less than the minimum would be left.
func (s *space) take(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.at.IsZero() || now.Sub(s.at) > spaceFresh {
		s.free, s.err = freeBytes(s.dir)
		s.free += held(s.dir)
		s.at = now
	}
	if s.err != nil {
		return s.err
	}
	if s.free < s.min+uint64(n) {
		return fmt.Errorf("write to store %q: %w: %d MiB are free and %d MiB are needed to write safely: free some space, or point NOEMA_HOME to another disk",
			s.dir, ErrDiskFull, s.free>>20, (s.min+uint64(n))>>20)
	}
	s.free -= uint64(n)
	return nil
}

// freeBytes is what an ordinary user may still write on the disk of dir.
func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(dir, &st)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return 0, fmt.Errorf("read free space of %q: %w", dir, err)
		}
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}

// diskBytes sums what the files below dir have allocated. Badger's files are
// sparse, so their lengths would say several times too much.
func diskBytes(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil // removed meanwhile
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			sum += st.Blocks * 512
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read size of store: %w", err)
	}
	return sum, nil
}
