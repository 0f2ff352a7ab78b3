package runner

import (
	"slices"

	"noema/kernel/base/score"
	"noema/kernel/model/provider"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/methods"
)

// Summary is a run in numbers: what compare and replay print as one JSON
// object. Its fields are stable; new ones may be added.
type Summary struct {
	Run           string `json:"run"`
	RootHash      string `json:"root_hash"`          // empty while the run is unfinished, and of an imported run
	Imported      string `json:"imported,omitempty"` // the file that an imported run is from: no call of it is recorded
	Status        string `json:"status"`
	ProviderCalls int    `json:"provider_calls"` // of this execution: answered by the provider
	ToolRuns      int    `json:"tool_runs"`      // of this execution: tools that ran
	CachedCalls   int    `json:"cached_calls"`   // of this execution: answered by the store
	// FailedAttempts are the requests of this execution that got no answer,
	// though they may have been paid for.
	FailedAttempts int    `json:"failed_attempts,omitempty"`
	SharedCalls    int    `json:"shared_calls"` // distinct completions that more than one method used
	Model          string `json:"model"`
	Simulated      bool   `json:"simulated"` // the numbers say nothing about language models
	Task           string `json:"task"`
	Samples        int    `json:"samples"`
	Unscored       int    `json:"unscored,omitempty"` // of the samples: without a target, so in no metric
	Epochs         int    `json:"epochs"`
	Seed           uint64 `json:"seed"`

	Chance   map[string]float64 `json:"chance"`             // what guessing earns, by metric, where that is defined
	Majority map[string]float64 `json:"majority,omitempty"` // what always naming the most frequent label earns
	Methods  []MethodSummary    `json:"methods"`            // in the order asked for
	Notes    []string           `json:"notes,omitempty"`    // on the task and the run
	Remarks  []string           `json:"remarks,omitempty"`  // on the numbers, such as which trials are left out

	// Of the simulated model: how many of the prompts it did not understand.

	Prompts       int `json:"prompts,omitempty"`
	NotUnderstood int `json:"not_understood,omitempty"`

	// Answers are those to the first samples without a target, at most [MaxAsked].
	Answers []Asked `json:"answers,omitempty"`

	// Comparison is where the numbers come from.
	Comparison *compare.Comparison `json:"-"`
}

// MethodSummary is one method of a run in numbers: those of
// [compare.MethodStats] that most readers want, in short.
type MethodSummary struct {
	Method   string                  `json:"method"`
	Version  string                  `json:"version"`
	Data     string                  `json:"data,omitempty"` // what it works on, as in [record.Method]
	N        int                     `json:"n"`              // scored samples with a trial that did not fail
	Trials   int                     `json:"trials"`         // finished trials
	Failed   int                     `json:"failed"`         // of those, failed by plugin, provider or time: left out of the metrics
	Outcomes map[methods.Outcome]int `json:"outcomes"`
	Repaired int                     `json:"repaired,omitempty"` // of those answered: read from another form than the one asked for
	Causes   []compare.Cause         `json:"causes,omitempty"`   // of the outcomes other than answered, most frequent first
	Metrics  map[string]score.Metric `json:"metrics"`
	Usage    compare.Usage           `json:"usage"` // totals over the trials that did not fail, as charged, and over the seeds
	Hops     *compare.PerHop         `json:"per_hop,omitempty"`
	Seeds    *compare.SeedUse        `json:"seeds,omitempty"`
}

// Summarize computes the summary of a result.
func Summarize(r *Result) (*Summary, error) {
	m, err := compare.FromRuns([]*compare.Recorded{&r.Recorded}, false)
	if err != nil {
		return nil, err
	}
	c, err := compare.Describe(m.Data, compare.Options{Design: m.Design()})
	if err != nil {
		return nil, err
	}
	c.Notes = slices.Concat(m.Lacks(), c.Notes, m.Reach())
	return SummaryOf(r, c), nil
}

// SeedUse is what the method seeds of each method of r took; a method without has none.
func (r *Result) SeedUse() map[string]*compare.SeedUse {
	var d compare.Data
	d.AddSeeds(func(_ *record.Run, label string) string { return label }, r.Run)
	trials, uses := map[string]int{}, map[string]*compare.SeedUse{}
	for _, t := range r.Trials {
		if !t.Infra {
			trials[t.ID.Method]++
		}
	}
	for label, seeds := range d.Seeds {
		uses[label] = compare.SeedsOf(seeds, trials[label])
	}
	return uses
}

// SummaryOf is the summary of a result whose methods c describes or compares.
func SummaryOf(r *Result, c *compare.Comparison) *Summary {
	run := r.Run
	s := &Summary{
		Run: run.ID, RootHash: run.Root, Status: string(run.Status),
		ProviderCalls: r.NewCalls, ToolRuns: r.ToolRuns, CachedCalls: r.CachedCalls, FailedAttempts: r.FailedAttempts, SharedCalls: run.Calls.Shared,
		Model: run.Config.Model.ID.String(), Simulated: run.Config.Model.Simulated, Task: run.Config.Task.String(),
		Samples: len(run.Config.Task.Samples), Unscored: c.Unscored, Answers: asked(r), Epochs: run.Config.Epochs, Seed: run.Config.Seed,
		Chance: c.Chance, Majority: c.Majority, Notes: slices.Clone(run.Notes), Remarks: c.Notes, Comparison: c,
	}
	if run.Imported != nil {
		s.Imported = run.Imported.File
	}
	if prompts, unknown := NotUnderstood(r.Trials); unknown > 0 {
		s.Prompts, s.NotUnderstood = prompts, unknown
	}
	for i, m := range c.Methods {
		short := MethodSummary{
			Method: m.Method, Version: run.Config.Methods[i].Version, Data: run.Config.Methods[i].Data, N: m.N, Trials: m.Trials, Failed: m.Failed,
			Outcomes: m.Outcomes, Repaired: m.Repaired, Causes: m.Causes, Metrics: map[string]score.Metric{}, Usage: m.Total, Hops: m.Hops, Seeds: m.Seeds,
		}
		for name, merit := range m.Metrics {
			short.Metrics[name] = merit.Value
		}
		s.Methods = append(s.Methods, short)
	}
	return s
}

// NotUnderstood counts the prompts of trials and those of them that the simulated
// model did not understand. It tells them by the digest of their response, so that
// it counts the same in a stored run and in a replay.
func NotUnderstood(trials []*record.Trial) (prompts, notUnderstood int) {
	unknown := record.Used("", record.ResponseDigest(methods.Completion{Text: provider.NotUnderstood, Finish: methods.FinishStop}))
	for _, t := range trials {
		for _, used := range t.Facts().Completions {
			prompts++
			if used[16:] == unknown[16:] {
				notUnderstood++
			}
		}
	}
	return prompts, notUnderstood
}
