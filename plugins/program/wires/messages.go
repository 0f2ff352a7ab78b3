package wires

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"noema/methods"
)

// Source: Anthropic API reference, "Messages" and "Streaming messages".

func readMessages(r *reader) error {
	a, format := &r.asked, fields{}
	var system json.RawMessage
	err := r.takeAll(r.body, "", map[string]any{
		"temperature": &a.Sampling.Temperature, "top_p": &a.Sampling.TopP, "top_k": &a.Sampling.TopK, "max_tokens": &a.Sampling.MaxTokens,
		"system": &system, "output_format": &format,
	})
	if err != nil {
		return err
	}
	text, err := r.texts(system, "system", "text")
	if err != nil {
		return err
	}
	if text != "" {
		a.Messages = append(a.Messages, methods.Message{Role: methods.System, Content: text})
	}
	if err := errors.Join(r.stops("stop_sequences"), r.schemaOf("output_format", format)); err != nil {
		return firstRefusal(err)
	}
	tools, err := r.list("tools")
	for i, t := range tools {
		at, kind := fmt.Sprintf("tools[%d]", i), ""
		if err := r.take(t, "type", at+".type", &kind); err != nil {
			return err
		}
		if kind != "" && kind != "custom" {
			r.leaves("%s (%s)", at, kind)
			continue
		}
		if err := r.tool(t, at, "input_schema"); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return r.blockTurns()
}

// blockTurns reads messages whose content is blocks. A result of a tool is a turn of its own.
func (r *reader) blockTurns() error {
	turns, err := r.list("messages")
	if err == nil && len(turns) == 0 {
		err = &Refused{Status: http.StatusBadRequest, Code: "bad_field", Param: "messages", Message: "messages: there are none"}
	}
	for i, t := range turns {
		at := fmt.Sprintf("messages[%d]", i)
		var m methods.Message
		var content json.RawMessage
		if err := r.takeAll(t, at+".", map[string]any{"role": &m.Role, "content": &content}); err != nil {
			return err
		}
		r.leave(t, at+".")
		r.role(&m, at)
		var blocks []fields
		if json.Unmarshal(content, &m.Content) != nil && json.Unmarshal(content, &blocks) != nil {
			return &Refused{Status: http.StatusBadRequest, Code: "bad_field", Param: at + ".content", Message: at + ".content is neither a text nor a list of blocks"}
		}
		for j, b := range blocks {
			if err := r.block(&m, b, fmt.Sprintf("%s.content[%d]", at, j)); err != nil {
				return err
			}
		}
		if m.Content != "" || len(m.ToolCalls) > 0 || blocks == nil {
			r.asked.Messages = append(r.asked.Messages, m)
		}
	}
	return err
}

// block reads one block into its turn.
func (r *reader) block(m *methods.Message, b fields, at string) error {
	var kind, text, id, name, of string
	var input, content json.RawMessage
	var failed bool
	if err := r.takeAll(b, at+".", map[string]any{
		"type": &kind, "text": &text, "id": &id, "name": &name, "input": &input, "tool_use_id": &of, "content": &content, "is_error": &failed,
	}); err != nil {
		return err
	}
	switch kind {
	case "text":
		if m.Content != "" {
			m.Content += "\n"
		}
		m.Content += text
	case "tool_use":
		m.ToolCalls = append(m.ToolCalls, methods.ToolCall{ID: id, Name: name, Arguments: slices.Concat(input)})
	case "tool_result":
		said, err := r.texts(content, at+".content", "text")
		if err != nil {
			return err
		}
		if failed {
			r.leaves("%s.is_error", at)
		}
		r.asked.Messages = append(r.asked.Messages, methods.Message{Role: methods.Tool, Content: said, CallID: of})
	default:
		r.leaves("%s (%s)", at, kind)
		return nil
	}
	r.leave(b, at+".")
	return nil
}

// stopReasons are the reasons of Anthropic's messages.
var stopReasons = map[methods.FinishReason]string{
	methods.FinishStop: "end_turn", methods.FinishLength: "max_tokens", methods.FinishTools: "tool_use", methods.FinishFilter: "refusal",
}

func wholeMessages(a Asked, replies []methods.Completion, id string) any {
	c := replies[0]
	blocks := []object{}
	if c.Text != "" || len(c.ToolCalls) == 0 {
		blocks = append(blocks, object{"type": "text", "text": c.Text, "citations": nil})
	}
	for i, call := range c.ToolCalls {
		input := ObjectArguments(call.Arguments)
		blocks = append(blocks, object{"type": "tool_use", "id": callID(call, "toolu_", id, i), "name": call.Name, "input": input})
	}
	reason := stopReasons[c.Finish]
	if reason == "" {
		reason = "end_turn"
	}
	u := c.Usage
	return object{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": modelOf(replies, a), "content": blocks, "stop_reason": reason, "stop_sequence": nil,
		"usage": object{
			"input_tokens": u.InputTokens - u.CachedTokens - u.CacheWriteTokens, "output_tokens": u.OutputTokens,
			"cache_read_input_tokens": u.CachedTokens, "cache_creation_input_tokens": u.CacheWriteTokens,
		},
	}
}

func framesMessages(s *stream, body object) error {
	use := inner(body["usage"])
	s.event("message_start", object{"message": with(body, object{"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": with(use, object{"output_tokens": 1})})})
	for i, block := range objects(body["content"]) {
		deltas, open := []object{}, with(block, object{})
		switch text(block["type"]) {
		case "text":
			open["text"] = ""
			deltas = append(deltas, object{"type": "text_delta", "text": block["text"]})
		case "tool_use", "server_tool_use":
			open["input"] = object{}
			raw, _ := block["input"].(json.RawMessage)
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": string(raw)})
		case "thinking":
			open["thinking"], open["signature"] = "", ""
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": block["thinking"]}, object{"type": "signature_delta", "signature": block["signature"]})
		}
		s.event("content_block_start", object{"index": i, "content_block": open})
		for _, d := range deltas {
			s.event("content_block_delta", object{"index": i, "delta": d})
		}
		s.event("content_block_stop", object{"index": i})
	}
	s.event("message_delta", object{"delta": object{"stop_reason": body["stop_reason"], "stop_sequence": body["stop_sequence"]}, "usage": use})
	s.event("message_stop", object{})
	return nil
}
