package ollama

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/kernel/provider/exchange"
	"noema/methods"
)

// part is one line of a reply.
//
// Source: Ollama, api/types.go, ChatResponse.
type part struct {
	Model   string
	Message struct {
		Content   string
		Thinking  string
		ToolCalls []call `json:"tool_calls"`
	}
	Logprobs exchange.Tokens
	Done     bool
	Reason   string `json:"done_reason"`
	Error    json.RawMessage
	Prompt   exchange.Count `json:"prompt_eval_count"`
	Eval     exchange.Count `json:"eval_count"`
}

// complete reports whether a reply that was cut is whole all the same.
func complete(body []byte) bool {
	lines := exchange.Lines(body)
	if len(lines) == 0 {
		return false
	}
	var last part
	return json.Unmarshal(lines[len(lines)-1], &last) == nil && last.Done
}

// decode turns the body of a reply into a completion.
func (p *Provider) decode(raw []byte) (methods.Completion, error) {
	c := methods.Completion{}
	var text strings.Builder
	lines := exchange.Lines(raw)
	if len(lines) == 0 {
		return c, p.exchange.Malformed(raw, errors.New("decode reply: it is empty"))
	}
	for _, line := range lines {
		var one part
		if err := json.Unmarshal(line, &one); err != nil {
			return methods.Completion{}, p.exchange.Malformed(raw, fmt.Errorf("decode reply: %w", err))
		}
		if len(one.Error) > 0 && string(one.Error) != "null" {
			return methods.Completion{}, p.exchange.Malformed(line, errors.New("decode reply: it holds an error"))
		}
		text.WriteString(one.Message.Content)
		if one.Message.Thinking == "" || one.Message.Content != "" { // else they are of a thought
			c.Logprobs = append(c.Logprobs, one.Logprobs...)
		}
		for _, call := range one.Message.ToolCalls {
			if call.Function.Name == "" {
				return methods.Completion{}, p.exchange.Malformed(nil, errors.New("decode reply: a tool call without a name"))
			}
			if call.ID == "" {
				call.ID = fmt.Sprintf("call_%d", len(c.ToolCalls)+1)
			}
			c.ToolCalls = append(c.ToolCalls, methods.ToolCall{
				ID: call.ID, Name: call.Function.Name, Arguments: exchange.Arguments(string(call.Function.Arguments)),
			})
		}
		if c.Model == "" {
			c.Model = one.Model
		}
		if one.Done {
			c.Text = text.String()
			c.Finish = finish(one.Reason, len(c.ToolCalls))
			c.Usage = exchange.Usage(p.tariff.Cost, exchange.Counts{Input: one.Prompt, Output: one.Eval}, c.Text != "" || len(c.ToolCalls) > 0)
			return c, nil
		}
	}
	return methods.Completion{}, p.exchange.Short()
}

func finish(reason string, calls int) methods.FinishReason {
	switch {
	case reason == "length":
		return methods.FinishLength
	case calls > 0:
		return methods.FinishTools
	case reason == "stop", reason == "":
		return methods.FinishStop
	}
	return methods.FinishOther // "load" and "unload": the server was told to
}
