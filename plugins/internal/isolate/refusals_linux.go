package isolate

import "golang.org/x/sys/unix"

// A refusal is what no plugin may do by way of some system calls. The list of
// them is the only one: the filter, what is tried of it at the start, the words
// of the record, the table for users and the attacks of the tests come from it.
type refusal struct {
	what  string // as records and the table name it
	errno unix.Errno
	calls []call
}

// call is one way to do it.
type call struct {
	name   string
	number uintptr
	only   []word    // it is permitted with all of these arguments alone; nil permits it never
	never  []word    // it is refused with any of these arguments alone; nil with all
	either []word    // it is permitted with any of these arguments; nil permits it never
	try    []uintptr // arguments that can do no harm, for a trial of the refusal; nil means all ones
}

// word is the lower half of an argument, which is all that the kernel reads of
// the arguments that are named here.
type word struct {
	at   uint32 // the argument, from 0
	is   uint32
	mask uint32 // the bits that count; 0 means all
}

// Words that x/sys does not name.
const (
	setFlags32         = 0x40046602     // FS_IOC32_SETFLAGS
	setAttributes      = 0x401c5820     // FS_IOC_FSSETXATTR
	setOwner, setGroup = 0x8901, 0x8902 // FIOSETOWN, SIOCSPGRP
	ofProcess          = 1              // IOPRIO_WHO_PROCESS
)

// signalsTo are the signals to the thread that starts the plugin: Landlock takes it for one of
// the plugin's, and a signal to it is one to the kernel.
func signalsTo(starter int) []call {
	if starter < 0 {
		return nil
	}
	if starter == 0 {
		starter = unix.Gettid()
	}
	first, second := []word{{at: 0, is: uint32(starter)}}, []word{{at: 1, is: uint32(starter)}}
	return []call{
		{name: "kill", number: unix.SYS_KILL, never: first}, {name: "tkill", number: unix.SYS_TKILL, never: first},
		{name: "tgkill", number: unix.SYS_TGKILL, never: second}, {name: "pidfd_open", number: unix.SYS_PIDFD_OPEN, never: first},
		{name: "rt_sigqueueinfo", number: unix.SYS_RT_SIGQUEUEINFO, never: first}, {name: "rt_tgsigqueueinfo", number: unix.SYS_RT_TGSIGQUEUEINFO, never: second},
	}
}

// refusals are what is refused to everybody who does not have the network, and
// to those who do, all but the row of that.
func refusals(r Rules) []refusal {
	itself := []word{{at: 0}} // a process id of 0 is the caller's own
	rows := []refusal{
		{"file attributes", unix.EPERM, append(oldAttributes(),
			call{name: "fchmod", number: unix.SYS_FCHMOD}, call{name: "fchmodat", number: unix.SYS_FCHMODAT},
			call{name: "fchmodat2", number: unix.SYS_FCHMODAT2}, call{name: "fchown", number: unix.SYS_FCHOWN},
			call{name: "fchownat", number: unix.SYS_FCHOWNAT}, call{name: "utimensat", number: unix.SYS_UTIMENSAT},
			call{name: "setxattr", number: unix.SYS_SETXATTR}, call{name: "lsetxattr", number: unix.SYS_LSETXATTR},
			call{name: "fsetxattr", number: unix.SYS_FSETXATTR}, call{name: "setxattrat", number: unix.SYS_SETXATTRAT},
			call{name: "removexattr", number: unix.SYS_REMOVEXATTR}, call{name: "lremovexattr", number: unix.SYS_LREMOVEXATTR},
			call{name: "fremovexattr", number: unix.SYS_FREMOVEXATTR}, call{name: "removexattrat", number: unix.SYS_REMOVEXATTRAT},
			call{name: "file_setattr", number: unix.SYS_FILE_SETATTR}, call{name: "mknodat", number: unix.SYS_MKNODAT},
			call{name: "ioctl", number: unix.SYS_IOCTL, never: []word{{at: 1, is: unix.FS_IOC_SETFLAGS}, {at: 1, is: setFlags32}, {at: 1, is: setAttributes}}},
		)},
		{"other processes", unix.EPERM, append(signalsTo(r.Starter), []call{
			{name: "prlimit64", number: unix.SYS_PRLIMIT64, only: itself},
			{name: "sched_setaffinity", number: unix.SYS_SCHED_SETAFFINITY, only: itself},
			{name: "sched_setscheduler", number: unix.SYS_SCHED_SETSCHEDULER, only: itself},
			{name: "sched_setparam", number: unix.SYS_SCHED_SETPARAM, only: itself},
			{name: "sched_setattr", number: unix.SYS_SCHED_SETATTR, only: itself},
			{name: "setpriority", number: unix.SYS_SETPRIORITY, only: []word{{at: 0, is: unix.PRIO_PROCESS}, {at: 1}}},
			{name: "ioprio_set", number: unix.SYS_IOPRIO_SET, only: []word{{at: 0, is: ofProcess}, {at: 1}}},
			{name: "migrate_pages", number: unix.SYS_MIGRATE_PAGES, only: itself},
			{name: "move_pages", number: unix.SYS_MOVE_PAGES, only: itself},
			{name: "ptrace", number: unix.SYS_PTRACE}, {name: "kcmp", number: unix.SYS_KCMP},
			{name: "process_vm_readv", number: unix.SYS_PROCESS_VM_READV}, {name: "process_vm_writev", number: unix.SYS_PROCESS_VM_WRITEV},
			{name: "process_madvise", number: unix.SYS_PROCESS_MADVISE}, {name: "process_mrelease", number: unix.SYS_PROCESS_MRELEASE},
			{name: "pidfd_send_signal", number: unix.SYS_PIDFD_SEND_SIGNAL}, // also by the folder of a thread in /proc
			{name: "pidfd_getfd", number: unix.SYS_PIDFD_GETFD}, {name: "perf_event_open", number: unix.SYS_PERF_EVENT_OPEN},
			{name: "fcntl", number: unix.SYS_FCNTL, never: []word{{at: 1, is: unix.F_SETOWN}, {at: 1, is: unix.F_SETOWN_EX}, {at: 1, is: unix.F_SETLEASE}}},
			{name: "ioctl", number: unix.SYS_IOCTL, never: []word{{at: 1, is: setOwner}, {at: 1, is: setGroup}, {at: 1, is: unix.TIOCSTI}}},
		}...)},
		{"memory that stays", unix.EPERM, []call{
			{name: "memfd_create", number: unix.SYS_MEMFD_CREATE}, {name: "memfd_secret", number: unix.SYS_MEMFD_SECRET}, // which no limit counts
			{name: "shmget", number: unix.SYS_SHMGET}, {name: "shmat", number: unix.SYS_SHMAT}, {name: "shmctl", number: unix.SYS_SHMCTL},
			{name: "msgget", number: unix.SYS_MSGGET, try: []uintptr{0x7fff_fffe, 0}}, // finds no queue
			{name: "msgsnd", number: unix.SYS_MSGSND}, {name: "msgrcv", number: unix.SYS_MSGRCV}, {name: "msgctl", number: unix.SYS_MSGCTL},
			{name: "semget", number: unix.SYS_SEMGET}, {name: "semop", number: unix.SYS_SEMOP},
			{name: "semtimedop", number: unix.SYS_SEMTIMEDOP}, {name: "semctl", number: unix.SYS_SEMCTL},
			{name: "mq_open", number: unix.SYS_MQ_OPEN}, {name: "mq_unlink", number: unix.SYS_MQ_UNLINK},
			{name: "mq_timedsend", number: unix.SYS_MQ_TIMEDSEND}, {name: "mq_timedreceive", number: unix.SYS_MQ_TIMEDRECEIVE},
			{name: "mq_notify", number: unix.SYS_MQ_NOTIFY}, {name: "mq_getsetattr", number: unix.SYS_MQ_GETSETATTR},
			{name: "add_key", number: unix.SYS_ADD_KEY}, {name: "request_key", number: unix.SYS_REQUEST_KEY}, {name: "keyctl", number: unix.SYS_KEYCTL},
		}},
		{"watching files", unix.EPERM, append(oldWatching(),
			call{name: "inotify_init1", number: unix.SYS_INOTIFY_INIT1}, call{name: "inotify_add_watch", number: unix.SYS_INOTIFY_ADD_WATCH},
			call{name: "fanotify_init", number: unix.SYS_FANOTIFY_INIT}, call{name: "fanotify_mark", number: unix.SYS_FANOTIFY_MARK},
			call{name: "name_to_handle_at", number: unix.SYS_NAME_TO_HANDLE_AT}, call{name: "open_by_handle_at", number: unix.SYS_OPEN_BY_HANDLE_AT},
			call{name: "syslog", number: unix.SYS_SYSLOG},
			call{name: "fcntl", number: unix.SYS_FCNTL, never: []word{{at: 1, is: unix.F_NOTIFY}}},
		)},
		{"ways around the filter", unix.EPERM, []call{
			{name: "io_uring_setup", number: unix.SYS_IO_URING_SETUP}, {name: "io_uring_enter", number: unix.SYS_IO_URING_ENTER},
			{name: "io_uring_register", number: unix.SYS_IO_URING_REGISTER}, {name: "bpf", number: unix.SYS_BPF},
			{name: "userfaultfd", number: unix.SYS_USERFAULTFD},
		}},
	}
	local := []word{{at: 0, is: unix.AF_UNIX}, {at: 1, is: unix.SOCK_STREAM, mask: 0xf}}
	switch {
	case r.Network:
	case r.Loopback: // families that a network of its own bounds; others, such as vsock, lead to the machine
		rows = append(rows, refusal{"sockets that lead elsewhere", unix.EACCES, []call{
			{name: "socket", number: unix.SYS_SOCKET, either: []word{{at: 0, is: unix.AF_UNIX}, {at: 0, is: unix.AF_INET}, {at: 0, is: unix.AF_INET6}, {at: 0, is: unix.AF_NETLINK}}},
			{name: "socketpair", number: unix.SYS_SOCKETPAIR, only: local},
		}})
	default:
		rows = append(rows, refusal{"the network", unix.EACCES, []call{
			{name: "connect", number: unix.SYS_CONNECT},
			{name: "socket", number: unix.SYS_SOCKET, only: local}, {name: "socketpair", number: unix.SYS_SOCKETPAIR, only: local},
		}})
	}
	return rows
}
