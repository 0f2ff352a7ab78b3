package plugins

import (
	"context"
	"errors"
	"os/exec"

	"noema/plugins/internal/isolate"
)

// Confined runs a program to its end, isolated as a plugin is: it reads the system's files
// and those below read, writes below write and its own TMPDIR, and opens no connection.
// What of this the machine cannot enforce is left out; see [Isolated]. When it ends, or the
// context does, what it started is killed.
func Confined(ctx context.Context, cmd *exec.Cmd, tmp string, read, write []string) error {
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	cages := openCages()
	defer cages.close()
	cage := cages.open(Limits{}.withDefaults())
	if cage != nil {
		defer cage.close()
	}
	setApart(cmd, cage)
	keepDescriptors()
	adoptOrphans()
	started, ended := make(chan error, 1), make(chan error, 1)
	rules := isolate.Rules{Read: append(isolate.System(), read...), Write: append(write, tmp)}
	under(rules, func(isolate.State) {
		err := cmd.Start()
		started <- err
		if err == nil {
			awaitExit(cmd.Process.Pid)
			if awaitsExit {
				killTree(cmd.Process.Pid, tmp, cage)
			}
			err = cmd.Wait()
		}
		ended <- err
	})
	if err := <-started; err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { killTree(cmd.Process.Pid, tmp, cage) })
	defer stop()
	err := <-ended
	return errors.Join(ctx.Err(), err)
}
