package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/base/files"
	"noema/kernel/session/cell"
	"noema/methods"
)

// own are the REPL's own commands, in the order of :help.
func (r *repl) own() []Command {
	simple := func(run func()) func(context.Context, string, cell.Output) error {
		return func(context.Context, string, cell.Output) error {
			run()
			return nil
		}
	}
	return []Command{
		{"help", "", "list the commands", simple(r.help)},
		{"type", "EXPR", "show the type of an expression", r.typeOf},
		{"doc", "NAME", "show the documentation of a name", r.doc},
		{"who", "", "list the variables", simple(r.who)},
		{"stale", "", "list the cells that computed from values that have been set again", simple(r.stale)},
		{"rerun", "stale|lost", "run stale cells again, or those of a process that died, in order", r.rerun},
		{"time", "CELL", "run a cell and show the time it takes", r.time},
		{"save", "FILE", "write the cells so far to a file", r.save},
		{"load", "FILE", "run a file of cells or a script with main", r.load},
		{"reset", "", "forget all declarations", r.reset},
		{"quit", "", "leave; Ctrl-D does the same", simple(func() { r.done = true })},
	}
}

// commands are the REPL's own and those of Options.
func (r *repl) commands() []Command { return append(r.own(), r.o.Commands...) }

// aliases are other names of commands.
var aliases = map[string]string{"h": "help", "?": "help", "q": "quit", "exit": "quit"}

// command runs a line that began with a colon.
func (r *repl) command(ctx context.Context, line string) error {
	name, args := strings.TrimSpace(line), ""
	if i := strings.IndexAny(name, " \t\n"); i >= 0 {
		name, args = name[:i], strings.TrimSpace(name[i:])
	}
	var names []string
	for _, c := range r.commands() {
		switch {
		case c.Name != cmp.Or(aliases[name], name):
			names = append(names, c.Name)
		case c.Args != "" && args == "":
			return fmt.Errorf(":%s needs an argument: \":%s %s\" to %s", name, name, c.Args, c.Help)
		default:
			return c.Run(ctx, args, r.screen)
		}
	}
	return fmt.Errorf("unknown command :%s%s: see :help", name, methods.DidYouMean(name, names))
}

func (r *repl) help() {
	var b strings.Builder
	b.WriteString("Type Go; the value of the last expression is shown. Enter runs the cell when it is complete.")
	line := func(what, help string) { fmt.Fprintf(&b, "\n  %-12s %s", what, help) }
	for _, c := range r.commands() {
		line(strings.TrimSpace(":"+c.Name+" "+c.Args), c.Help)
	}
	line("!COMMAND", "run a shell command")
	line("Tab", "complete a name")
	line("Ctrl-C", "interrupt the running cell or clear the input")
	r.screen.say(b.String())
}

// typeOf prints the type of an expression without running it.
func (r *repl) typeOf(_ context.Context, text string, _ cell.Output) error {
	if d, ok := r.session.Inspect(text, len(text)); ok && d.Name != "" && strings.HasSuffix(text, d.Name) && d.Signature != "" {
		r.screen.say(d.Signature)
		return nil
	}
	t, err := r.session.TypeOf(text)
	if err != nil {
		return err
	}
	r.screen.say(t)
	return nil
}

func (r *repl) doc(_ context.Context, name string, _ cell.Output) error {
	d, ok := r.session.Inspect(name, len(name))
	if !ok {
		return fmt.Errorf("no documentation of %q", name)
	}
	r.screen.say(d.Signature)
	if d.Comment != "" {
		r.screen.say("\n" + strings.TrimSpace(d.Comment))
	}
	if d.Source != "" && d.Source != d.Signature {
		r.screen.say("\n" + d.Source)
	}
	return nil
}

// who lists the variables.
func (r *repl) who() {
	r.screen.Show("", cell.VariableTable(r.session.Variables(), func(number int) int { return number }).Display())
}

// reset forgets all declarations.
func (r *repl) reset(context.Context, string, cell.Output) error {
	r.cells = nil
	r.o.Journal.Clear()
	return r.session.Reset()
}

// stale lists the stale cells.
func (r *repl) stale() {
	cells := r.session.Stale()
	if len(cells) == 0 {
		r.screen.say("no cell is stale")
		return
	}
	r.screen.Show("", cell.StaleTable(cells, func(number int) int { return number }).Display())
}

// rerun runs the stale cells again, or those of a process that died, each under
// its first line, up to the first that fails.
func (r *repl) rerun(ctx context.Context, what string, _ cell.Output) error {
	var cells []cell.LostCell
	switch what {
	case "stale":
		for _, c := range r.session.Stale() {
			cells = append(cells, cell.LostCell{Number: c.Number, Text: c.Text})
		}
	case "lost":
		cells, _ = r.o.Journal.Lost()
	default:
		return fmt.Errorf("rerun %q: write \":rerun stale\" or \":rerun lost\"", what)
	}
	if len(cells) == 0 {
		r.screen.say("no cell is " + what)
	}
	r.line = 0 // faults are in the cell, not in the input
	again := func(c cell.LostCell) error {
		r.screen.say(fmt.Sprintf("cell %d again: %s", c.Number, display.Line(c.Text, 60)))
		return r.cell(ctx, c.Text)
	}
	if what == "lost" {
		return r.o.Journal.Rerun(again)
	}
	for _, c := range cells {
		if err := again(c); err != nil || r.done {
			return err
		}
	}
	return nil
}

// time runs a cell and prints how long it took, even if it failed.
func (r *repl) time(ctx context.Context, text string, _ cell.Output) error {
	begun := time.Now()
	err := r.cell(ctx, text)
	r.screen.say(fmt.Sprintf("took %v", time.Since(begun).Round(10*time.Microsecond)))
	return err
}

// separator separates cells in a saved file.
const separator = "\n\n// ---\n\n"

func (r *repl) save(_ context.Context, file string, _ cell.Output) error {
	var all strings.Builder
	for i, c := range r.cells {
		if i > 0 {
			all.WriteString(separator)
		}
		all.WriteString(strings.TrimRight(c, "\n"))
	}
	if err := os.WriteFile(file, []byte(all.String()+"\n"), 0o644); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	r.screen.say(fmt.Sprintf("wrote %d cells to %s", len(r.cells), file))
	return nil
}

// packageMain matches the beginning of a script.
var packageMain = regexp.MustCompile(`^(\s|//[^\n]*\n|/\*(?s:.*?)\*/)*package\s+main\b`)

// load runs a script, or a file of cells, one after the other.
func (r *repl) load(ctx context.Context, file string, _ cell.Output) error {
	raw, err := files.Read(file, files.MaxText)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	r.line = 0 // faults are in the file, not in the input
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	if packageMain.MatchString(text) {
		r.origins[filepath.Base(file)] = origin{text: text}
		return r.session.RunFile(ctx, file, r.screen)
	}
	for c := range strings.SplitSeq(text, separator) {
		if strings.TrimSpace(c) == "" {
			continue
		}
		if err := r.cell(ctx, c); err != nil || r.done {
			return err
		}
	}
	return nil
}

// shellGrace is how long a command may take to end after Ctrl-C.
const shellGrace = time.Second

// shellCommand runs a shell command. At a terminal the command can read from it; in
// a pipe it cannot, because the input consists of cells.
func (r *repl) shellCommand(ctx context.Context, text string) error {
	text = strings.TrimSpace(text)
	cmd := exec.CommandContext(ctx, "sh", "-c", text)
	cmd.Stdout, cmd.Stderr = r.o.Out, r.o.Err
	cmd.WaitDelay = shellGrace
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if r.o.Terminal {
		cmd.Stdin = os.Stdin
		cmd.Cancel = func() error { return nil } // the terminal has sent it the signal
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || errors.As(err, &exit) && exit.String() == "signal: interrupt" { // which may come before ctx ends
		return errInterrupted
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) { // a child goes on, as with "&"
		return fmt.Errorf("!%s: %w", text, err)
	}
	return nil
}
