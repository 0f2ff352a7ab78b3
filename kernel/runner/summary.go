package runner

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"noema/kernel/provider"
	"noema/kernel/record"
	"noema/kernel/score"
	"noema/kernel/task"
	"noema/methods"
)

// Summary is a run in numbers: what compare and replay print as one JSON
// object. Its fields are stable; new ones may be added.
type Summary struct {
	Run           string `json:"run"`
	RootHash      string `json:"root_hash"` // empty while the run is unfinished
	Status        string `json:"status"`
	ProviderCalls int    `json:"provider_calls"` // of this execution: answered by the provider
	ToolRuns      int    `json:"tool_runs"`      // of this execution: tools that ran
	CachedCalls   int    `json:"cached_calls"`   // of this execution: answered by the store
	// FailedAttempts are the requests of this execution that brought no answer,
	// though they may have been paid for.
	FailedAttempts int    `json:"failed_attempts,omitempty"`
	SharedCalls    int    `json:"shared_calls"` // distinct completions that more than one method used
	Model          string `json:"model"`
	Simulated      bool   `json:"simulated"` // the numbers say nothing about language models
	Task           string `json:"task"`
	Samples        int    `json:"samples"`
	Epochs         int    `json:"epochs"`
	Seed           uint64 `json:"seed"`

	Chance   map[string]float64 `json:"chance"`             // what guessing earns, by metric, where that is defined
	Majority map[string]float64 `json:"majority,omitempty"` // what always naming the most frequent label earns
	Methods  []MethodSummary    `json:"methods"`            // in the order asked for
	Seeds    *Usage             `json:"method_seeds,omitempty"`
	Notes    []string           `json:"notes,omitempty"`

	// Of the simulated model: how many of the prompts it did not understand.

	Prompts       int `json:"prompts,omitempty"`
	NotUnderstood int `json:"not_understood,omitempty"`
}

// MethodSummary is one method of a run in numbers.
type MethodSummary struct {
	Method   string                  `json:"method"`
	Version  string                  `json:"version"`
	N        int                     `json:"n"`      // samples with a finished trial
	Trials   int                     `json:"trials"` // finished trials
	Failed   int                     `json:"failed"` // of those, failed by plugin, provider or time
	Outcomes map[methods.Outcome]int `json:"outcomes"`
	Causes   []Cause                 `json:"causes,omitempty"` // of the outcomes other than answered, most frequent first
	Metrics  map[string]score.Metric `json:"metrics"`
	Usage    Usage                   `json:"usage"` // totals over the trials, as charged
	Hops     *PerHop                 `json:"per_hop,omitempty"`
}

// Cause is one way in which trials of a method came to no answer.
type Cause struct {
	Outcome methods.Outcome `json:"outcome"`
	Text    string          `json:"text"` // of the first such trial; others may differ in numbers and quoted words
	Trials  int             `json:"trials"`
	Example string          `json:"example"` // a trial to look at
}

// Usage is methods.Usage for people and scripts. What is not known for every
// call is null.
type Usage struct {
	Calls        int      `json:"calls"`
	ToolCalls    int      `json:"tool_calls"`
	InputTokens  *int64   `json:"input_tokens"`
	OutputTokens *int64   `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"`
	LatencyMS    float64  `json:"latency_ms"` // summed over calls, also those that ran side by side

	// Parts of the tokens, where the provider tells them; see methods.Usage.

	CachedTokens     int64 `json:"cached_tokens,omitempty"`
	CacheWriteTokens int64 `json:"cache_write_tokens,omitempty"`
	ReasoningTokens  int64 `json:"reasoning_tokens,omitempty"`
}

// UsageOf is u for people and scripts.
func UsageOf(u methods.Usage) Usage {
	out := Usage{Calls: u.Calls, ToolCalls: u.ToolCalls, LatencyMS: float64(u.Latency) / float64(time.Millisecond)}
	if u.Unmetered == 0 {
		out.InputTokens, out.OutputTokens = &u.InputTokens, &u.OutputTokens
		out.CachedTokens, out.CacheWriteTokens, out.ReasoningTokens = u.CachedTokens, u.CacheWriteTokens, u.ReasoningTokens
	}
	if u.Unpriced == 0 {
		cost := u.Cost.USD()
		out.CostUSD = &cost
	}
	return out
}

// Summarize computes the summary of a result. Its metrics average the epochs
// of a sample first and count samples.
func Summarize(r *Result) (*Summary, error) {
	run := r.Run
	s := &Summary{
		Run: run.ID, RootHash: run.Root, Status: string(run.Status),
		ProviderCalls: r.NewCalls, ToolRuns: r.ToolRuns, CachedCalls: r.CachedCalls, FailedAttempts: r.FailedAttempts, SharedCalls: run.Calls.Shared,
		Model: run.Config.Model.ID.String(), Simulated: run.Config.Model.Simulated, Task: run.Config.Task.Name,
		Samples: len(run.Config.Task.Samples), Epochs: run.Config.Epochs, Seed: run.Config.Seed,
		Notes: slices.Clone(run.Notes),
	}
	if run.Config.Task.Config != "" {
		s.Task += "?" + run.Config.Task.Config
	}
	samples := map[string]task.Sample{}
	for _, sample := range r.Task.Samples {
		samples[sample.ID] = sample
	}
	s.Chance = map[string]float64{}
	var err error
	if r.Task.Scorer == "" { // a scorer of the task's own has no chance level
		if s.Chance, err = chance(run.Config.Task.Samples, samples); err != nil {
			return nil, err
		}
	}
	if s.Majority, err = majority(run.Config.Task.Samples, samples); err != nil {
		return nil, err
	}
	if len(run.Seeds) > 0 {
		var u methods.Usage
		for _, seed := range run.Seeds {
			u = u.Plus(seed.Usage)
		}
		usage := UsageOf(u)
		s.Seeds = &usage
	}
	if prompts, unknown := NotUnderstood(r.Trials); unknown > 0 {
		s.Prompts, s.NotUnderstood = prompts, unknown
	}
	for _, m := range run.Config.Methods {
		method, err := summarizeMethod(m, run.Config, samples, r.Trials)
		if err != nil {
			return nil, err
		}
		s.Methods = append(s.Methods, method)
	}
	return s, nil
}

// NotUnderstood counts the prompts of trials and those of them that the simulated
// model did not understand. It tells them by the digest of their response, so that
// it counts the same in a stored run and in a replay.
func NotUnderstood(trials []*record.Trial) (prompts, notUnderstood int) {
	unknown := record.ResponseDigest(methods.Completion{Text: provider.NotUnderstood, Finish: methods.FinishStop})
	for _, t := range trials {
		for _, c := range t.Calls {
			if c.Kind == record.CompletionCall && c.Digest != "" {
				prompts++
				if c.Digest == unknown {
					notUnderstood++
				}
			}
		}
	}
	return prompts, notUnderstood
}

// majority is what always naming the most frequent label earns.
func majority(ids []string, samples map[string]task.Sample) (map[string]float64, error) {
	var all []score.Prediction
	for _, id := range ids {
		all = append(all, score.Prediction{Spec: samples[id].Problem.Answer, Target: samples[id].Target})
	}
	return score.Majority(all)
}

// chance averages what guessing earns over the samples where it is defined
// for all of them.
func chance(ids []string, samples map[string]task.Sample) (map[string]float64, error) {
	means, counts := map[string]float64{}, map[string]int{}
	for _, id := range ids {
		s := samples[id]
		levels, err := score.Chance(s.Problem.Answer, s.Target)
		if err != nil {
			return nil, fmt.Errorf("chance level of sample %q: %w", id, err)
		}
		for name, v := range levels {
			counts[name]++
			means[name] += (v - means[name]) / float64(counts[name]) // equal levels give exactly that level
		}
	}
	maps.DeleteFunc(means, func(name string, _ float64) bool { return counts[name] < len(ids) })
	return means, nil
}

// PerHop is what research takes, over trials whose samples say how many hops they
// have (metadata "hops").
type PerHop struct {
	Tokens float64 `json:"tokens"` // used for each hop
	Steps  float64 `json:"steps"`  // model calls of a trial
}

// perHop is nil where a sample does not say its hops, or tokens are not known.
func perHop(epochs map[string][]*record.Trial, samples map[string]task.Sample) *PerHop {
	tokens, hops, calls, n := int64(0), 0, 0, 0
	for id, trials := range epochs {
		h, err := strconv.Atoi(samples[id].Metadata["hops"])
		if err != nil || h < 1 {
			return nil
		}
		for _, t := range trials {
			if t.Usage.Unmetered > 0 {
				return nil
			}
			tokens, hops, calls, n = tokens+t.Usage.Tokens(), hops+h, calls+t.Usage.Calls, n+1
		}
	}
	if n == 0 {
		return nil
	}
	return &PerHop{float64(tokens) / float64(hops), float64(calls) / float64(n)}
}

func summarizeMethod(m record.Method, c record.Config, samples map[string]task.Sample, trials []*record.Trial) (MethodSummary, error) {
	s := MethodSummary{
		Method: m.Label, Version: m.Version, Outcomes: map[methods.Outcome]int{}, Metrics: map[string]score.Metric{},
	}
	epochs := s.count(trials)
	s.Hops = perHop(epochs, samples)
	s.Causes = causes(m.Label, trials)
	var reduced []score.Reduced
	var predictions [][]score.Prediction
	var clusters []string
	clustered := false
	for _, id := range c.Task.Samples {
		done := epochs[id]
		if len(done) == 0 {
			continue
		}
		var scores []score.Score
		var predicted []score.Prediction
		for _, t := range done {
			scores = append(scores, t.Score)
			predicted = append(predicted, score.Prediction{Spec: samples[id].Problem.Answer, Answer: t.Answer, Target: t.Target})
		}
		reduced, predictions = append(reduced, score.Reduce(scores)), append(predictions, predicted)
		clusters = append(clusters, samples[id].Cluster)
		clustered = clustered || samples[id].Cluster != ""
	}
	s.N = len(reduced)
	if !clustered {
		clusters = nil
	}
	for _, name := range score.ValueNames(reduced) {
		s.Metrics[name] = score.Summarize(name, reduced, clusters, score.Options{})
	}
	corpus, err := score.Corpus(predictions, c.Seed, score.Options{})
	for _, metric := range corpus {
		s.Metrics[metric.Name] = metric
	}
	return s, err
}

// count adds up the method's trials and returns them by sample, in the order
// of their epochs.
func (s *MethodSummary) count(trials []*record.Trial) map[string][]*record.Trial {
	epochs := map[string][]*record.Trial{}
	var usage methods.Usage
	for _, t := range trials {
		if t.ID.Method != s.Method {
			continue
		}
		s.Trials++
		if t.Infra {
			s.Failed++
		}
		s.Outcomes[t.Answer.Outcome]++
		usage = usage.Plus(t.Usage)
		epochs[t.ID.Sample] = append(epochs[t.ID.Sample], t)
	}
	s.Usage = UsageOf(usage)
	return epochs
}

// causes groups the trials without an answer by outcome and reason.
func causes(label string, trials []*record.Trial) []Cause {
	var found []Cause
	at := map[string]int{}
	for _, t := range trials {
		if t.ID.Method != label || t.Answer.Outcome == methods.Answered {
			continue
		}
		text := t.Failure
		if text == "" {
			text = t.Answer.Reason
		}
		key := record.CauseKey(t.Answer.Outcome, text)
		i, known := at[key]
		if !known {
			i = len(found)
			at[key] = i
			found = append(found, Cause{Outcome: t.Answer.Outcome, Text: text, Example: t.ID.String()})
		}
		found[i].Trials++
	}
	slices.SortStableFunc(found, func(a, b Cause) int { return b.Trials - a.Trials })
	return found
}
