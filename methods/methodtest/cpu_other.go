//go:build !linux

package methodtest

import "time"

// CPU is the time that f takes; on Linux, the processor time in its own thread.
func CPU(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}
