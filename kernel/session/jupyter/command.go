package jupyter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/base/files"
	"noema/kernel/session/cell"
	"noema/methods"
)

// help is what %help prints.
const help = `A cell is Go: imports, declarations and statements in any order; the value of the last
expression is shown. fmt and noema/kernel/lab are imported, and lab is the workbench.
Commands begin with %, or with a colon as in the terminal:
  name?         show the documentation of a name
  !command      run a shell command
  %time         show the time that the rest of the cell takes
  %who          list the variables
  %stale        list the cells that computed from values that have been set again
  %rerun stale  run these cells again, in order
  %rerun lost   run the cells of a kernel that died again, in order
  %run FILE.go  run a script
  %load FILE    load a file into this cell
  %reset        forget all declarations
`

// ownCommands are the built-in commands.
var ownCommands = []string{"help", "load", "rerun", "reset", "run", "stale", "time", "who"}

// commandNames are the names of all commands, sorted.
func (k *kernel) commandNames() []string {
	names := slices.AppendSeq(slices.Clone(ownCommands), maps.Keys(k.o.Commands))
	slices.Sort(names)
	return names
}

// command runs a % or ! line. It returns the text that %load loads.
func (k *kernel) command(ctx context.Context, c command, count int) (load string, err error) {
	switch c.Name {
	case "!":
		return "", k.shellCommand(ctx, c.Args)
	case "help":
		k.output.Stream("stdout", []byte(help+k.more()))
		return "", nil
	case "time":
		return "", k.timed(ctx, c.Args, count)
	case "stale":
		t := cell.StaleTable(k.session.Stale(), func(number int) int { return k.numbers[number] })
		if len(t.Rows) == 0 {
			t = display.Table{Notes: []string{"no cell is stale"}}
		}
		k.output.Show("", t.Display())
		return "", nil
	case "rerun":
		return "", k.rerun(ctx, c.Args)
	case "who":
		k.output.Show("", cell.VariableTable(k.session.Variables(), func(number int) int { return k.numbers[number] }).Display())
		return "", nil
	case "run":
		return "", k.numbers.run(k.session, count, func() error { return k.session.RunFile(ctx, c.Args, k.output) })
	case "load":
		raw, err := files.Read(c.Args, files.MaxText)
		if err != nil {
			return "", fmt.Errorf("%%load: %w", err)
		}
		return string(raw), nil
	case "reset":
		k.o.Journal.Clear()
		return "", k.session.Reset()
	}
	if run, ok := k.o.Commands[c.Name]; ok {
		return "", run(ctx, c.Args, k.output)
	}
	return "", fmt.Errorf("unknown command %%%s%s: see %%help", c.Name, methods.DidYouMean(c.Name, k.commandNames()))
}

// timed runs code and prints how long it took.
func (k *kernel) timed(ctx context.Context, text string, count int) error {
	if text == "" {
		return errors.New("%time: no code: write it after %time or below")
	}
	begun := time.Now()
	value, err := k.run(ctx, text, k.output, count)
	took := time.Since(begun)
	if err == nil && len(value) > 0 {
		k.output.Show("", value)
	}
	k.output.Stream("stdout", fmt.Appendf(nil, "took %v\n", took.Round(10*time.Microsecond)))
	return err
}

// more lists the commands of Options.
func (k *kernel) more() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(k.o.Commands)) {
		fmt.Fprintf(&b, "  %%%s\n", name)
	}
	return b.String()
}

// shellCommand runs a shell command. An interrupt kills its process group.
func (k *kernel) shellCommand(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdout, cmd.Stderr = streamWriter{k.output, "stdout"}, streamWriter{k.output, "stderr"}
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("!%s: interrupted", text)
	}
	if err != nil {
		return fmt.Errorf("!%s: %w", text, err)
	}
	return nil
}

type streamWriter struct {
	to   *output
	name string
}

func (w streamWriter) Write(p []byte) (int, error) {
	w.to.Stream(w.name, p)
	return len(p), nil
}
