package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"noema/kernel/display"
)

// own are the REPL's own commands, in the order of :help.
func (r *repl) own() []Command {
	return []Command{
		{Name: "help", Help: "lists the commands"},
		{Name: "type", Args: "EXPR", Help: "says what type an expression has"},
		{Name: "doc", Args: "NAME", Help: "shows what is known of a name"},
		{Name: "who", Help: "lists what cells declared"},
		{Name: "time", Args: "CELL", Help: "says how long a cell takes"},
		{Name: "save", Args: "FILE", Help: "writes the cells that ran to a file"},
		{Name: "load", Args: "FILE", Help: "runs a file of cells, or a script with main"},
		{Name: "reset", Help: "forgets all that cells declared"},
		{Name: "quit", Help: "leaves, as Ctrl-D does"},
	}
}

// command runs a line that began with a colon.
func (r *repl) command(ctx context.Context, line string) error {
	name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	args = strings.TrimSpace(args)
	switch name {
	case "help", "h", "?":
		r.help()
		return nil
	case "quit", "q", "exit":
		r.done = true
		return nil
	case "type":
		return r.typeOf(ctx, args)
	case "doc":
		return r.doc(args)
	case "who":
		r.who()
		return nil
	case "time":
		begun := time.Now()
		err := r.cell(ctx, args)
		fmt.Fprintf(r.o.Out, "took %v\n", since(begun))
		return err
	case "save":
		return r.save(args)
	case "load":
		return r.load(ctx, args)
	case "reset":
		r.cells = nil
		return r.session.Reset()
	}
	for _, c := range r.o.Commands {
		if c.Name == name {
			return c.Run(ctx, args, r.screen)
		}
	}
	return fmt.Errorf("unknown command :%s: see :help", name)
}

func (r *repl) help() {
	fmt.Fprintln(r.o.Out, "A cell is Go; the value of its last expression is shown. Enter runs it when it is complete.")
	for _, c := range append(r.own(), r.o.Commands...) {
		fmt.Fprintf(r.o.Out, "  %-12s %s\n", strings.TrimSpace(":"+c.Name+" "+c.Args), c.Help)
	}
	fmt.Fprintf(r.o.Out, "  %-12s %s\n  %-12s %s\n", "!COMMAND", "runs a command of the shell", "Ctrl-C", "ends the cell that runs, or clears what is typed")
}

// typeOf lets the checker say it, without running anything.
func (r *repl) typeOf(ctx context.Context, text string) error {
	if text == "" {
		return errors.New(":type needs an expression")
	}
	if d, ok := r.session.Inspect(text, len(text)); ok && d.Name != "" && strings.HasSuffix(text, d.Name) && d.Signature != "" {
		fmt.Fprintln(r.o.Out, d.Signature)
		return nil
	}
	t, err := r.session.TypeOf(text)
	if err != nil {
		return err
	}
	fmt.Fprintln(r.o.Out, t)
	return nil
}

func (r *repl) doc(name string) error {
	d, ok := r.session.Inspect(name, len(name))
	if !ok {
		return fmt.Errorf("nothing is known of %q", name)
	}
	fmt.Fprintln(r.o.Out, d.Signature)
	if d.Comment != "" {
		fmt.Fprintln(r.o.Out, "\n"+strings.TrimSpace(d.Comment))
	}
	if d.Source != "" && d.Source != d.Signature {
		fmt.Fprintln(r.o.Out, "\n"+d.Source)
	}
	return nil
}

func (r *repl) who() {
	var t display.Table
	t.Add("name", "kind", "type", "cell")
	for _, v := range r.session.Variables() {
		where := ""
		if v.Cell > 0 {
			where = fmt.Sprint(v.Cell)
		}
		t.Row(v.Name, v.Kind, v.Type, where)
	}
	r.screen.Show("", t.Display())
}

// separator stands between cells in a saved file.
const separator = "\n\n// ---\n\n"

func (r *repl) save(file string) error {
	if file == "" {
		return errors.New(":save needs a file's name")
	}
	if err := os.WriteFile(file, []byte(strings.Join(r.cells, separator)+"\n"), 0o644); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	fmt.Fprintf(r.o.Out, "wrote %d cells to %s\n", len(r.cells), file)
	return nil
}

// load runs a script, or a file of cells, one after the other.
func (r *repl) load(ctx context.Context, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	text := string(raw)
	if slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "package main") }) {
		return r.session.RunFile(ctx, file, r.screen)
	}
	for _, c := range strings.Split(text, separator) {
		if err := r.cell(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// shellCommand runs a command of the shell with the terminal as its own.
func (r *repl) shellCommand(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", text)
	cmd.Stdout, cmd.Stderr = r.o.Out, r.o.Err
	if r.o.Terminal {
		cmd.Stdin = os.Stdin
	}
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("!%s: %w", strings.TrimSpace(text), err)
	}
	return nil
}
