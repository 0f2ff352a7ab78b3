//go:build !linux

package isolate

import (
	"errors"
	"syscall"
)

// Apart does nothing: only Linux has networks of a process's own.
func Apart(*syscall.SysProcAttr) {}

// OpenLoopback says that there is no network of its own.
func OpenLoopback() error {
	return errors.New("open loopback: only on Linux has a process a network of its own")
}

// Unprivileged does nothing.
func Unprivileged() error { return nil }
