package anthropic

import (
	"encoding/json"

	"noema/kernel/model/provider/exchange"
	"noema/methods"
	"noema/plugins/program/wires"
)

// request is the body of a request.
//
// Source: Anthropic API reference, "Create a Message".
type request struct {
	effort
	Model         string      `json:"model"`
	MaxTokens     int         `json:"max_tokens"`
	System        []block     `json:"system,omitempty"`
	Messages      []turn      `json:"messages"`
	Tools         []tool      `json:"tools,omitempty"`
	ToolChoice    *toolChoice `json:"tool_choice,omitempty"`
	Temperature   *float64    `json:"temperature,omitempty"`
	TopP          float64     `json:"top_p,omitempty"`
	TopK          int         `json:"top_k,omitempty"`
	StopSequences []string    `json:"stop_sequences,omitempty"`
	Stream        bool        `json:"stream"`
}

type turn struct {
	Role    methods.Role `json:"role"`
	Content []block      `json:"content"`
}

// block is a part of a turn.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"` // of a tool call
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	CallID  string          `json:"tool_use_id,omitempty"` // of a tool's result
	Content []block         `json:"content,omitempty"`
}

type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Schema      map[string]any `json:"input_schema"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type outputField struct {
	Format *outputFormat `json:"format,omitempty"`
	Effort string        `json:"effort,omitempty"`
}

// thinking says whether to think: enabled, within a budget of tokens, adaptive or disabled.
type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens,omitempty"`
}

// effort is the part of a request that says how much to think, and in which format to answer.
type effort struct {
	Thinking     *thinking    `json:"thinking,omitempty"`
	OutputConfig *outputField `json:"output_config,omitempty"`
}

// effortOf is how an effort is asked for.
func effortOf(e exchange.Effort) effort {
	switch {
	case e.Tokens > 0:
		return effort{Thinking: &thinking{"enabled", e.Tokens}}
	case e.Level == "none":
		return effort{Thinking: &thinking{Type: "disabled"}}
	case e.Level != "":
		return effort{&thinking{Type: "adaptive"}, &outputField{Effort: e.Level}}
	}
	return effort{}
}

type outputFormat struct {
	Type   string         `json:"type"`
	Schema map[string]any `json:"schema"`
}

// The ways to ask for a schema before words.
const (
	schemaFormat = iota // as the output format
	schemaTool          // as a tool that must be called
)

// byTool reports whether the schema is given as a tool, whose arguments are
// then the reply.
func byTool(d exchange.Draft) bool {
	var schema struct{ Type string }
	return d.Schema != nil && d.Way == schemaTool && !d.InWords && len(d.Tools) == 0 &&
		json.Unmarshal(d.Schema.JSON, &schema) == nil && schema.Type == "object"
}

func encode(model string, e exchange.Effort, d exchange.Draft) (request, error) {
	s := d.Sampling
	q := request{
		Model: model, MaxTokens: s.MaxTokens, Messages: []turn{}, Temperature: d.Temperature, TopP: s.TopP, TopK: s.TopK,
		StopSequences: s.Stop, Stream: true, effort: effortOf(e),
	}
	if err := q.askForSchema(&d); err != nil {
		return q, err
	}
	for _, m := range d.Messages {
		q.add(m)
	}
	for _, t := range d.Tools {
		if err := q.addTool(t.Name, t.Description, t.Parameters); err != nil {
			return q, err
		}
	}
	return q, nil
}

// askForSchema asks for the schema in the draft's way, or in words where that
// cannot be.
func (q *request) askForSchema(d *exchange.Draft) error {
	switch {
	case d.Schema == nil:
		return nil
	case d.Way == schemaFormat:
		schema, err := exchange.Object(d.Schema.Name, d.Schema.JSON)
		if q.OutputConfig == nil {
			q.OutputConfig = &outputField{}
		}
		q.OutputConfig.Format = &outputFormat{"json_schema", schema}
		return err
	case byTool(*d):
		q.ToolChoice = &toolChoice{"tool", d.Schema.Name}
		return q.addTool(d.Schema.Name, "Gives the answer. Call it exactly once.", d.Schema.JSON)
	}
	d.AskInWords()
	return nil
}

// add writes a message. Turns of one speaker in a row become one, which
// results of tools must be; empty texts are left out, which the API refuses.
func (q *request) add(m methods.Message) {
	role := m.Role
	var blocks []block
	if m.Content != "" {
		blocks = append(blocks, block{Type: "text", Text: m.Content})
	}
	switch role {
	case methods.System:
		q.System = append(q.System, blocks...)
		return
	case methods.Tool:
		role, blocks = methods.User, []block{{Type: "tool_result", CallID: m.CallID, Content: blocks}}
	}
	for _, c := range m.ToolCalls {
		blocks = append(blocks, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: wires.ObjectArguments(c.Arguments)})
	}
	n := len(q.Messages)
	switch {
	case len(blocks) == 0:
	case n > 0 && q.Messages[n-1].Role == role:
		q.Messages[n-1].Content = append(q.Messages[n-1].Content, blocks...)
	default:
		q.Messages = append(q.Messages, turn{role, blocks})
	}
}

// addTool adds a tool with the JSON Schema of its arguments.
func (q *request) addTool(name, description string, schema json.RawMessage) error {
	object, err := exchange.Object(name, schema)
	if err != nil {
		return err
	}
	object["type"] = "object"
	if object["properties"] == nil {
		object["properties"] = map[string]any{}
	}
	q.Tools = append(q.Tools, tool{name, description, object})
	return nil
}
