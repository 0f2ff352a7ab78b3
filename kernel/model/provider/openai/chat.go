package openai

import (
	"encoding/json"

	"noema/kernel/model/provider/exchange"
	"noema/methods"
	"noema/plugins/program/wires"
)

// chatRequest is the body of a request.
//
// Source: OpenAI API reference, "Create chat completion".
type chatRequest struct {
	Model               string         `json:"model"`
	Messages            []chatTurn     `json:"messages"`
	Tools               []chatTool     `json:"tools,omitempty"`
	ResponseFormat      *chatFormat    `json:"response_format,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	TopP                float64        `json:"top_p,omitempty"`
	TopK                int            `json:"top_k,omitempty"` // not OpenAI's, but of most compatible servers
	Seed                *int64         `json:"seed,omitempty"`
	Stop                []string       `json:"stop,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Logprobs            bool           `json:"logprobs,omitempty"`
	TopLogprobs         int            `json:"top_logprobs,omitempty"`
	Effort              string         `json:"reasoning_effort,omitempty"`
	Stream              bool           `json:"stream,omitempty"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatTurn struct {
	Role      methods.Role `json:"role"`
	Content   *string      `json:"content,omitempty"`
	CallID    string       `json:"tool_call_id,omitempty"`
	ToolCalls []turnCall   `json:"tool_calls,omitempty"`
}

type turnCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function turnFunction `json:"function"`
}

type turnFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type chatFormat struct {
	Type   string     `json:"type"`
	Schema jsonSchema `json:"json_schema"`
}

// jsonSchema is a schema as both protocols have it; the type is empty in chat
// completions.
type jsonSchema struct {
	Type   string          `json:"type,omitempty"`
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

func chatProtocol(model string, o Options) exchange.Protocol {
	return exchange.Protocol{
		Identity: identity(o), Raw: spoken(), Amend: amend(o), Decode: decodeChat,
		Rules: exchange.Rules{
			Temperature: "temperature", TopP: "top_p", TopK: "top_k", Seed: "seed", Stop: "stop",
			Always: []string{"stream", "stream_options"},
			Limit:  [2]string{"max_tokens", "max_completion_tokens"}, OwnSecond: true,
			Schema: []string{"response_format", "response format", "json_schema"},
		},
		Encode: func(d exchange.Draft) (string, any, error) {
			return "/chat/completions", encodeChat(model, o.Effort, d), nil
		},
	}
}

func encodeChat(model, effort string, d exchange.Draft) chatRequest {
	s := d.Sampling
	q := chatRequest{
		Model: model, Messages: []chatTurn{}, Temperature: d.Temperature, TopP: s.TopP, TopK: s.TopK, Seed: d.Seed, Stop: s.Stop,
		Logprobs: s.Logprobs > 0, TopLogprobs: s.Logprobs, Effort: effort, Stream: !d.Without["stream"],
	}
	if d.Alternate {
		q.MaxCompletionTokens = s.MaxTokens
	} else {
		q.MaxTokens = s.MaxTokens
	}
	if q.Stream && !d.Without["stream_options"] {
		q.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if d.Schema != nil {
		q.ResponseFormat = &chatFormat{"json_schema", jsonSchema{Name: d.Schema.Name, Schema: d.Schema.JSON, Strict: qualifiesForStrict(d.Schema.JSON)}}
	}
	for _, m := range d.Messages {
		turn := chatTurn{Role: m.Role, Content: &m.Content, CallID: m.CallID}
		if m.Content == "" && len(m.ToolCalls) > 0 {
			turn.Content = nil
		}
		for _, c := range m.ToolCalls {
			turn.ToolCalls = append(turn.ToolCalls, turnCall{c.ID, "function", turnFunction{c.Name, wires.ArgumentText(c.Arguments)}})
		}
		q.Messages = append(q.Messages, turn)
	}
	for _, t := range d.Tools {
		q.Tools = append(q.Tools, chatTool{"function", chatFunction{t.Name, t.Description, t.Parameters}})
	}
	return q
}
