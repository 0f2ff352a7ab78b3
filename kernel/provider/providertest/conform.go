package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"noema/kernel/provider"
	"noema/methods"
)

// key is what providers are opened with; no error may hold it.
const key = "sk-secret-0123456789abcdef"

// ConformConfig says what to test.
type ConformConfig struct {
	Protocol Protocol
	// Open makes the provider under test, with a price of 1 and 2 nano-dollars
	// a token; idle is to be its idle timeout.
	Open func(url, key string, idle time.Duration) (Provider, error)
}

// Conform checks what holds for every provider: the faults have their kinds,
// one call is one request, usage is never below zero, the key stays secret,
// contexts are honoured, tool calls and log probabilities arrive whole.
func Conform(t *testing.T, c ConformConfig) {
	t.Helper()
	t.Run("faults", func(t *testing.T) { conformFaults(t, c) })
	t.Run("replies", func(t *testing.T) { conformReplies(t, c) })
	t.Run("usage", func(t *testing.T) { conformUsage(t, c) })
	t.Run("parts of usage", func(t *testing.T) { conformParts(t, c) })
	t.Run("logprobs", func(t *testing.T) { conformLogprobs(t, c) })
	t.Run("key", func(t *testing.T) { conformKey(t, c) })
	t.Run("context", func(t *testing.T) { conformContext(t, c) })
	t.Run("tools", func(t *testing.T) { conformTools(t, c) })
	t.Run("too long", func(t *testing.T) {
		_, p := c.serve(t, Config{Limit: 10}, time.Second)
		_, err := p.Complete(t.Context(), ask("more than ten bytes"))
		wantKind(t, err, provider.ContextLength)
	})
}

func ask(text string) methods.Request { return methods.Request{Messages: methods.Ask(text)} }

func (c ConformConfig) serve(t *testing.T, config Config, idle time.Duration) (*Server, Provider) {
	t.Helper()
	config.Protocol = c.Protocol
	s := New(config)
	t.Cleanup(s.Close)
	p, err := c.Open(s.URL(), key, idle)
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
		t.Errorf("%v is no provider error", err)
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
func conformFaults(t *testing.T, c ConformConfig) {
	for fault, kinds := range map[Fault][]provider.Kind{
		RateLimit:   {provider.RateLimited},
		Overloaded:  {provider.Unavailable},
		ServerError: {provider.Unavailable},
		HTML:        {provider.Unavailable, provider.Malformed},
		Reset:       {provider.Network},
		Cut:         {provider.Network},
		EndsEarly:   {provider.Network},
		HalfOpen:    {provider.Network},
		InStream:    {provider.Unavailable, provider.Malformed},
		Malformed:   {provider.Malformed, provider.Network},
		Empty:       {provider.Malformed},
		None:        nil, WrongUsage: nil, BadSchema: nil, NeverCloses: nil,
	} {
		t.Run(string(fault), func(t *testing.T) {
			s, p := c.serve(t, Config{Fault: func(a Ask) Fault {
				if a.Number == 1 {
					return fault
				}
				return None
			}}, 200*time.Millisecond)
			_, err := p.Complete(t.Context(), ask("x"))
			if kinds != nil {
				wantKind(t, err, kinds...)
				if !provider.Retryable(err) {
					t.Errorf("%v is worth another attempt", err)
				}
			} else if err != nil {
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
func conformReplies(t *testing.T, c ConformConfig) {
	odd := "héllo \x00 <&> \"'\n\n\tdata: x\r\n   ∑ end"
	for _, whole := range []bool{false, true} {
		for name, one := range map[string]struct {
			answer Answer
			want   methods.FinishReason
		}{
			"plain":     {Answer{Text: odd, Input: 10, Output: 5}, methods.FinishStop},
			"truncated": {Answer{Text: odd, Input: 10, Output: 5, Truncated: true}, methods.FinishLength},
			"refused":   {Answer{Text: odd, Input: 10, Output: 5, Refused: true}, methods.FinishFilter},
			"long":      {Answer{Text: strings.Repeat(odd, 20_000), Input: 10, Output: 5}, methods.FinishStop},
			"silent":    {Answer{Input: 10, Output: 5}, methods.FinishStop},
		} {
			if one.answer.Refused && c.Protocol == Ollama {
				continue // its models refuse in their own words
			}
			t.Run(fmt.Sprintf("%s, whole %v", name, whole), func(t *testing.T) {
				_, p := c.serve(t, Config{Whole: whole, Answer: func(Ask) Answer { return one.answer }}, time.Second)
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
func conformUsage(t *testing.T, c ConformConfig) {
	_, p := c.serve(t, Config{Fault: func(Ask) Fault { return WrongUsage }}, time.Second)
	for i := range 40 { // which way they are wrong depends on the prompt
		got, err := p.Complete(t.Context(), ask(fmt.Sprintf("prompt %d", i)))
		if want := (methods.Usage{Calls: 1, Unmetered: 1, Unpriced: 1}); err != nil || got.Usage != want || got.Text != "ok" {
			t.Errorf("prompt %d: %+v, %v", i, got, err)
		}
	}
}

// conformKey checks that a refused key is final and in no error.
func conformKey(t *testing.T, c ConformConfig) {
	_, p := c.serve(t, Config{Key: "another"}, time.Second)
	_, err := p.Complete(t.Context(), ask("x"))
	wantKind(t, err, provider.Unauthorized)
	if text := fmt.Sprintf("%v %+v %#v", err, p.Info(), errors.Unwrap(err)); strings.Contains(text, "0123456789") || !strings.Contains(text, "[key]") {
		t.Errorf("the key is in %q", text)
	}
	if provider.Retryable(err) {
		t.Error("a wrong key is tried again")
	}
	_, right := c.serve(t, Config{Key: key}, time.Second)
	if _, err := right.Complete(t.Context(), ask("x")); err != nil {
		t.Errorf("the right key: %v", err)
	}
}

// conformContext checks that calls end with their context, before the first
// byte and in the middle of a reply.
func conformContext(t *testing.T, c ConformConfig) {
	for _, fault := range []Fault{Silent, HalfOpen} {
		_, p := c.serve(t, Config{Fault: func(Ask) Fault { return fault }}, time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := p.Complete(ctx, ask("x"))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || provider.Retryable(err) {
			t.Errorf("%s: %v, want the context's end", fault, err)
		}
	}
	s, p := c.serve(t, Config{}, time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Complete(ctx, ask("x")); !errors.Is(err, context.Canceled) || s.Requests() != 0 {
		t.Errorf("a context that has ended: %v after %d requests", err, s.Requests())
	}
}

// conformTools checks that calls arrive with all that the model said, and that
// a conversation with them and their results goes back.
func conformTools(t *testing.T, c ConformConfig) {
	for _, whole := range []bool{false, true} {
		s, p := c.serve(t, Config{Whole: whole, Answer: func(a Ask) Answer {
			if len(a.Results) > 0 {
				return Answer{Text: strings.Join(a.Results, " and ")}
			}
			return Answer{Text: "let me see", Calls: []Call{
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
