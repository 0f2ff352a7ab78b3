package cell

import (
	"os"

	"golang.org/x/sys/unix"
)

// duplicate opens the file of a descriptor a second time. Child processes do
// not inherit it.
func duplicate(fd int, name string) (*os.File, error) {
	other, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("dup "+name, err)
	}
	return os.NewFile(uintptr(other), name), nil
}

// redirect makes descriptor fd refer to f.
func redirect(f *os.File, fd int) error {
	return control(f, "dup2", func(from int) error { return unix.Dup2(from, fd) })
}

// blocking makes writes to f block while the pipe is full: code that writes to the
// bare descriptor would get an error.
func blocking(f *os.File) error {
	return control(f, "set blocking", func(fd int) error { return unix.SetNonblock(fd, false) })
}

// control calls do with f's descriptor. Unlike f.Fd it does not change f's mode.
func control(f *os.File, name string, do func(fd int) error) error {
	connection, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := connection.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return os.NewSyscallError(name, failed)
}
