package plugins

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// setApart gives the plugin a session of its own, so that all of its process group
// can be killed at once and it has no terminal, and a cage if there is one. The operating system kills the
// plugin when the kernel dies, whatever language the plugin is in.
func setApart(cmd *exec.Cmd, c *cage) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	if c != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(c.fd.Fd())
	}
}

// endsItself lets the process of a program end itself when the kernel dies, by [EndTogether]:
// killed by the system it would leave the program behind, which is a child of it.
func endsItself(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM }

// keepDescriptors marks this process's descriptors as not to be inherited. Go's
// own are already; others may come from the parent of this process.
func keepDescriptors() {
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) // before Linux 5.11 there is no such call
}

// keepSecrets closes this process's memory and environment to the user's other
// processes: a plugin could otherwise read keys and targets through /proc. Root
// can still read them. The price is that the user cannot attach a debugger, and
// that no core file is written. Programs that this process starts are not
// affected.
func keepSecrets() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// limitProcess sets the limits that hold from the start; they pass on to what
// the process starts. A core file of the size of its memory is of no use.
func limitProcess(pid int, l Limits) {
	limit(pid, unix.RLIMIT_CORE, 0)
	if l.Files > 0 {
		limit(pid, unix.RLIMIT_NOFILE, uint64(l.Files))
	}
}

// limit lowers a limit of a process for good. One that is gone needs none.
func limit(pid, resource int, value uint64) {
	_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: value, Max: value}, nil)
}

// limitCPU stops each process of the plugin a little beyond the CPU time of one
// trial, including processes that the watcher no longer finds.
func limitCPU(pid int, used time.Duration, l Limits) {
	if l.CPUTime == 0 {
		return
	}
	const margin = 5 * time.Second
	seconds := uint64((used + l.CPUTime + margin) / time.Second)
	_ = unix.Prlimit(pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: unix.RLIM_INFINITY}, nil)
}

// limitMemory keeps a process that has started from outrunning the watcher: it
// may have twice its memory, beyond what its runtime has set aside by now. Some
// runtimes set aside much more than they use, which is why the limit can only
// be set then, and why resident memory is what counts.
func limitMemory(pid int, l Limits) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || l.Memory == 0 {
		return
	}
	_, rest, found := bytes.Cut(raw, []byte("VmData:"))
	fields := bytes.Fields(rest)
	if !found || len(fields) == 0 {
		return
	}
	if kilobytes, err := strconv.ParseUint(string(fields[0]), 10, 64); err == nil {
		limit(pid, unix.RLIMIT_DATA, kilobytes<<10+2*uint64(l.Memory))
	}
}

// servedBy is the process that listens at the other end of a connection.
func servedBy(conn *net.UnixConn) (pid int, known bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, true
	}
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid, true
}

// awaitsExit says whether awaitExit waits.
const awaitsExit = true

// awaitExit waits until the process has ended, without reaping it: as long as
// it is not reaped, no other process can get its number.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// usageOf is what a process took by the account of the operating system.
func usageOf(s *os.ProcessState) Usage {
	if s == nil {
		return Usage{}
	}
	u := Usage{CPUTime: s.UserTime() + s.SystemTime(), Processes: 1}
	if r, ok := s.SysUsage().(*syscall.Rusage); ok {
		u.Memory = int64(r.Maxrss) << 10
	}
	return u
}

// killTree kills a plugin's process with all processes that it started: those in
// its cage and its group, and, where there is no cage, those with its mark in
// their environment and orphans without any. It repeats the search for what is
// forked meanwhile.
func killTree(pid int, mark string, c *cage) {
	if c != nil {
		c.kill()
	}
	_ = unix.Kill(-pid, unix.SIGKILL)
	_ = unix.Kill(pid, unix.SIGKILL) // it may have left its group
	if c != nil {
		return
	}
	for end := time.Now().Add(drainPatience); time.Now().Before(end); {
		kin := marked(mark)
		for _, p := range kin {
			_ = unix.Kill(p, unix.SIGKILL)
		}
		if killOrphans(false) == 0 && len(kin) == 0 {
			return
		}
	}
}

// killGroup kills a process group of which this process's child was the first.
func killGroup(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) }

// killChildren kills and reaps all children of this process but one, with the orphans that it
// has adopted, until there are none.
func killChildren(but int) {
	for end := time.Now().Add(drainPatience); time.Now().Before(end); {
		all := slices.DeleteFunc(childrenOf(os.Getpid()), func(pid int) bool { return pid == but })
		if len(all) == 0 {
			return
		}
		for _, pid := range all {
			_ = unix.Kill(pid, unix.SIGKILL)
			_, _ = unix.Wait4(pid, nil, 0, nil) // it is ours, and ends now
		}
	}
}

// terminate asks the plugin's processes to end.
func terminate(pid int) { _ = unix.Kill(-pid, unix.SIGTERM) }

// kin returns the living processes of a plugin.
func kin(pid int, mark string, c *cage) []int {
	if c != nil {
		return c.members()
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, childrenOf(all[i])...)
	}
	return all
}

// childrenOf returns the processes that were started by one, and still are its
// children.
func childrenOf(pid int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	var all []int
	for _, list := range lists {
		raw, err := os.ReadFile(list)
		if err != nil { // a thread that has ended
			continue
		}
		all = append(all, numbers(string(raw))...)
	}
	return all
}

// copy hands on what comes until the other ends are closed.
func (t *tap) copy() {
	conn, err := t.pipe.SyscallConn()
	for more := true; err == nil && more; {
		err = conn.Read(func(fd uintptr) (done bool) {
			t.mu.Lock()
			defer t.mu.Unlock()
			n, err := t.take(fd)
			more = n > 0 || errors.Is(err, unix.EINTR)
			return !errors.Is(err, unix.EAGAIN)
		})
	}
}

// drain hands on what is in the pipe now.
func (t *tap) drain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	conn, err := t.pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { // of a closed one: nothing
		left, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		for err == nil && left > 0 {
			var n int
			n, err = t.take(fd)
			left -= max(1, n)
		}
	})
}

// take hands on what one read gives.
func (t *tap) take(fd uintptr) (n int, err error) {
	var buf [8 << 10]byte
	if n, err = unix.Read(int(fd), buf[:]); n > 0 {
		_, _ = t.to.Write(buf[:n])
	}
	return n, err
}

func numbers(s string) []int {
	var all []int
	for _, word := range strings.Fields(s) {
		if n, err := strconv.Atoi(word); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// marked returns the living processes whose environment has the TMPDIR that
// marks a plugin's. Only a process that hides on purpose is missed.
func marked(dir string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	want := []byte("\x00TMPDIR=" + dir)
	self := os.Getpid()
	var all []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == self {
			continue
		}
		// A zombie's environment is empty.
		raw, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue
		}
		_, rest, found := bytes.Cut(append([]byte{0}, raw...), want)
		if found && (len(rest) == 0 || rest[0] == 0 || rest[0] == '/') {
			all = append(all, pid)
		}
	}
	return all
}

// usage measures a plugin's processes, and whether there are any.
func usage(pid int, mark string, c *cage, l Limits) (Usage, bool) {
	var u Usage
	members := kin(pid, mark, c)
	for _, p := range members {
		s, ok := readStat(p)
		if !ok {
			continue
		}
		u.Memory += s.memory
		u.CPUTime += s.cpu
		u.Processes++
	}
	if l.Memory > 0 && u.Memory > l.Memory && u.Processes > 1 {
		u.Memory = proportional(members)
	}
	return u, u.Processes > 0
}

// stat is what /proc/PID/stat says of a process.
type stat struct {
	cpu    time.Duration // with that of children that it has waited for
	memory int64         // resident bytes
}

// tick is the unit of CPU time that Linux shows to programs, whatever it counts
// in.
const tick = 10 * time.Millisecond

// readStat reads one process; a zombie does not count.
func readStat(pid int) (stat, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	// The second field is the program's name, in parentheses and of any form.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	const state, user, reaped, resident = 0, 11, 14, 21 // counted from the third field
	if len(fields) <= resident || fields[state] == "Z" || fields[state] == "X" {
		return stat{}, false
	}
	var s stat
	for _, f := range fields[user : reaped+1] {
		if n, err := strconv.ParseInt(f, 10, 64); err == nil {
			s.cpu += time.Duration(n) * tick
		}
	}
	if pages, err := strconv.ParseInt(fields[resident], 10, 64); err == nil {
		s.memory = pages * int64(os.Getpagesize())
	}
	return s, true
}

// proportional is the memory of processes that share some of it, each page
// counted once. It is exact and slow.
func proportional(pids []int) int64 {
	var sum int64
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		_, rest, _ := bytes.Cut(raw, []byte("\nPss:"))
		if fields := strings.Fields(string(rest)); len(fields) > 0 {
			if kilobytes, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
				sum += kilobytes << 10
			}
		}
	}
	return sum
}

// machineMemory is the machine's memory in bytes, or less where the container of
// this process may take less; 0 if that is not known.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	memory := int64(info.Totalram) * int64(info.Unit)
	for _, file := range []string{filepath.Join(ownCgroup(), "memory.max"), "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		raw, err := os.ReadFile(file)
		if err != nil { // another kind of cgroup, or none
			continue
		}
		if most, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && most > 0 { // else it is "max"
			memory = min(memory, most)
		}
	}
	return memory
}

// killMarked kills what killed kernels left behind.
func killMarked(dir string) {
	for _, pid := range slices.Compact(marked(dir)) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}
