package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// raw makes a system call as it is.
func raw(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

// text is a C string.
func text(s string) uintptr {
	p, err := unix.BytePtrFromString(s)
	if err != nil { // no name here holds a NUL
		panic(err)
	}
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

var kept []*byte // what the kernel is handed as a number must not move or go

// changing are the ways to change a file of the same user that may not be opened.
func changing(file string) map[string]func() error {
	path, here := text(file), ^uintptr(99) // AT_FDCWD
	own, times := uintptr(os.Getuid()), [4]int64{1, 0, 1, 0}
	now := uintptr(unsafe.Pointer(&times))
	code, err := unix.Open("/proc/self/exe", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		code = -1
	}
	flags := 0
	all := map[string]func() error{
		"chmod":               func() error { return os.Chmod(file, 0o777) },
		"chmod to setuid":     func() error { return unix.Chmod(file, 0o4755) },
		"chmod a link":        func() error { return os.Chmod(fmt.Sprintf("/proc/%d/root%s", os.Getpid(), file), 0o777) },
		"fchmod of its code":  func() error { return unix.Fchmod(code, 0o4755) },
		"fchmodat":            func() error { return raw(unix.SYS_FCHMODAT, here, path, 0o777) },
		"fchmodat2":           func() error { return raw(unix.SYS_FCHMODAT2, here, path, 0o777, 0) },
		"fchmodat2 of its":    func() error { return raw(unix.SYS_FCHMODAT2, uintptr(code), text(""), 0o777, unix.AT_EMPTY_PATH) },
		"fchown of its code":  func() error { return raw(unix.SYS_FCHOWN, uintptr(code), own, own) },
		"fchownat":            func() error { return raw(unix.SYS_FCHOWNAT, here, path, own, own, 0) },
		"lchown":              func() error { return os.Lchown(file, int(own), int(own)) },
		"utimensat":           func() error { return raw(unix.SYS_UTIMENSAT, here, path, now, 0) },
		"futimens of its":     func() error { return raw(unix.SYS_UTIMENSAT, uintptr(code), 0, now, 0) },
		"setxattr":            func() error { return unix.Setxattr(file, "user.note", []byte("42"), 0) },
		"lsetxattr":           func() error { return unix.Lsetxattr(file, "user.note", []byte("42"), 0) },
		"fsetxattr of its":    func() error { return unix.Fsetxattr(code, "user.note", []byte("42"), 0) },
		"setxattrat":          func() error { return xattrAt(here, path) },
		"removexattr":         func() error { return unix.Removexattr(file, "user.set") },
		"lremovexattr":        func() error { return unix.Lremovexattr(file, "user.set") },
		"fremovexattr":        func() error { return unix.Fremovexattr(code, "user.set") },
		"file_setattr":        func() error { return raw(unix.SYS_FILE_SETATTR, here, path, now, 24, 0) },
		"mkfifo":              func() error { return unix.Mkfifo(filepath.Join(filepath.Dir(file), "fifo"), 0o600) },
		"make a device":       func() error { return unix.Mknod("device", unix.S_IFCHR|0o600, 1<<8|3) },
		"flags of its code":   func() error { return unix.IoctlSetPointerInt(code, unix.FS_IOC_SETFLAGS, flags) },
		"have a shell chmod":  shell("chmod 4755 " + file),
		"have a shell touch":  shell("touch -t 200001010000 " + file),
		"have a thread chmod": func() error { return onThread(func() error { return unix.Chmod(file, 0o777) }) },
	}
	for name, number := range oldNames() {
		all[name] = func() error { return raw(number, path, own, own) }
	}
	return all
}

func xattrAt(here, path uintptr) error {
	value := []byte("42")
	args := struct {
		value       uint64
		size, flags uint32
	}{uint64(uintptr(unsafe.Pointer(&value[0]))), 2, 0}
	return raw(unix.SYS_SETXATTRAT, here, path, 0, text("user.note"), uintptr(unsafe.Pointer(&args)), 16)
}

func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}

// meddling are the ways to hinder another process of the same user.
func meddling(pid int) map[string]func() error {
	p := uintptr(pid)
	var limit unix.Rlimit
	var set unix.CPUSet
	set.Set(0)
	var param [16]uint32
	attr := [12]uint32{48}
	words := uintptr(unsafe.Pointer(&param))
	group, _ := unix.Getpgid(pid)
	return map[string]func() error{
		"read its limits": func() error { return unix.Prlimit(pid, unix.RLIMIT_CPU, nil, &limit) },
		"limit its time": func() error {
			return unix.Prlimit(pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: 1 << 40, Max: unix.RLIM_INFINITY}, nil)
		},
		"limit it by a shell":  shell(fmt.Sprintf("prlimit --pid %d --core=0:0", pid)),
		"bind it to a core":    func() error { return unix.SchedSetaffinity(pid, &set) },
		"schedule it":          func() error { return raw(unix.SYS_SCHED_SETSCHEDULER, p, unix.SCHED_NORMAL, words) },
		"set its parameters":   func() error { return raw(unix.SYS_SCHED_SETPARAM, p, words) },
		"set its attributes":   func() error { return raw(unix.SYS_SCHED_SETATTR, p, uintptr(unsafe.Pointer(&attr)), 0) },
		"be nice for it":       func() error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 0) },
		"be nice for its kin":  func() error { return unix.Setpriority(unix.PRIO_PGRP, group, 0) },
		"be nice for the user": func() error { return unix.Setpriority(unix.PRIO_USER, 0, 0) },
		"be nice by a shell":   shell(fmt.Sprintf("renice -n 0 -p %d", pid)),
		"slow its disk":        func() error { return raw(unix.SYS_IOPRIO_SET, 1, p, 2<<13) },
		"slow the user's disk": func() error { return raw(unix.SYS_IOPRIO_SET, 3, uintptr(os.Getuid()), 2<<13) },
		"trace it":             func() error { return unix.PtraceSeize(pid) },
		"attach to it":         func() error { return unix.PtraceAttach(pid) },
		"read its memory":      func() error { return raw(unix.SYS_PROCESS_VM_READV, p, words, 0, words, 0, 0) },
		"write its memory":     func() error { return raw(unix.SYS_PROCESS_VM_WRITEV, p, words, 0, words, 0, 0) },
		"compare with it":      func() error { return raw(unix.SYS_KCMP, p, uintptr(os.Getpid()), 0) },
		"take its descriptor": func() error {
			return byPidfd(pid, func(fd uintptr) error { return raw(unix.SYS_PIDFD_GETFD, fd, 0, 0) })
		},
		"advise its memory": func() error {
			return byPidfd(pid, func(fd uintptr) error { return raw(unix.SYS_PROCESS_MADVISE, fd, words, 0, unix.MADV_COLD) })
		},
		"move its pages":   func() error { return raw(unix.SYS_MOVE_PAGES, p, 0, 0, 0, 0, 0) },
		"migrate it":       func() error { return raw(unix.SYS_MIGRATE_PAGES, p, 0, 0, 0) },
		"count its events": func() error { return raw(unix.SYS_PERF_EVENT_OPEN, words, p, 0, ^uintptr(0), 0) },
		"have it owned":    func() error { _, err := unix.FcntlInt(0, unix.F_SETOWN, pid); return err },
		"lease a file":     func() error { return lease() },
	}
}

func lease() error {
	f, err := os.CreateTemp("", "lease")
	if err != nil {
		return err
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	return err
}

func byPidfd(pid int, do func(fd uintptr) error) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(uintptr(fd))
}

// signalling are the ways to a signal, of the kind that does nothing.
func signalling(pid int) map[string]func() error {
	var info [32]uint32
	p, none := uintptr(pid), uintptr(unsafe.Pointer(&info))
	return map[string]func() error{
		"kill":   func() error { return unix.Kill(pid, 0) },
		"tgkill": func() error { return raw(unix.SYS_TGKILL, p, p, 0) },
		"tkill":  func() error { return raw(unix.SYS_TKILL, p, 0) },
		"any thread of it": func() error { // among them the one that started this
			for thread := p; thread < p+5000; thread++ {
				if raw(unix.SYS_TGKILL, p, thread, 0) == nil {
					return nil
				}
			}
			return unix.EPERM
		},
		"any thread by its folder": func() error {
			threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
			if err != nil || len(threads) == 0 {
				return nil // nothing was tried
			}
			for _, thread := range threads {
				fd, err := unix.Open("/proc/"+filepath.Base(thread), unix.O_DIRECTORY, 0)
				if err != nil {
					continue
				}
				if err = raw(unix.SYS_PIDFD_SEND_SIGNAL, uintptr(fd), 0, 0, 0); err == nil {
					return nil
				}
			}
			return unix.EPERM
		},
		"pidfd_send_signal": func() error {
			return byPidfd(pid, func(fd uintptr) error { return raw(unix.SYS_PIDFD_SEND_SIGNAL, fd, 0, 0, 0) })
		},
		"by its folder": func() error {
			fd, err := unix.Open(fmt.Sprintf("/proc/%d", pid), unix.O_DIRECTORY, 0)
			if err != nil {
				return err
			}
			return raw(unix.SYS_PIDFD_SEND_SIGNAL, uintptr(fd), 0, 0, 0)
		},
		"rt_sigqueueinfo": func() error { return raw(unix.SYS_RT_SIGQUEUEINFO, p, uintptr(unix.SIGCHLD), none) },
		"by a shell":      shell(fmt.Sprintf("kill -0 %d", pid)),
	}
}

// keeping are the ways to leave something behind for the next process.
func keeping(dir string) map[string]func() error {
	const key, create = 0x6e6f656d, 0o1666
	var attr [8]uint64
	attr[1], attr[2] = 1, 64
	return map[string]func() error{
		"shmget":         func() error { return raw(unix.SYS_SHMGET, key, 4096, create) },
		"msgget":         func() error { return raw(unix.SYS_MSGGET, key, create) },
		"semget":         func() error { return raw(unix.SYS_SEMGET, key, 1, create) },
		"private memory": func() error { return raw(unix.SYS_SHMGET, 0, 4096, create) },
		"mq_open": func() error {
			return raw(unix.SYS_MQ_OPEN, text("noema"), unix.O_CREAT|unix.O_RDWR, 0o600, uintptr(unsafe.Pointer(&attr)))
		},
		"shared memory":  open("/dev/shm/noema", unix.O_CREAT|unix.O_RDWR),
		"a file in /tmp": open("/tmp/noema-left", unix.O_CREAT|unix.O_RDWR),
		"a file beside":  open(filepath.Join(dir, "left"), unix.O_CREAT|unix.O_RDWR),
		"add_key": func() error {
			_, err := unix.AddKey("user", "noema", []byte("42"), unix.KEY_SPEC_USER_KEYRING)
			return err
		},
		"read a key":      func() error { _, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", "noema", 0); return err },
		"find a keyring":  func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, false); return err },
		"ipcmk":           func() error { return exec.Command("ipcmk", "-M", "64").Run() },
		"ipc in a parent": func() error { return onThread(func() error { return raw(unix.SYS_SEMGET, key, 1, create) }) },
	}
}

// watching are the ways to be told what others do.
func watching(dir string) map[string]func() error {
	return map[string]func() error{
		"inotify": func() error {
			fd, err := unix.InotifyInit1(0)
			if err == nil {
				_, err = unix.InotifyAddWatch(fd, dir, unix.IN_ALL_EVENTS)
			}
			return err
		},
		"fanotify": func() error { _, err := unix.FanotifyInit(unix.FAN_REPORT_FID, 0); return err },
		"dnotify": func() error {
			fd, err := unix.Open("/usr", unix.O_RDONLY, 0)
			if err == nil {
				_, err = unix.FcntlInt(uintptr(fd), unix.F_NOTIFY, 4) // DN_CREATE
			}
			return err
		},
		"a handle": func() error { _, _, err := unix.NameToHandleAt(unix.AT_FDCWD, dir, 0); return err },
		"the log":  func() error { _, err := unix.Klogctl(10, nil); return err },
	}
}

// evading are other conventions and devices, by which a filter may be passed by.
func evading(file string) map[string]func() error {
	all := otherConventions(file)
	all["rings"] = ioUring
	all["bpf"] = func() error { return raw(unix.SYS_BPF, 0, 0, 0) }
	all["userfaultfd"] = func() error { return raw(unix.SYS_USERFAULTFD, 1) }
	return all
}

// ruling are the rights of root.
func ruling(dir string) map[string]func() error {
	return map[string]func() error{
		"chroot":            func() error { return unix.Chroot(dir) },
		"name the machine":  func() error { return unix.Sethostname([]byte("x")) },
		"another namespace": func() error { return onThread(func() error { return unix.Unshare(unix.CLONE_NEWNS) }) },
		"another user":      func() error { return onThread(func() error { return unix.Setresuid(4711, 4711, 4711) }) },
		"another group":     func() error { return onThread(func() error { return unix.Setgroups([]int{4711}) }) },
		"priority over all": func() error { return unix.Setpriority(unix.PRIO_PROCESS, 0, -20) },
		"real time": func() error {
			return raw(unix.SYS_SCHED_SETSCHEDULER, 0, unix.SCHED_FIFO, uintptr(unsafe.Pointer(&[4]uint32{1})))
		},
		"more files":         func() error { return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}) },
		"by a setuid binary": shell("su -c true || sudo -n true"),
	}
}
