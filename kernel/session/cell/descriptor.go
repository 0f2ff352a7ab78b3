package cell

import (
	"os"

	"golang.org/x/sys/unix"
)

// duplicate opens a file a second time, under a name. Child processes do not
// inherit it. Unlike f.Fd it does not change the mode of f.
func duplicate(f *os.File, name string) (*os.File, error) {
	connection, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var other int
	var failed error
	err = connection.Control(func(fd uintptr) { other, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3) })
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, os.NewSyscallError("dup "+name, failed)
	}
	return os.NewFile(uintptr(other), name), nil
}
