package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"noema/cache"
	"noema/kernel/base/display"
	"noema/kernel/model/provider"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

// Crediting says which interventions a method's recorded calls meet, and how they
// are compared.
type Crediting struct {
	By      string   `json:"by" part:"credit" default:"phase" choices:"phase,path" doc:"intervene on whole phases, the first part of call paths, or on single call paths"`
	At      []string `json:"at" part:"credit" doc:"only these phases or call paths, as in P1,P3 (default: all)"`
	With    []string `json:"with" part:"credit" default:"drop,swap,resample,truth" doc:"interventions: drop (an empty reply), swap (the reply from another sample), resample (another draw), truth (the right reply)"`
	Model   string   `json:"run-model" part:"credit" doc:"the run's model, where its record does not say how to open it, as in scripted/replies.yaml"`
	Metrics []string `json:"metric" part:"credit" doc:"measure (default: the task's headline)"`
}

// Credit is what the steps of a method earn: shown, it is a table.
type Credit struct {
	*compare.Credit
	Of        string  `json:"of"`        // the run whose calls met the interventions
	Simulated bool    `json:"simulated"` // the numbers say nothing about language models
	Result    *Result `json:"-"`         // the trials: the method as it is, and each intervention as a method of its own
	drawn     *record.Trial
}

// Display implements [Displayer].
func (c *Credit) Display() Bundle { return c.Sheet().Display() }

// Sheet is the credit as a table with text around it.
func (c *Credit) Sheet() report.Sheet { return report.CreditSheet(c.Credit, c.Of, c.Simulated) }

// Graph is the method's own graph of its first trial, with the effect of each place
// in place of what came of it.
func (c *Credit) Graph() Displayer { return display.Draw(report.CreditGraph(c.Credit, c.drawn)) }

// truthModel knows the right replies where a generated task does: it reads its
// questions with the task's own code, and makes no errors.
const truthModel = "sim?error=0"

func (l *Lab) truth() (provider.Provider, error) { return l.Model(truthModel, false, 0) }

// varied is the run itself or, of interventions, the run that they vary.
func (r *Result) varied() (*Result, error) {
	if !r.Run.Config.Varied() {
		return r, nil
	}
	return r.lab.Load(r.Run.Parent)
}

// CreditEstimate says what [Result.Credit] would ask the provider for, and what is
// left out.
func (r *Result) CreditEstimate(method string, o Crediting, how Experiment) (*runner.Estimate, []string, error) {
	r, err := r.varied()
	if err != nil {
		return nil, nil, err
	}
	how.Cache = string(gateway.Replay) // no key is needed to look
	s, notes, err := r.design(method, &o, how)
	if err != nil {
		return nil, nil, err
	}
	store, err := r.lab.Store()
	if err != nil {
		return nil, nil, err
	}
	found, trials, err := s.EstimateAgain(r.lab.o.Context(), store, runner.Quiet{}, r.Result)
	if err != nil {
		return nil, nil, err
	}
	return found, append(notes, r.unlike(trials)...), nil
}

// Credit answers calls of the method in r in other ways, phase by phase, and
// compares each with the method as it was. Calls that do not depend on the replaced
// ones come from the store; how says how the others are made.
func (r *Result) Credit(method string, o Crediting, how Experiment) (*Credit, error) {
	r, err := r.varied()
	if err != nil {
		return nil, err
	}
	s, notes, err := r.design(method, &o, how)
	if err != nil {
		return nil, err
	}
	made, err := watched(r.lab, func(ctx context.Context, store *cache.Store, observe runner.Observer) (*runner.Result, error) {
		return s.Again(ctx, store, observe, r.Result)
	})
	if err != nil {
		return nil, err
	}
	c, err := r.lab.newResult(made, nil).Effects(o)
	if err != nil {
		return nil, err
	}
	c.Notes = append(append(notes, r.unlike(made.Trials)...), c.Notes...)
	return c, nil
}

// Effects computes the credit from a run of interventions that was made before.
func (r *Result) Effects(o Crediting) (*Credit, error) {
	found, err := compare.CreditOf(r.Run, r.Samples(), r.Result.Trials, compare.Options{}, o.Metrics...)
	if err != nil {
		return nil, Misused(err)
	}
	c := &Credit{Credit: found, Of: r.Run.Parent, Simulated: r.Run.Config.Model.Simulated, Result: r}
	i := slices.IndexFunc(r.Result.Trials, func(t *record.Trial) bool {
		_, drawn := report.GraphOf(t)
		return drawn && t.ID.Method == found.Method
	})
	if i >= 0 {
		c.drawn = r.Result.Trials[i]
	}
	return c, nil
}

// unlike says how many trials of the method as it is are not what they were: then an
// effect holds that chance, or that change of code, too.
func (r *Result) unlike(again []*record.Trial) []string {
	was := map[record.TrialID]*record.Trial{}
	for _, t := range r.Result.Trials {
		was[t.ID] = t
	}
	n, all, where := 0, 0, ""
	for _, t := range again {
		before := was[t.ID]
		if before == nil || before.Infra {
			continue
		}
		if all++; before.Hash != t.Hash {
			n++
			if d := record.FirstDivergence(before, t); d != nil {
				where = cmp.Or(where, d.String())
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the method is not deterministic, or has changed: repeated from the store, %d of %d trials are not what they were (%s): effects hold that difference, too; see \"noema plugin replay\"", n, all, where)}
}
