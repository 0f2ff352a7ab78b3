package wires

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"noema/kernel/base/verbatim"
	"noema/methods"
)

// fields are those of an object that are not read yet.
type fields map[string]json.RawMessage

// reader reads one request. What it takes from the body's fields is read; what is left at
// the end is unread, but for what changes no answer.
type reader struct {
	body   fields
	asked  Asked
	unread []string
}

// maxDepth bounds how deep a request's JSON is nested.
const maxDepth = 500

// how are fields that say how the reply is to come, which is asked for whole: they are not carried.
var how = []string{"model", "stream", "stream_options", "background"}

// noAnswer are fields that change no answer. They are carried, and need no reading.
var noAnswer = []string{"client_metadata", "prompt_cache_key", "prompt_cache_retention", "store", "service_tier", "user", "safety_identifier"}

func newReader(w Wire, body []byte) (*reader, error) {
	if deep(body) {
		return nil, &Refused{Status: http.StatusBadRequest, Code: "too_deep", Message: fmt.Sprintf("the request is nested more than %d levels deep", maxDepth)}
	}
	r := &reader{asked: Asked{Choices: 1}}
	if err := json.Unmarshal(body, &r.body); err != nil || r.body == nil {
		return nil, &Refused{Status: http.StatusBadRequest, Code: "not_json", Message: "the request is not a JSON object"}
	}
	var options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	if err := r.takeAll(r.body, "", map[string]any{"stream": &r.asked.Stream, "stream_options": &options, "model": &r.asked.Model}); err != nil {
		return nil, err
	}
	r.asked.IncludeUsage = options.IncludeUsage
	r.asked.Raw = &methods.Raw{Wire: string(w), Rules: verbatim.Rules}
	cut := &verbatim.Node{In: map[string]*verbatim.Node{}}
	for _, name := range how {
		delete(r.body, name)
		if name != "model" || w != Embeddings { // whose model is of another kind than the experiment's
			cut.In[name] = verbatim.Cut()
		}
	}
	for _, name := range noAnswer {
		delete(r.body, name)
	}
	var err error
	r.asked.Raw.Body, err = verbatim.Rewrite(body, cut)
	r.asked.Sampling.Temperature = 1 // the protocols' default
	return r, err
}

// deep reports whether JSON is nested beyond maxDepth.
func deep(raw []byte) bool {
	depth, text := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// take decodes a field, if it is there and not null, and marks it as read. at is its name in
// errors.
func (r *reader) take(o fields, name, at string, into any) error {
	raw, ok := o[name]
	delete(o, name)
	if !ok || string(raw) == "null" {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return &Refused{Status: http.StatusBadRequest, Code: "bad_field", Param: at, Message: fmt.Sprintf("%s: %.200s is not what belongs there", at, raw)}
	}
	return nil
}

// takeAll takes several fields of an object. at stands before their names in errors.
func (r *reader) takeAll(o fields, at string, into map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(into)) {
		if err := r.take(o, name, at+name, into[name]); err != nil {
			return err
		}
	}
	return nil
}

// harmless are fields whose values change no answer, or are the protocols' defaults.
var harmless = map[string][]string{
	"n": {"1"}, "tool_choice": {`"auto"`, `{"type":"auto"}`}, "parallel_tool_calls": {"true"}, "truncation": {`"disabled"`},
	"frequency_penalty": {"0", "0.0"}, "presence_penalty": {"0", "0.0"}, "logprobs": {"false", "0"}, "top_logprobs": {"0"}, "echo": {"false"},
	"best_of": {"1"}, "reasoning": {`{}`}, "thinking": {`{"type":"disabled"}`}, "verbosity": {`"medium"`}, "suffix": {`""`},
	"metadata": nil, "cache_control": nil, "status": nil, "id": nil, "strict": nil, "annotations": nil, "refusal": nil, "include": nil, "betas": nil, "eager_input_streaming": nil,
}

// leave notes what is left of an object as unread. at stands before the names.
func (r *reader) leave(o fields, at string) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		raw := strings.Join(strings.Fields(string(o[name])), "")
		values, known := harmless[name]
		if known && (values == nil || slices.Contains(values, raw)) || slices.Contains([]string{"null", "{}", "[]", `""`}, raw) {
			continue
		}
		r.leaves("%s%s", at, name)
	}
}

// leaves notes one thing as unread.
func (r *reader) leaves(format string, args ...any) {
	r.unread = append(r.unread, fmt.Sprintf(format, args...))
}

func (r *reader) finish() Asked {
	r.leave(r.body, "")
	slices.Sort(r.unread)
	r.asked.Raw.Unread = slices.Compact(r.unread)
	return r.asked
}

// list reads a list of objects.
func (r *reader) list(name string) ([]fields, error) {
	var all []fields
	return all, r.take(r.body, name, name, &all)
}

// texts reads content, which is a text or a list of parts, of which those of the given types
// have a text. at names it.
func (r *reader) texts(raw json.RawMessage, at string, types ...string) (string, error) {
	var text string
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []fields
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", &Refused{Status: http.StatusBadRequest, Code: "bad_field", Param: at, Message: at + " is neither a text nor a list of parts"}
	}
	var all []string
	for i, p := range parts {
		var kind, text string
		place := fmt.Sprintf("%s[%d]", at, i)
		if err := r.take(p, "type", place+".type", &kind); err != nil {
			return "", err
		}
		if !slices.Contains(types, kind) {
			r.leaves("%s (%s)", place, kind)
			continue
		}
		if err := r.take(p, "text", place+".text", &text); err != nil {
			return "", err
		}
		r.leave(p, place+".")
		all = append(all, text)
	}
	return strings.Join(all, "\n"), nil
}

// stops reads stop strings, of which there may be one alone.
func (r *reader) stops(name string) error {
	var raw json.RawMessage
	if err := r.take(r.body, name, name, &raw); err != nil || raw == nil {
		return err
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		r.asked.Sampling.Stop = []string{one}
		return nil
	}
	return r.take(fields{name: raw}, name, name, &r.asked.Sampling.Stop)
}

// functions reads tools of OpenAI's protocols; of the chat's, each is within "function".
func (r *reader) functions(within bool) error {
	tools, err := r.list("tools")
	for i, t := range tools {
		var kind string
		at := fmt.Sprintf("tools[%d]", i)
		if err := r.take(t, "type", at+".type", &kind); err != nil {
			return err
		}
		if kind != "function" {
			r.leaves("%s (%s)", at, kind)
			continue
		}
		if within {
			inner := fields{}
			if err := r.take(t, "function", at+".function", &inner); err != nil {
				return err
			}
			r.leave(t, at+".")
			t = inner
		}
		if err := r.tool(t, at, "parameters"); err != nil {
			return err
		}
	}
	return err
}

// tool reads one tool; schema is the name of its arguments' schema.
func (r *reader) tool(t fields, at, schema string) error {
	var spec methods.ToolSpec
	if err := r.takeAll(t, at+".", map[string]any{"name": &spec.Name, "description": &spec.Description, schema: &spec.Parameters}); err != nil {
		return err
	}
	r.leave(t, at+".")
	r.asked.Tools = append(r.asked.Tools, spec)
	return nil
}

// schemaOf reads {"type":"json_schema", …}, whose schema may lie within "json_schema".
func (r *reader) schemaOf(name string, format fields) error {
	var kind string
	if err := r.take(format, "type", name+".type", &kind); err != nil || kind == "" || kind == "text" {
		return err
	}
	if kind != "json_schema" {
		r.leaves("%s (%s)", name, kind)
		return nil
	}
	inner := format
	if format["json_schema"] != nil {
		inner = fields{}
		if err := r.take(format, "json_schema", name+".json_schema", &inner); err != nil {
			return err
		}
	}
	s := &methods.Schema{Name: "answer"}
	if err := r.takeAll(inner, name+".", map[string]any{"name": &s.Name, "schema": &s.JSON}); err != nil {
		return err
	}
	delete(inner, "description")
	r.leave(inner, name+".")
	r.asked.Schema = s
	return nil
}

// count bounds the number of choices.
func (r *reader) count(n int) error {
	const most = 128
	if n < 1 || n > most {
		return &Refused{Status: http.StatusBadRequest, Code: "bad_field", Param: "n", Message: fmt.Sprintf("n: %d choices: ask for 1 to %d", n, most)}
	}
	r.asked.Choices = n
	return nil
}

// readNothing reads a request that only a provider of its kind can answer.
func readNothing(unread string) func(*reader) error {
	return func(r *reader) error {
		r.body = fields{unread: json.RawMessage("1")}
		return nil
	}
}
