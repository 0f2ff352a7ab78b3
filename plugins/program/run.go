package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"noema/methods"
	"noema/methods/reply"
	"noema/plugins"
)

// maxOutput is the most that a program may print as its answer, of which the end counts.
const (
	maxOutput = 16 << 20
	maxShown  = 2000 // bytes of its standard error in an error
)

// run starts the program on the problem and returns what it printed. It ends with the program:
// whatever the program has started is killed.
func (w *world) run(ctx context.Context, p methods.Problem) ([]byte, error) {
	question, err := reply.Question(p)
	if err != nil {
		return nil, err
	}
	ctx, cancel := w.timed(ctx)
	defer cancel()
	command, err := w.command(p, question)
	if err != nil {
		return nil, err
	}
	ctx, tooMuch := context.WithCancelCause(ctx)
	defer tooMuch(nil)
	out := &bounded{limit: maxOutput, over: func() { tooMuch(fmt.Errorf("it printed more than %d MiB", maxOutput>>20)) }}
	said := &tail{limit: maxShown, folders: newFolders(w.root)}
	cmd := &exec.Cmd{Path: command[0], Args: command, Dir: w.work, Env: w.env, Stdout: out, Stderr: said, WaitDelay: 200 * time.Millisecond}
	if w.source.Program.Problem == plugins.ByStdin {
		cmd.Stdin = strings.NewReader(question)
	}
	err = plugins.RunToEnd(ctx, cmd)
	switch {
	case context.Cause(ctx) != nil:
		return nil, fmt.Errorf("run the program: %w", context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("run the program: %w%s", err, said.words())
	}
	return out.kept.Bytes(), nil
}

// timed bounds a trial as the manifest says.
func (w *world) timed(ctx context.Context) (context.Context, context.CancelFunc) {
	if t := w.source.Program.Timeout; t > 0 {
		return context.WithTimeoutCause(ctx, t, fmt.Errorf("it took longer than its timeout of %v", t))
	}
	return context.WithCancel(ctx)
}

// command is the program with the problem among its arguments, where it gets it there.
func (w *world) command(p methods.Problem, question string) ([]string, error) {
	command := append([]string(nil), w.source.Starts...)
	switch w.source.Program.Problem {
	case plugins.ByArgv:
		command = append(command, question)
	case plugins.ByEnv:
		w.env = append(w.env, "NOEMA_QUESTION="+question)
	case plugins.ByFile:
		raw, err := methods.EncodeJSON(p)
		if err == nil {
			err = os.WriteFile(filepath.Join(w.work, "problem.json"), raw, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("write the problem: %w", err)
		}
		command = append(command, "problem.json")
	}
	return w.find(command)
}

// find is a command whose program is named by its whole path.
func (w *world) find(command []string) ([]string, error) {
	path := command[0]
	if strings.ContainsRune(path, filepath.Separator) && !filepath.IsAbs(path) {
		path = filepath.Join(w.work, path)
	} else if found, err := exec.LookPath(path); err == nil {
		path = found
	} else {
		return nil, fmt.Errorf("find the program: %w: is it installed, or made by \"noema plugin build\"?", err)
	}
	return append([]string{path}, command[1:]...), nil
}

// bounded keeps what is written up to a limit.
type bounded struct {
	kept  bytes.Buffer // a field, since as a part of bounded its own ways of reading would pass Write by
	limit int
	over  func()
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > b.limit {
		b.over()
		return 0, errors.New("too much output")
	}
	return b.kept.Write(p)
}

// tail hands what is written on to this process's standard error, which is the trial's, and
// keeps the end.
type tail struct {
	limit   int
	folders folders
	last    []byte
}

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	_, _ = os.Stderr.Write(p)
	t.last = append(t.last, p...)
	if len(t.last) > t.limit {
		t.last = append([]byte(nil), t.last[len(t.last)-t.limit:]...)
	}
	return len(p), nil
}

// words are the line that says why, and the last lines, for an error.
func (t *tail) words() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.folders.taken(t.last)), ""))
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	why := lines[len(lines)-1]
	for _, line := range lines { // Node says more after it
		if raised.MatchString(line) {
			why = line
		}
	}
	return ": " + strings.TrimSpace(why) + "\nthe end of its standard error:\n" + text
}

// raised is the line of an error that nobody caught, as Python and Node write it.
var raised = regexp.MustCompile(`^(Uncaught )?[\w.]*(Error|Exception)\b`)
