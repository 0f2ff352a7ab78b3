package ollama

import (
	"encoding/json"
	"fmt"
	"regexp"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/methods"
)

// request is the body of /api/chat.
//
// Source: Ollama, docs/api.md and api/types.go, ChatRequest.
type request struct {
	Model    string          `json:"model"`
	Messages []message       `json:"messages"`
	Stream   bool            `json:"stream"`
	Format   json.RawMessage `json:"format,omitempty"`
	Tools    []tool          `json:"tools,omitempty"`
	// A prompt that does not fit is to be refused, not cut: an answer to half
	// a question looks like an answer. Servers that do not know these two
	// still cut.
	Truncate  bool           `json:"truncate"`
	Shift     bool           `json:"shift"`
	Logprobs  bool           `json:"logprobs,omitempty"`
	Top       int            `json:"top_logprobs,omitempty"`
	KeepAlive string         `json:"keep_alive,omitempty"`
	Options   map[string]any `json:"options"`
}

type message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	ToolCalls []call `json:"tool_calls,omitempty"`
	ToolName  string `json:"tool_name,omitempty"`
	CallID    string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string       `json:"id,omitempty"`
	Function callFunction `json:"function"`
}

type callFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object
}

type tool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// request writes r for the server.
func (p *Provider) request(r methods.Request, f exchange.Form) (request, error) {
	wire := request{Model: p.info.ID.Model, Stream: true, KeepAlive: p.keepAlive, Options: p.options(r)}
	if n := r.Sampling.Logprobs; n > 0 {
		wire.Logprobs, wire.Top = true, n
	}
	if r.Schema != nil {
		if p.rules.InWords(f) {
			r.Messages = exchange.Instruct(r.Messages, r.Schema)
		} else {
			wire.Format = r.Schema.JSON
		}
	}
	names := map[string]string{} // of tools, by the id of the call
	for i, m := range r.Messages {
		switch m.Role {
		case methods.System, methods.User, methods.Assistant, methods.Tool:
		default:
			return wire, &provider.Error{Kind: provider.Rejected, Err: fmt.Errorf("message %d: unknown role %q", i+1, m.Role)}
		}
		out := message{Role: string(m.Role), Content: m.Content}
		for _, c := range m.ToolCalls {
			names[c.ID] = c.Name
			arguments, err := json.Marshal(exchange.ObjectArguments(c.Arguments))
			if err != nil {
				return wire, fmt.Errorf("message %d: %w", i+1, err)
			}
			out.ToolCalls = append(out.ToolCalls, call{ID: c.ID, Function: callFunction{Name: c.Name, Arguments: arguments}})
		}
		if m.Role == methods.Tool {
			out.CallID, out.ToolName = m.CallID, names[m.CallID]
		}
		wire.Messages = append(wire.Messages, out)
	}
	for _, t := range r.Tools {
		if len(t.Parameters) == 0 {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		wire.Tools = append(wire.Tools, tool{Type: "function", Function: toolFunction{t.Name, t.Description, t.Parameters}})
	}
	return wire, nil
}

func (p *Provider) options(r methods.Request) map[string]any {
	s := r.Sampling
	options := map[string]any{
		"temperature": s.Temperature, // 0 is greedy, and not the server's default
		"seed":        exchange.WireSeed(s.Seed, r.Draw),
	}
	if s.TopP != 0 {
		options["top_p"] = s.TopP
	}
	if s.TopK > 0 {
		options["top_k"] = s.TopK
	}
	if s.MaxTokens > 0 {
		options["num_predict"] = s.MaxTokens
	}
	if len(s.Stop) > 0 {
		options["stop"] = s.Stop
	}
	if p.context > 0 {
		options["num_ctx"] = p.context
	}
	return options
}

// rules are what servers refuse: schemas that they cannot turn into a grammar,
// and all of them where they are old.
func rules() *exchange.Rules {
	return &exchange.Rules{
		Named:       func(methods.Request) bool { return false },
		Mentions:    regexp.MustCompile(`(?i)grammar|\bformat\b|json[ _]schema`),
		Schemas:     []string{"", "format is not sent: the schema is asked for in words and validated here"},
		SchemaNames: []string{"grammar", "format", "json_schema", "json schema"},
	}
}

// Features says what becomes of the parts of a request.
func Features() provider.Features {
	return provider.Features{
		Provider: Kind, Protocol: "ollama chat",
		Temperature: provider.Native, TopP: provider.Native, TopK: provider.Native,
		MaxTokens: provider.Native, Stop: provider.Native, Seed: provider.BestEffort, Draws: provider.Native,
		Schema: provider.Native, Tools: provider.Native, Logprobs: provider.Native, Streaming: provider.Native,
		How: []string{
			"A schema that the server cannot turn into a grammar is asked for in words and validated by whoever asked.",
			"Log probabilities came with Ollama 0.12.11; an older server, which ignores that they are asked for, is an error.",
			"A prompt that does not fit is refused by servers that can; older ones cut it in silence.",
			"Each draw sends a seed of its own.",
		},
	}
}
