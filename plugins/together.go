package plugins

import (
	"os"
	"os/signal"
	"syscall"
)

// EndTogether has this process, when it is asked to end or its kernel dies, first kill all that
// [RunToEnd] has started: the system tells only a kernel's own children of its death.
func EndTogether() {
	adoptOrphans()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	go func() {
		<-asked
		endWithChildren()
	}()
}

// endWithChildren kills what this process has started, and ends it.
func endWithChildren() {
	syscall.ForkLock.Lock() // and never unlocked: nothing more is started
	for range 50 {          // for seconds, since a program may start others as fast as they are killed
		killChildren(0)
	}
	os.Exit(1)
}
