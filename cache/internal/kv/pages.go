package kv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// pagesKept is how many bytes of files may stay mapped beside what the process needs anyway.
const pagesKept = 32 << 20

// giveBack unmaps the pages of the value logs if there are many. Badger maps the logs and
// keeps every page, so that a process seems to use as much memory as it has used of its store.
// The pages stay in the system's cache. Only the committer may call it, between two commits,
// which are what creates, moves and unmaps logs. Where there is no /proc it does nothing.
func (e *engine) giveBack() {
	if filePages() < e.needed+pagesKept {
		return
	}
	defer func() { e.needed = filePages() }()
	data, err := filepath.Abs(filepath.Join(e.dir, dataDir))
	if err == nil {
		data, err = filepath.EvalSymlinks(data)
	}
	maps, failed := os.ReadFile("/proc/self/maps")
	if err != nil || failed != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "/")
		var from, to uintptr
		if name = "/" + name; filepath.Dir(name) != data || filepath.Ext(name) != ".vlog" {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err == nil {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED) // refused, they stay mapped
		}
	}
}

// filePages is how many bytes of files this process has mapped pages of.
func filePages() int {
	var size, resident, shared int
	raw, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(raw), &size, &resident, &shared)
	}
	if err != nil {
		return 0
	}
	return shared * os.Getpagesize()
}
