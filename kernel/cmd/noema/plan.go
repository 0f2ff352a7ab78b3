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

	"noema/cache"
	"noema/kernel/display"
	"noema/kernel/files"
	"noema/kernel/record"
	"noema/kernel/report"
	"noema/kernel/runner"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/aot"
)

func planCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "plan", Short: "show, edit and run AoT plans without a model", RunE: helpOnly,
		Long: `A plan is JSON: atoms, each one operation with its arguments and dependencies.
"plan export" writes the one of a trial to a file, which can be edited, drawn and run.`,
	}
	cmd.AddCommand(planShowCommand(a), planExportCommand(a), planRunCommand(a))
	return cmd
}

// loadPlan reads a plan and lists its faults, given the tools of a sample.
func loadPlan(file string, t *task.Task) (aot.Plan, []aot.Fault, error) {
	raw, err := files.Read(file, files.MaxConfig)
	if err != nil {
		return aot.Plan{}, nil, usage(fmt.Errorf("read plan: %w", err))
	}
	if err := isObject(file, raw); err != nil {
		return aot.Plan{}, nil, usage(fmt.Errorf("read plan: %w", err))
	}
	plan, faults := aot.ParsePlan(raw)
	return plan, aot.Faults(faults, aot.Validate(plan, toolsOf(t), methods.AnswerSpec{})), nil
}

// isObject refuses a file that holds another JSON value than an object.
func isObject(file string, raw []byte) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil // whoever parses it says where it is wrong
	}
	if _, ok := value.(map[string]any); !ok {
		return fmt.Errorf("%s: want a JSON object, in braces", file)
	}
	return nil
}

func toolsOf(t *task.Task) []methods.ToolSpec {
	if t.Environment == nil {
		return nil
	}
	return t.Environment.Tools()
}

func planShowCommand(a *app) *cobra.Command {
	var f sampleFlags
	var dot, mermaid bool
	cmd := &cobra.Command{
		Use: "show FILE", Short: "list a plan's atoms and faults, or draw it", Args: cobra.ExactArgs(1),
		Example: `  noema plan show plan.json
  noema plan show plan.json --dot`,
		RunE: func(_ *cobra.Command, args []string) error {
			t, _, err := f.open(a)
			if err != nil {
				return err
			}
			plan, faults, err := loadPlan(args[0], t)
			if err != nil {
				return err
			}
			switch {
			case dot:
				fmt.Fprint(a.stdout, display.Draw(plan.Graph()).DOT())
				return nil
			case mermaid:
				fmt.Fprint(a.stdout, display.Draw(plan.Graph()).Mermaid())
				return nil
			}
			return a.showPlan(plan, faults)
		},
	}
	f.declare(cmd, "arithmetic")
	cmd.Flags().BoolVar(&dot, "dot", false, "draw it for Graphviz")
	cmd.Flags().BoolVar(&mermaid, "mermaid", false, "draw it as a Mermaid flowchart")
	cmd.MarkFlagsMutuallyExclusive("dot", "mermaid")
	return cmd
}

func (a *app) showPlan(plan aot.Plan, faults []aot.Fault) error {
	for _, atom := range plan.Atoms {
		input, err := plainJSON(atom.Input, "")
		if err != nil {
			return err
		}
		fmt.Fprintf(a.text(), "%d  %s %s %s", atom.ID, atom.Kind, atom.Name, bytes.TrimSpace(input))
		if len(atom.DependsOn) > 0 {
			fmt.Fprintf(a.text(), "  after %v", atom.DependsOn)
		}
		fmt.Fprintln(a.text())
	}
	for _, fault := range faults {
		fmt.Fprintln(a.text(), "fault:", fault)
	}
	if len(faults) > 0 {
		return fmt.Errorf("show plan: %s", report.Plural(len(faults), "fault"))
	}
	return nil
}

// plainJSON writes JSON for people: references such as <result_of_1> stay as
// they are.
func plainJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}

func planExportCommand(a *app) *cobra.Command {
	var trial, out string
	cmd := &cobra.Command{
		Use: "export RUN --trial METHOD/SAMPLE", Short: "write the plan that a trial ran", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		Example: "  noema plan export last --trial aot/L3-05 --out plan.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if trial == "" {
				return usage(errors.New("plan export needs --trial METHOD/SAMPLE"))
			}
			return a.withStore(cmd.Context(), func(store *cache.Store) error {
				run, err := runner.FindRun(cmd.Context(), store, args[0])
				if err != nil {
					return err
				}
				raw, err := trialPlan(cmd.Context(), store, run, trial)
				if err != nil {
					return err
				}
				return a.write(out, raw)
			})
		},
	}
	cmd.Flags().StringVar(&trial, "trial", "", "METHOD/SAMPLE or METHOD/SAMPLE/EPOCH")
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return cmd
}

// trialPlan finds the plan in a trial's events: the last, if it was made anew.
func trialPlan(ctx context.Context, store *cache.Store, run *record.Run, name string) ([]byte, error) {
	id, err := run.FindTrial(name)
	if err != nil {
		return nil, usage(err)
	}
	raw, err := store.Trial(ctx, run.ID, id.String())
	if err != nil {
		return nil, fmt.Errorf("read trial %s: %w", id, err)
	}
	t, err := record.UnmarshalTrial(raw)
	if err != nil {
		return nil, err
	}
	for i := len(t.Events) - 1; i >= 0; i-- {
		if e := t.Events[i]; e.Kind == methods.Plan && len(e.Data) > 0 {
			plan, faults := aot.ParsePlan(e.Data)
			if len(faults) > 0 {
				return nil, fmt.Errorf("export plan of %s: the trial has no valid plan of atoms: %s", id, faults[0])
			}
			return plainJSON(plan, "  ")
		}
	}
	return nil, fmt.Errorf("export plan of %s: the trial made no plan: only plans of aot can be exported", id)
}

func planRunCommand(a *app) *cobra.Command {
	var f sampleFlags
	var stateFile string
	cmd := &cobra.Command{
		Use: "run FILE", Short: "execute a plan without a model", Args: cobra.ExactArgs(1),
		Long: `Executes a plan with the tools of a task; tools that read a problem's items read
those of the sample, in the task's own order. With --state the state is kept in a file
after each atom, and a plan that failed or was killed goes on at the atom where it
stopped, also after the plan was edited.`,
		Example: "  noema plan run plan.json --task arithmetic --state state.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			t, sample, err := f.open(a)
			if err != nil {
				return err
			}
			plan, faults, err := loadPlan(args[0], t)
			if err != nil {
				return err
			}
			if len(faults) > 0 {
				return a.showPlan(plan, faults)
			}
			p, _, err := sample.Present(0, false)
			if err != nil {
				return err
			}
			if t.Environment, _, err = task.EnvironmentOf(t.Environment, "", p); err != nil {
				return err
			}
			return a.runPlan(cmd.Context(), plan, t, stateFile)
		},
	}
	f.declare(cmd, "arithmetic")
	cmd.Flags().StringVar(&stateFile, "state", "", "file that keeps the state")
	return cmd
}

// environmentTools runs tools without a record, for trying plans by hand.
type environmentTools struct{ task.Environment }

// CallTool implements methods.Toolbox.
func (e environmentTools) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	return e.Call(ctx, c)
}

func (a *app) runPlan(ctx context.Context, plan aot.Plan, t *task.Task, stateFile string) error {
	if t.Environment == nil {
		return usage(fmt.Errorf("run plan: task %q has no tools", t.Name))
	}
	kept, err := readState(stateFile)
	if err != nil {
		return err
	}
	before := map[int]aot.AtomState{}
	if kept != nil {
		for _, s := range kept.Atoms {
			before[s.ID] = s
		}
	}
	var saveErr error
	options := aot.Options{Tools: toolsOf(t), State: kept, OnAtom: func(s aot.AtomState) {
		status := string(s.Status)
		if was := before[s.ID]; was.Status == aot.Done && was.Digest == s.Digest {
			status = "kept"
		}
		fmt.Fprintf(a.text(), "%d  %s  %s%s\n", s.ID, status, s.Result, report.Plain(s.Error))
		kept = withAtom(kept, s)
		saveErr = errors.Join(saveErr, saveState(stateFile, kept))
	}}
	state, err := aot.Execute(ctx, plan, environmentTools{t.Environment}, options)
	err = errors.Join(err, saveErr, saveState(stateFile, &state))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.text(), "answer  %s\n", state.Answer)
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
