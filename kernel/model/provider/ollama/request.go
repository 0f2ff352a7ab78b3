package ollama

import (
	"encoding/json"

	"noema/kernel/model/provider/exchange"
	"noema/methods"
	"noema/plugins/program/wires"
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
	Truncate  bool    `json:"truncate"`
	Shift     bool    `json:"shift"`
	Logprobs  bool    `json:"logprobs,omitempty"`
	Top       int     `json:"top_logprobs,omitempty"`
	KeepAlive string  `json:"keep_alive,omitempty"`
	Think     any     `json:"think,omitempty"` // a level, or false
	Options   options `json:"options"`
}

type options struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        float64  `json:"top_p,omitempty"`
	TopK        int      `json:"top_k,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	NumPredict  int      `json:"num_predict,omitempty"`
	NumCtx      int      `json:"num_ctx,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

type message struct {
	Role      methods.Role `json:"role"`
	Content   string       `json:"content"`
	ToolCalls []call       `json:"tool_calls,omitempty"`
	ToolName  string       `json:"tool_name,omitempty"`
	CallID    string       `json:"tool_call_id,omitempty"`
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

func encode(model string, o Options, d exchange.Draft) request {
	s := d.Sampling
	q := request{
		Model: model, Messages: []message{}, Stream: true, Logprobs: s.Logprobs > 0, Top: s.Logprobs, KeepAlive: o.KeepAlive,
		Options: options{
			Temperature: d.Temperature, TopP: s.TopP, TopK: s.TopK, Seed: d.Seed, NumPredict: s.MaxTokens, NumCtx: o.Context, Stop: s.Stop,
		},
	}
	switch o.Effort {
	case "":
	case "none":
		q.Think = false
	default:
		q.Think = o.Effort
	}
	if d.Schema != nil {
		q.Format = d.Schema.JSON
	}
	names := map[string]string{} // of tools, by the id of the call
	for _, m := range d.Messages {
		out := message{Role: m.Role, Content: m.Content}
		for _, c := range m.ToolCalls {
			names[c.ID] = c.Name
			out.ToolCalls = append(out.ToolCalls, call{c.ID, callFunction{c.Name, wires.ObjectArguments(c.Arguments)}})
		}
		if m.Role == methods.Tool {
			out.CallID, out.ToolName = m.CallID, names[m.CallID]
		}
		q.Messages = append(q.Messages, out)
	}
	for _, t := range d.Tools {
		if len(t.Parameters) == 0 {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		q.Tools = append(q.Tools, tool{"function", toolFunction{t.Name, t.Description, t.Parameters}})
	}
	return q
}
