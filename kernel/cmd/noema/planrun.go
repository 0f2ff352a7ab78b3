package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"noema/kernel/base/files"
	"noema/kernel/show/report"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/aot"
)

func planRunCommand(a *app) *cobra.Command {
	var f sampleFlags
	var stateFile, model string
	var seed uint64
	cmd := &cobra.Command{
		Use: "run FILE", Short: "execute a plan on a sample", Args: cobra.ExactArgs(1),
		Long: `Executes a plan of atoms with the tools of a task, without a model. The sample is the one
that the plan is from, in the order of items of its trial; another one, of --task and
--sample-id, has the task's own order. With --state the
state is kept in a file after each atom, and a plan that failed or was killed goes on at
the atom where it stopped, also after the plan was edited. Tools with effects find what
the atoms of the state have done; what tools draw at random they draw from --seed.

Executes an LWT on a sample: the model answers its steps and writes nothing of it. The
sample is the one that the LWT is from, in the order of items of its trial, or that of
--task and --sample-id. What the store has is not asked again.`,
		Example: `  noema plan run plan.json --task arithmetic --state state.json
  noema plan run lwt.json --model sim`,
		RunE: func(cmd *cobra.Command, args []string) error {
			lwt, isLWT, err := readLWT(args[0])
			if err != nil {
				return err
			}
			if isLWT {
				t, sample, err := f.checkedLWT(a, args[0], lwt, cmd.Flags().Changed("task"))
				if err != nil {
					return err
				}
				return a.runLWT(cmd.Context(), lwt, t, *sample, model)
			}
			var toolSeed *uint64
			if cmd.Flags().Changed("seed") {
				toolSeed = &seed
			}
			p, c, err := f.checkedAtoms(a, args[0], cmd.Flags().Changed("task"))
			if err != nil {
				return err
			}
			return a.runAtoms(cmd.Context(), p.plan, c, toolSeed, stateFile)
		},
	}
	f.declare(cmd, "arithmetic")
	cmd.Flags().StringVar(&stateFile, "state", "", "file that keeps the state of a plan of atoms")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "random seed of the tools (default: that of the trial that the plan is from, or 0)")
	cmd.Flags().StringVar(&model, "model", "sim", "model that answers the steps of an LWT")
	return cmd
}

// environmentTools runs tools without a record, for trying plans by hand.
type environmentTools struct{ task.Environment }

// CallTool implements methods.Toolbox.
func (e environmentTools) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	return e.Call(ctx, c)
}

// checkedLWT finds the sample that an LWT is to run on, for which it has no faults.
func (f *sampleFlags) checkedLWT(a *app, file string, lwt *anot.Plan, asked bool) (*task.Task, *task.Sample, error) {
	t, sample, err := f.lwtSample(a, lwt, asked)
	if err == nil && sample == nil {
		err = usage(errors.New("plan run: the LWT does not say which sample it is from: give --task"))
	}
	if err == nil {
		err = a.checkLWT(file, lwt, sample)
	}
	return t, sample, err
}

// checkedAtoms reads a plan of atoms without faults for the sample that it is to run on.
func (f *sampleFlags) checkedAtoms(a *app, file string, asked bool) (*atoms, chosen, error) {
	p, err := readAtoms(file)
	if err != nil {
		return nil, chosen{}, err
	}
	c, err := f.chooseSample(a, p.From, asked)
	if err != nil {
		return nil, c, err
	}
	c.named = true
	a.noteSample(c)
	if faults := p.check(c); len(faults) > 0 {
		return nil, c, a.showPlan("run plan "+file, p.plan, faults)
	}
	return p, c, nil
}

// runAtoms runs a plan of atoms on a sample.
func (a *app) runAtoms(ctx context.Context, plan aot.Plan, c chosen, seed *uint64, stateFile string) error {
	p, err := c.problem(seed)
	if err != nil {
		return err
	}
	t := *c.task
	if t.Environment, _, err = task.EnvironmentOf(t.Environment, "", p); err != nil {
		return err
	}
	return a.runPlan(ctx, plan, &t, stateFile)
}

func (a *app) runPlan(ctx context.Context, plan aot.Plan, t *task.Task, stateFile string) error {
	if t.Environment == nil {
		return usage(fmt.Errorf("run plan: task %q has no tools", t.Name))
	}
	kept, err := readState(stateFile)
	if err != nil {
		return err
	}
	tools, again := environmentTools{t.Environment}, map[int]bool{}
	var saveErr error
	options := aot.Options{Tools: toolsOf(t), State: kept}
	options.OnKept = func(kind aot.Kind, s aot.AtomState) error {
		again[s.ID] = true
		if kind != aot.Tool {
			return nil
		}
		return tools.restore(s)
	}
	options.OnAtom = func(s aot.AtomState) {
		status := string(s.Status)
		if again[s.ID] && s.Status == aot.Done {
			status = "kept"
		}
		fmt.Fprintf(a.text(), "%d  %s  %s%s\n", s.ID, status, s.Result, report.Plain(s.Error))
		kept = withAtom(kept, s)
		saveErr = errors.Join(saveErr, saveState(stateFile, kept))
	}
	state, err := aot.Execute(ctx, plan, tools, options)
	err = errors.Join(err, saveErr, saveState(stateFile, &state))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.text(), "answer  %s\n", state.Answer)
	return nil
}

// restore tells tools with effects what an atom of a kept state has done.
func (e environmentTools) restore(s aot.AtomState) error {
	if stateful, ok := e.Environment.(task.Stateful); ok {
		return stateful.Restore(methods.ToolCall{}, methods.ToolResult{Content: string(s.Result)})
	}
	return nil
}

// withAtom is the state with what became of one more atom.
func withAtom(kept *aot.State, s aot.AtomState) *aot.State {
	var atoms []aot.AtomState
	if kept != nil {
		atoms = slices.DeleteFunc(slices.Clone(kept.Atoms), func(have aot.AtomState) bool { return have.ID == s.ID })
	}
	return &aot.State{Atoms: append(atoms, s)}
}

func readState(file string) (*aot.State, error) {
	if file == "" {
		return nil, nil
	}
	raw, err := files.Read(file, files.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	var s aot.State
	var b bytes.Buffer
	if json.Compact(&b, raw) == nil { // the results in it are as the tools gave them again
		raw = b.Bytes()
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("read state %s: %w", file, err)
	}
	return &s, nil
}

// saveState replaces the file at once, so that a kill leaves the old state or
// the new one.
func saveState(file string, s *aot.State) error {
	if file == "" || s == nil {
		return nil
	}
	raw, err := plainJSON(s, "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", raw, 0o644); err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return os.Rename(file+".new", file)
}
