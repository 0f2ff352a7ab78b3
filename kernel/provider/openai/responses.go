package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/methods"
)

// responseParams writes r for the responses API. Nothing is stored at the
// server: the conversation is in every request.
func (p *Provider) responseParams(r methods.Request, f exchange.Form) (responses.ResponseNewParams, error) {
	params := responses.ResponseNewParams{Model: p.info.ID.Model, Store: param.NewOpt(false)}
	for i, m := range r.Messages {
		items, err := inputItems(m)
		if err != nil {
			return params, fmt.Errorf("message %d: %w", i+1, err)
		}
		params.Input.OfInputItemList = append(params.Input.OfInputItemList, items...)
	}
	for _, t := range r.Tools {
		wire := responses.FunctionToolParam{Name: t.Name, Strict: param.NewOpt(false)}
		if t.Description != "" {
			wire.Description = param.NewOpt(t.Description)
		}
		var err error
		if wire.Parameters, err = exchange.Object(t.Name, t.Parameters); err != nil {
			return params, err
		}
		params.Tools = append(params.Tools, responses.ToolUnionParam{OfFunction: &wire})
	}
	if r.Schema != nil && !p.rules.InWords(f) {
		schema, err := exchange.Object(r.Schema.Name, r.Schema.JSON)
		if err != nil {
			return params, err
		}
		params.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{
			Name: r.Schema.Name, Schema: schema, Strict: param.NewOpt(qualifiesForStrict(r.Schema.JSON)),
		}
	}
	s := r.Sampling
	if !f.Without[temperature] {
		params.Temperature = param.NewOpt(s.Temperature)
	}
	if s.TopP != 0 && !f.Without[topP] {
		params.TopP = param.NewOpt(s.TopP)
	}
	if s.MaxTokens > 0 {
		params.MaxOutputTokens = param.NewOpt(int64(s.MaxTokens))
	}
	if s.Logprobs > 0 {
		params.TopLogprobs = param.NewOpt(int64(s.Logprobs))
		params.Include = []responses.ResponseIncludable{responses.ResponseIncludableMessageOutputTextLogprobs}
	}
	if p.effort != "" {
		params.Reasoning.Effort = shared.ReasoningEffort(p.effort)
	}
	return params, nil
}

func inputItems(m methods.Message) ([]responses.ResponseInputItemUnionParam, error) {
	switch m.Role {
	case methods.System, methods.User:
		return []responses.ResponseInputItemUnionParam{
			responses.ResponseInputItemParamOfMessage(m.Content, responses.EasyInputMessageRole(m.Role)),
		}, nil
	case methods.Tool:
		item := responses.ResponseInputItemParamOfFunctionCallOutput(m.Content)
		item.OfFunctionCallOutput.CallID = param.NewOpt(m.CallID)
		return []responses.ResponseInputItemUnionParam{item}, nil
	case methods.Assistant:
		var items []responses.ResponseInputItemUnionParam
		if m.Content != "" || len(m.ToolCalls) == 0 {
			items = append(items, responses.ResponseInputItemParamOfMessage(m.Content, responses.EasyInputMessageRoleAssistant))
		}
		for _, c := range m.ToolCalls {
			items = append(items, responses.ResponseInputItemParamOfFunctionCall(exchange.WireArguments(c.Arguments), c.ID, c.Name))
		}
		return items, nil
	}
	return nil, &provider.Error{Kind: provider.Rejected, Err: fmt.Errorf("unknown role %q", m.Role)}
}

// response is a whole reply of the responses API.
type response struct {
	Model      string
	Status     string
	Incomplete struct{ Reason string } `json:"incomplete_details"`
	Error      json.RawMessage
	Output     []responseItem
	Usage      *struct {
		Input  exchange.Count `json:"input_tokens"`
		Output exchange.Count `json:"output_tokens"`
		In     inputDetails   `json:"input_tokens_details"`
		Out    outputDetails  `json:"output_tokens_details"`
	}
}

// inputDetails and outputDetails are what both protocols say of tokens.
type (
	inputDetails = exchange.Detail[struct {
		Cached  exchange.Count `json:"cached_tokens"`
		Written exchange.Count `json:"cache_write_tokens"`
	}]
	outputDetails = exchange.Detail[struct {
		Reasoning exchange.Count `json:"reasoning_tokens"`
	}]
)

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

// responseEvent is an event of a stream; those that end it hold the whole
// response, so the parts before them need not be put together.
type responseEvent struct {
	Type     string
	Response json.RawMessage
}

func (e responseEvent) last() bool {
	switch e.Type {
	case "response.completed", "response.incomplete", "response.failed":
		return true
	}
	return false
}

func completeResponse(body []byte) bool {
	events, _, stream := exchange.Events(body)
	if !stream {
		return json.Valid(body)
	}
	for _, e := range events {
		var event responseEvent
		if json.Unmarshal(e, &event) == nil && event.last() {
			return true
		}
	}
	return false
}

// decodeResponse turns the body of a reply into a completion.
func (p *Provider) decodeResponse(raw []byte) (methods.Completion, error) {
	events, _, stream := exchange.Events(raw)
	if !stream {
		return p.decodeWholeResponse(raw)
	}
	for _, e := range events {
		var event responseEvent
		err := json.Unmarshal(e, &event)
		switch {
		case err != nil || event.Type == "" || event.Type == "error":
			return methods.Completion{}, p.exchange.Malformed(e, errors.New("decode reply: it holds no event of the responses API"))
		case event.last():
			return p.decodeWholeResponse(event.Response)
		}
	}
	return methods.Completion{}, p.exchange.Short()
}

func (p *Provider) decodeWholeResponse(raw []byte) (methods.Completion, error) {
	var r response
	if err := json.Unmarshal(raw, &r); err != nil {
		return methods.Completion{}, p.exchange.Malformed(raw, fmt.Errorf("decode reply: %w", err))
	}
	if r.Status == "failed" || (len(r.Error) > 0 && string(r.Error) != "null") || (r.Status == "" && r.Output == nil) {
		return methods.Completion{}, p.exchange.Malformed(raw, errors.New("decode reply: it has no output"))
	}
	c := methods.Completion{Finish: methods.FinishStop, Model: r.Model}
	var text, refusal strings.Builder
	for _, item := range r.Output {
		if item.Type == "function_call" {
			c.ToolCalls = append(c.ToolCalls, methods.ToolCall{
				ID: item.CallID, Name: item.Name, Arguments: exchange.Arguments(string(item.Arguments)),
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
	var counts exchange.Counts
	if u := r.Usage; u != nil {
		counts = exchange.Counts{
			Input: u.Input, Output: u.Output, Cached: u.In.Value.Cached, CacheWrite: u.In.Value.Written,
			Reasoning: u.Out.Value.Reasoning,
		}
	}
	c.Usage = exchange.Usage(p.tariff.Cost, counts, c.Text != "" || len(c.ToolCalls) > 0)
	return c, nil
}
