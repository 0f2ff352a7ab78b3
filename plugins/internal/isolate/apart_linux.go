package isolate

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Apart has a process start in a network of its own, of which [OpenLoopback] opens the
// loopback interface and which leads nowhere else. It needs a user namespace, which an
// ordinary user may make on most systems: where it cannot be had, the start fails.
func Apart(attr *syscall.SysProcAttr) {
	attr.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNET
	attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN} // of that network alone, for OpenLoopback
}

// OpenLoopback opens the loopback interface of a network in which [Apart] has started this
// process, and tries whether another host can be reached, which must fail.
func OpenLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open loopback: %w", err)
	}
	defer unix.Close(fd)
	request := struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte // struct ifreq has 40 bytes
	}{flags: unix.IFF_UP | unix.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return fmt.Errorf("open loopback: %w", errno)
	}
	return shut()
}

// shut reports whether a network leads nowhere: it has no other interface, and an address
// that is kept for documentation (RFC 5737) has no route.
func shut() error {
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("look at the own network: %w", err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			return fmt.Errorf("look at the own network: it has the interface %q", i.Name)
		}
	}
	conn, err := net.Dial("udp", "192.0.2.1:9")
	if err == nil {
		return errors.Join(errors.New("look at the own network: other hosts have a route"), conn.Close())
	}
	return nil
}

// Unprivileged takes from the calling thread, and from what it starts, the right over its
// network that [Apart] gave, and the sockets of files: those lead out of any network, to
// whatever service of the machine has one. Pairs of them that have no name stay.
func Unprivileged() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return restrictCalls([]refusal{{"sockets of files", unix.EACCES, []call{{name: "socket", number: unix.SYS_SOCKET, never: []word{{at: 0, is: unix.AF_UNIX}}}}}}, nil)
}
