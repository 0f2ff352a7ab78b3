package wires

import (
	"encoding/json"
	"fmt"
	"net/http"

	"noema/methods"
)

// Source: OpenAI API reference, "Create chat completion".

func readChat(r *reader) error {
	a, n, format := &r.asked, 1, fields{}
	var limit, own int
	var seed int64
	var logprobs bool
	err := r.takeAll(r.body, "", map[string]any{
		"temperature": &a.Sampling.Temperature, "top_p": &a.Sampling.TopP, "top_k": &a.Sampling.TopK, "seed": &seed,
		"max_tokens": &limit, "max_completion_tokens": &own, "n": &n, "logprobs": &logprobs, "top_logprobs": &a.Sampling.Logprobs, "response_format": &format,
	})
	if err != nil {
		return err
	}
	a.Sampling.MaxTokens, a.Sampling.Seed = max(limit, own), uint64(seed)
	if logprobs {
		a.Sampling.Logprobs = max(a.Sampling.Logprobs, 1)
	}
	for _, read := range []func() error{
		func() error { return r.count(n) }, func() error { return r.stops("stop") }, func() error { return r.functions(true) },
		func() error { return r.schemaOf("response_format", format) }, r.turns,
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// wireCall is a tool call of a chat.
type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// turns reads the messages of a chat.
func (r *reader) turns() error {
	turns, err := r.list("messages")
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		return &Refused{Status: http.StatusBadRequest, Code: "bad_field", Param: "messages", Message: "messages: there are none"}
	}
	for i, t := range turns {
		var m methods.Message
		var content json.RawMessage
		var calls []wireCall
		at := fmt.Sprintf("messages[%d]", i)
		if err := r.takeAll(t, at+".", map[string]any{"role": &m.Role, "content": &content, "tool_calls": &calls, "tool_call_id": &m.CallID}); err != nil {
			return err
		}
		if m.Content, err = r.texts(content, at+".content", "text"); err != nil {
			return err
		}
		for _, c := range calls {
			m.ToolCalls = append(m.ToolCalls, methods.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: Arguments(c.Function.Arguments)})
		}
		r.role(&m, at)
		r.leave(t, at+".")
		r.asked.Messages = append(r.asked.Messages, m)
	}
	return nil
}

// role makes a role one that methods know.
func (r *reader) role(m *methods.Message, at string) {
	switch m.Role {
	case "developer":
		m.Role = methods.System
	case methods.System, methods.User, methods.Assistant, methods.Tool:
	default:
		r.leaves("%s.role (%.40s)", at, m.Role)
		m.Role = methods.User
	}
}

// finishes are the reasons of the chat.
var finishes = map[methods.FinishReason]string{
	methods.FinishStop: "stop", methods.FinishLength: "length", methods.FinishTools: "tool_calls", methods.FinishFilter: "content_filter",
}

func finishText(f methods.FinishReason) string {
	if text, ok := finishes[f]; ok {
		return text
	}
	return "stop"
}

func wholeChat(a Asked, replies []methods.Completion, id string) any {
	choices := []object{}
	for i, c := range replies {
		message := object{"role": "assistant", "content": c.Text, "refusal": nil}
		if calls := chatCalls(c, id); len(calls) > 0 {
			message["tool_calls"] = calls
			if c.Text == "" {
				message["content"] = nil
			}
		}
		choices = append(choices, object{"index": i, "finish_reason": finishText(c.Finish), "message": message, "logprobs": chatLogprobs(c)})
	}
	return object{"id": "chatcmpl-" + id, "object": "chat.completion", "created": created, "model": modelOf(replies, a), "choices": choices, "usage": openAIUsage(replies, "prompt", "completion")}
}

// created stands in the place of each time: replies are the same whenever they come.
const created = 1

// modelOf is the model as the program named it, or else as its provider does. Programs choose by
// this name how they read the reply, and what it cost.
func modelOf(replies []methods.Completion, a Asked) string {
	if a.Model == "" && len(replies) > 0 {
		return replies[0].Model
	}
	return a.Model
}

func chatCalls(c methods.Completion, id string) []object {
	var all []object
	for i, call := range c.ToolCalls {
		all = append(all, object{"id": callID(call, "call_", id, i), "type": "function", "function": object{"name": call.Name, "arguments": ArgumentText(call.Arguments)}})
	}
	return all
}

// callID is a tool call's id: the model's own, or one that is made.
func callID(c methods.ToolCall, prefix, id string, i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("%s%s_%d", prefix, id, i)
}

func chatLogprobs(c methods.Completion) any {
	if len(c.Logprobs) == 0 {
		return nil
	}
	return object{"content": tokens(c.Logprobs), "refusal": nil}
}

func tokens(list []methods.TokenLogprob) []object {
	all := []object{}
	for _, t := range list {
		one := object{"token": t.Token, "logprob": t.Logprob, "bytes": numbers(t.Raw())}
		one["top_logprobs"] = tokens(t.Top)
		all = append(all, one)
	}
	return all
}

// numbers are bytes as JSON has them in OpenAI's protocols, where []byte would be base64.
func numbers(b []byte) []int {
	all := make([]int, len(b))
	for i, c := range b {
		all[i] = int(c)
	}
	return all
}

// openAIUsage is the sum of the replies' usage, under the names of a protocol.
func openAIUsage(replies []methods.Completion, in, out string) any {
	var u methods.Usage
	for _, c := range replies {
		u = u.Plus(c.Usage)
	}
	return object{
		in + "_tokens": u.InputTokens, out + "_tokens": u.OutputTokens, "total_tokens": u.Tokens(),
		in + "_tokens_details": object{"cached_tokens": u.CachedTokens}, out + "_tokens_details": object{"reasoning_tokens": u.ReasoningTokens},
	}
}

func framesChat(s *stream, body object) error {
	chunk := func(choices []any, usage any) {
		c := with(body, object{"object": "chat.completion.chunk", "choices": choices, "usage": usage})
		if !s.usage {
			delete(c, "usage")
		}
		s.data(c)
	}
	for _, choice := range objects(body["choices"]) {
		one := func(delta object, more object) {
			chunk([]any{with(object{"index": choice["index"], "delta": delta, "finish_reason": nil, "logprobs": nil}, more)}, nil)
		}
		message := inner(choice["message"])
		delta := object{"role": "assistant"}
		for name, value := range message {
			if name != "tool_calls" && value != nil {
				delta[name] = value
			}
		}
		one(delta, object{"logprobs": choice["logprobs"]})
		for i, call := range objects(message["tool_calls"]) {
			function, rest := inner(call["function"]), with(call, object{"index": i})
			if function == nil { // a call of another kind comes whole
				one(object{"tool_calls": []any{rest}}, nil)
				continue
			}
			rest["function"] = with(function, object{"arguments": ""})
			one(object{"tool_calls": []any{rest}}, nil)
			one(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": function["arguments"]}}}}, nil)
		}
		last := object{}
		for name, value := range choice {
			if name != "message" && name != "logprobs" {
				last[name] = value
			}
		}
		one(object{}, last)
	}
	if s.usage {
		chunk([]any{}, body["usage"])
	}
	s.end()
	return nil
}
