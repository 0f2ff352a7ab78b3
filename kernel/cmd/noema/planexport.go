package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/session/builtin"
	"noema/methods/plans"
)

func planExportCommand(a *app) *cobra.Command {
	var trial, key, out string
	cmd := &cobra.Command{
		Use: "export RUN", Short: "write the plan that a trial ran, or the Formula Seed of a run", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		Example: `  noema plan export last --trial aot/L3-05 --out plan.json
  noema plan export last --key 3f2a --out allergy.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, run, err := a.findRun(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			var p plans.File
			if trial != "" {
				p, err = trialPlan(cmd.Context(), store, run, trial)
			} else {
				p, err = oneCompiled(cmd.Context(), store, run, key)
			}
			if err != nil {
				return fmt.Errorf("export plan: %w", err)
			}
			raw, err := p.Encode()
			if err != nil {
				return err
			}
			return a.write(out, raw)
		},
	}
	cmd.Flags().StringVar(&trial, "trial", "", "METHOD/SAMPLE or METHOD/SAMPLE/EPOCH")
	cmd.Flags().StringVar(&key, "key", "", "the beginning of the Formula Seed's key, where the run has several")
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	cmd.MarkFlagsMutuallyExclusive("trial", "key")
	return cmd
}

// trialPlan finds the plan in a trial's events, and says where it is from.
func trialPlan(ctx context.Context, store *cache.Store, run *record.Run, name string) (plans.File, error) {
	t, err := oneTrial(ctx, store, run, name)
	if err != nil {
		return nil, err
	}
	for _, m := range builtin.Planners() {
		traced, ok := m.(plans.Tracer)
		if !ok {
			continue
		}
		p, err := traced.PlanOf(t.Events)
		if err != nil {
			return nil, fmt.Errorf("trial %s: %w", t.ID, err)
		}
		if p != nil {
			return p, setOrigin(ctx, store, run, t, p)
		}
	}
	return nil, fmt.Errorf("trial %s made no plan (outcome %s: %s): aot makes plans of atoms and anot LWTs; the Formula Seeds of a run need no --trial",
		t.ID, t.Answer.Outcome, cmp.Or(t.Answer.Reason, "no reason"))
}

// setOrigin says which trial a plan is from.
func setOrigin(ctx context.Context, store *cache.Store, run *record.Run, t *record.Trial, p plans.File) error {
	from := &plans.Origin{Run: run.ID, Task: run.Config.Task.String(), Sample: t.ID.Sample, Seed: t.Seed}
	for _, m := range run.Config.Methods {
		if m.Label == t.ID.Method {
			from.Options, from.Shuffle = m.Options, m.Shuffle
		}
	}
	if run.Config.Sampling != (record.Sampling{}) {
		var err error
		if from.Sampling, err = json.Marshal(run.Config.Sampling); err != nil {
			return err
		}
	}
	stored, err := runner.LoadTask(ctx, store, run)
	if err != nil {
		return err
	}
	query := ""
	for _, s := range stored.Samples {
		if s.ID == t.ID.Sample {
			query = s.Problem.Query
		}
	}
	p.SetOrigin(from, query)
	return nil
}

// showCompiled lists what a run compiled, or draws one of it.
func (a *app) showCompiled(ctx context.Context, name, key string, d drawFlags) error {
	store, run, err := a.findRun(ctx, name)
	if err != nil {
		return err
	}
	if d.dot || d.mermaid {
		p, err := oneCompiled(ctx, store, run, key)
		if err != nil {
			return fmt.Errorf("show plan: %w", err)
		}
		d.draw(a, p.Graph())
		return nil
	}
	if len(run.Seeds) == 0 {
		fmt.Fprintf(a.stdout, "run %s used no method seeds\n", run.ID)
	}
	users, err := seedUsers(ctx, store, run)
	if err != nil {
		return err
	}
	for _, s := range run.Seeds {
		fmt.Fprintf(a.text(), "%.12s  %s of %s%s, calls to build: %d\n", s.Key, s.Kind, s.Method, usedBy(users[s.Key]), s.Usage.Calls)
		p, err := compiled(ctx, store, s)
		if err != nil {
			fmt.Fprintf(a.text(), "  %v\n", err)
			continue
		}
		for _, line := range p.Lines() {
			fmt.Fprintf(a.text(), "  %s\n", line)
		}
	}
	return nil
}

// seedUsers lists the samples whose trials used a seed, by its key.
func seedUsers(ctx context.Context, store *cache.Store, run *record.Run) (map[string][]string, error) {
	if len(run.Seeds) == 0 {
		return nil, nil
	}
	r, err := runner.LoadResult(ctx, store, run, false)
	if err != nil {
		return nil, err
	}
	users := map[string][]string{}
	for _, t := range r.Trials {
		for _, c := range t.Calls {
			if c.Kind == record.SeedCall && !slices.Contains(users[c.Key], t.ID.Sample) {
				users[c.Key] = append(users[c.Key], t.ID.Sample)
			}
		}
	}
	return users, nil
}

// usedBy names the first samples of a list.
func usedBy(samples []string) string {
	const shown = 3
	switch n := len(samples); {
	case n == 0:
		return ""
	case n > shown:
		return fmt.Sprintf(" for %s and %d more", strings.Join(samples[:shown], ", "), n-shown)
	}
	return " for " + strings.Join(samples, ", ")
}

// errNotPlan says that a seed cannot be read by people.
var errNotPlan = errors.New("not a plan that can be shown or run by hand")

// compiled is the plan in a method seed.
func compiled(ctx context.Context, store *cache.Store, s record.Seed) (plans.File, error) {
	for _, m := range builtin.Planners() {
		c, ok := m.(plans.Compiler)
		if !ok {
			continue
		}
		key, err := cache.ParseKey(s.Key)
		if err != nil {
			return nil, err
		}
		rec, err := store.Seed(ctx, key)
		if err != nil {
			return nil, err
		}
		if p, err := c.PlanOfSeed(s.Kind, rec.Data); p != nil || err != nil {
			return p, err
		}
	}
	return nil, fmt.Errorf("a seed of kind %q is %w", s.Kind, errNotPlan)
}

// oneCompiled is the plan in the run's seed whose key begins with key.
func oneCompiled(ctx context.Context, store *cache.Store, run *record.Run, key string) (plans.File, error) {
	var found []plans.File
	var failed error
	for _, s := range run.Seeds {
		if !strings.HasPrefix(s.Key, key) {
			continue
		}
		p, err := compiled(ctx, store, s)
		switch {
		case errors.Is(err, errNotPlan):
		case err != nil:
			failed = err
		default:
			found = append(found, p)
		}
	}
	switch lists := fmt.Sprintf("\"noema plan show %s\" lists them", run.ID); {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, usage(fmt.Errorf("run %s has %d Formula Seeds to choose from: name one with --key, %s", run.ID, len(found), lists))
	case failed != nil:
		return nil, failed
	case key != "":
		return nil, usage(fmt.Errorf("run %s has no Formula Seed whose key begins with %q: %s", run.ID, key, lists))
	}
	return nil, usage(fmt.Errorf("run %s used no Formula Seed: name a trial of aot or anot with --trial METHOD/SAMPLE", run.ID))
}
