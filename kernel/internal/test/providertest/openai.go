package providertest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"noema/methods"
)

// chatWire is OpenAI's chat completions.
type chatWire struct{}

func (chatWire) parse(path string, a *Ask) bool {
	a.Model, a.Seed, a.Stream = str(a.Body["model"]), num(a.Body["seed"]), a.Body["stream"] == true
	a.Schema = a.Body["response_format"] != nil
	if a.Body["logprobs"] == true {
		a.Logprobs = int(num(a.Body["top_logprobs"]))
	}
	for _, e := range list(a.Body["messages"]) {
		m := sub(e)
		a.Messages = append(a.Messages, methods.Message{Role: methods.Role(str(m["role"])), Content: text(m["content"])})
		switch m["role"] {
		case "system":
			a.System += text(m["content"])
		case "user":
			a.Prompt = text(m["content"])
		case "tool":
			a.Results = append(a.Results, text(m["content"]))
		}
	}
	for _, t := range list(a.Body["tools"]) {
		a.Tools = append(a.Tools, str(sub(sub(t)["function"])["name"]))
	}
	return strings.HasSuffix(path, "/chat/completions") // whatever the base
}

func (chatWire) calls(answer Answer) []any {
	var out []any
	for i, c := range answer.Calls {
		out = append(out, fields{
			"index": i, "id": orElse(c.ID, fmt.Sprintf("call_%d", i+1)), "type": "function",
			"function": fields{"name": c.Name, "arguments": c.Arguments},
		})
	}
	return out
}

func (chatWire) finish(answer Answer) string {
	switch {
	case answer.Truncated:
		return "length"
	case len(answer.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (w chatWire) usage(a Ask, answer Answer, u usage) any {
	in, out, ok := u.report(a, answer)
	if !ok {
		return nil
	}
	return fields{
		"prompt_tokens": in, "completion_tokens": out, "total_tokens": total(in, out),
		"prompt_tokens_details":     fields{"cached_tokens": answer.Cached, "cache_write_tokens": answer.Written},
		"completion_tokens_details": fields{"reasoning_tokens": answer.Reasoning},
	}
}

func (w chatWire) whole(a Ask, answer Answer, u usage) []byte {
	message := fields{"role": "assistant", "content": answer.Text, "tool_calls": w.calls(answer)}
	if answer.Refused {
		message["content"], message["refusal"] = nil, answer.Text
	}
	return encode(fields{
		"id": "x", "object": "chat.completion", "created": 1, "model": a.Model, "usage": w.usage(a, answer, u),
		"choices": []any{fields{
			"index": 0, "finish_reason": w.finish(answer), "message": message, "logprobs": chatLogprobs(a, answer.Tokens),
		}},
	})
}

func (w chatWire) frames(a Ask, answer Answer, u usage) [][]byte {
	var tokens any // of the next chunk
	chunk := func(delta fields, finish, usage any) []byte {
		choices := []any{}
		if delta != nil {
			choices = append(choices, fields{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": tokens})
		}
		tokens = nil
		return event("", fields{"id": "x", "object": "chat.completion.chunk", "model": a.Model, "choices": choices, "usage": usage})
	}
	field := "content"
	if answer.Refused {
		field = "refusal"
	}
	frames := [][]byte{chunk(fields{"role": "assistant", field: ""}, nil, nil)}
	for i, t := range thirds(answer.Text) {
		tokens = chatLogprobs(a, share(answer.Tokens, i))
		frames = append(frames, chunk(fields{field: t}, nil, nil))
	}
	for i, c := range answer.Calls {
		id := orElse(c.ID, fmt.Sprintf("call_%d", i+1))
		frames = append(frames, chunk(fields{"tool_calls": []any{
			fields{"index": i, "id": id, "type": "function", "function": fields{"name": c.Name, "arguments": ""}}}}, nil, nil))
		for _, t := range thirds(c.Arguments) {
			frames = append(frames, chunk(fields{"tool_calls": []any{fields{"index": i, "function": fields{"arguments": t}}}}, nil, nil))
		}
	}
	return append(frames,
		chunk(fields{}, w.finish(answer), nil), chunk(nil, nil, w.usage(a, answer, u)), []byte("data: [DONE]\n\n"))
}

func (chatWire) refusal(status int, message string, _ time.Duration) []byte {
	return openAIRefusal(status, message)
}

func (chatWire) failure() []byte {
	return event("", fields{"error": fields{"message": "The server had an error.", "type": "server_error", "code": nil}})
}

func (chatWire) tooLong() string { return "This model's maximum context length is 8192 tokens." }

func (chatWire) streams() string { return "text/event-stream" }

func (chatWire) key(h http.Header) string {
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// responsesWire is OpenAI's responses.
type responsesWire struct{ chatWire }

func (responsesWire) parse(path string, a *Ask) bool {
	a.Model, a.Stream = str(a.Body["model"]), a.Body["stream"] == true
	a.Schema = sub(a.Body["text"])["format"] != nil
	for _, e := range list(a.Body["include"]) {
		if e == "message.output_text.logprobs" {
			a.Logprobs = int(num(a.Body["top_logprobs"]))
		}
	}
	for _, e := range list(a.Body["input"]) {
		m := sub(e)
		switch {
		case m["type"] == "function_call_output":
			a.Results = append(a.Results, str(m["output"]))
		case m["role"] == "system":
			a.System += text(m["content"])
		case m["role"] == "user":
			a.Prompt = text(m["content"])
		}
	}
	for _, t := range list(a.Body["tools"]) {
		a.Tools = append(a.Tools, str(sub(t)["name"]))
	}
	return strings.HasSuffix(path, "/responses")
}

func (responsesWire) response(a Ask, answer Answer, u usage) fields {
	part := fields{"type": "output_text", "text": answer.Text, "logprobs": wireTokens(a, answer.Tokens)}
	if answer.Refused {
		part = fields{"type": "refusal", "refusal": answer.Text}
	}
	output := []any{
		fields{"type": "reasoning", "id": "rs_1", "summary": []any{}},
		fields{"type": "message", "role": "assistant", "content": []any{part}},
	}
	for i, c := range answer.Calls {
		output = append(output, fields{
			"type": "function_call", "call_id": orElse(c.ID, fmt.Sprintf("call_%d", i+1)), "name": c.Name, "arguments": c.Arguments,
		})
	}
	r := fields{"id": "x", "object": "response", "model": a.Model, "status": "completed", "output": output}
	if answer.Truncated {
		r["status"], r["incomplete_details"] = "incomplete", fields{"reason": "max_output_tokens"}
	}
	if in, out, ok := u.report(a, answer); ok {
		r["usage"] = fields{
			"input_tokens": in, "output_tokens": out, "total_tokens": total(in, out),
			"input_tokens_details":  fields{"cached_tokens": answer.Cached, "cache_write_tokens": answer.Written},
			"output_tokens_details": fields{"reasoning_tokens": answer.Reasoning},
		}
	}
	return r
}

func (w responsesWire) whole(a Ask, answer Answer, u usage) []byte {
	return encode(w.response(a, answer, u))
}

func (w responsesWire) frames(a Ask, answer Answer, u usage) [][]byte {
	begun := fields{"type": "response.created", "response": fields{"id": "x", "status": "in_progress", "output": []any{}}}
	frames := [][]byte{event("response.created", begun)}
	for _, t := range thirds(answer.Text) {
		frames = append(frames, event("response.output_text.delta", fields{"type": "response.output_text.delta", "delta": t}))
	}
	last := "response.completed"
	if answer.Truncated {
		last = "response.incomplete"
	}
	return append(frames, event(last, fields{"type": last, "response": w.response(a, answer, u)}))
}

func (responsesWire) failure() []byte {
	return event("error", fields{"type": "error", "code": "server_error", "message": "The server had an error.", "param": nil})
}
