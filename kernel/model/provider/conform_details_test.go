package provider_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/methods"
)

// sure is an answer with its log probabilities. Its tokens cut a character in
// two, except for Gemini, whose protocol has no bytes.
func sure(p providertest.Protocol) providertest.Answer {
	third := -1.0 / 3
	tokens := []providertest.Token{
		{Text: "caf", Logprob: third, Top: []providertest.Token{{Text: "tea", Logprob: -2.5}, {Text: "caf", Logprob: third}, {Text: "x", Logprob: -9999}}},
		{Text: "\xc3", Logprob: 0, Top: []providertest.Token{{Text: "\xc3", Logprob: 0}}},
		{Text: "\xa9", Logprob: -5e-324},
		{Text: " <|\n", Logprob: -1e-7, Top: []providertest.Token{{Text: ".", Logprob: -16}}},
	}
	if p == providertest.Gemini {
		tokens = append(tokens[:1], providertest.Token{Text: "é"}, tokens[3])
	}
	return providertest.Answer{Text: "café <|\n", Tokens: tokens, Input: 10, Output: 5}
}

// conformLogprobs checks that log probabilities arrive bit for bit, likeliest
// first and no more than were asked for, and that they are never missing in
// silence.
func conformLogprobs(t *testing.T, c service) {
	for _, n := range []int{-1, methods.MaxLogprobs + 1, 50} {
		s, p := c.serve(t, providertest.Config{}, time.Second)
		_, err := p.Complete(t.Context(), surely(n))
		wantKind(t, err, provider.Rejected)
		if s.Requests() != 0 || !strings.Contains(fmt.Sprint(err), fmt.Sprint(n, " log probabilities")) {
			t.Errorf("%d log probabilities: %d requests, %v", n, s.Requests(), err)
		}
	}
	if c.Protocol == providertest.Anthropic {
		s, p := c.serve(t, providertest.Config{}, time.Second)
		_, err := p.Complete(t.Context(), surely(1))
		wantKind(t, err, provider.Rejected)
		if s.Requests() != 0 || !strings.Contains(fmt.Sprint(err), "no log probabilities") {
			t.Errorf("%d requests, %v", s.Requests(), err)
		}
		return
	}
	for _, whole := range []bool{false, true} {
		s, p := c.serve(t, providertest.Config{Whole: whole, Answer: func(providertest.Ask) providertest.Answer { return sure(c.Protocol) }}, time.Second)
		got, err := p.Complete(t.Context(), surely(2))
		if err != nil {
			t.Fatal(err)
		}
		checkTokens(t, got, sure(c.Protocol))
		if got, err = p.Complete(t.Context(), surely(0)); err != nil || got.Logprobs != nil {
			t.Errorf("not asked for: %+v, %v", got.Logprobs, err)
		}
		if n := s.Requests(); n != 2 {
			t.Errorf("%d requests for two calls", n)
		}
	}
	conformNoLogprobs(t, c)
}

func surely(n int) methods.Request {
	r := ask("sure?")
	r.Sampling.Logprobs = n
	return r
}

func checkTokens(t *testing.T, got methods.Completion, want providertest.Answer) {
	t.Helper()
	spelled := ""
	for i, have := range got.Logprobs {
		if i >= len(want.Tokens) {
			break
		}
		spelled += string(have.Raw())
		w := want.Tokens[i]
		if string(have.Raw()) != w.Text || math.Float64bits(have.Logprob) != math.Float64bits(w.Logprob) {
			t.Errorf("token %d: %q %v, want %q %v", i, have.Raw(), have.Logprob, w.Text, w.Logprob)
		}
		if len(have.Top) != min(2, len(w.Top)) {
			t.Errorf("token %d: top %+v of %+v", i, have.Top, w.Top)
		}
	}
	if spelled != want.Text || got.Text != want.Text || len(got.Logprobs) != len(want.Tokens) {
		t.Errorf("%q is spelled by %+v", got.Text, got.Logprobs)
	}
	first := got.Logprobs[0].Top
	if len(first) != 2 || first[0].Token != "caf" || first[1].Token != "tea" || first[0].Logprob != -1.0/3 {
		t.Errorf("the likeliest are %+v", first)
	}
}

// conformNoLogprobs checks servers that have none: one that ignores that they
// are asked for is asked once, one that refuses is quoted, and one that forgot
// them is asked again.
func conformNoLogprobs(t *testing.T, c service) {
	s, p := c.serve(t, providertest.Config{}, time.Second)
	for range 2 {
		_, err := p.Complete(t.Context(), surely(2))
		wantKind(t, err, provider.Rejected)
		if !strings.Contains(fmt.Sprint(err), "ignores") {
			t.Errorf("%v", err)
		}
	}
	if n := s.Requests(); n != 1 {
		t.Errorf("%d requests to a server that has none", n)
	}
	if got, err := p.Complete(t.Context(), surely(0)); err != nil || got.Text != "ok" {
		t.Errorf("without: %+v, %v", got, err)
	}
	_, p = c.serve(t, providertest.Config{Refuse: func(a providertest.Ask) string {
		if a.Logprobs > 0 {
			return "logprobs is not supported with this model"
		}
		return ""
	}}, time.Second)
	_, err := p.Complete(t.Context(), surely(2))
	wantKind(t, err, provider.Rejected)
	if !strings.Contains(fmt.Sprint(err), "logprobs is not supported") {
		t.Errorf("%v", err)
	}
	_, p = c.serve(t, providertest.Config{Answer: func(a providertest.Ask) providertest.Answer {
		if a.Number == 2 {
			return providertest.Answer{Text: "ok"}
		}
		return sure(c.Protocol)
	}}, time.Second)
	if _, err := p.Complete(t.Context(), surely(2)); err != nil {
		t.Error(err)
	}
	_, err = p.Complete(t.Context(), surely(2))
	wantKind(t, err, provider.Malformed)
	if _, err := p.Complete(t.Context(), surely(2)); err != nil {
		t.Errorf("after a reply that lacked them: %v", err)
	}
}

// conformParts checks that parts of the counts arrive as parts, whichever way
// a protocol counts them, and that parts which cannot be change no total.
func conformParts(t *testing.T, c service) {
	for _, whole := range []bool{false, true} {
		_, p := c.serve(t, providertest.Config{Whole: whole, Answer: func(providertest.Ask) providertest.Answer {
			return providertest.Answer{Text: "ok", Input: 100, Output: 50, Cached: 60, Reasoning: 40}
		}}, time.Second)
		want := methods.Usage{Calls: 1, InputTokens: 100, OutputTokens: 50, Cost: 200, CachedTokens: 60, ReasoningTokens: 40}
		if c.Protocol == providertest.Ollama { // it tells no parts
			want.CachedTokens, want.ReasoningTokens = 0, 0
		}
		if got, err := p.Complete(t.Context(), ask("x")); err != nil || !reflect.DeepEqual(got.Usage, want) {
			t.Errorf("whole %v: %+v, %v, want %+v", whole, got.Usage, err, want)
		}
	}
	if c.Protocol == providertest.Anthropic || c.Protocol == providertest.Gemini || c.Protocol == providertest.Ollama {
		return // their totals are sums of parts, or have none
	}
	_, p := c.serve(t, providertest.Config{Answer: func(providertest.Ask) providertest.Answer {
		return providertest.Answer{Text: "ok", Input: 100, Output: 50, Cached: 101, Reasoning: 51}
	}}, time.Second)
	want := methods.Usage{Calls: 1, InputTokens: 100, OutputTokens: 50, Cost: 200}
	if got, err := p.Complete(t.Context(), ask("x")); err != nil || got.Usage != want {
		t.Errorf("parts above the whole: %+v, %v", got.Usage, err)
	}
}
