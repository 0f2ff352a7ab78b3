package isolate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// attempt is something that must fail, and how to do it.
type attempt struct {
	way string
	do  func() error
}

// Try has the calling thread try all that must fail under the rules. Signals that
// nothing bounds are told also where no process is there to try them on: to a
// thread of this process, the process itself tells nothing.
func (s *State) Try(r Rules, signalsBounded bool) {
	if r.Outside != "" {
		s.tell("files outside", files(r.Outside))
	}
	s.tell("signals", []attempt{{"kill", func() error {
		if !signalsBounded {
			return nil
		}
		return signal()
	}}, {"a thread", func() error {
		if !signalsBounded {
			return nil
		}
		return signalThreads(r.Starter)
	}}})
	s.tell("capabilities", []attempt{{"capabilities", func() error {
		if capable() {
			return nil
		}
		return unix.EPERM
	}}})
	for _, row := range refusals(r) {
		var all []attempt
		for _, c := range row.calls {
			all = append(all, attempt{c.name, c.attempt})
		}
		s.tell(row.what, all)
	}
	s.see(r.Outside)
}

// tell notes which of the attempts at one thing failed. What is not there cannot
// be done either.
func (s *State) tell(what string, all []attempt) {
	var open []string
	for _, a := range all {
		if err := a.do(); !refused(err) && !slices.Contains(open, a.way) {
			open = append(open, a.way)
		}
	}
	switch {
	case open == nil:
		s.Refused = append(s.Refused, what)
	case len(open) == len(all):
		s.Left = append(s.Left, what)
	default:
		s.Left = append(s.Left, what+" ("+strings.Join(open, ", ")+")")
	}
}

func refused(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS)
}

// attempt makes the call with arguments that do no harm: all ones are not an address,
// no descriptor, no process and no kind of anything.
func (c call) attempt() error {
	if len(c.never) == 0 {
		return c.with(c.try)
	}
	for _, w := range c.never {
		args := slices.Repeat([]uintptr{^uintptr(0)}, 6)
		args[w.at] = uintptr(w.is)
		if err := c.with(args); !refused(err) {
			return err
		}
	}
	return unix.EPERM
}

func (c call) with(try []uintptr) error {
	args := slices.Repeat([]uintptr{^uintptr(0)}, 6)
	copy(args, try)
	r, _, errno := unix.Syscall6(c.number, args[0], args[1], args[2], args[3], args[4], args[5])
	if errno != 0 {
		return errno
	}
	return unix.Close(int(r)) // only what takes no argument succeeds, and returns a descriptor
}

// files are the ways to reach what lies in a folder, the destructive ones last.
func files(dir string) []attempt {
	file, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	open := func(path string, flags int) func() error {
		return func() error {
			fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		}
	}
	return []attempt{
		{"read", open(file, unix.O_RDONLY)},
		{"list", open(dir, unix.O_RDONLY|unix.O_DIRECTORY)},
		{"write", open(file, unix.O_WRONLY)},
		{"truncate", func() error { return unix.Truncate(file, 0) }},
		{"make", open(other, unix.O_WRONLY|unix.O_CREAT)},
		{"make a folder", func() error { return unix.Mkdir(other+".d", 0o700) }},
		{"link", func() error { return unix.Link(file, other+".l") }},
		{"rename", func() error { return unix.Rename(file, other+".r") }},
		{"remove", func() error { return unix.Unlink(file) }},
	}
}

// signal succeeds if this process's parent may be signalled. To signal all at
// once would tell nothing: the system then hides what it refuses.
func signal() error {
	parent := os.Getppid()
	if parent == 0 {
		return unix.EPERM
	}
	return unix.Kill(parent, 0)
}

// signalThreads succeeds if a thread that is in the rules of the calling one and not of its process
// may be signalled: the starter, which is the calling one if it is 0, or is among all threads of
// the parent if it is not known.
func signalThreads(starter int) error {
	all := []int{starter}
	if starter == 0 {
		all = []int{unix.Gettid()}
	}
	process := os.Getpid()
	if starter < 0 {
		process = os.Getppid()
		entries, err := os.ReadDir("/proc/" + strconv.Itoa(process) + "/task")
		if err != nil {
			return err
		}
		all = nil
		for _, e := range entries {
			if tid, err := strconv.Atoi(e.Name()); err == nil {
				all = append(all, tid)
			}
		}
	}
	for _, tid := range all {
		for _, way := range []func() error{
			func() error { return unix.Kill(tid, 0) }, func() error { return unix.Tgkill(process, tid, 0) },
			func() error { return byFolder("/proc/" + strconv.Itoa(tid)) },
		} {
			if way() == nil {
				return nil
			}
		}
	}
	return unix.EPERM
}

// byFolder signals the process or thread of a folder in /proc.
func byFolder(folder string) error {
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.PidfdSendSignal(fd, 0, nil, 0)
}

// see notes what can be observed although nothing permits it.
func (s *State) see(outside string) {
	if _, err := os.Stat(outside); outside != "" && !errors.Is(err, fs.ErrPermission) {
		s.Seen = append(s.Seen, "names, sizes and times of files")
	}
	if fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err == nil {
		if unix.Bind(fd, &unix.SockaddrUnix{Name: "@noema-" + strconv.Itoa(unix.Gettid())}) == nil {
			s.Seen = append(s.Seen, "names of abstract sockets")
		}
		_ = unix.Close(fd)
	}
	if _, err := os.ReadFile("/proc/" + strconv.Itoa(max(1, os.Getppid())) + "/cmdline"); err == nil {
		s.Seen = append(s.Seen, "command lines of processes")
	}
}
