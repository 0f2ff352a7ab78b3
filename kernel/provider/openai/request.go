package openai

import (
	"encoding/json"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/methods"
)

// WireSeed is the seed that is sent for a request; see [exchange.WireSeed].
func WireSeed(seed uint64, draw int) int64 { return exchange.WireSeed(seed, draw) }

// chatParams writes r as the SDK's parameters, in the form that the server is
// known to accept.
func (p *Provider) chatParams(r methods.Request, f exchange.Form) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{Model: p.info.ID.Model}
	if r.Schema != nil && !p.rules.InWords(f) {
		params.ResponseFormat = responseFormat(r.Schema)
	}
	for i, m := range r.Messages {
		wire, err := message(m)
		if err != nil {
			return params, fmt.Errorf("message %d: %w", i+1, err)
		}
		params.Messages = append(params.Messages, wire)
	}
	for _, t := range r.Tools {
		wire, err := tool(t)
		if err != nil {
			return params, err
		}
		params.Tools = append(params.Tools, wire)
	}
	sampling(&params, r, f)
	if !f.Without[stream] && !f.Without[streamOptions] {
		params.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	if p.effort != "" {
		params.ReasoningEffort = shared.ReasoningEffort(p.effort)
	}
	return params, nil
}

func sampling(params *sdk.ChatCompletionNewParams, r methods.Request, f exchange.Form) {
	s := r.Sampling
	if !f.Without[temperature] { // 0 is greedy, and no server's default: it is always sent
		params.Temperature = param.NewOpt(s.Temperature)
	}
	if !f.Without[seed] {
		params.Seed = param.NewOpt(WireSeed(s.Seed, r.Draw))
	}
	if s.TopP != 0 && !f.Without[topP] {
		params.TopP = param.NewOpt(s.TopP)
	}
	if len(s.Stop) > 0 && !f.Without[stop] {
		params.Stop.OfStringArray = s.Stop
	}
	if s.MaxTokens > 0 {
		if !f.Alternate {
			params.MaxTokens = param.NewOpt(int64(s.MaxTokens))
		} else {
			params.MaxCompletionTokens = param.NewOpt(int64(s.MaxTokens))
		}
	}
	if s.Logprobs > 0 {
		params.Logprobs, params.TopLogprobs = param.NewOpt(true), param.NewOpt(int64(s.Logprobs))
	}
	if s.TopK > 0 && !f.Without[topK] { // no parameter of OpenAI's, but of most compatible servers
		params.SetExtraFields(map[string]any{topK: s.TopK})
	}
}

func message(m methods.Message) (sdk.ChatCompletionMessageParamUnion, error) {
	switch m.Role {
	case methods.System:
		return sdk.SystemMessage(m.Content), nil
	case methods.User:
		return sdk.UserMessage(m.Content), nil
	case methods.Tool:
		return sdk.ToolMessage(m.Content, m.CallID), nil
	case methods.Assistant:
		wire := sdk.ChatCompletionAssistantMessageParam{}
		if m.Content != "" || len(m.ToolCalls) == 0 {
			wire.Content.OfString = param.NewOpt(m.Content)
		}
		for _, c := range m.ToolCalls {
			call := &sdk.ChatCompletionMessageFunctionToolCallParam{ID: c.ID}
			call.Function.Name, call.Function.Arguments = c.Name, exchange.WireArguments(c.Arguments)
			wire.ToolCalls = append(wire.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: call})
		}
		return sdk.ChatCompletionMessageParamUnion{OfAssistant: &wire}, nil
	}
	return sdk.ChatCompletionMessageParamUnion{}, &provider.Error{
		Kind: provider.Rejected, Err: fmt.Errorf("unknown role %q", m.Role),
	}
}

func tool(t methods.ToolSpec) (sdk.ChatCompletionToolUnionParam, error) {
	def := shared.FunctionDefinitionParam{Name: t.Name}
	if t.Description != "" {
		def.Description = param.NewOpt(t.Description)
	}
	if len(t.Parameters) > 0 {
		if err := json.Unmarshal(t.Parameters, &def.Parameters); err != nil {
			return sdk.ChatCompletionToolUnionParam{}, &provider.Error{
				Kind: provider.Rejected, Err: fmt.Errorf("tool %q: parameters: %w", t.Name, err),
			}
		}
	}
	return sdk.ChatCompletionFunctionTool(def), nil
}

func responseFormat(s *methods.Schema) sdk.ChatCompletionNewParamsResponseFormatUnion {
	format := &shared.ResponseFormatJSONSchemaParam{}
	format.JSONSchema.Name = s.Name
	format.JSONSchema.Schema = s.JSON
	format.JSONSchema.Strict = param.NewOpt(qualifiesForStrict(s.JSON))
	return sdk.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: format}
}
