package jupyter

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"noema/kernel/cell"
	"noema/kernel/cell/magic"
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

// command runs a % or ! line. What %load loads is returned.
func (k *kernel) command(ctx context.Context, c magic.Command) (load string, err error) {
	switch c.Name {
	case "!":
		return "", k.shellCommand(ctx, c.Args)
	case "help":
		k.output.Stream("stdout", []byte(help+k.more()))
		return "", nil
	case "time":
		begun := time.Now()
		result, err := k.session.Run(ctx, c.Args, k.output)
		took := time.Since(begun)
		if err == nil && len(result.Value) > 0 {
			k.output.Show("", result.Value)
		}
		k.output.Stream("stdout", fmt.Appendf(nil, "took %v\n", took.Round(10*time.Microsecond)))
		return "", err
	case "who":
		k.output.Show("", whoTable(k.session).Display())
		return "", nil
	case "run":
		return "", k.session.RunFile(ctx, c.Args, k.output)
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

// more lists the commands that Options gave.
func (k *kernel) more() string {
	var names []string
	for name := range k.o.Commands {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "  %%%s\n", name)
	}
	return b.String()
}

func whoTable(s *cell.Session) display.Table {
	var t display.Table
	t.Add("name", "kind", "type", "cell")
	for _, v := range s.Variables() {
		where := ""
		if v.Cell > 0 {
			where = fmt.Sprint(v.Cell)
		}
		t.Row(v.Name, v.Kind, v.Type, where)
	}
	return t
}

// shellCommand runs a command with the cell's output.
func (k *kernel) shellCommand(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", text)
	cmd.Stdout, cmd.Stderr = streamWriter{k.output, "stdout"}, streamWriter{k.output, "stderr"}
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
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
