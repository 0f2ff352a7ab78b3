package anthropic

import (
	"encoding/json"
	"errors"
	"strings"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/methods"
	"noema/plugins/program/wires"
)

// event is an event of a stream, or a whole message.
//
// Source: Anthropic, "Streaming messages".
type event struct {
	message
	Index   int
	Message message
	Block   part `json:"content_block"`
	Delta   struct {
		Type       string
		Text       string
		Partial    string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	}
}

// message is a whole reply, or how one begins.
type message struct {
	Type       string
	Model      string
	Content    []part
	StopReason string `json:"stop_reason"`
	Usage      *usage
}

type part struct {
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

// decode reads the body of a reply.
func decode(raw []byte, d exchange.Draft) (exchange.Reply, error) {
	var sum message
	var total usage
	whole := false
	inputs := map[int]*strings.Builder{} // of tool calls, by block
	_, err := exchange.Each(raw, func(ev event) error {
		switch {
		case whole:
			return nil
		case ev.Type == "message":
			sum, whole = ev.message, true
			total.update(sum.Usage)
		case ev.Type == "message_stop":
			for i, input := range inputs {
				sum.Content[i].Input = wires.Arguments(input.String())
			}
			whole = true
		default:
			return sum.add(ev, inputs, &total)
		}
		return nil
	})
	_, _, stream := exchange.Events(raw)
	switch {
	case err != nil:
		return exchange.Reply{}, err
	case !whole && stream:
		return exchange.Reply{}, exchange.Short()
	case !whole:
		return exchange.Reply{}, exchange.Malformed(raw, "it is not a message")
	}
	reply, err := sum.reply(byTool(d))
	reply.Counts = total.counts()
	return reply, err
}

// decodeCount reads how many tokens a prompt has, which says nothing else.
func decodeCount(raw []byte, _ exchange.Draft) (exchange.Reply, error) {
	var counted usage
	_, err := exchange.Each(raw, func(u usage) error {
		counted = u
		return nil
	})
	counts := counted.counts()
	counts.Output = exchange.Count{Known: true}
	return exchange.Reply{Completion: methods.Completion{Finish: methods.FinishStop}, Counts: counts}, err
}

// add puts an event into the message as far as it has come.
func (m *message) add(ev event, inputs map[int]*strings.Builder, total *usage) error {
	switch ev.Type {
	case "message_start":
		*m = ev.Message
		total.update(ev.Message.Usage)
	case "content_block_start":
		if ev.Index != len(m.Content) {
			return exchange.Malformed(nil, "block %d follows %d blocks", ev.Index, len(m.Content))
		}
		m.Content = append(m.Content, ev.Block)
	case "content_block_delta":
		if ev.Index < 0 || ev.Index >= len(m.Content) {
			return exchange.Malformed(nil, "a part of block %d, of %d blocks", ev.Index, len(m.Content))
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

func (m message) reply(byTool bool) (exchange.Reply, error) {
	if m.StopReason == "model_context_window_exceeded" && len(m.Content) == 0 {
		return exchange.Reply{}, &provider.Error{Kind: provider.ContextLength, Err: errors.New("the prompt fills the model's context")}
	}
	c := methods.Completion{Finish: finish(m.StopReason), Model: m.Model}
	var text strings.Builder
	for _, b := range m.Content {
		switch {
		case b.Type == "text":
			text.WriteString(b.Text)
		case b.Type != "tool_use":
		case b.Name == "":
			return exchange.Reply{}, exchange.Malformed(nil, "a tool call without a name")
		case byTool:
			text.Reset()
			text.Write(b.Input)
			c.Finish = methods.FinishStop
		default:
			c.ToolCalls = append(c.ToolCalls, methods.ToolCall{ID: b.ID, Name: b.Name, Arguments: wires.Arguments(string(b.Input))})
		}
	}
	if c.Text = text.String(); c.Text == "" && len(c.ToolCalls) == 0 && m.StopReason == "" {
		return exchange.Reply{}, exchange.Malformed(nil, "it is empty")
	}
	if byTool && m.StopReason == "max_tokens" {
		c.Finish = methods.FinishLength
	}
	return exchange.Reply{Completion: c}, nil
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

// counts are what the server reported. Input that was read from a cache or
// written to one is reported apart, and is input all the same. What was written
// costs more than other input: the price of cache_write is for five minutes, and
// that of an hour is not known. Requests of this package ask for no cache;
// servers between may.
func (u usage) counts() exchange.Counts {
	or := func(c *exchange.Count) exchange.Count {
		if c == nil {
			return exchange.Count{}
		}
		return *c
	}
	c := exchange.Counts{Input: or(u.Input), Output: or(u.Output), Cached: or(u.Read), CacheWrite: or(u.Written), WriteCosts: true}
	for _, more := range []*exchange.Count{u.Read, u.Written} {
		if more != nil {
			c.Input.N, c.Input.Known = c.Input.N+more.N, c.Input.Known && more.Known
		}
	}
	if u.Details != nil {
		c.Reasoning = u.Details.Value.Thinking
	}
	c.LongWrite = u.Creation != nil && u.Creation.Value.Hour.N > 0
	return c
}
