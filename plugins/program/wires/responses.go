package wires

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"noema/methods"
)

// Source: OpenAI API reference, "Create a model response".

func readResponses(r *reader) error {
	a := &r.asked
	var instructions, before string
	var input json.RawMessage
	var text struct{ Format fields }
	var include []string
	err := r.takeAll(r.body, "", map[string]any{
		"temperature": &a.Sampling.Temperature, "top_p": &a.Sampling.TopP, "max_output_tokens": &a.Sampling.MaxTokens, "top_logprobs": &a.Sampling.Logprobs,
		"instructions": &instructions, "input": &input, "previous_response_id": &before, "include": &include,
	})
	if err != nil {
		return err
	}
	if before != "" { // an endpoint gives the earlier items instead
		r.leaves("previous_response_id")
	}
	if slices.Contains(include, "message.output_text.logprobs") {
		a.Sampling.Logprobs = max(a.Sampling.Logprobs, 1)
	}
	if raw := r.body["text"]; raw != nil {
		whole := fields{}
		if err := r.take(r.body, "text", "text", &whole); err != nil {
			return err
		}
		if err := r.take(whole, "format", "text.format", &text.Format); err != nil {
			return err
		}
		r.leave(whole, "text.")
	}
	if instructions != "" {
		a.Messages = append(a.Messages, methods.Message{Role: methods.System, Content: instructions})
	}
	if err := errors.Join(r.schemaOf("text.format", text.Format), r.functions(false)); err != nil {
		return firstRefusal(err)
	}
	return r.items(input)
}

// firstRefusal is the first of several errors, all of which are refusals.
func firstRefusal(err error) error {
	if r, ok := errors.AsType[*Refused](err); ok {
		return r
	}
	return err
}

// items reads the input: a text, or messages, calls and their results.
func (r *reader) items(input json.RawMessage) error {
	var text string
	if json.Unmarshal(input, &text) == nil && input != nil {
		r.asked.Messages = append(r.asked.Messages, methods.Message{Role: methods.User, Content: text})
		return nil
	}
	var items []fields
	if err := json.Unmarshal(input, &items); err != nil {
		return &Refused{Status: http.StatusBadRequest, Code: "bad_field", Param: "input", Message: "input is neither a text nor a list of items"}
	}
	for i, item := range items {
		if err := r.item(item, fmt.Sprintf("input[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) item(item fields, at string) error {
	var kind, name, args string
	var content, output json.RawMessage
	var m methods.Message
	if err := r.takeAll(item, at+".", map[string]any{
		"type": &kind, "role": &m.Role, "content": &content, "call_id": &m.CallID, "name": &name, "arguments": &args, "output": &output,
	}); err != nil {
		return err
	}
	var err error
	switch kind {
	case "", "message":
		m.Content, err = r.texts(content, at+".content", "input_text", "output_text", "text")
		r.role(&m, at)
	case "function_call":
		call := methods.ToolCall{ID: m.CallID, Name: name, Arguments: Arguments(args)}
		r.leave(item, at+".")
		if n := len(r.asked.Messages); n > 0 && r.asked.Messages[n-1].Role == methods.Assistant {
			r.asked.Messages[n-1].ToolCalls = append(r.asked.Messages[n-1].ToolCalls, call)
			return nil
		}
		m = methods.Message{Role: methods.Assistant, ToolCalls: []methods.ToolCall{call}}
	case "function_call_output":
		m.Role = methods.Tool
		m.Content, err = r.texts(output, at+".output", "input_text", "output_text", "text")
	default:
		r.leaves("%s (%s)", at, kind)
		return nil
	}
	r.leave(item, at+".")
	r.asked.Messages = append(r.asked.Messages, m)
	return err
}

func wholeResponses(a Asked, replies []methods.Completion, id string) any {
	c := replies[0]
	items := []object{}
	if c.Text != "" || len(c.ToolCalls) == 0 {
		part := object{"type": "output_text", "text": c.Text, "annotations": []any{}, "logprobs": tokens(c.Logprobs)}
		items = append(items, object{"type": "message", "id": "msg_" + id, "status": "completed", "role": "assistant", "content": []any{part}})
	}
	for i, call := range c.ToolCalls {
		items = append(items, object{
			"type": "function_call", "id": fmt.Sprintf("fc_%s_%d", id, i), "call_id": callID(call, "call_", id, i), "status": "completed",
			"name": call.Name, "arguments": ArgumentText(call.Arguments),
		})
	}
	var asked map[string]json.RawMessage
	if a.Raw != nil {
		_ = json.Unmarshal(a.Raw.Body, &asked) // it was read
	}
	body := object{
		"id": "resp_" + id, "object": "response", "created_at": created, "status": "completed", "error": nil, "incomplete_details": nil, "model": modelOf(replies, a), "output": items,
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "temperature": a.Sampling.Temperature, "top_p": 1, "metadata": object{}, "previous_response_id": nil,
		"reasoning": object{"effort": nil, "summary": nil}, "text": object{"format": object{"type": "text"}}, "truncation": "disabled", "usage": openAIUsage(replies, "input", "output"),
	}
	for _, name := range []string{"tools", "tool_choice", "instructions", "max_output_tokens", "text"} {
		if asked[name] != nil {
			body[name] = asked[name]
		}
	}
	if c.Finish == methods.FinishLength {
		body["status"], body["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	}
	return body
}

func framesResponses(s *stream, body object) error {
	begun := with(body, object{"status": "in_progress", "output": []any{}, "usage": nil})
	s.numbered("response.created", object{"response": begun})
	s.numbered("response.in_progress", object{"response": begun})
	for i, item := range objects(body["output"]) {
		at := object{"output_index": i, "item_id": item["id"]}
		open := with(item, object{"status": "in_progress"})
		switch text(item["type"]) {
		case "message":
			open["content"] = []any{}
		case "function_call":
			open["arguments"] = ""
		}
		s.numbered("response.output_item.added", object{"output_index": i, "item": open})
		switch text(item["type"]) {
		case "message":
			for j, part := range objects(item["content"]) {
				framesPart(s, with(at, object{"content_index": j}), part)
			}
		case "function_call":
			s.numbered("response.function_call_arguments.delta", with(at, object{"delta": item["arguments"]}))
			s.numbered("response.function_call_arguments.done", with(at, object{"arguments": item["arguments"], "name": item["name"]}))
		}
		s.numbered("response.output_item.done", object{"output_index": i, "item": item})
	}
	last := "response.completed"
	if text(body["status"]) == "incomplete" {
		last = "response.incomplete"
	}
	s.numbered(last, object{"response": body})
	return nil
}

// framesPart cuts a part of a message.
func framesPart(s *stream, at, part object) {
	empty := with(part, object{})
	name, field := "output_text", "text"
	switch text(part["type"]) {
	case "output_text":
	case "refusal":
		name, field = "refusal", "refusal"
	default: // a part of another kind comes whole
		s.numbered("response.content_part.added", with(at, object{"part": part}))
		s.numbered("response.content_part.done", with(at, object{"part": part}))
		return
	}
	empty[field] = ""
	s.numbered("response.content_part.added", with(at, object{"part": empty}))
	logprobs := part["logprobs"]
	if logprobs == nil {
		logprobs = []any{}
	}
	s.numbered("response."+name+".delta", with(at, object{"delta": part[field], "logprobs": logprobs}))
	s.numbered("response."+name+".done", with(at, object{field: part[field], "logprobs": logprobs}))
	s.numbered("response.content_part.done", with(at, object{"part": part}))
}
