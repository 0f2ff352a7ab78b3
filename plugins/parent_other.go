//go:build !linux

package plugins

import "os/exec"

// dieWithParent does nothing where the operating system has no such service:
// there a plugin watches its parent itself, as Serve does.
func dieWithParent(*exec.Cmd) {}
