package plugins

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adoptOrphans has the system give this process what its plugins started and left
// behind, in place of the first process of the machine: a plugin that forks twice,
// makes a session and changes its environment would not be found there. They become
// children of this process's first thread.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// onFirstThread reports whether the calling thread is the process's first, which
// starts no plugin, so that its restricted children are orphans.
func onFirstThread() bool { return unix.Gettid() == os.Getpid() }

// killOrphans reaps the orphans that have ended, kills those that hide whose they
// are, or all, and returns how many it has killed. One that has the mark of a plugin
// that lives is a part of that.
func killOrphans(all bool) (killed int) {
	self := os.Getpid()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", self))
	if err != nil {
		return 0
	}
	bare := restrictions(self)
	for _, pid := range numbers(string(raw)) {
		if !restrictions(pid).beyond(bare) {
			continue // it is not a plugin's
		}
		if dead, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); dead == pid || err != nil {
			continue
		}
		if all || !belongs(pid) {
			_ = unix.Kill(pid, unix.SIGKILL)
			killed++
		}
	}
	return killed
}

// restriction is what the system says of a process that no process can undo.
type restriction struct{ noNewPrivileges, filters int }

// beyond reports whether r restricts more than what this process itself is under.
func (r restriction) beyond(s restriction) bool {
	return r.noNewPrivileges > s.noNewPrivileges || r.filters > s.filters
}

func restrictions(pid int) restriction {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // of one that is gone: none
	number := func(name string) int {
		_, rest, _ := bytes.Cut(raw, []byte("\n"+name+":\t"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		n, _ := strconv.Atoi(string(line)) // of a system that does not say: 0
		return n
	}
	return restriction{number("NoNewPrivs"), number("Seccomp_filters")}
}

// belongs reports whether a process has the mark of a plugin that lives.
func belongs(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	for _, pair := range bytes.Split(raw, []byte{0}) {
		if dir, ok := strings.CutPrefix(string(pair), "TMPDIR="); ok {
			_, err := os.Stat(dir)
			return err == nil && strings.Contains(dir, "/noema-")
		}
	}
	return false
}
