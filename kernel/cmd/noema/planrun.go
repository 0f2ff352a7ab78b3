package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"noema/kernel/base/files"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/plans"
)

func planRunCommand(a *app) *cobra.Command {
	var f sampleFlags
	var stateFile, model string
	var seed uint64
	cmd := &cobra.Command{
		Use: "run FILE", Short: "execute a plan on a sample", Args: cobra.ExactArgs(1),
		Long: `Executes a plan on a sample: the one that it is from, in the order of items of its trial,
or that of --task and --sample-id, in the task's own order.

Atoms run with the tools of the task, without a model. With --state the state is kept in
a file after each atom, and a plan that failed or was killed goes on at the atom where it
stopped, also after the plan was edited. Tools with effects find what the atoms of the
state have done; what tools draw at random they draw from --seed.

The steps of an LWT and the extractions of a Formula Seed ask a model, which writes nothing
of the plan. What the store has is not asked again.`,
		Example: `  noema plan run plan.json --state state.json
  noema plan run lwt.json --model sim
  noema plan run allergy.json --task policy --sample-id allergy-001`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readPlan(args[0])
			if err != nil {
				return err
			}
			asked := cmd.Flags().Changed("task")
			if p.Origin() == nil && !asked {
				return usage(errors.New("plan run: the plan does not say which sample it is from: give --task"))
			}
			c, err := f.checked(a, "run", args[0], p, asked)
			if err != nil {
				return err
			}
			if p.NeedsModel() {
				return a.runAsking(cmd.Context(), p, c, model)
			}
			var toolSeed *uint64
			if cmd.Flags().Changed("seed") {
				toolSeed = &seed
			}
			return a.runAlone(cmd.Context(), p, c, toolSeed, stateFile)
		},
	}
	f.declare(cmd)
	cmd.Flags().StringVar(&stateFile, "state", "", "file that keeps the state of a plan of atoms")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "random seed of the tools (default: that of the trial that the plan is from, or 0)")
	cmd.Flags().StringVar(&model, "model", "sim", "model that answers")
	return cmd
}

// environmentTools runs tools without a record, for trying plans by hand.
type environmentTools struct{ task.Environment }

// CallTool implements methods.Toolbox.
func (e environmentTools) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	return e.Call(ctx, c)
}

// toolHost is the Host of a plan that asks no model.
type toolHost struct {
	methods.Host // nil
	tools        environmentTools
}

// CallTool implements methods.Toolbox.
func (h toolHost) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	return h.tools.CallTool(ctx, c)
}

// runAsking runs a plan whose steps ask a model.
func (a *app) runAsking(ctx context.Context, p plans.File, c *chosen, model string) error {
	by := byHand{task: c.task, sample: c.sample, model: model, name: "plan"}
	if c.own() {
		by.seed, by.shuffle = &c.from.Seed, c.from.Shuffle
		if len(c.from.Sampling) > 0 {
			if err := json.Unmarshal(c.from.Sampling, &by.sampling); err != nil {
				return fmt.Errorf("read the plan's sampling: %w", err)
			}
		}
	}
	return a.runByHand(ctx, by, func(ctx context.Context, problem methods.Problem, h methods.Host) (methods.Answer, error) {
		return p.Run(ctx, problem, h, nil)
	})
}

// runAlone runs a plan with the task's tools alone.
func (a *app) runAlone(ctx context.Context, plan plans.File, c *chosen, seed *uint64, stateFile string) error {
	p, err := c.problem(seed)
	if err != nil {
		return err
	}
	env, _, err := task.EnvironmentOf(c.task.Environment, "", p)
	if err != nil {
		return err
	}
	if env == nil {
		return usage(fmt.Errorf("run plan: task %q has no tools", c.task.Name))
	}
	p.Tools = env.Tools()
	kept := &plans.Kept{
		Save: func(state []byte) error { return saveState(stateFile, state) },
		Step: func(line string) { fmt.Fprintln(a.text(), line) },
		Restore: func(r methods.ToolResult) error {
			if stateful, ok := env.(task.Stateful); ok {
				return stateful.Restore(methods.ToolCall{}, r)
			}
			return nil
		},
	}
	if stateFile != "" {
		kept.State, err = files.Read(stateFile, files.MaxConfig)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read state: %w", err)
		}
	}
	answer, err := plan.Run(ctx, p, toolHost{tools: environmentTools{env}}, kept)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.text(), "answer  %s\n", answer.Value)
	return nil
}

// saveState keeps the state of a plan, if a file is named.
func saveState(file string, state []byte) error {
	if file == "" {
		return nil
	}
	if err := files.Write(file, state, 0o644); err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}
