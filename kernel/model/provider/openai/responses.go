package openai

import (
	"encoding/json"
	"strings"

	"noema/kernel/model/provider/exchange"
	"noema/methods"
	"noema/plugins/program/wires"
)

// responsesRequest is the body of a request. Nothing is stored at the server:
// the conversation is in every request.
//
// Source: OpenAI API reference, "Create a model response".
type responsesRequest struct {
	Model       string          `json:"model"`
	Input       []inputItem     `json:"input,omitempty"`
	Tools       []responsesTool `json:"tools,omitempty"`
	Text        *responsesText  `json:"text,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        float64         `json:"top_p,omitempty"`
	MaxTokens   int             `json:"max_output_tokens,omitempty"`
	TopLogprobs int             `json:"top_logprobs,omitempty"`
	Include     []string        `json:"include,omitempty"`
	Reasoning   *reasoning      `json:"reasoning,omitempty"`
	Store       bool            `json:"store"`
	Stream      bool            `json:"stream,omitempty"`
}

type reasoning struct {
	Effort string `json:"effort"`
}

type responsesText struct {
	Format jsonSchema `json:"format"`
}

type responsesTool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  map[string]any `json:"parameters"`
	Strict      bool           `json:"strict"`
}

// inputItem is a message, a tool call or a tool's result.
type inputItem struct {
	Type      string       `json:"type,omitempty"` // empty for a message
	Role      methods.Role `json:"role,omitempty"`
	Content   *string      `json:"content,omitempty"`
	CallID    string       `json:"call_id,omitempty"`
	Name      string       `json:"name,omitempty"`
	Arguments *string      `json:"arguments,omitempty"`
	Output    *string      `json:"output,omitempty"`
}

func responsesProtocol(model string, o Options) exchange.Protocol {
	return exchange.Protocol{
		Features: responsesFeatures(), Identity: identity(o), Raw: spoken(), Amend: amend(o), Decode: decodeResponse,
		// A model that reasons says at once that it has begun, and then nothing
		// until its answer.
		Answering: `.delta"`,
		Rules: exchange.Rules{
			Temperature: "temperature", TopP: "top_p", Always: []string{"stream"},
			Schema: []string{"text.format", "json_schema"},
		},
		Encode: func(d exchange.Draft) (string, any, error) {
			q, err := encodeResponses(model, o.Effort, d)
			return "/responses", q, err
		},
	}
}

func encodeResponses(model, effort string, d exchange.Draft) (responsesRequest, error) {
	s := d.Sampling
	q := responsesRequest{Model: model, Temperature: d.Temperature, TopP: s.TopP, MaxTokens: s.MaxTokens, Stream: !d.Without["stream"]}
	if s.Logprobs > 0 {
		q.TopLogprobs, q.Include = s.Logprobs, []string{"message.output_text.logprobs"}
	}
	if effort != "" {
		q.Reasoning = &reasoning{effort}
	}
	if d.Schema != nil {
		q.Text = &responsesText{jsonSchema{"json_schema", d.Schema.Name, d.Schema.JSON, qualifiesForStrict(d.Schema.JSON)}}
	}
	for _, m := range d.Messages {
		if m.Role == methods.Tool {
			q.Input = append(q.Input, inputItem{Type: "function_call_output", CallID: m.CallID, Output: &m.Content})
			continue
		}
		if m.Content != "" || len(m.ToolCalls) == 0 {
			q.Input = append(q.Input, inputItem{Role: m.Role, Content: &m.Content})
		}
		for _, c := range m.ToolCalls {
			arguments := wires.ArgumentText(c.Arguments)
			q.Input = append(q.Input, inputItem{Type: "function_call", CallID: c.ID, Name: c.Name, Arguments: &arguments})
		}
	}
	for _, t := range d.Tools {
		parameters, err := exchange.Object(t.Name, t.Parameters)
		if err != nil {
			return q, err
		}
		q.Tools = append(q.Tools, responsesTool{"function", t.Name, t.Description, parameters, false})
	}
	return q, nil
}

// response is a whole reply.
type response struct {
	Model      string
	Status     string
	Incomplete struct{ Reason string } `json:"incomplete_details"`
	Output     []responseItem
	Usage      *struct {
		Input  exchange.Count `json:"input_tokens"`
		Output exchange.Count `json:"output_tokens"`
		In     inputDetails   `json:"input_tokens_details"`
		Out    outputDetails  `json:"output_tokens_details"`
	}
}

type responseItem struct {
	Type    string
	Content []struct {
		Type, Text, Refusal string
		Logprobs            exchange.Tokens
	}
	CallID    string `json:"call_id"`
	Name      string
	Arguments looseText
}

// responseEvent is an event of a stream, or a whole reply, which has no type.
// The events that end a stream hold the whole reply, so the parts before them
// need not be put together.
type responseEvent struct {
	Type     string
	Response json.RawMessage
}

// decodeResponse reads the body of a reply.
func decodeResponse(raw []byte, _ exchange.Draft) (exchange.Reply, error) {
	_, _, stream := exchange.Events(raw)
	whole := raw
	if stream {
		whole = nil
		if _, err := exchange.Each(raw, func(e responseEvent) error {
			switch e.Type {
			case "response.completed", "response.incomplete", "response.failed":
				whole = e.Response
			case "":
				return exchange.Malformed(raw, "no event of the responses API in it")
			}
			return nil
		}); err != nil {
			return exchange.Reply{}, err
		}
		if whole == nil {
			return exchange.Reply{}, exchange.Short()
		}
	}
	var r response
	if _, err := exchange.Each(whole, func(one response) error {
		r = one
		return nil
	}); err != nil {
		return exchange.Reply{}, err
	}
	if r.Status == "failed" || r.Status == "" && r.Output == nil {
		return exchange.Reply{}, exchange.Malformed(whole, "it has no output")
	}
	return r.reply(), nil
}

func (r response) reply() exchange.Reply {
	c := methods.Completion{Finish: methods.FinishStop, Model: r.Model}
	var text, refusal strings.Builder
	for _, item := range r.Output {
		if item.Type == "function_call" {
			c.ToolCalls = append(c.ToolCalls, methods.ToolCall{
				ID: item.CallID, Name: item.Name, Arguments: wires.Arguments(string(item.Arguments)),
			})
		}
		for _, part := range item.Content {
			if item.Type == "message" { // the others are thoughts
				text.WriteString(part.Text)
				c.Logprobs = append(c.Logprobs, part.Logprobs...)
				refusal.WriteString(part.Refusal)
			}
		}
	}
	c.Text = text.String()
	switch {
	case c.Text == "" && refusal.Len() > 0:
		c.Text, c.Finish = refusal.String(), methods.FinishFilter
	case r.Incomplete.Reason == "max_output_tokens":
		c.Finish = methods.FinishLength
	case r.Incomplete.Reason == "content_filter":
		c.Finish = methods.FinishFilter
	case r.Status == "incomplete" || r.Status == "cancelled":
		c.Finish = methods.FinishOther
	case len(c.ToolCalls) > 0:
		c.Finish = methods.FinishTools
	}
	reply := exchange.Reply{Completion: c}
	if u := r.Usage; u != nil {
		reply.Counts = exchange.Counts{
			Input: u.Input, Output: u.Output, Cached: u.In.Value.Cached, CacheWrite: u.In.Value.Written, Reasoning: u.Out.Value.Reasoning,
		}
	}
	return reply
}
