package plugins

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"syscall"

	"noema/plugins/internal/isolate"
)

// RunToEnd runs a program to its end within a plugin's process, and then kills whatever it
// has left behind. When ctx ends it is killed. It has a process group of its own, and of the
// plugin's rights none over its network. Nothing else may be started meanwhile: it would be
// killed, too.
func RunToEnd(ctx context.Context, cmd *exec.Cmd) error {
	if err := Start(cmd); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { killGroup(cmd.Process.Pid) })
	defer stop()
	err := cmd.Wait()
	killGroup(cmd.Process.Pid)
	killChildren(0)
	if errors.Is(err, exec.ErrWaitDelay) { // the program has ended; what it left held its output
		return nil
	}
	return err
}

// Start starts a program within a plugin's process, with the bounds of [RunToEnd]. What it
// leaves behind becomes this process's: see [EndOthers].
func Start(cmd *exec.Cmd) error {
	adoptOrphans()
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: what the thread has lost ends with it
		if err := isolate.Unprivileged(); err != nil {
			started <- err
			return
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		started <- cmd.Start()
	}()
	return <-started
}

// EndOthers kills all children of this process but one, with what programs have left behind;
// 0 spares none.
func EndOthers(pid int) { killChildren(pid) }

// EndGroup kills a program that [Start] has started, and whatever is in its group.
func EndGroup(pid int) { killGroup(pid) }
