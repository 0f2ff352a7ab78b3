package jupyter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"noema/kernel/display"
)

// help is what %help prints.
const help = `A cell is Go: imports, declarations and statements in any order; the value of a last
expression is shown. fmt and noema/kernel are imported, and lab is the workbench.
  name?         what is known of a name
  !command      runs a command of the shell
  %time         says how long the rest of the cell took
  %who          lists what cells declared
  %run FILE.go  runs a script
  %load FILE    puts a file into this cell
  %reset        forgets everything
`

// ownCommands are the kernel's own, beside those of Options.
var ownCommands = []string{"help", "load", "reset", "run", "time", "who"}

// commandNames are those of all commands.
func (k *kernel) commandNames() []string {
	names := slices.AppendSeq(slices.Clone(ownCommands), maps.Keys(k.o.Commands))
	slices.Sort(names)
	return names
}

// command runs a % or ! line. What %load loads is returned.
func (k *kernel) command(ctx context.Context, c command, count int) (load string, err error) {
	switch c.Name {
	case "!":
		return "", k.shellCommand(ctx, c.Args)
	case "help":
		k.output.Stream("stdout", []byte(help+k.more()))
		return "", nil
	case "time":
		return "", k.timed(ctx, c.Args, count)
	case "who":
		k.output.Show("", k.whoTable().Display())
		return "", nil
	case "run":
		return "", k.numbers.run(k.session, count, func() error { return k.session.RunFile(ctx, c.Args, k.output) })
	case "load":
		raw, err := os.ReadFile(c.Args)
		if err != nil {
			return "", fmt.Errorf("%%load: %w", err)
		}
		return string(raw), nil
	case "reset":
		return "", k.session.Reset()
	}
	if run, ok := k.o.Commands[c.Name]; ok {
		return "", run(ctx, c.Args, k.output)
	}
	return "", fmt.Errorf("unknown command %%%s: see %%help", c.Name)
}

// timed runs Go and says how long it took.
func (k *kernel) timed(ctx context.Context, text string, count int) error {
	if text == "" {
		return errors.New("%time: there is nothing to run: write code behind it, or below")
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

// more lists the commands that Options gave.
func (k *kernel) more() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(k.o.Commands)) {
		fmt.Fprintf(&b, "  %%%s\n", name)
	}
	return b.String()
}

func (k *kernel) whoTable() display.Table {
	var t display.Table
	t.Add("name", "kind", "type", "cell")
	for _, v := range k.session.Variables() {
		where := ""
		if shown, ok := k.numbers[v.Cell]; ok {
			where = fmt.Sprint(shown)
		}
		t.Row(v.Name, v.Kind, v.Type, where)
	}
	return t
}

// shellCommand runs a command with the cell's output. An interrupt ends it with
// all that it started.
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
