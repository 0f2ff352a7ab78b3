package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/anthropic"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/gemini"
	"noema/kernel/model/provider/ollama"
	"noema/kernel/model/provider/openai"
	"noema/methods"
)

// key is what providers are opened with; no error may hold it.
const key = "sk-secret-0123456789abcdef"

// service is a protocol with the provider that speaks it.
type service struct {
	name     string
	Protocol providertest.Protocol
	storm    int // requests of its storm
	open     func(exchange.Config) (*exchange.Client, error)
}

// services are all providers that speak HTTP.
func services() []service {
	return []service{
		{"openai", providertest.Chat, 2000, func(c exchange.Config) (*exchange.Client, error) { return openai.New(c, openai.Options{}) }},
		{"openai responses", providertest.Responses, 500, func(c exchange.Config) (*exchange.Client, error) {
			return openai.New(c, openai.Options{API: openai.Responses})
		}},
		{"anthropic", providertest.Anthropic, 2000, func(c exchange.Config) (*exchange.Client, error) { return anthropic.New(c, exchange.Options{}) }},
		{"gemini", providertest.Gemini, 2000, func(c exchange.Config) (*exchange.Client, error) { return gemini.New(c, exchange.Options{}) }},
		{"ollama", providertest.Ollama, 2000, func(c exchange.Config) (*exchange.Client, error) { return ollama.New(c, ollama.Options{}) }},
		{"a compatible server", providertest.Chat, 500, func(c exchange.Config) (*exchange.Client, error) {
			s, open := openai.Compatible(exchange.Service{Kind: "else", URLVariable: "ELSE_BASE_URL", KeyVariable: []string{"ELSE_API_KEY"}})
			c.BaseURL = strings.TrimSuffix(c.BaseURL, "/v1") + "/openai/v1"
			p, err := open(c, exchange.Options{})
			if err == nil && (p.Info().ID.Provider != s.Kind || p.Features().Provider != s.Kind) {
				err = fmt.Errorf("%+v, %+v: not named after its service", p.Info(), p.Features())
			}
			return p, err
		}},
	}
}

// TestConform checks what holds for every provider: the faults have their
// kinds, one call is one request, usage is never below zero, the key stays
// secret, contexts are honoured, tool calls and log probabilities arrive whole.
func TestConform(t *testing.T) {
	for _, c := range services() {
		t.Run(c.name, func(t *testing.T) {
			for name, check := range map[string]func(*testing.T, service){
				"faults": conformFaults, "replies": conformReplies, "usage": conformUsage, "miscount": conformMiscount, "parts of usage": conformParts,
				"logprobs": conformLogprobs, "key": conformKey, "context": conformContext, "tools": conformTools, "refusals": conformRefusals,
			} {
				t.Run(name, func(t *testing.T) { check(t, c) })
			}
		})
	}
}

// conformRefusals checks that what cannot be answered is refused as what it is,
// and that no form of a request is sent twice within one call.
func conformRefusals(t *testing.T, c service) {
	_, p := c.serve(t, providertest.Config{Limit: 10}, time.Second)
	_, err := p.Complete(t.Context(), ask("more than ten bytes"))
	wantKind(t, err, provider.ContextLength)

	s, p := c.serve(t, providertest.Config{Refuse: func(a providertest.Ask) string {
		if a.Number == 1 {
			return "temperature is not supported with this model"
		}
		return ""
	}}, time.Second)
	_, err = p.Complete(t.Context(), ask("x"))
	wantKind(t, err, provider.Adapted)
	if n := s.Requests(); n != 1 || !provider.Retryable(err) {
		t.Errorf("%d requests for one call, %v", n, err)
	}
	if _, err := p.Complete(t.Context(), ask("x")); err != nil || s.Requests() != 2 || s.Asks()[1].Body["temperature"] != nil {
		t.Errorf("%v after %d requests, the last %v", err, s.Requests(), s.Asks()[s.Requests()-1].Body)
	}
}

func ask(text string) methods.Request { return methods.Request{Messages: methods.Ask(text)} }

func (c service) serve(t *testing.T, config providertest.Config, idle time.Duration) (*providertest.Server, *exchange.Client) {
	t.Helper()
	config.Protocol = c.Protocol
	s := providertest.New(config)
	t.Cleanup(s.Close)
	p, err := c.open(exchange.Config{
		Model: "m", BaseURL: s.URL(), APIKey: key, IdleTimeout: idle, FirstTimeout: 10 * idle, Price: &provider.Price{Input: 1, Output: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return s, p
}

func wantKind(t *testing.T, err error, kinds ...provider.Kind) {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) {
		t.Errorf("%v is not a provider error", err)
		return
	}
	for _, k := range kinds {
		if e.Kind == k {
			return
		}
	}
	t.Errorf("%v, want one of %v", e, kinds)
}

// conformFaults makes each fault once: one request, the right kind, and the
// next call succeeds.
func conformFaults(t *testing.T, c service) {
	for fault, kinds := range map[providertest.Fault][]provider.Kind{
		providertest.RateLimit:   {provider.RateLimited},
		providertest.Overloaded:  {provider.Unavailable},
		providertest.ServerError: {provider.Unavailable},
		providertest.HTML:        {provider.Unavailable, provider.Malformed},
		providertest.Reset:       {provider.Network},
		providertest.Cut:         {provider.Network},
		providertest.EndsEarly:   {provider.Network},
		providertest.HalfOpen:    {provider.Network},
		providertest.InStream:    {provider.Unavailable, provider.Malformed},
		providertest.Malformed:   {provider.Malformed, provider.Network},
		providertest.Empty:       {provider.Malformed},
		providertest.None:        nil, providertest.WrongUsage: nil, providertest.BadSchema: nil, providertest.NeverCloses: nil,
	} {
		t.Run(string(fault), func(t *testing.T) {
			s, p := c.serve(t, providertest.Config{Fault: func(a providertest.Ask) providertest.Fault {
				if a.Number == 1 {
					return fault
				}
				return providertest.None
			}}, 200*time.Millisecond)
			_, err := p.Complete(t.Context(), ask("x"))
			if kinds != nil {
				wantKind(t, err, kinds...)
				if !provider.Retryable(err) {
					t.Errorf("%v is worth another attempt", err)
				}
			} else if err != nil && !errors.As(err, new(*provider.Miscount)) {
				t.Errorf("a whole reply was lost, and would be paid twice: %v", err)
			}
			if n := s.Requests(); n != 1 {
				t.Errorf("%d requests for one call", n)
			}
			if got, err := p.Complete(t.Context(), ask("x")); err != nil || got.Text != "ok" {
				t.Errorf("the next call: %+v, %v", got, err)
			}
		})
	}
}

// conformReplies checks texts and finish reasons, streamed and in one piece.
func conformReplies(t *testing.T, c service) {
	odd := "héllo \x00 <&> \"'\n\n\tdata: x\r\n   ∑ end"
	for _, whole := range []bool{false, true} {
		for name, one := range map[string]struct {
			answer providertest.Answer
			want   methods.FinishReason
		}{
			"plain":     {providertest.Answer{Text: odd, Input: 10, Output: 5}, methods.FinishStop},
			"truncated": {providertest.Answer{Text: odd, Input: 10, Output: 5, Truncated: true}, methods.FinishLength},
			"refused":   {providertest.Answer{Text: odd, Input: 10, Output: 5, Refused: true}, methods.FinishFilter},
			"long":      {providertest.Answer{Text: strings.Repeat(odd, 20_000), Input: 10, Output: 5}, methods.FinishStop},
			"silent":    {providertest.Answer{Input: 10, Output: 5}, methods.FinishStop},
		} {
			if one.answer.Refused && c.Protocol == providertest.Ollama {
				continue // its models refuse in their own words
			}
			t.Run(fmt.Sprintf("%s, whole %v", name, whole), func(t *testing.T) {
				_, p := c.serve(t, providertest.Config{Whole: whole, Answer: func(providertest.Ask) providertest.Answer { return one.answer }}, time.Second)
				got, err := p.Complete(t.Context(), ask("x"))
				want := methods.Completion{
					Text: one.answer.Text, Finish: one.want, Model: "m",
					Usage: methods.Usage{Calls: 1, InputTokens: 10, OutputTokens: 5, Cost: 20},
				}
				if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("got %.200q %v %+v, %v", got.Text, got.Finish, got.Usage, err)
				}
			})
		}
	}
}

// conformUsage checks that counts which cannot be are counted as unknown.
func conformUsage(t *testing.T, c service) {
	_, p := c.serve(t, providertest.Config{Fault: func(providertest.Ask) providertest.Fault { return providertest.WrongUsage }}, time.Second)
	for i := range 40 { // which way they are wrong depends on the prompt
		got, err := p.Complete(t.Context(), ask(fmt.Sprintf("prompt %d", i)))
		if errors.As(err, new(*provider.Miscount)) {
			err = nil
		}
		if want := (methods.Usage{Calls: 1, Unmetered: 1, Unpriced: 1}); err != nil || got.Usage != want || got.Text != "ok" {
			t.Errorf("prompt %d: %+v, %v", i, got, err)
		}
	}
}

// conformMiscount checks that counts which cannot be are refused with the
// provider's name, and that the answer stands.
func conformMiscount(t *testing.T, c service) {
	for _, whole := range []bool{false, true} {
		for counts, answer := range map[string]providertest.Answer{
			"-5 input tokens":  {Text: "ok", Input: -5, Output: 7},
			"-7 output tokens": {Text: "ok", Input: 5, Output: -7},
			"1000000000000 input tokens, -7 output tokens": {Text: "ok", Input: 1_000_000_000_000, Output: -7},
		} {
			_, p := c.serve(t, providertest.Config{Whole: whole, Answer: func(providertest.Ask) providertest.Answer { return answer }}, time.Second)
			got, err := p.Complete(t.Context(), ask("x"))
			want := fmt.Sprintf("%s reports %s for one call, which cannot be: the counts are not used", p.Info().ID.Provider, counts)
			if err == nil || err.Error() != want {
				t.Errorf("whole %v: %v, want %s", whole, err, want)
			}
			if usage := (methods.Usage{Calls: 1, Unmetered: 1, Unpriced: 1}); got.Text != "ok" || got.Usage != usage {
				t.Errorf("whole %v: the answer is %+v", whole, got)
			}
		}
	}
}

// conformKey checks that a refused key is final and in no error.
func conformKey(t *testing.T, c service) {
	_, p := c.serve(t, providertest.Config{Key: "another"}, time.Second)
	_, err := p.Complete(t.Context(), ask("x"))
	wantKind(t, err, provider.Unauthorized)
	if text := fmt.Sprintf("%v %+v %#v", err, p.Info(), errors.Unwrap(err)); strings.Contains(text, "0123456789") || !strings.Contains(text, "[key]") {
		t.Errorf("the key is in %q", text)
	}
	if provider.Retryable(err) {
		t.Error("a wrong key is tried again")
	}
	_, right := c.serve(t, providertest.Config{Key: key}, time.Second)
	if _, err := right.Complete(t.Context(), ask("x")); err != nil {
		t.Errorf("the right key: %v", err)
	}
}

// conformContext checks that calls end with their context, before the first
// byte and in the middle of a reply.
func conformContext(t *testing.T, c service) {
	for _, fault := range []providertest.Fault{providertest.Silent, providertest.HalfOpen} {
		_, p := c.serve(t, providertest.Config{Fault: func(providertest.Ask) providertest.Fault { return fault }}, time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := p.Complete(ctx, ask("x"))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || provider.Retryable(err) {
			t.Errorf("%s: %v, want the context's end", fault, err)
		}
	}
	s, p := c.serve(t, providertest.Config{}, time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Complete(ctx, ask("x")); !errors.Is(err, context.Canceled) || s.Requests() != 0 {
		t.Errorf("a context that has ended: %v after %d requests", err, s.Requests())
	}
}

// conformTools checks that calls arrive with all that the model said, and that
// a conversation with them and their results goes back.
func conformTools(t *testing.T, c service) {
	for _, whole := range []bool{false, true} {
		s, p := c.serve(t, providertest.Config{Whole: whole, Answer: func(a providertest.Ask) providertest.Answer {
			if len(a.Results) > 0 {
				return providertest.Answer{Text: strings.Join(a.Results, " and ")}
			}
			return providertest.Answer{Text: "let me see", Calls: []providertest.Call{
				{ID: "id1", Name: "add", Arguments: `{"a":1,"b":[true,null,"x"]}`}, {ID: "id2", Name: "now", Arguments: `{}`},
			}}
		}}, time.Second)
		r := ask("sum?")
		r.Tools = []methods.ToolSpec{
			{Name: "add", Description: "adds", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`)},
			{Name: "now"},
		}
		got, err := p.Complete(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.ToolCalls) != 2 || got.Finish != methods.FinishTools || got.Text != "let me see" ||
			string(got.ToolCalls[0].Arguments) != `{"a":1,"b":[true,null,"x"]}` || got.ToolCalls[1].Name != "now" ||
			string(got.ToolCalls[1].Arguments) != `{}` || got.ToolCalls[0].ID == got.ToolCalls[1].ID {
			t.Fatalf("got %+v", got)
		}
		r.Messages = append(r.Messages,
			methods.Message{Role: methods.Assistant, Content: got.Text, ToolCalls: got.ToolCalls},
			methods.Message{Role: methods.Tool, CallID: got.ToolCalls[0].ID, Content: "three"},
			methods.Message{Role: methods.Tool, CallID: got.ToolCalls[1].ID, Content: "noon"})
		got, err = p.Complete(t.Context(), r)
		if err != nil || !strings.Contains(got.Text, "three") || !strings.Contains(got.Text, "noon") || got.Finish != methods.FinishStop {
			t.Errorf("the results did not arrive: %+v, %v", got, err)
		}
		if n := s.Requests(); n != 2 {
			t.Errorf("%d requests for two calls", n)
		}
		_, err = p.Complete(t.Context(), methods.Request{Messages: []methods.Message{{Role: "prophet", Content: "x"}}})
		wantKind(t, err, provider.Rejected)
	}
}
