package ollama

import (
	"cmp"
	"fmt"
	"strings"

	"noema/kernel/model/provider/exchange"
	"noema/methods"
	"noema/plugins/program/wires"
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
	Reason   string         `json:"done_reason"`
	Prompt   exchange.Count `json:"prompt_eval_count"`
	Eval     exchange.Count `json:"eval_count"`
}

// decode reads the body of a reply.
func decode(raw []byte, _ exchange.Draft) (exchange.Reply, error) {
	var c methods.Completion
	var text strings.Builder
	var last part
	if _, err := exchange.Each(raw, func(one part) error {
		if last.Done {
			return nil
		}
		last = one
		text.WriteString(one.Message.Content)
		if one.Message.Thinking == "" || one.Message.Content != "" { // else they are of a thought
			c.Logprobs = append(c.Logprobs, one.Logprobs...)
		}
		for _, call := range one.Message.ToolCalls {
			if call.Function.Name == "" {
				return exchange.Malformed(nil, "a tool call without a name")
			}
			if call.ID == "" {
				call.ID = fmt.Sprintf("call_%d", len(c.ToolCalls)+1)
			}
			c.ToolCalls = append(c.ToolCalls, methods.ToolCall{
				ID: call.ID, Name: call.Function.Name, Arguments: wires.Arguments(string(call.Function.Arguments)),
			})
		}
		c.Model = cmp.Or(c.Model, one.Model)
		return nil
	}); err != nil {
		return exchange.Reply{}, err
	}
	if !last.Done {
		return exchange.Reply{}, exchange.Short()
	}
	c.Text, c.Finish = text.String(), finish(last.Reason, len(c.ToolCalls))
	return exchange.Reply{Completion: c, Counts: exchange.Counts{Input: last.Prompt, Output: last.Eval}}, nil
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
