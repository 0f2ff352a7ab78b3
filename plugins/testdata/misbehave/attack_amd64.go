package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func oldNames() map[string]uintptr {
	return map[string]uintptr{
		"old chown": unix.SYS_CHOWN, "old lchown": unix.SYS_LCHOWN, "old utime": unix.SYS_UTIME, "old utimes": unix.SYS_UTIMES,
		"old mknod": unix.SYS_MKNOD,
	}
}

// int80 makes a system call as programs of 32 bits do.
func int80(number, a, b, c uintptr) uintptr

// otherConventions are those of x32 and of 32 bits. A program of 64 bits may use
// both; its addresses are too long for the second.
func otherConventions(file string) map[string]func() error {
	const x32 = 0x4000_0000
	old := func(number, a, b, c uintptr) func() error {
		return func() error {
			if r := int32(int80(number, a, b, c)); r < 0 {
				return fmt.Errorf("%w", unix.Errno(-r))
			}
			return nil
		}
	}
	return map[string]func() error{
		"x32 chmod":      func() error { return raw(x32|unix.SYS_CHMOD, text(file), 0o777) },
		"x32 socket":     func() error { return raw(x32|unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0) },
		"x32 getpid":     func() error { return raw(x32 | unix.SYS_GETPID) },
		"i386 getpid":    old(20, 0, 0, 0),
		"i386 shmget":    old(395, 0x6e6f656e, 4096, 0o1666),
		"i386 socket":    old(359, unix.AF_INET, unix.SOCK_STREAM, 0),
		"i386 semget":    old(393, 0x6e6f656e, 1, 0o1666),
		"i386 inotify":   old(291, 0, 0, 0),
		"i386 priority":  old(97, unix.PRIO_USER, 0, 0),
		"i386 ptrace":    old(26, 0, 0, 0),
		"i386 fchmod":    old(94, 0, 0o666, 0),
		"i386 epoll_nop": old(329, 0, 0, 0),
	}
}
