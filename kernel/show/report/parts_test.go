package report

import (
	"bytes"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/methods"
)

// TestPartsOfTokens: what was cached or thought stands with the tokens, and
// where a provider tells nothing of it, nothing stands there.
func TestPartsOfTokens(t *testing.T) {
	u := methods.Usage{InputTokens: 12_000, OutputTokens: 50, CachedTokens: 9_000, ReasoningTokens: 40}
	for _, c := range []struct {
		usage methods.Usage
		want  string
	}{
		{u, "12000+50 tokens (9,000 in from the provider's cache, 40 out spent on reasoning)  0.0 ms"},
		{methods.Usage{InputTokens: 7, OutputTokens: 5, CacheWriteTokens: 7}, "7+5 tokens (7 in written to the provider's cache)  0.0 ms"},
		{methods.Usage{InputTokens: 7, OutputTokens: 5}, "7+5 tokens  0.0 ms"},
	} {
		var out bytes.Buffer
		call(&out, &record.Run{}, record.Call{Path: "P1", Kind: record.CompletionCall, Usage: c.usage}, func(record.Call) (runner.Exchange, error) {
			told := []methods.TokenLogprob{{Token: "a", Logprob: -0.25}, {Token: "b", Logprob: -1}}
			return runner.Exchange{Record: cache.CompletionRecord{Completion: methods.Completion{Text: "ab", Logprobs: told}}}, nil
		})
		if !strings.Contains(out.String(), c.want) || !strings.Contains(out.String(), "log probability: -1.250 over 2 tokens") {
			t.Errorf("%s\nwant %s", out.String(), c.want)
		}
	}
	s := &runner.Summary{Comparison: &compare.Comparison{}, Methods: []runner.MethodSummary{{Method: "cot", Usage: compare.UsageOf(u)}, {Method: "direct"}}}
	if got := RunSheet(s, "").Tail; !strings.Contains(got, "tokens    cot: 9,000 in from the provider's cache, 40 out spent on reasoning\n") || strings.Contains(got, "tokens    direct") {
		t.Error(got)
	}
}
