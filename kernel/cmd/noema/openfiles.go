package main

import (
	"fmt"
	"syscall"
)

// otherFiles is how many files a run has open beside its connections: those of the
// store and of plugins.
const otherFiles = 256

// fewFiles is a warning if so many connections are more than the process may open;
// else it is empty. A server that speaks HTTP/2 needs fewer, so it is not an error.
func fewFiles(connections int) string {
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil || uint64(connections)+otherFiles <= uint64(files.Cur) {
		return ""
	}
	return fmt.Sprintf("%d connections may be too many: this process may open %d files, and each connection is one: run \"ulimit -n %d\" first, or use at most --max-connections %d",
		connections, files.Cur, connections+otherFiles, max(1, int64(files.Cur)-otherFiles))
}
