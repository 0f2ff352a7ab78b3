package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/kernel/provider/exchange"
	"noema/methods"
)

// chatReply is a reply or a part of a streamed one. The SDK's types are not
// used for it: compatible servers stray from the protocol in more ways than
// they allow.
type chatReply struct {
	Model   string
	Choices []chatChoice
	Usage   *chatUsage
	Error   json.RawMessage
}

type chatChoice struct {
	Index   int
	Finish  string `json:"finish_reason"`
	Message chatMessage
	Delta   chatMessage
	Probs   exchange.Detail[struct{ Content, Refusal exchange.Tokens }] `json:"logprobs"`
}

type chatMessage struct {
	Content   looseText
	Refusal   looseText
	ToolCalls []chatCall `json:"tool_calls"`
}

type chatCall struct {
	Index    *int
	ID       string
	Function struct {
		Name      string
		Arguments looseText
	}
}

type chatUsage struct {
	Prompt     exchange.Count `json:"prompt_tokens"`
	Completion exchange.Count `json:"completion_tokens"`
	Total      exchange.Count `json:"total_tokens"`
	In         inputDetails   `json:"prompt_tokens_details"`
	Out        outputDetails  `json:"completion_tokens_details"`
}

// looseText is a string, or what some servers send in its place: null, parts
// of {"text":…}, or an object that should have been encoded as a string.
type looseText string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *looseText) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil { // also null
		*t = looseText(text)
		return nil
	}
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) == nil {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.Text)
		}
		*t = looseText(b.String())
		return nil
	}
	*t = looseText(raw)
	return nil
}

// completeChat reports whether a reply that was cut is whole all the same.
func completeChat(body []byte) bool {
	events, done, stream := exchange.Events(body)
	if !stream {
		return json.Valid(body)
	}
	if done {
		return true
	}
	// The counts come after the finish reason; without them the reply stands,
	// but its cost is unknown.
	for _, e := range events {
		var part chatReply
		if json.Unmarshal(e, &part) == nil && len(part.Choices) > 0 && part.Choices[0].Finish != "" {
			return true
		}
	}
	return false
}

// decodeChat turns the body of a reply into a completion.
func (p *Provider) decodeChat(raw []byte) (methods.Completion, error) {
	events, done, stream := exchange.Events(raw)
	if !stream {
		return p.decodeWhole(raw)
	}
	var sum chatSum
	for _, event := range events {
		var part chatReply
		if err := json.Unmarshal(event, &part); err != nil {
			return methods.Completion{}, p.exchange.Malformed(event, fmt.Errorf("decode reply: %w", err))
		}
		if len(part.Error) > 0 && string(part.Error) != "null" {
			return methods.Completion{}, p.exchange.Malformed(event, errors.New("decode reply: it holds an error"))
		}
		sum.add(part)
	}
	switch {
	case !sum.any && done:
		return methods.Completion{}, p.exchange.Malformed(nil, errors.New("decode reply: it has no choices"))
	case sum.finish == "" && !done:
		return methods.Completion{}, p.exchange.Short()
	}
	return p.completion(sum)
}

func (p *Provider) decodeWhole(raw []byte) (methods.Completion, error) {
	var reply chatReply
	if err := json.Unmarshal(raw, &reply); err != nil {
		return methods.Completion{}, p.exchange.Malformed(raw, fmt.Errorf("decode reply: %w", err))
	}
	if len(reply.Choices) == 0 {
		return methods.Completion{}, p.exchange.Malformed(raw, errors.New("decode reply: it has no choices"))
	}
	var sum chatSum
	sum.add(reply)
	return p.completion(sum)
}

// chatSum is a reply as far as it has come.
type chatSum struct {
	any             bool // a choice was there
	model, finish   string
	content, reason strings.Builder        // reason is why the model refused
	said, refused   []methods.TokenLogprob // the tokens of content and of reason
	calls           []*callSum
	usage           *chatUsage
}

type callSum struct {
	index     int
	id, name  string
	arguments strings.Builder
}

func (s *chatSum) add(r chatReply) {
	if s.model == "" {
		s.model = r.Model
	}
	if r.Usage != nil {
		s.usage = r.Usage
	}
	for _, c := range r.Choices {
		if c.Index != 0 {
			continue // one was asked for
		}
		s.any = true
		if c.Finish != "" {
			s.finish = c.Finish
		}
		s.said, s.refused = append(s.said, c.Probs.Value.Content...), append(s.refused, c.Probs.Value.Refusal...)
		for _, m := range []chatMessage{c.Message, c.Delta} {
			s.content.WriteString(string(m.Content))
			s.reason.WriteString(string(m.Refusal))
			for i, call := range m.ToolCalls {
				s.addCall(i, call)
			}
		}
	}
}

// addCall adds a call or a part of one. Parts belong together by their index;
// where a server leaves it out, a new id begins a new call.
func (s *chatSum) addCall(i int, part chatCall) {
	var call *callSum
	if part.Index != nil {
		i = *part.Index
		for _, c := range s.calls {
			if c.index == i {
				call = c
			}
		}
	} else if n := len(s.calls); part.ID == "" && part.Function.Name == "" && n > 0 {
		call = s.calls[n-1]
	}
	if call == nil {
		call = &callSum{index: i}
		s.calls = append(s.calls, call)
	}
	if part.ID != "" {
		call.id = part.ID
	}
	call.name += part.Function.Name
	call.arguments.WriteString(string(part.Function.Arguments))
}

func (p *Provider) completion(s chatSum) (methods.Completion, error) {
	c := methods.Completion{Text: s.content.String(), Finish: finish(s.finish), Model: s.model, Logprobs: s.said}
	if c.Text == "" && s.reason.Len() > 0 {
		c.Text, c.Finish, c.Logprobs = s.reason.String(), methods.FinishFilter, s.refused
	}
	for i, call := range s.calls {
		if call.name == "" {
			return methods.Completion{}, p.exchange.Malformed(nil, errors.New("decode reply: a tool call without a name"))
		}
		if call.id == "" {
			call.id = fmt.Sprintf("call_%d", i+1)
		}
		c.ToolCalls = append(c.ToolCalls, methods.ToolCall{
			ID: call.id, Name: call.name, Arguments: exchange.Arguments(call.arguments.String()),
		})
	}
	if len(c.ToolCalls) > 0 && c.Finish == methods.FinishStop {
		c.Finish = methods.FinishTools // as some servers forget to say
	}
	c.Usage = p.usage(s.usage, c.Text != "" || len(c.ToolCalls) > 0)
	return c, nil
}

func finish(reason string) methods.FinishReason {
	switch reason {
	case "stop", "":
		return methods.FinishStop
	case "length":
		return methods.FinishLength
	case "tool_calls", "function_call":
		return methods.FinishTools
	case "content_filter":
		return methods.FinishFilter
	}
	return methods.FinishOther
}

// usage counts what the server reported. Reasoning tokens are within the
// completion tokens at OpenAI; where a server counts them apart, which its
// total tells, they are added. Cached input is within the prompt tokens.
func (p *Provider) usage(u *chatUsage, said bool) methods.Usage {
	if u == nil {
		return exchange.Usage(p.tariff.Cost, exchange.Counts{}, said)
	}
	out := u.Completion
	if apart := u.Out.Value.Reasoning.N; apart > 0 && u.Total.Known && u.Total.N == u.Prompt.N+out.N+apart {
		out.N += apart
	}
	return exchange.Usage(p.tariff.Cost, exchange.Counts{
		Input: u.Prompt, Output: out, Cached: u.In.Value.Cached, CacheWrite: u.In.Value.Written,
		Reasoning: u.Out.Value.Reasoning,
	}, said)
}
