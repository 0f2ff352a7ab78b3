package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/none"
	"noema/kernel/model/provider/openai"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
)

// sure answers with tokens whose probabilities no decimal of a few digits
// holds.
func sure(providertest.Ask) providertest.Answer {
	third := -1.0 / 3
	return providertest.Answer{
		Text: "né", Input: 100, Output: 50, Cached: 60, Reasoning: 40,
		Tokens: []providertest.Token{
			{Text: "n", Logprob: third, Top: []providertest.Token{{Text: "n", Logprob: third}, {Text: "m", Logprob: math.Nextafter(third, -1)}}},
			{Text: "\xc3", Logprob: -5e-324}, {Text: "\xa9"},
		},
	}
}

func surely(n int) methods.Request {
	return methods.Request{Messages: methods.Ask("sure?"), Path: "P1", Sampling: methods.Sampling{Logprobs: n}}
}

// TestLogprobsThroughTheGateway: what came over the wire is what the store
// gives back, bit for bit, and the digests prove it.
func TestLogprobsThroughTheGateway(t *testing.T) {
	_, p := open(t, providertest.Config{Protocol: providertest.Chat, Answer: sure}, &provider.Price{Input: 10, Output: 20}, openai.Options{})
	store, err := cache.Open(t.Context(), t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	ask := func(p provider.Provider, mode gateway.Mode, n int) (methods.Completion, []record.Call, error) {
		g, err := gateway.New(gateway.Options{Store: store, Provider: p, Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		h := g.Host(gateway.Trial{ID: record.TrialID{Method: "m", Sample: "s"}, Method: "m"})
		c, err := h.Complete(context.WithoutCancel(t.Context()), surely(n))
		return c, h.Report().Calls, err
	}
	first, calls, err := ask(p, gateway.Auto, 2)
	if err != nil {
		t.Fatal(err)
	}
	again, replayed, err := ask(none.New(p.Info()), gateway.Replay, 2)
	if err != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("replayed %+v, %v\nwant %+v", again, err, first)
	}
	if calls[0].Digest != replayed[0].Digest || calls[0].Key != replayed[0].Key || calls[0].Usage != replayed[0].Usage {
		t.Errorf("calls %+v and %+v", calls, replayed)
	}
	for i, want := range sure(providertest.Ask{}).Tokens {
		if got := again.Logprobs[i]; math.Float64bits(got.Logprob) != math.Float64bits(want.Logprob) || string(got.Raw()) != want.Text {
			t.Errorf("token %d: %+v, want %+v", i, got, want)
		}
	}
	want := methods.Usage{Calls: 1, InputTokens: 100, OutputTokens: 50, Cost: 2000, CachedTokens: 60, ReasoningTokens: 40, Latency: first.Usage.Latency}
	if again.Usage != want {
		t.Errorf("usage %+v, want %+v", again.Usage, want)
	}
	// Whoever does not ask for them asks another question.
	if _, _, err := ask(none.New(p.Info()), gateway.Replay, 0); !errors.Is(err, methods.ErrMiss) {
		t.Errorf("without: %v", err)
	}
	plain, others, err := ask(p, gateway.Auto, 0)
	if err != nil || plain.Logprobs != nil || others[0].Key == calls[0].Key || others[0].Digest == calls[0].Digest {
		t.Errorf("without: %+v %+v, %v", plain, others, err)
	}
	if _, _, err := ask(p, gateway.Auto, 50); !errors.Is(err, methods.ErrProvider) || !strings.Contains(err.Error(), "ask for 1 to 20") || strings.Contains(err.Error(), "attempts") {
		t.Errorf("50: %v", err)
	}
}

// TestLogprobsOnTheWire holds what is sent to the protocols.
func TestLogprobsOnTheWire(t *testing.T) {
	for api, want := range map[string]string{
		openai.Chat:      `[true,7,null]`,
		openai.Responses: `[null,7,["message.output_text.logprobs"]]`,
	} {
		protocol := providertest.Chat
		if api == openai.Responses {
			protocol = providertest.Responses
		}
		bodies, p := open(t, providertest.Config{Protocol: protocol, Answer: sure}, nil, openai.Options{API: api})
		for _, n := range []int{7, 0} {
			if _, err := p.Complete(t.Context(), surely(n)); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []string{want, `[null,null,null]`} {
			b := (*bodies)[i]
			got, err := json.Marshal([]any{b["logprobs"], b["top_logprobs"], b["include"]})
			if err != nil || string(got) != want {
				t.Errorf("%s: sent %s, want %s", api, got, want)
			}
		}
	}
}

// A stop string that the server does not know cuts the tokens with the text.
func TestLogprobsOfATextThatIsCutHere(t *testing.T) {
	_, p := open(t, providertest.Config{Protocol: providertest.Responses, Answer: sure}, nil, openai.Options{API: openai.Responses})
	r := surely(1)
	r.Sampling.Stop = []string{"é"}
	got, err := p.Complete(t.Context(), r)
	if err != nil || got.Text != "n" || len(got.Logprobs) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Servers that stray from the protocol lose no reply by it.
func TestOddLogprobs(t *testing.T) {
	for name, c := range map[string]struct{ choice, usage, want string }{
		"of completions":  {`"logprobs":{"tokens":["a"],"token_logprobs":[-1]}`, `{}`, "ignores"},
		"a list":          {`"logprobs":[1]`, `{}`, "ignores"},
		"no content":      {`"logprobs":{"content":null}`, `{}`, "ignores"},
		"details as text": {`"logprobs":{"content":[{"token":"a","logprob":-1}]}`, `"prompt_tokens_details":"none","completion_tokens_details":[]`, ""},
		"details null":    {`"logprobs":{"content":[{"token":"a","logprob":-1}]}`, `"prompt_tokens_details":null,"completion_tokens_details":null`, ""},
	} {
		answer := `{"choices":[{"message":{"content":"a"},"finish_reason":"stop",` + c.choice + `}],"usage":{"prompt_tokens":3,"completion_tokens":2,` + strings.Trim(c.usage, "{}") + `}}`
		answer = strings.Replace(answer, ",}}", "}}", 1)
		got, err := answering(t, answer).Complete(t.Context(), surely(1))
		if c.want != "" {
			if !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			continue
		}
		if err != nil || len(got.Logprobs) != 1 || got.Usage.InputTokens != 3 || got.Usage.Unmetered != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
