package compare

import (
	"math"
	"time"

	"noema/kernel/base/score"
	"noema/methods"
)

// Resource is something that trials use up.
type Resource string

// The resources.
const (
	Calls   Resource = "calls"      // to models and tools
	Tokens  Resource = "tokens"     // input and output
	Cost    Resource = "cost_usd"   // by the price at the time of the call
	Latency Resource = "latency_ms" // summed over calls, also those side by side

	// The two parts of Tokens, which are described and not compared.
	InputTokens  Resource = "input_tokens"
	OutputTokens Resource = "output_tokens"
)

// Resources lists what methods are compared by, in display order.
func Resources() []Resource { return []Resource{Calls, Tokens, Cost, Latency} }

// counted reports whether the calls are known. Those of a run that was imported from
// another harness may not be: then there are more of unknown use than calls.
func counted(u methods.Usage) bool { return u.Calls >= max(u.Unmetered, u.Unpriced) }

// of is the amount that u holds, NaN where a call's is not known.
func (r Resource) of(u methods.Usage) float64 {
	switch {
	case r == Calls && counted(u):
		return float64(u.Calls + u.ToolCalls)
	case r == Tokens && u.Unmetered == 0:
		return float64(u.Tokens())
	case r == InputTokens && u.Unmetered == 0:
		return float64(u.InputTokens)
	case r == OutputTokens && u.Unmetered == 0:
		return float64(u.OutputTokens)
	case r == Cost && u.Unpriced == 0:
		return u.Cost.USD()
	case r == Latency && counted(u):
		return float64(u.Latency) / float64(time.Millisecond)
	}
	return math.NaN()
}

// Used is what a trial used, with its share of the method's seeds: the one definition of
// use and cost behind columns, ratios, fronts, budgets and exports. seeds is nil where
// none was built. What is not known is NaN.
func (r Resource) Used(trial methods.Usage, seeds *SeedUse) float64 {
	return r.of(trial) + seeds.Share(r)
}

// observed is the use of a trial, NaN if the infrastructure cut it short.
func (r Resource) observed(c Cell) float64 {
	if c.Infra {
		return math.NaN()
	}
	return r.Used(c.Usage, c.seeds)
}

// usage is the mean use of a trial, of each resource. Nothing uses less than
// none, so the interval ends there.
func (d Data) usage(m int, o plan) map[Resource]score.Metric {
	means := map[Resource]score.Metric{}
	for _, r := range append(Resources(), InputTokens, OutputTokens) {
		u := d.mean(m, string(r), view{}.counts, r.observed, score.Options{Level: o.Level, Student: true})
		if u.HasInterval() {
			u.Low = math.Max(0, u.Low)
		}
		means[r] = u
	}
	return means
}

// Usage is [methods.Usage] for people and scripts. What is not known for every
// call is null.
type Usage struct {
	Calls        *int     `json:"calls"`
	ToolCalls    *int     `json:"tool_calls"`
	InputTokens  *int64   `json:"input_tokens"`
	OutputTokens *int64   `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"`
	LatencyMS    *float64 `json:"latency_ms"` // summed over calls, also those that ran side by side

	// Parts of the tokens, where the provider reports them; see methods.Usage.

	CachedTokens     int64 `json:"cached_tokens,omitempty"`
	CacheWriteTokens int64 `json:"cache_write_tokens,omitempty"`
	ReasoningTokens  int64 `json:"reasoning_tokens,omitempty"`
}

// UsageOf is u for people and scripts.
func UsageOf(u methods.Usage) Usage {
	var out Usage
	if latency := Latency.of(u); counted(u) {
		out.Calls, out.ToolCalls, out.LatencyMS = &u.Calls, &u.ToolCalls, &latency
	}
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

// PerHop is what research takes, over trials whose samples say how many hops
// they have.
type PerHop struct {
	Tokens float64 `json:"tokens"` // used for each hop
	Steps  float64 `json:"steps"`  // model calls of a trial
}

// perHop is nil where a sample does not say its hops, or tokens are not known.
func (d Data) perHop(m int) *PerHop {
	var tokens, hops, calls, n float64
	for _, s := range d.Samples {
		for _, c := range s.Cells[m] {
			switch {
			case c.Infra:
				continue
			case s.Hops < 1 || c.Usage.Unmetered > 0 || !counted(c.Usage):
				return nil
			}
			tokens, hops, calls, n = tokens+Tokens.observed(c), hops+float64(s.Hops), calls+float64(c.Usage.Calls), n+1
		}
	}
	if n == 0 || math.IsNaN(tokens) {
		return nil
	}
	return &PerHop{Tokens: tokens / hops, Steps: calls / n}
}
