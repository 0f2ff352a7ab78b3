package program

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
	"noema/plugins"
)

// warm is a process that has loaded a program and gives each trial a copy of itself, for a
// manifest with a line "solve". What the program does while it is loaded belongs to no trial:
// it can call no model then, and its numbers come from the same seed in every execution.
type warm struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// load starts the process, unless it lives.
func (m *Method) load(ctx context.Context, w *world) error {
	if m.warm != nil {
		return nil
	}
	command, err := w.find(m.source.Starts)
	if err != nil {
		return err
	}
	file := slices.IndexFunc(command, func(word string) bool { return filepath.Ext(word) == ".py" }) // the manifest was checked
	command = slices.Insert(command, file, filepath.Join(m.scratch, "numbering", "solver.py"))
	command = slices.Insert(command, file+2, m.source.Program.Solve)
	s := &warm{cmd: &exec.Cmd{Path: command[0], Args: command, Dir: w.work, Stderr: os.Stderr}}
	s.cmd.Env = append(slices.Clone(w.env), "NOEMA_SEED=0", "PYTHONHASHSEED=0")
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		s.in, err = s.cmd.StdinPipe()
	}
	if err == nil {
		err = plugins.Start(s.cmd)
	}
	if err != nil {
		return fmt.Errorf("load the program: %w", err)
	}
	s.out = bufio.NewReader(out)
	m.warm = s
	said, err := m.say(ctx, nil)
	var failure string
	if err == nil {
		err = json.Unmarshal([]byte(said), &failure)
	}
	if err == nil && failure != "" {
		err = errors.New(strings.ToValidUTF8(strings.TrimSpace(failure), "�"))
	}
	if err != nil {
		m.cool()
		return fmt.Errorf("load the program: %w", errors.Join(context.Cause(ctx), err))
	}
	return nil
}

// say sends the process a line, and returns the one that it answers. When ctx ends the
// process does.
func (m *Method) say(ctx context.Context, line []byte) (string, error) {
	defer context.AfterFunc(ctx, func() { plugins.EndGroup(m.warm.cmd.Process.Pid) })()
	if len(line) > 0 {
		if _, err := m.warm.in.Write(append(line, '\n')); err != nil {
			return "", err
		}
	}
	said, err := m.warm.out.ReadString('\n')
	return strings.TrimSpace(said), err
}

// cool ends the process.
func (m *Method) cool() {
	plugins.EndGroup(m.warm.cmd.Process.Pid)
	_ = m.warm.cmd.Wait() // it was killed
	plugins.EndOthers(0)
	m.warm = nil
}

// call calls the program's function on the problem, in a copy of the process, and returns what
// it returned.
func (m *Method) call(ctx context.Context, w *world, p methods.Problem) ([]byte, error) {
	ctx, cancel := w.timed(ctx)
	defer cancel()
	question, err := reply.Question(p)
	if err != nil {
		return nil, err
	}
	result := filepath.Join(w.root, "result")
	trial := map[string]any{"env": variablesOf(w.env), "dir": w.work, "problem": any(question), "result": result}
	if w.source.Program.Problem == plugins.ByFile {
		trial["problem"] = p
	}
	said, err := m.say(ctx, encode(trial))
	if err != nil {
		m.cool()
		return nil, fmt.Errorf("run the program: %w", errors.Join(context.Cause(ctx), err))
	}
	plugins.EndOthers(m.warm.cmd.Process.Pid)
	return returned(result, said, newFolders(w.root))
}

// returned reads what the function returned.
func returned(path, ended string, named folders) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("run the program: it ended with status %s before its function returned", ended)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxOutput+1))
	var result struct{ Answer, Error string }
	switch {
	case err != nil:
		return nil, fmt.Errorf("run the program: %w", err)
	case len(raw) > maxOutput:
		return nil, fmt.Errorf("run the program: it returned more than %d MiB", maxOutput>>20)
	case json.Unmarshal(raw, &result) != nil:
		return nil, errors.New("run the program: what it returned was not written whole")
	case result.Error != "":
		return nil, fmt.Errorf("run the program: %s", strings.ToValidUTF8(strings.TrimSpace(string(named.taken([]byte(result.Error)))), "�"))
	}
	return []byte(result.Answer), nil
}

// variablesOf are an environment's variables by their names; of two of a name the last counts.
func variablesOf(env []string) map[string]string {
	all := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	return all
}
