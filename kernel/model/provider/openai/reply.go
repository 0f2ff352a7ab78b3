package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"noema/kernel/model/provider/exchange"
	"noema/methods"
	"noema/plugins/program/wires"
)

// chatReply is a reply or a part of a streamed one.
type chatReply struct {
	Model   string
	Choices []chatChoice
	Usage   *chatUsage
}

type chatChoice struct {
	Index   int
	Finish  string `json:"finish_reason"`
	Message chatMessage
	Delta   chatMessage
	Text    looseText                                                   // of a legacy completion, which has no message
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

// looseText is a string, or what some servers send instead: null, parts of
// {"text":…}, or an object that should have been encoded as a string.
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

// inputDetails and outputDetails are what both protocols say of tokens.
type (
	inputDetails = exchange.Detail[struct {
		Cached  exchange.Count `json:"cached_tokens"`
		Written exchange.Count `json:"cache_write_tokens"`
	}]
	outputDetails = exchange.Detail[struct {
		Reasoning exchange.Count `json:"reasoning_tokens"`
	}]
)

// decodeChat reads the body of a reply.
func decodeChat(raw []byte, _ exchange.Draft) (exchange.Reply, error) {
	var sum chatSum
	ended, err := exchange.Each(raw, func(part chatReply) error {
		sum.add(part)
		return nil
	})
	switch {
	case err != nil:
		return exchange.Reply{}, err
	case !sum.any && ended:
		return exchange.Reply{}, exchange.Malformed(raw, "it has no choices")
	case sum.finish == "" && !ended:
		return exchange.Reply{}, exchange.Short()
	}
	return sum.reply()
}

// decodeEmbeddings reads a reply that has no text: what it took.
func decodeEmbeddings(raw []byte, _ exchange.Draft) (exchange.Reply, error) {
	var sum chatSum
	if _, err := exchange.Each(raw, func(whole chatReply) error {
		sum.add(whole)
		return nil
	}); err != nil {
		return exchange.Reply{}, err
	}
	counts := sum.usage.counts()
	counts.Output = exchange.Count{Known: true}
	return exchange.Reply{Completion: methods.Completion{Finish: methods.FinishStop, Model: sum.model}, Counts: counts}, nil
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
	s.model = cmp.Or(s.model, r.Model)
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
		s.content.WriteString(string(c.Text))
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

func (s chatSum) reply() (exchange.Reply, error) {
	c := methods.Completion{Text: s.content.String(), Finish: finish(s.finish), Model: s.model, Logprobs: s.said}
	if c.Text == "" && s.reason.Len() > 0 {
		c.Text, c.Finish, c.Logprobs = s.reason.String(), methods.FinishFilter, s.refused
	}
	for i, call := range s.calls {
		if call.name == "" {
			return exchange.Reply{}, exchange.Malformed(nil, "a tool call without a name")
		}
		if call.id == "" {
			call.id = fmt.Sprintf("call_%d", i+1)
		}
		c.ToolCalls = append(c.ToolCalls, methods.ToolCall{
			ID: call.id, Name: call.name, Arguments: wires.Arguments(call.arguments.String()),
		})
	}
	if len(c.ToolCalls) > 0 && c.Finish == methods.FinishStop {
		c.Finish = methods.FinishTools // as some servers forget to say
	}
	return exchange.Reply{Completion: c, Counts: s.usage.counts()}, nil
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

// counts are what the server reported. Reasoning tokens are within the
// completion tokens at OpenAI; where a server counts them apart, which its total
// shows, they are added. Cached input is within the prompt tokens.
func (u *chatUsage) counts() exchange.Counts {
	if u == nil {
		return exchange.Counts{}
	}
	out, reasoning := u.Completion, u.Out.Value.Reasoning
	if reasoning.N > 0 && u.Total.Known && u.Total.N == u.Prompt.N+out.N+reasoning.N {
		out.N += reasoning.N
	}
	return exchange.Counts{Input: u.Prompt, Output: out, Cached: u.In.Value.Cached, CacheWrite: u.In.Value.Written, Reasoning: reasoning}
}
