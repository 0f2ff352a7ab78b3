package providertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// anthropicWire is Anthropic's messages.
type anthropicWire struct{}

func (anthropicWire) parse(path string, a *Ask) bool {
	a.Model, a.Stream, a.System = str(a.Body["model"]), a.Body["stream"] == true, text(a.Body["system"])
	a.Schema = sub(a.Body["output_config"])["format"] != nil
	for _, e := range list(a.Body["messages"]) {
		m := sub(e)
		for _, b := range list(m["content"]) {
			if block := sub(b); block["type"] == "tool_result" {
				a.Results = append(a.Results, text(block["content"]))
			}
		}
		if t := text(m["content"]); m["role"] == "user" && t != "" {
			a.Prompt = t
		}
	}
	for _, t := range list(a.Body["tools"]) {
		a.Tools = append(a.Tools, str(sub(t)["name"]))
	}
	return path == "/v1/messages"
}

func (anthropicWire) stop(answer Answer) string {
	switch {
	case answer.Refused:
		return "refusal"
	case answer.Truncated:
		return "max_tokens"
	case len(answer.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (w anthropicWire) whole(a Ask, answer Answer, u usage) []byte {
	content := []any{fields{"type": "text", "text": answer.Text}}
	for i, c := range answer.Calls {
		content = append(content, w.call(i, c, json.RawMessage(c.Arguments)))
	}
	m := fields{"id": "x", "type": "message", "role": "assistant", "model": a.Model, "content": content, "stop_reason": w.stop(answer)}
	if in, out, ok := u.report(a, answer); ok {
		m["usage"] = w.usage(in, out, answer)
	}
	return encode(m)
}

// usage counts what was read from the cache, or written to it, apart.
func (anthropicWire) usage(in, out any, answer Answer) fields {
	if n, ok := in.(int64); ok {
		in = n - answer.Cached - answer.Written
	}
	return fields{
		"input_tokens": in, "output_tokens": out,
		"cache_read_input_tokens": answer.Cached, "cache_creation_input_tokens": answer.Written,
		"cache_creation":        fields{"ephemeral_5m_input_tokens": answer.Written, "ephemeral_1h_input_tokens": 0},
		"output_tokens_details": fields{"thinking_tokens": answer.Reasoning},
	}
}

func (anthropicWire) call(i int, c Call, input any) fields {
	return fields{"type": "tool_use", "id": orElse(c.ID, fmt.Sprintf("toolu_%d", i+1)), "name": c.Name, "input": input}
}

func (w anthropicWire) frames(a Ask, answer Answer, u usage) [][]byte {
	in, out, ok := u.report(a, answer)
	start := fields{"id": "x", "type": "message", "role": "assistant", "model": a.Model, "content": []any{}}
	last := fields{"type": "message_delta", "delta": fields{"stop_reason": w.stop(answer)}}
	if ok {
		start["usage"] = w.usage(in, 1, answer)
		last["usage"] = fields{"output_tokens": out, "output_tokens_details": fields{"thinking_tokens": answer.Reasoning}}
	}
	frames := [][]byte{event("message_start", fields{"type": "message_start", "message": start}), event("ping", fields{"type": "ping"})}
	block := func(i int, begin fields, delta string, field string, parts []string) {
		frames = append(frames, event("content_block_start", fields{"type": "content_block_start", "index": i, "content_block": begin}))
		for _, t := range parts {
			frames = append(frames, event("content_block_delta", fields{
				"type": "content_block_delta", "index": i, "delta": fields{"type": delta, field: t}}))
		}
		frames = append(frames, event("content_block_stop", fields{"type": "content_block_stop", "index": i}))
	}
	block(0, fields{"type": "text", "text": ""}, "text_delta", "text", thirds(answer.Text))
	for i, c := range answer.Calls {
		block(i+1, w.call(i, c, fields{}), "input_json_delta", "partial_json", thirds(c.Arguments))
	}
	return append(frames, event("message_delta", last), event("message_stop", fields{"type": "message_stop"}))
}

func (anthropicWire) refusal(status int, message string, _ time.Duration) []byte {
	kind := "invalid_request_error"
	switch {
	case status == 429:
		kind = "rate_limit_error"
	case status == 529 || status == 503:
		kind = "overloaded_error"
	case status >= 500:
		kind = "api_error"
	}
	return encode(fields{"type": "error", "error": fields{"type": kind, "message": message}})
}

func (anthropicWire) failure() []byte {
	return event("error", fields{"type": "error", "error": fields{"type": "overloaded_error", "message": "Overloaded"}})
}

func (anthropicWire) tooLong() string {
	return "prompt is too long: 210000 tokens > 200000 maximum"
}

func (anthropicWire) streams() string { return "text/event-stream" }

func (anthropicWire) key(h http.Header) string { return h.Get("X-Api-Key") }

// geminiWire is Google's generateContent.
type geminiWire struct{}

func (geminiWire) parse(path string, a *Ask) bool {
	config := sub(a.Body["generationConfig"])
	model, verb, _ := strings.Cut(strings.TrimPrefix(path, "/v1beta/models/"), ":")
	a.Model, a.Stream, a.Seed = model, verb == "streamGenerateContent", num(config["seed"])
	a.Schema = config["responseJsonSchema"] != nil
	if config["responseLogprobs"] == true {
		a.Logprobs = int(num(config["logprobs"]))
	}
	a.System = text(sub(a.Body["systemInstruction"])["parts"])
	for _, e := range list(a.Body["contents"]) {
		c := sub(e)
		for _, p := range list(c["parts"]) {
			if r := sub(sub(p)["functionResponse"]); r != nil {
				a.Results = append(a.Results, string(encode(r["response"])))
			}
		}
		if t := text(c["parts"]); c["role"] == "user" && t != "" {
			a.Prompt = t
		}
	}
	for _, t := range list(a.Body["tools"]) {
		for _, d := range list(sub(t)["functionDeclarations"]) {
			a.Tools = append(a.Tools, str(sub(d)["name"]))
		}
	}
	return strings.HasPrefix(path, "/v1beta/models/") && (a.Stream || verb == "generateContent")
}

func (geminiWire) finish(answer Answer) string {
	switch {
	case answer.Refused:
		return "SAFETY"
	case answer.Truncated:
		return "MAX_TOKENS"
	}
	return "STOP"
}

// part is a part of a reply; finish and usage are nil for all but the last.
func (geminiWire) part(a Ask, parts []any, tokens []Token, finish any, counts fields) fields {
	c := fields{"index": 0, "content": fields{"role": "model", "parts": parts}}
	if len(tokens) > 0 && a.Logprobs > 0 {
		c["logprobsResult"] = geminiLogprobs(tokens)
	}
	if finish != nil {
		c["finishReason"] = finish
	}
	p := fields{"candidates": []any{c}, "modelVersion": a.Model}
	if counts != nil {
		p["usageMetadata"] = counts
	}
	return p
}

func (w geminiWire) last(a Ask, parts []any, tokens []Token, answer Answer, u usage) fields {
	for i, c := range answer.Calls {
		call := fields{"name": c.Name, "args": json.RawMessage(c.Arguments)}
		if c.ID != "" {
			call["id"] = c.ID
		}
		// Models that think sign the first call of a reply.
		p := fields{"functionCall": call}
		if i == 0 {
			p["thoughtSignature"] = []byte("signed " + c.Name)
		}
		parts = append(parts, p)
	}
	var counts fields
	if in, out, ok := u.report(a, answer); ok {
		if n, isNumber := out.(int64); isNumber {
			out = n - answer.Reasoning
		}
		counts = fields{"promptTokenCount": in, "candidatesTokenCount": out}
		if answer.Cached > 0 { // zeros are left out
			counts["cachedContentTokenCount"] = answer.Cached
		}
		if answer.Reasoning > 0 {
			counts["thoughtsTokenCount"] = answer.Reasoning
		}
	}
	return w.part(a, parts, tokens, w.finish(answer), counts)
}

func (w geminiWire) whole(a Ask, answer Answer, u usage) []byte {
	return encode(w.last(a, []any{fields{"text": answer.Text}}, answer.Tokens, answer, u))
}

func (w geminiWire) frames(a Ask, answer Answer, u usage) [][]byte {
	t := thirds(answer.Text)
	return [][]byte{
		event("", w.part(a, []any{fields{"text": "hm", "thought": true}}, nil, nil, nil)),
		event("", w.part(a, []any{fields{"text": t[0]}}, share(answer.Tokens, 0), nil, nil)),
		event("", w.part(a, []any{fields{"text": t[1]}}, share(answer.Tokens, 1), nil, nil)),
		event("", w.last(a, []any{fields{"text": t[2]}}, share(answer.Tokens, 2), answer, u)),
	}
}

func (geminiWire) refusal(status int, message string, after time.Duration) []byte {
	name := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[status]
	return encode(fields{"error": fields{"code": status, "message": message, "status": orElse(name, "INTERNAL"), "details": retryInfo(after)}})
}

func (w geminiWire) failure() []byte {
	return append(append([]byte("data: "), w.refusal(503, "The model is overloaded.", 0)...), "\n\n"...)
}

func (geminiWire) tooLong() string {
	return "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576)."
}

func (geminiWire) streams() string { return "text/event-stream" }

func (geminiWire) key(h http.Header) string { return h.Get("X-Goog-Api-Key") }

// ollamaWire is Ollama's chat.
type ollamaWire struct{ chatWire }

func (ollamaWire) parse(path string, a *Ask) bool {
	chatWire{}.parse(path, a)
	a.Seed, a.Schema = num(sub(a.Body["options"])["seed"]), a.Body["format"] != nil // and log probabilities as in chat
	return path == "/api/chat"
}

func (w ollamaWire) line(a Ask, message fields, more fields) []byte {
	l := fields{"model": a.Model, "message": message, "done": false}
	for k, v := range more {
		l[k] = v
	}
	return append(encode(l), '\n')
}

func (ollamaWire) calls(answer Answer) []any {
	var out []any
	for _, c := range answer.Calls {
		out = append(out, fields{"function": fields{"name": c.Name, "arguments": json.RawMessage(c.Arguments)}})
	}
	return out
}

func (ollamaWire) done(a Ask, answer Answer, u usage) fields {
	more := fields{"done": true, "done_reason": "stop"}
	if answer.Truncated {
		more["done_reason"] = "length"
	}
	if in, out, ok := u.report(a, answer); ok {
		more["prompt_eval_count"], more["eval_count"] = in, out
	}
	return more
}

func (w ollamaWire) whole(a Ask, answer Answer, u usage) []byte {
	more := w.done(a, answer, u)
	more["logprobs"] = wireTokens(a, answer.Tokens)
	return w.line(a, fields{"role": "assistant", "content": answer.Text, "tool_calls": w.calls(answer)}, more)
}

func (w ollamaWire) frames(a Ask, answer Answer, u usage) [][]byte {
	var frames [][]byte
	if len(answer.Tokens) > 0 { // those of thoughts are not part of the reply's text
		thought := fields{"role": "assistant", "content": "", "thinking": "hm"}
		frames = append(frames, w.line(a, thought, fields{"logprobs": wireTokens(a, []Token{{Text: "hm", Logprob: -9}})}))
	}
	for i, t := range thirds(answer.Text) {
		frames = append(frames, w.line(a, fields{"role": "assistant", "content": t}, fields{"logprobs": wireTokens(a, share(answer.Tokens, i))}))
	}
	if len(answer.Calls) > 0 {
		frames = append(frames, w.line(a, fields{"role": "assistant", "content": "", "tool_calls": w.calls(answer)}, nil))
	}
	return append(frames, w.line(a, fields{"role": "assistant", "content": ""}, w.done(a, answer, u)))
}

func (ollamaWire) refusal(_ int, message string, _ time.Duration) []byte {
	return encode(fields{"error": message})
}

func (ollamaWire) failure() []byte {
	return append(encode(fields{"error": "an error was encountered while running the model"}), '\n')
}

func (ollamaWire) tooLong() string { return "the input length exceeds the context length" }

func (ollamaWire) streams() string { return "application/x-ndjson" }
