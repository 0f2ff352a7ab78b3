package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/methods"
)

// event is an event of a stream. The SDK's types are not used for it: they
// leave the counts of a wrong report looking like right ones.
//
// Source: Anthropic, "Streaming messages".
type event struct {
	Type    string
	Index   int
	Message message
	Block   block `json:"content_block"`
	Delta   struct {
		Type       string
		Text       string
		Partial    string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	}
	Usage *usage
	Error json.RawMessage
}

// message is a whole reply, or how one begins.
type message struct {
	Type       string
	Model      string
	Content    []block
	StopReason string `json:"stop_reason"`
	Usage      *usage
}

type block struct {
	Type  string
	Text  string
	ID    string
	Name  string
	Input json.RawMessage
}

// usage counts tokens. Those of a message_delta are totals, and those that do
// not apply are left out.
type usage struct {
	Input   *exchange.Count `json:"input_tokens"`
	Output  *exchange.Count `json:"output_tokens"`
	Read    *exchange.Count `json:"cache_read_input_tokens"`
	Written *exchange.Count `json:"cache_creation_input_tokens"`

	Creation *exchange.Detail[struct {
		Hour exchange.Count `json:"ephemeral_1h_input_tokens"`
	}] `json:"cache_creation"`
	Details *exchange.Detail[struct {
		Thinking exchange.Count `json:"thinking_tokens"`
	}] `json:"output_tokens_details"`
}

func (u *usage) update(v *usage) {
	if v == nil {
		return
	}
	for _, f := range []struct{ to, from **exchange.Count }{
		{&u.Input, &v.Input}, {&u.Output, &v.Output}, {&u.Read, &v.Read}, {&u.Written, &v.Written},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	if v.Creation != nil {
		u.Creation = v.Creation
	}
	if v.Details != nil {
		u.Details = v.Details
	}
}

// complete reports whether a reply that was cut is whole all the same.
func complete(body []byte) bool {
	events, _, stream := exchange.Events(body)
	if !stream {
		return json.Valid(body)
	}
	for _, e := range events {
		var ev event
		if json.Unmarshal(e, &ev) == nil && ev.Type == "message_stop" {
			return true
		}
	}
	return false
}

// decode turns the body of a reply into a completion.
func (p *Provider) decode(raw []byte, byTool bool) (methods.Completion, error) {
	events, _, stream := exchange.Events(raw)
	if !stream {
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return methods.Completion{}, p.exchange.Malformed(raw, fmt.Errorf("decode reply: %w", err))
		}
		if m.Type != "message" {
			return methods.Completion{}, p.exchange.Malformed(raw, errors.New("decode reply: it is no message"))
		}
		if m.Usage == nil {
			m.Usage = &usage{}
		}
		return p.completion(m, byTool)
	}
	var sum message
	var total usage
	inputs := map[int]*strings.Builder{} // of tool calls, by block
	for _, e := range events {
		var ev event
		if err := json.Unmarshal(e, &ev); err != nil {
			return methods.Completion{}, p.exchange.Malformed(e, fmt.Errorf("decode reply: %w", err))
		}
		if ev.Type == "error" {
			return methods.Completion{}, p.exchange.Malformed(e, errors.New("decode reply: it holds an error"))
		}
		if ev.Type == "message_stop" {
			for i, input := range inputs {
				sum.Content[i].Input = exchange.Arguments(input.String())
			}
			sum.Usage = &total
			return p.completion(sum, byTool)
		}
		if err := sum.add(ev, inputs, &total); err != nil {
			return methods.Completion{}, p.exchange.Malformed(nil, fmt.Errorf("decode reply: %w", err))
		}
	}
	return methods.Completion{}, p.exchange.Short()
}

// add puts an event into the message as far as it has come.
func (m *message) add(ev event, inputs map[int]*strings.Builder, total *usage) error {
	switch ev.Type {
	case "message_start":
		*m = ev.Message
		total.update(ev.Message.Usage)
	case "content_block_start":
		if ev.Index != len(m.Content) {
			return fmt.Errorf("block %d follows %d blocks", ev.Index, len(m.Content))
		}
		m.Content = append(m.Content, ev.Block)
	case "content_block_delta":
		if ev.Index < 0 || ev.Index >= len(m.Content) {
			return fmt.Errorf("a part of block %d, of %d blocks", ev.Index, len(m.Content))
		}
		switch ev.Delta.Type {
		case "text_delta":
			m.Content[ev.Index].Text += ev.Delta.Text
		case "input_json_delta":
			if inputs[ev.Index] == nil {
				inputs[ev.Index] = &strings.Builder{}
			}
			inputs[ev.Index].WriteString(ev.Delta.Partial)
		}
	case "message_delta":
		m.StopReason = ev.Delta.StopReason
		total.update(ev.Usage)
	}
	return nil // others, such as ping, say nothing about the answer
}

func (p *Provider) completion(m message, byTool bool) (methods.Completion, error) {
	if m.StopReason == "model_context_window_exceeded" && len(m.Content) == 0 {
		return methods.Completion{}, &provider.Error{Kind: provider.ContextLength, Err: errors.New("the prompt fills the model's context")}
	}
	c := methods.Completion{Finish: finish(m.StopReason), Model: m.Model}
	var text strings.Builder
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "tool_use":
			if b.Name == "" {
				return methods.Completion{}, p.exchange.Malformed(nil, errors.New("decode reply: a tool call without a name"))
			}
			if byTool {
				text.Reset()
				text.Write(b.Input)
				c.Finish = methods.FinishStop
				continue
			}
			c.ToolCalls = append(c.ToolCalls, methods.ToolCall{ID: b.ID, Name: b.Name, Arguments: exchange.Arguments(string(b.Input))})
		}
	}
	if c.Text = text.String(); c.Text == "" && len(c.ToolCalls) == 0 && m.StopReason == "" {
		return methods.Completion{}, p.exchange.Malformed(nil, errors.New("decode reply: it is empty"))
	}
	if byTool && m.StopReason == "max_tokens" {
		c.Finish = methods.FinishLength
	}
	c.Usage = p.usage(*m.Usage, c.Text != "" || len(c.ToolCalls) > 0)
	return c, nil
}

func finish(reason string) methods.FinishReason {
	switch reason {
	case "end_turn", "stop_sequence":
		return methods.FinishStop
	case "max_tokens", "model_context_window_exceeded":
		return methods.FinishLength
	case "tool_use":
		return methods.FinishTools
	case "refusal":
		return methods.FinishFilter
	}
	return methods.FinishOther
}

// usage counts what the server reported. Input that was read from a cache or
// written to one is reported apart, and is input all the same. What was
// written costs more than other input: by the price of cache_write for five
// minutes, while that of an hour, or without such a price, is not known.
// Requests of this package ask for no cache; servers between may.
func (p *Provider) usage(u usage, said bool) methods.Usage {
	or := func(c *exchange.Count) exchange.Count {
		if c == nil {
			return exchange.Count{}
		}
		return *c
	}
	c := exchange.Counts{Input: or(u.Input), Output: or(u.Output), Cached: or(u.Read), CacheWrite: or(u.Written)}
	for _, more := range []*exchange.Count{u.Read, u.Written} {
		if more != nil {
			c.Input.N, c.Input.Known = c.Input.N+more.N, c.Input.Known && more.Known
		}
	}
	if u.Details != nil {
		c.Reasoning = u.Details.Value.Thinking
	}
	result := exchange.Usage(p.tariff.Cost, c, said)
	forAnHour := u.Creation != nil && u.Creation.Value.Hour.N > 0
	noPrice := p.tariff.Price == nil || p.tariff.Price.CacheWrite == nil || forAnHour
	if result.CacheWriteTokens > 0 && noPrice {
		result.Cost, result.Unpriced = 0, 1
	}
	return result
}
