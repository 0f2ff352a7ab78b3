package kv

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const canReserve = true

// blocks gives a file blocks in its first size bytes. A file system that cannot has holes as before.
func blocks(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
