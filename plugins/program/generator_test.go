package program

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"noema/plugins/program/wires"
)

// spelled is JSON with its spelling: white space, the order of names, how characters are written.
type spelled struct {
	literal string   // of a scalar
	kind    string   // "id", "time" or "model" of a scalar that may be another at the program
	open    string   // "{" or "["
	parts   []string // white space, name and colon of each member
	names   []string
	values  []*spelled
	close   string // white space and the bracket
}

// text spells it, without some members at the top.
func (s *spelled) text(without []string) string {
	return s.write(func(s *spelled) string { return s.literal }, without)
}

func (s *spelled) write(scalar func(*spelled) string, without []string) string {
	if s.open == "" {
		return scalar(s)
	}
	var all []string
	for i, v := range s.values {
		if !slices.Contains(without, s.names[i]) {
			all = append(all, s.parts[i]+v.write(scalar, nil))
		}
	}
	return s.open + strings.Join(all, ",") + s.close
}

// said is a reply as its provider sends it.
func (s *spelled) said() string { return s.text(nil) }

// isWhole checks that got is the reply, byte for byte, but for ids, times and the model.
func (s *spelled) isWhole(t *testing.T, got string) {
	whole, of, back := got, map[string]string{}, map[string]string{}
	template := s.write(func(s *spelled) string {
		if s.kind == "" {
			return s.literal
		}
		return "\x00" + s.kind + s.literal + "\x00"
	}, nil)
	for i, part := range strings.Split(template, "\x00") {
		want := part
		if i%2 == 1 {
			switch literal, isID := strings.CutPrefix(part, "id"); {
			case isID:
				end := strings.IndexByte(got[min(1, len(got)):], '"') + 2
				want = got[:min(end, len(got))]
				prefix := literal[:strings.IndexByte(literal, '_')+1]
				if !strings.HasPrefix(want, prefix) || of[literal] != "" && of[literal] != want || back[want] != "" && back[want] != literal {
					t.Errorf("id %s became %q in\n%s\nsaid %s", literal, want, whole, s.said())
				}
				of[literal], back[want] = want, literal
			case strings.HasPrefix(part, "time"):
				want = "1"
			default:
				want = `"asked-model"`
			}
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("at byte %d: %.80q, want %.80q\nsaid %s\ngot  %s", len(whole)-len(got), got, want, s.said(), whole)
			return
		}
		got = got[len(want):]
	}
	if strings.TrimSpace(got) != "" {
		t.Errorf("%q is left", got)
	}
}

// generator makes requests and replies.
type generator struct {
	r    *rand.Rand
	wide bool // its JSON has white space between
}

// vocabulary is what nothing may take for its own: words of the endpoint, of this program and of
// the protocols, names as people give them, paths, code.
var vocabulary = []string{
	"work", "trial", "tmp", "home", "noema", "network", "a network trial in tmp", "draw", "epoch", "place", "noise-1", "id-1", "id-2", `"id-1"`,
	"call_noema-id-3", "msg_noema-id-0", "noema-id-1", "chatcmpl-", "Noema-Call: 0/3", worldPath, "/tmp/noema-plugins-1-x/p1/program/trial/work",
	"tmp-noema-plugins-1-x-p1-program-trial-work", "item_category", "run_experiment", "thread_priority", "msg_received", "def call_function(x):",
	"response_format", "tool_call_id", "toolu_01A09q90qw90lq917835lq9", "call_abcdefgh12345678", "resp_68af0123456789abcdef", "fc_item_reference_1",
	"550e8400-e29b-41d4-a716-446655440000", "sk-noema", "2026-11-26", "data: [DONE]", "event: error\n\n", "\u2028", "<b>&amp;</b>", "😀", "ünï", "\\", "\"",
	"\t", "\r\n", "\x7f", "{\"a\": [1, 2.50, 1e5]}", "SELECT item_id FROM runs -- 'x'", "\\u00e9", "$1", "${1}", "%s", "null", "1.0", "stream", "model", "user",
}

func (g *generator) pick(all ...string) string { return all[g.r.IntN(len(all))] }

// words are prose, code or identifiers.
func (g *generator) words() string {
	var b strings.Builder
	for range 1 + g.r.IntN(6) {
		b.WriteString(vocabulary[g.r.IntN(len(vocabulary))])
		b.WriteString(g.pick(" ", "", "\n", ", ", "_"))
	}
	return b.String()
}

// name is an identifier.
func (g *generator) name() string {
	return g.pick("call", "item", "run", "thread", "msg", "fc", "rs", "resp", "toolu", "work", "id", "get") + "_" +
		g.pick("category", "experiment", "priority", "received", "function", "weather", "id", "work", "noema", fmt.Sprintf("%08x", g.r.Uint32()))
}

func (g *generator) space() string {
	if !g.wide {
		return ""
	}
	return g.pick("", " ", "\n  ", "\t")
}

// quoted spells a text: with all that may be escaped, or as little as must be.
func (g *generator) quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString("\\" + string(c))
		case c == '\n':
			b.WriteString(g.pick(`\n`, `\u000a`))
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		case c == '/' && g.r.IntN(3) == 0:
			b.WriteString(`\/`)
		case c > '~' && c < 0x10000 && g.r.IntN(2) == 0:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (g *generator) text(s string) *spelled { return &spelled{literal: g.quoted(s)} }

func literal(s string) *spelled { return &spelled{literal: s} }

// field is a member of an object.
type field struct {
	name string
	v    *spelled
}

func (g *generator) object(fields ...field) *spelled {
	s := &spelled{open: "{", close: g.space() + "}"}
	for _, f := range fields {
		if f.v != nil {
			s.names, s.values = append(s.names, f.name), append(s.values, f.v)
			s.parts = append(s.parts, g.space()+`"`+f.name+`"`+g.pick(":", ":"+g.space()))
		}
	}
	return s
}

func (g *generator) list(values ...*spelled) *spelled {
	s := &spelled{open: "[", close: g.space() + "]", values: values, names: make([]string, len(values))}
	for range values {
		s.parts = append(s.parts, g.space())
	}
	return s
}

// some is v or nothing.
func (g *generator) some(v *spelled) *spelled {
	if g.r.IntN(3) == 0 {
		return nil
	}
	return v
}

// data is JSON as people have it, with names in no order.
func (g *generator) data(depth int) *spelled {
	switch g.r.IntN(4 + min(depth, 2)) {
	case 0:
		return literal(g.pick("1", "1.0", "-0", "1e40", "12345678901234567890123", "true", "null", "0.10"))
	case 1, 2, 3:
		return g.text(g.words())
	case 4:
		return g.list(g.data(depth-1), g.data(depth-1))
	}
	var fields []field
	for i := range 1 + g.r.IntN(3) {
		fields = append(fields, field{fmt.Sprint(g.name(), i), g.data(depth - 1)})
	}
	fields = append(fields, field{"id", g.text(g.name())})
	g.r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return g.object(fields...)
}

// schema is that of a tool's arguments.
func (g *generator) schema() *spelled {
	return g.object(field{"type", g.text("object")}, field{"properties", g.object(field{g.name(), g.data(2)}, field{"id", g.object(field{"type", g.text("string")})})},
		field{"required", g.list(g.text(g.name()))})
}

// request is a request of a program, and whether its reply is to come in events.
func (g *generator) request(w wires.Wire, number string) (*spelled, bool) {
	g.wide = g.r.IntN(2) == 0
	stream := g.r.IntN(2) == 0 && w != wires.Embeddings && w != wires.CountTokens
	fields := []field{{"model", g.text("asked-model")}, {"nonce", g.text(number)}, {"extra_" + g.name(), g.data(3)},
		{"user", g.some(g.text(g.words()))}, {"store", g.some(literal("false"))}, {"service_tier", g.some(g.text("auto"))},
		{"metadata", g.some(g.object(field{"user_id", g.text(g.words())}, field{"run_id", g.text(g.words())}))}}
	if stream {
		fields = append(fields, field{"stream", literal("true")}, field{"stream_options", g.some(g.object(field{"include_usage", literal("true")}))})
	} else {
		fields = append(fields, field{"stream", g.some(literal("false"))})
	}
	switch w {
	case wires.Chat:
		call := g.name()
		fields = append(fields, field{"messages", g.list(
			g.object(field{"role", g.text("system")}, field{"content", g.text(g.words())}),
			g.object(field{"content", g.list(g.object(field{"type", g.text("text")}, field{"text", g.text(g.words())}))}, field{"role", g.text("user")}),
			g.object(field{"role", g.text("assistant")}, field{"content", literal("null")}, field{"tool_calls", g.list(g.object(field{"id", g.text(call)}, field{"type", g.text("function")},
				field{"function", g.object(field{"arguments", g.text(g.data(2).text(nil))}, field{"name", g.text(g.name())})}))}),
			g.object(field{"role", g.text("tool")}, field{"tool_call_id", g.text(call)}, field{"content", g.text(g.words())}),
		)}, field{"tools", g.some(g.list(g.object(field{"type", g.text("function")}, field{"function", g.object(field{"name", g.text(g.name())},
			field{"parameters", g.schema()}, field{"description", g.text(g.words())})})))})
	case wires.Responses:
		input := g.text(g.words())
		if g.r.IntN(2) == 0 {
			call := g.text(g.name())
			input = g.list(g.object(field{"role", g.text("user")}, field{"id", g.some(g.text(g.name()))}, field{"content", g.text(g.words())}),
				g.object(field{"type", g.text("function_call")}, field{"call_id", call}, field{"name", g.text(g.name())}, field{"arguments", g.text(g.data(2).text(nil))}),
				g.object(field{"type", g.text("function_call_output")}, field{"call_id", call}, field{"output", g.text(g.words())}))
		}
		fields = append(fields, field{"input", input}, field{"instructions", g.some(g.text(g.words()))}, field{"background", g.some(literal("false"))},
			field{"prompt_cache_key", g.some(g.text(g.words()))}, field{"tools", g.some(g.list(g.object(field{"type", g.text("function")}, field{"name", g.text(g.name())}, field{"parameters", g.schema()})))})
	case wires.Completions:
		fields = append(fields, field{"prompt", g.text(g.words())}, field{"suffix", g.some(g.text(g.words()))})
	case wires.Embeddings:
		fields = append(fields, field{"input", g.list(g.text(g.words()), g.text(g.words()))})
	default:
		use := g.text(g.name())
		fields = append(fields, field{"max_tokens", literal("99")}, field{"system", g.some(g.text(g.words()))}, field{"messages", g.list(
			g.object(field{"role", g.text("user")}, field{"content", g.text(g.words())}),
			g.object(field{"role", g.text("assistant")}, field{"content", g.list(g.object(field{"type", g.text("text")}, field{"text", g.text(g.words())}),
				g.object(field{"type", g.text("tool_use")}, field{"id", use}, field{"name", g.text(g.name())}, field{"input", g.object(field{g.name(), g.data(2)}, field{"id", g.text(g.name())})}))}),
			g.object(field{"role", g.text("user")}, field{"content", g.list(g.object(field{"type", g.text("tool_result")}, field{"tool_use_id", use}, field{"content", g.text(g.words())}))}),
		)}, field{"tools", g.some(g.list(g.object(field{"name", g.text(g.name())}, field{"input_schema", g.schema()})))})
	}
	g.r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return g.object(fields...), stream
}

// id is a provider's id.
func (g *generator) id(prefix string) *spelled {
	return &spelled{kind: "id", literal: fmt.Sprintf(`"%s%016x"`, prefix, g.r.Uint64())}
}

// reply is a provider's reply.
func (g *generator) reply(w wires.Wire) *spelled {
	g.wide = g.r.IntN(2) == 0
	model, at := field{"model", &spelled{kind: "model", literal: `"real-model"`}}, &spelled{kind: "time", literal: fmt.Sprint(g.r.Uint32())}
	more := field{"x_" + g.name(), g.data(3)}
	usage := func(in, out string) field {
		return field{"usage", g.object(field{in, literal("7")}, field{out, literal("5")}, field{"total_tokens", literal("12")})}
	}
	switch w {
	case wires.Chat:
		call := func() *spelled {
			return g.object(field{"id", g.id("call_")}, field{"type", g.text("function")}, field{"function", g.object(field{"name", g.text(g.name())}, field{"arguments", g.text(g.object(field{g.name(), g.data(2)}).text(nil))})})
		}
		message := g.object(field{"role", g.text("assistant")}, field{"content", g.text(g.words())}, field{"reasoning_content", g.some(g.text(g.words()))}, field{"tool_calls", g.some(g.list(call(), call()))})
		return g.object(field{"id", g.id("chatcmpl_")}, field{"object", g.text("chat.completion")}, field{"created", at}, model, more,
			field{"choices", g.list(g.object(field{"index", literal("0")}, field{"message", message}, field{"finish_reason", g.text("stop")}))}, usage("prompt_tokens", "completion_tokens"))
	case wires.Responses:
		part := g.object(field{"type", g.text("output_text")}, field{"annotations", g.list()}, field{"text", g.text(g.words())})
		item := g.object(field{"id", g.id("msg_")}, field{"type", g.text("message")}, field{"role", g.text("assistant")}, field{"status", g.text("completed")}, field{"content", g.list(part)})
		call := g.object(field{"type", g.text("function_call")}, field{"id", g.id("fc_")}, field{"call_id", g.id("call_")}, field{"name", g.text(g.name())}, field{"arguments", g.text(g.object(field{g.name(), g.data(2)}).text(nil))})
		return g.object(field{"id", g.id("resp_")}, field{"object", g.text("response")}, field{"created_at", at}, model, more, field{"status", g.text("completed")},
			field{"output", g.list(item, call)}, usage("input_tokens", "output_tokens"))
	case wires.Completions:
		return g.object(field{"id", g.id("cmpl_")}, field{"object", g.text("text_completion")}, field{"created", at}, model, more,
			field{"choices", g.list(g.object(field{"index", literal("0")}, field{"text", g.text(g.words())}, field{"finish_reason", g.text("stop")}))}, usage("prompt_tokens", "completion_tokens"))
	case wires.Embeddings:
		return g.object(field{"object", g.text("list")}, model, more, field{"data", g.list(g.object(field{"object", g.text("embedding")}, field{"index", literal("0")}, field{"embedding", g.list(literal("0.10"), literal("-1e-3"))}))},
			field{"usage", g.object(field{"prompt_tokens", literal("3")}, field{"total_tokens", literal("3")})})
	case wires.CountTokens:
		return g.object(field{"input_tokens", literal("12")}, more)
	}
	use := g.object(field{"type", g.text("tool_use")}, field{"id", g.id("toolu_")}, field{"name", g.text(g.name())}, field{"input", g.object(field{g.name(), g.data(2)}, field{"id", g.text(g.name())})})
	thinking := g.object(field{"type", g.text("thinking")}, field{"thinking", g.text(g.words())}, field{"signature", g.text(g.words())})
	return g.object(field{"id", g.id("msg_")}, field{"type", g.text("message")}, field{"role", g.text("assistant")}, model, more,
		field{"content", g.list(thinking, g.object(field{"type", g.text("text")}, field{"text", g.text(g.words())}), use)}, field{"stop_reason", g.text("tool_use")}, field{"stop_sequence", literal("null")},
		field{"usage", g.object(field{"input_tokens", literal("7")}, field{"output_tokens", literal("5")})})
}

// rejoined is what a client makes of a reply in events.
func rejoined(t *testing.T, w wires.Wire, events []byte) map[string]any {
	whole := map[string]any{}
	args := map[int]string{}
	var blocks []any
	for line := range strings.SplitSeq(string(events), "\n") {
		raw, isData := strings.CutPrefix(line, "data: ")
		if !isData || raw == "[DONE]" {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(raw), &e); err != nil {
			t.Errorf("%v in %s", err, raw)
			continue
		}
		at := func() int { n, _ := e["index"].(float64); return int(n) }
		switch w {
		case wires.Responses:
			switch e["type"] {
			case "response.completed":
				whole = e["response"].(map[string]any)
			case "response.output_text.delta", "response.function_call_arguments.delta":
				n := int(e["output_index"].(float64))
				args[n] += e["delta"].(string)
			}
		case wires.Messages:
			switch e["type"] {
			case "message_start":
				whole = e["message"].(map[string]any)
			case "content_block_start":
				blocks = append(blocks, e["content_block"])
			case "content_block_delta":
				delta, block := e["delta"].(map[string]any), blocks[at()].(map[string]any)
				for name, into := range map[string]string{"text": "text", "thinking": "thinking", "signature": "signature"} {
					if s, ok := delta[name].(string); ok {
						block[into] = fmt.Sprint(block[into], s)
					}
				}
				if s, ok := delta["partial_json"].(string); ok {
					args[at()] += s
					var input any
					if json.Unmarshal([]byte(args[at()]), &input) == nil {
						block["input"] = input
					}
				}
			case "message_delta":
				whole["stop_reason"] = e["delta"].(map[string]any)["stop_reason"]
			}
			whole["content"] = blocks
		default:
			mergeChoices(whole, e)
		}
	}
	whole["deltas"] = args
	return whole
}

// mergeChoices adds a chunk to a reply with choices.
func mergeChoices(whole, chunk map[string]any) {
	for name, v := range chunk {
		if name != "choices" {
			whole[name] = v
		}
	}
	for _, c := range chunk["choices"].([]any) {
		choice := c.(map[string]any)
		all, _ := whole["choices"].([]any)
		if len(all) == 0 {
			all = []any{map[string]any{"message": map[string]any{}}}
			whole["choices"] = all
		}
		into := all[0].(map[string]any)
		for name, v := range choice {
			if name != "delta" && v != nil {
				into[name] = v
			}
		}
		delta, _ := choice["delta"].(map[string]any)
		message := into["message"].(map[string]any)
		for name, v := range delta {
			if name != "tool_calls" {
				message[name] = v
				continue
			}
			calls, _ := message[name].([]any)
			call := v.([]any)[0].(map[string]any)
			if n := int(call["index"].(float64)); n < len(calls) {
				function := calls[n].(map[string]any)["function"].(map[string]any)
				function["arguments"] = fmt.Sprint(function["arguments"], call["function"].(map[string]any)["arguments"])
			} else {
				delete(call, "index")
				calls = append(calls, call)
			}
			message[name] = calls
		}
	}
}

// content is what a reply says: all but ids, times, usage, and what says that it is a chunk.
func content(w wires.Wire, v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := map[string]any{}
		for name, value := range v {
			isID := name == "id" && (v["object"] != nil || v["type"] != nil && v["properties"] == nil || v["model"] != nil) || name == "call_id"
			if !isID && !slices.Contains([]string{"created", "created_at", "usage", "object", "model", "logprobs", "deltas"}, name) && value != nil {
				c[name] = content(w, value)
			}
		}
		if text, isCompletion := c["text"], w == wires.Completions && c["message"] != nil; isCompletion { // a chunk's choice
			delete(c, "message")
			c["text"] = text
		}
		return c
	case []any:
		all := []any{}
		for _, e := range v {
			all = append(all, content(w, e))
		}
		return all
	}
	return v
}
