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
