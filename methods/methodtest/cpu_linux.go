package methodtest

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time that f takes in its own thread. Unlike the time that passes, it
// does not depend on what else the machine does, so a test may bound it.
func CPU(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime()
	f()
	return threadTime() - begin
}

func threadTime() time.Duration {
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &used) // fails only for a wrong argument
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
