package plugins

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// cages is the folder of a host's cgroups (version 2), one for each plugin
// process. A process cannot leave its cgroup, so that whatever it starts is
// found and killed with it. Where the user may not make cgroups there are none,
// and process groups and marks have to do.
type cages struct {
	dir string // empty if there are none

	mu   sync.Mutex
	last int
}

// openCages makes the folder below this process's own cgroup.
func openCages() *cages {
	own := ownCgroup()
	if own == "" {
		return &cages{}
	}
	sweepCages(own)
	dir, err := os.MkdirTemp(own, tempPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return &cages{}
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil { // before Linux 5.14
		_ = os.Remove(dir)
		return &cages{}
	}
	// Memory and processes are bounded by the cgroup where they may be.
	for _, controller := range []string{"+memory", "+pids"} {
		_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte(controller), 0)
	}
	return &cages{dir: dir}
}

// ownCgroup is the folder of this process's cgroup; empty if there is none.
func ownCgroup() string {
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for mount := range strings.Lines(string(mounts)) {
			head, tail, _ := strings.Cut(mount, " - ")
			if fields := strings.Fields(head); strings.HasPrefix(tail, "cgroup2 ") && len(fields) > 4 && fields[3] == "/" {
				return filepath.Join(fields[4], path)
			}
		}
	}
	return ""
}

// sweepCages ends what killed kernels left in a cgroup.
func sweepCages(own string) {
	for _, dir := range abandoned(own) {
		_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
		leaves, _ := filepath.Glob(filepath.Join(dir, "p*"))
		for _, leaf := range leaves {
			_ = unix.Rmdir(leaf) // one that is still dying is swept next time
		}
		_ = unix.Rmdir(dir)
	}
}

// close removes the folder.
func (c *cages) close() {
	if c.dir != "" {
		_ = unix.Rmdir(c.dir)
	}
}

// cage is the cgroup of one plugin process.
type cage struct {
	dir string
	fd  *os.File
}

// open makes a cage, or returns nil if there can be none.
func (c *cages) open(l Limits) *cage {
	if c.dir == "" {
		return nil
	}
	c.mu.Lock()
	c.last++
	dir := filepath.Join(c.dir, fmt.Sprint("p", c.last))
	c.mu.Unlock()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil
	}
	fd, err := os.Open(dir)
	if err != nil {
		_ = unix.Rmdir(dir)
		return nil
	}
	// Threads count as processes do here; only a fork bomb has so many.
	const threads = 64
	for file, value := range map[string]int64{"memory.max": 2 * l.Memory, "memory.swap.max": 0, "pids.max": threads * int64(l.Processes)} {
		if value > 0 || file == "memory.swap.max" && l.Memory > 0 {
			_ = os.WriteFile(filepath.Join(dir, file), strconv.AppendInt(nil, value, 10), 0)
		}
	}
	return &cage{dir: dir, fd: fd}
}

// kill kills everything in the cage at once.
func (c *cage) kill() { _ = os.WriteFile(filepath.Join(c.dir, "cgroup.kill"), []byte("1"), 0) }

// members returns the processes in the cage.
func (c *cage) members() []int {
	raw, err := os.ReadFile(filepath.Join(c.dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	return numbers(string(raw))
}

// close removes the cage when what was in it is dead, which takes a moment
// after the kill.
func (c *cage) close() {
	_ = c.fd.Close()
	events := filepath.Join(c.dir, "cgroup.events")
	deadline := time.Now().Add(drainPatience)
	for errors.Is(unix.Rmdir(c.dir), unix.EBUSY) && time.Now().Before(deadline) {
		if !awaitEmpty(events, time.Until(deadline)) {
			return
		}
	}
}

// awaitEmpty waits until the kernel says that a cgroup has no process, and
// reports whether to go on.
func awaitEmpty(events string, patience time.Duration) bool {
	f, err := os.Open(events)
	if err != nil {
		return false
	}
	defer f.Close()
	buf := make([]byte, 256)
	n, err := f.Read(buf)
	if err != nil || bytes.Contains(buf[:n], []byte("populated 0")) {
		return err == nil
	}
	poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLPRI}}
	_, err = unix.Poll(poll, int(patience.Milliseconds())+1)
	return err == nil || errors.Is(err, unix.EINTR)
}
