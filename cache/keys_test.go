package cache

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"noema/methods"
)

var testModel = methods.ModelID{Provider: "openai", Model: "gpt-5-nano"}

// fullRequest uses every field.
func fullRequest() methods.Request {
	return methods.Request{
		Messages: []methods.Message{
			{Role: methods.System, Content: "Answer briefly."},
			{Role: methods.User, Content: "Which café is open at 9?\n"},
			{Role: methods.Assistant, ToolCalls: []methods.ToolCall{
				{ID: "call_1", Name: "hours", Arguments: json.RawMessage(`{"cafe": 3, "day": "Mon"}`), Path: "P1"},
			}},
			{Role: methods.Tool, Content: "9-17", CallID: "call_1"},
		},
		Sampling: methods.Sampling{Temperature: 0.7, TopP: 0.9, TopK: 40, MaxTokens: 256, Stop: []string{"\n\n", "END"}, Seed: 42, Logprobs: 5},
		Schema:   &methods.Schema{Name: "answer", JSON: json.RawMessage(`{"type": "object", "properties": {"n": {"type": "integer"}}}`)},
		Tools: []methods.ToolSpec{{
			Name: "hours", Description: "Opening hours", Parameters: json.RawMessage(`{"type":"object"}`),
			Result: json.RawMessage(`{"type":"string"}`), Pure: true,
		}},
		Draw: 2,
		Path: "P3/c2",
	}
}

// TestGoldenKeys holds the keys of recorded answers. If it fails, what is
// recorded out there can no longer be found: do not adjust it, but give the
// domain a new number.
func TestGoldenKeys(t *testing.T) {
	before := fullRequest() // as it was before there were log probabilities
	before.Sampling.Logprobs = 0
	local := methods.ModelID{Provider: "local", Endpoint: "http://127.0.0.1:8080/v1", Model: "m", Weights: "sha256:00ff", Config: "a=1&b=2"}
	call := methods.ToolCall{ID: "x", Name: "hours", Arguments: json.RawMessage(`{"day":"Mon","cafe":3}`), Path: "P1"}
	for _, c := range []struct {
		name string
		got  Key
		want string
	}{
		{"empty request", CompletionKey(methods.ModelID{}, 0, methods.Request{}), "b90ff47c0876cbd1792f77456e4fd056cee66201d71431a0ed3f4b626d85b0d7"},
		{"question", CompletionKey(testModel, 0, methods.Request{Messages: methods.Ask("What is 2+2?")}), "2ce460bedd041c764cf3db1bf1bb60299c9042b4e19023714d9279e6eaefe285"},
		{"question, epoch 3", CompletionKey(testModel, 3, methods.Request{Messages: methods.Ask("What is 2+2?")}), "09af22e471fd4b17f752c60404bd0fd0b3e03b8739a3079ec3de657fc52e9c1d"},
		{"everything but logprobs", CompletionKey(testModel, 1, before), "8334b9b7ac9863db1b2d3b5eea3a4c17f6be005d93e9d1815ada95773c285586"},
		{"everything", CompletionKey(testModel, 1, fullRequest()), "98d5f506e420b71c2af0161df97c4bcb79f4e5f7bd860b247b00f5d2ee335f65"},
		{"local model", CompletionKey(local, 0, methods.Request{Messages: methods.Ask("é\x00\xff")}), "6f2e34f433ccc62dfb3b8ba8b3228516ab40f11a4fa8055ffdb72ba2649f80d5"},
		{"invalid JSON", CompletionKey(testModel, 0, methods.Request{Schema: &methods.Schema{JSON: json.RawMessage(`{"a":`)}}), "7889290e7ae061e66e1be53e52ec9937272e9128e1e6418b3f30e6b3dd20cb81"},
		{"tool", ToolKey("cafes/1", "sha256:ab", 0, call), "6f5d6f19cda7f74fa9a5e3ae0547dcb77516388983e31eb75a8704da2b661dfe"},
		{"embedding", EmbeddingKey("local/minilm weights=ab", "a café"), "ee627922c129292bfe504f55741d689f18a72d9b4416332cc65285644e5f6df9"},
		{"seed", SeedKey("anot/1", testModel, methods.SeedKey{Kind: "formula", Content: "x AND y"}, 7), "8c97e50c42fa328832d3e69296a426124c6a373aac891d65eb8c5aab740bfd86"},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

// TestFieldsAreClassified fails when the vocabulary grows a field, until
// somebody decides whether it changes answers.
func TestFieldsAreClassified(t *testing.T) {
	for _, c := range []struct {
		of           any
		keyed, other string
	}{
		{methods.Request{}, "Messages Sampling Schema Tools Draw Raw By", "Path Unordered"},
		{methods.Raw{}, "Wire Body Rules Noise", "Unread"},
		{methods.Message{}, "Role Content ToolCalls CallID", ""},
		{methods.ToolCall{}, "ID Name Arguments", "Path"},
		{methods.Sampling{}, "Temperature TopP TopK MaxTokens Stop Seed Logprobs", ""},
		{methods.Schema{}, "Name JSON", ""},
		{methods.ToolSpec{}, "Name Description Parameters", "Result Pure"},
		{methods.ModelID{}, "Provider Endpoint Model Weights Config", ""},
		{methods.SeedKey{}, "Kind Content", ""},
	} {
		typ := reflect.TypeOf(c.of)
		known := map[string]bool{}
		for _, name := range strings.Fields(c.keyed + " " + c.other) {
			known[name] = true
			if _, ok := typ.FieldByName(name); !ok {
				t.Errorf("%s has no field %s any more", typ, name)
			}
		}
		for i := range typ.NumField() {
			if name := typ.Field(i).Name; !known[name] {
				t.Errorf("%s.%s is new: decide whether it enters the keys, in keys.go and here, and store it in convert.go", typ, name)
			}
		}
	}
}

// changes are requests that differ from fullRequest in one thing each.
var changes = map[string]func(r *methods.Request){
	"role":              func(r *methods.Request) { r.Messages[0].Role = methods.User },
	"content":           func(r *methods.Request) { r.Messages[1].Content += " " },
	"message order":     func(r *methods.Request) { r.Messages[0], r.Messages[1] = r.Messages[1], r.Messages[0] },
	"message dropped":   func(r *methods.Request) { r.Messages = r.Messages[:3] },
	"call id":           func(r *methods.Request) { r.Messages[3].CallID = "call_2" },
	"tool call id":      func(r *methods.Request) { r.Messages[2].ToolCalls[0].ID = "call_2" },
	"tool call name":    func(r *methods.Request) { r.Messages[2].ToolCalls[0].Name = "menu" },
	"arguments":         func(r *methods.Request) { r.Messages[2].ToolCalls[0].Arguments = json.RawMessage(`{}`) },
	"no tool calls":     func(r *methods.Request) { r.Messages[2].ToolCalls = nil },
	"temperature":       func(r *methods.Request) { r.Sampling.Temperature = 0.70001 },
	"top p":             func(r *methods.Request) { r.Sampling.TopP = 0.91 },
	"top k":             func(r *methods.Request) { r.Sampling.TopK = 41 },
	"top k negative":    func(r *methods.Request) { r.Sampling.TopK = -1 },
	"max tokens":        func(r *methods.Request) { r.Sampling.MaxTokens = 257 },
	"stop":              func(r *methods.Request) { r.Sampling.Stop = []string{"\n\nEND"} },
	"stop split":        func(r *methods.Request) { r.Sampling.Stop = []string{"\n\nE", "ND"} },
	"seed":              func(r *methods.Request) { r.Sampling.Seed = 43 },
	"no logprobs":       func(r *methods.Request) { r.Sampling.Logprobs = 0 },
	"logprobs":          func(r *methods.Request) { r.Sampling.Logprobs = 6 },
	"no schema":         func(r *methods.Request) { r.Schema = nil },
	"empty schema":      func(r *methods.Request) { r.Schema = &methods.Schema{} },
	"schema name":       func(r *methods.Request) { r.Schema.Name = "a" },
	"schema body":       func(r *methods.Request) { r.Schema.JSON = json.RawMessage(`{"type":"object"}`) },
	"no tools":          func(r *methods.Request) { r.Tools = nil },
	"tool name":         func(r *methods.Request) { r.Tools[0].Name = "h" },
	"tool description":  func(r *methods.Request) { r.Tools[0].Description = "h" },
	"tool parameters":   func(r *methods.Request) { r.Tools[0].Parameters = nil },
	"draw":              func(r *methods.Request) { r.Draw = 3 },
	"one of several":    func(r *methods.Request) { r.By = "strong" },
	"raw":               func(r *methods.Request) { r.Raw = &methods.Raw{Wire: "w"} },
	"raw wire":          func(r *methods.Request) { r.Raw = &methods.Raw{Wire: "v", Body: json.RawMessage(`{"a":1}`)} },
	"raw body":          func(r *methods.Request) { r.Raw = &methods.Raw{Wire: "w", Body: json.RawMessage(`{"a":1.0}`)} },
	"raw rules":         func(r *methods.Request) { r.Raw = &methods.Raw{Wire: "w", Rules: 1} },
	"raw next rules":    func(r *methods.Request) { r.Raw = &methods.Raw{Wire: "w", Rules: 2} },
	"raw noise":         func(r *methods.Request) { r.Raw = &methods.Raw{Wire: "w", Rules: 1, Noise: []string{"a"}} },
	"raw other noise":   func(r *methods.Request) { r.Raw = &methods.Raw{Wire: "w", Rules: 1, Noise: []string{"b"}} },
	"number of schema":  func(r *methods.Request) { r.Schema.JSON = json.RawMessage(`1`) },
	"number with point": func(r *methods.Request) { r.Schema.JSON = json.RawMessage(`1.0`) },
	"text of number":    func(r *methods.Request) { r.Schema.JSON = json.RawMessage(`"1"`) },
}

// TestEveryKeyedFieldCounts changes one thing at a time.
func TestEveryKeyedFieldCounts(t *testing.T) {
	base := CompletionKey(testModel, 1, fullRequest())
	seen := map[Key]string{base: "the original"}
	for name, change := range changes {
		r := fullRequest()
		change(&r)
		k := CompletionKey(testModel, 1, r)
		if other, ok := seen[k]; ok {
			t.Errorf("%s: same key as %s", name, other)
		}
		seen[k] = name
	}
	for _, change := range []func(id *methods.ModelID){
		func(id *methods.ModelID) { id.Provider = "x" },
		func(id *methods.ModelID) { id.Endpoint = "x" },
		func(id *methods.ModelID) { id.Model = "x" },
		func(id *methods.ModelID) { id.Weights = "x" },
		func(id *methods.ModelID) { id.Config = "x" },
	} {
		id := testModel
		change(&id)
		k := CompletionKey(id, 1, fullRequest())
		if other, ok := seen[k]; ok {
			t.Errorf("%+v: same key as %s", id, other)
		}
		seen[k] = id.String()
	}
	if other, ok := seen[CompletionKey(testModel, 2, fullRequest())]; ok {
		t.Errorf("epoch: same key as %s", other)
	}
}

func TestWhatDoesNotCount(t *testing.T) {
	base := CompletionKey(testModel, 1, fullRequest())
	for name, change := range map[string]func(r *methods.Request){
		"path":           func(r *methods.Request) { r.Path = "elsewhere" },
		"tool call path": func(r *methods.Request) { r.Messages[2].ToolCalls[0].Path = "" },
		"purity":         func(r *methods.Request) { r.Tools[0].Pure = false },
		"tool result":    func(r *methods.Request) { r.Tools[0].Result = nil },
		"JSON layout": func(r *methods.Request) {
			r.Messages[2].ToolCalls[0].Arguments = json.RawMessage("{\"day\":\"M\\u006fn\",\n\t\"cafe\":3}")
			r.Schema.JSON = json.RawMessage(`{"properties":{"n":{"type":"integer"}},"type":"object"}`)
		},
		"empty for nil": func(r *methods.Request) { r.Messages[0].ToolCalls = []methods.ToolCall{} },
	} {
		r := fullRequest()
		change(&r)
		if CompletionKey(testModel, 1, r) != base {
			t.Errorf("%s changes the key", name)
		}
	}
	temperature := func(f float64) Key {
		return CompletionKey(testModel, 0, methods.Request{Sampling: methods.Sampling{Temperature: f}})
	}
	if temperature(0) != temperature(math.Copysign(0, -1)) {
		t.Error("-0 and 0 have different keys")
	}
	if temperature(math.NaN()) != temperature(math.Float64frombits(math.Float64bits(math.NaN())^1)) {
		t.Error("two NaNs have different keys")
	}
}

func TestToolAndSeedKeys(t *testing.T) {
	c := methods.ToolCall{ID: "a", Name: "hours", Arguments: json.RawMessage(`{"a":1,"b":2}`), Path: "p"}
	same := methods.ToolCall{ID: "b", Name: "hours", Arguments: json.RawMessage(`{"b":2, "a":1}`), Path: "q"}
	base := ToolKey("env", "1", 0, c)
	if ToolKey("env", "1", 0, same) != base {
		t.Error("id, path or JSON layout change a tool's key")
	}
	renamed := c
	renamed.Name = "menu"
	keys := map[Key]bool{
		base: true, ToolKey("env2", "1", 0, c): true, ToolKey("env", "2", 0, c): true,
		ToolKey("env", "1", 1, c): true, ToolKey("env", "1", 0, renamed): true, ToolKey("en", "v1", 0, c): true,
	}
	k := methods.SeedKey{Kind: "formula", Content: "f"}
	for _, key := range []Key{
		SeedKey("m", testModel, k, 0), SeedKey("m2", testModel, k, 0), SeedKey("m", methods.ModelID{}, k, 0),
		SeedKey("m", testModel, methods.SeedKey{Kind: "formulaf"}, 0), SeedKey("m", testModel, k, 1),
	} {
		keys[key] = true
	}
	if len(keys) != 11 {
		t.Errorf("%d different keys, want 11", len(keys))
	}
}

func TestParseKey(t *testing.T) {
	k := CompletionKey(testModel, 0, methods.Request{})
	if got, err := ParseKey(k.String()); err != nil || got != k {
		t.Errorf("ParseKey(%q) = %v, %v", k.String(), got, err)
	}
	for _, bad := range []string{"", "00", strings.Repeat("g", 64), strings.Repeat("0", 63), strings.Repeat("0", 66)} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("ParseKey(%q) has no error", bad)
		}
	}
}

func TestCanonicalJSON(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` { "b" : [ 1 , 2.50, -0, 1e400 ] , "a" : null } `, `{"a":null,"b":[1,2.50,-0,1e400]}`},
		{`"<é\u00e9\/&\t>"`, `"<éé/&\t>"`},
		{`12345678901234567890123`, `12345678901234567890123`},
		{`{}`, `{}`}, {`[]`, `[]`}, {`true`, `true`},
		{`{"":{"":[]}}`, `{"":{"":[]}}`},
	} {
		got, ok := canonicalJSON([]byte(c.in))
		if !ok || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.in, got, ok, c.want)
		}
	}
	for _, bad := range []string{
		``, ` `, `{`, `{"a"}`, `[1,]`, `[1 2]`, `1 2`, `nul`, `{"a":1,"a":2}`, `"\ud800"`, `"\uD83D\uDE00"`,
		"\"\xff\"", `01`, `NaN`, strings.Repeat("[", 600) + strings.Repeat("]", 600),
	} {
		if got, ok := canonicalJSON([]byte(bad)); ok {
			t.Errorf("%.40s is taken for JSON with one meaning: %s", bad, got)
		}
	}
}

func FuzzCanonicalJSON(f *testing.F) {
	for _, s := range []string{`{"b":[1.0,{"c":"\u0000"}],"a":-0}`, `[`, `"\ud800"`, `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, ok := canonicalJSON(raw)
		if !ok {
			return
		}
		again, ok := canonicalJSON(out)
		if !ok || !bytes.Equal(again, out) {
			t.Fatalf("%q became %q and then %q", raw, out, again)
		}
		decode := func(b []byte) (v any) {
			d := json.NewDecoder(bytes.NewReader(b))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				t.Fatalf("decode %q: %v", b, err)
			}
			return v
		}
		if !reflect.DeepEqual(decode(raw), decode(out)) {
			t.Fatalf("%q became %q, which means something else", raw, out)
		}
	})
}
