package isolate

import "golang.org/x/sys/unix"

// The calls that other machines have never had.

func oldAttributes() []call {
	return []call{
		{name: "chmod", number: unix.SYS_CHMOD}, {name: "chown", number: unix.SYS_CHOWN}, {name: "lchown", number: unix.SYS_LCHOWN},
		{name: "utime", number: unix.SYS_UTIME}, {name: "utimes", number: unix.SYS_UTIMES}, {name: "futimesat", number: unix.SYS_FUTIMESAT},
		{name: "mknod", number: unix.SYS_MKNOD},
	}
}

func oldWatching() []call { return []call{{name: "inotify_init", number: unix.SYS_INOTIFY_INIT}} }

// permittedHere are further ones, which only this machine has.
var permittedHere = []uintptr{
	unix.SYS_OPEN, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_POLL, unix.SYS_ACCESS, unix.SYS_PIPE, unix.SYS_SELECT, unix.SYS_DUP2,
	unix.SYS_PAUSE, unix.SYS_ALARM, unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_GETDENTS, unix.SYS_RENAME, unix.SYS_MKDIR, unix.SYS_RMDIR,
	unix.SYS_CREAT, unix.SYS_LINK, unix.SYS_UNLINK, unix.SYS_SYMLINK, unix.SYS_READLINK, unix.SYS_GETPGRP, unix.SYS_ARCH_PRCTL,
	unix.SYS_TIME, unix.SYS_SET_THREAD_AREA, unix.SYS_GET_THREAD_AREA, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT, unix.SYS_SIGNALFD,
	unix.SYS_EVENTFD,
}
