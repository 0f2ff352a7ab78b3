package plugins

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the operating system kill the plugin when the kernel
// dies, whatever language the plugin is in.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
