package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/prices"
	"noema/methods"
)

// Servers send lists of tokens in many states; half a list is none.
func TestTokens(t *testing.T) {
	for raw, want := range map[string]string{
		`[{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[{"token":"a","logprob":-0.5}]},{"token":"b","logprob":0,"bytes":null}]`: `a  -0.5 [a]; b  0 []`,
		`[{"token":"\\xc3","logprob":-1,"bytes":[195]}]`:                                                        "\uFFFD \xc3 -1 []",
		`[{"token":"é","logprob":-1,"bytes":[195,169]}]`:                                                        "é  -1 []",
		`[{"token":"a","logprob":-1,"top_logprobs":[{"token":"x","logprob":null},{"token":"a","logprob":-1}]}]`: "a  -1 [a]",
		`[{"token":"a","logprob":-1},{"token":"b","logprob":null}]`:                                             "",
		`[{"token":"a","logprob":-1,"bytes":[256]}]`:                                                            "",
		`[{"token":"a","logprob":"-1"}]`:                                                                        "",
		`[{"token":"a","logprob":1e999}]`:                                                                       "",
		`{"tokens":["a"],"token_logprobs":[-1]}`:                                                                "",
		`null`:                                                                                                  "", `[]`: "", `7`: "",
	} {
		var list Tokens
		if err := json.Unmarshal([]byte(raw), &list); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		got := ""
		for i, token := range list {
			if i > 0 {
				got += "; "
			}
			var top []string
			for _, other := range token.Top {
				top = append(top, other.Token)
			}
			got += fmt.Sprintf("%s %s %v %v", token.Token, token.Bytes, token.Logprob, top)
		}
		if got != want {
			t.Errorf("%s:\n got %q\nwant %q", raw, got, want)
		}
	}
}

// A stop string that is applied here cuts the tokens with the text.
func TestCutAtStopCutsTokens(t *testing.T) {
	spell := func(parts ...string) (tokens []methods.TokenLogprob) {
		for _, p := range parts {
			tokens = append(tokens, provider.TokenLogprob([]byte(p), -1))
		}
		return tokens
	}
	for text, c := range map[string]struct {
		tokens []methods.TokenLogprob
		left   int
	}{
		"between":      {spell("one ", "EN", "D", " two"), 1},
		"in a token":   {spell("one EN", "D two"), 1},
		"in a letter":  {spell("é", "o\xc3", "\xa9", "END"), 3},
		"none is left": {spell("EN", "D"), 0},
		"no stop":      {spell("one", " two"), 2},
	} {
		all := ""
		for _, token := range c.tokens {
			all += string(token.Raw())
		}
		reply := methods.Completion{Text: all, Logprobs: c.tokens}
		cutAtStop(&reply, []string{"END"})
		if len(reply.Logprobs) != c.left {
			t.Errorf("%s: %d tokens are left, want %d", text, len(reply.Logprobs), c.left)
		}
	}
}

// What the model did not say has no log probabilities, and that is no fault.
func TestRepliesWithoutWordsNeedNoLogprobs(t *testing.T) {
	s := methods.Sampling{Logprobs: 1}
	for name, c := range map[string]methods.Completion{
		"tool calls": {ToolCalls: []methods.ToolCall{{Name: "f"}}, Finish: methods.FinishTools},
		"refusal":    {Text: "because", Finish: methods.FinishFilter},
		"silence":    {Finish: methods.FinishStop},
	} {
		var l logprobs
		if err := l.order(&c, s); err != nil || l.check(s) != nil {
			t.Errorf("%s: %v, and then %v", name, err, l.check(s))
		}
	}
}

func TestPartsOfUsage(t *testing.T) {
	cached, written := methods.NanoUSD(2), methods.NanoUSD(25)
	price := &provider.Price{Input: 20, Output: 80, CachedInput: &cached, CacheWrite: &written}
	full := &provider.Price{Input: 20, Output: 80}
	count := func(n int64) Count { return Count{N: n, Known: true} }
	whole := Counts{Input: count(100), Output: count(50)}
	for name, c := range map[string]struct {
		change      func(*Counts)
		price       *provider.Price
		read, wrote int64
		thought     int64
		cost        methods.NanoUSD
	}{
		"none":                {func(*Counts) {}, price, 0, 0, 0, 6000},
		"cached":              {func(c *Counts) { c.Cached = count(60) }, price, 60, 0, 0, 40*20 + 60*2 + 4000},
		"cached and written":  {func(c *Counts) { c.Cached, c.CacheWrite = count(60), count(40) }, price, 60, 40, 0, 60*2 + 40*25 + 4000},
		"thoughts":            {func(c *Counts) { c.Reasoning = count(50) }, price, 0, 0, 50, 6000},
		"without their price": {func(c *Counts) { c.Cached, c.CacheWrite = count(60), count(40) }, full, 60, 40, 0, 6000},
		"more than the input": {func(c *Counts) { c.Cached, c.CacheWrite = count(61), count(40) }, price, 0, 0, 0, 6000},
		"more than was said":  {func(c *Counts) { c.Reasoning = count(51) }, price, 0, 0, 0, 6000},
	} {
		counts := whole
		c.change(&counts)
		want := methods.Usage{
			Calls: 1, InputTokens: 100, OutputTokens: 50, Cost: c.cost,
			CachedTokens: c.read, CacheWriteTokens: c.wrote, ReasoningTokens: c.thought,
		}
		if got := counts.usage(prices.Tariff{Price: c.price}, true); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestLogprobsThatCannotBe(t *testing.T) {
	var l logprobs
	for _, n := range []int{-1, 21, 50} {
		err := l.check(methods.Sampling{Logprobs: n})
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Rejected || e.Retryable() {
			t.Errorf("%d: %v", n, err)
		}
	}
	if err := l.check(methods.Sampling{Logprobs: methods.MaxLogprobs}); err != nil {
		t.Error(err)
	}
}
