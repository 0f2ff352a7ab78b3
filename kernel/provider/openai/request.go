package openai

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"noema/kernel/provider"
	"noema/methods"
)

// WireSeed is the seed that is sent for a request: a number within 0 and
// 2^31-1, which every known server accepts. It depends on the draw, because a
// server that honours seeds would otherwise answer all draws alike.
func WireSeed(seed uint64, draw int) int64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(draw))
	h := fnv.New64a()
	_, _ = h.Write(b[:])
	return int64(h.Sum64() >> 33)
}

// params writes r as the SDK's parameters, in the form that the server is
// known to accept.
func (p *Provider) params(r methods.Request, f form) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{Model: p.info.ID.Model}
	messages := r.Messages
	if r.Schema != nil {
		if f.schema == schemaInstruction {
			messages = withInstruction(messages, r.Schema)
		} else {
			params.ResponseFormat = responseFormat(r.Schema)
		}
	}
	for i, m := range messages {
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
	return params, nil
}

func sampling(params *sdk.ChatCompletionNewParams, r methods.Request, f form) {
	s := r.Sampling
	if !f.without[temperature] { // 0 is greedy, and no server's default: it is always sent
		params.Temperature = param.NewOpt(s.Temperature)
	}
	if !f.without[seed] {
		params.Seed = param.NewOpt(WireSeed(s.Seed, r.Draw))
	}
	if s.TopP != 0 && !f.without[topP] {
		params.TopP = param.NewOpt(s.TopP)
	}
	if len(s.Stop) > 0 && !f.without[stop] {
		params.Stop.OfStringArray = s.Stop
	}
	if s.MaxTokens > 0 {
		if f.oldTokens {
			params.MaxTokens = param.NewOpt(int64(s.MaxTokens))
		} else {
			params.MaxCompletionTokens = param.NewOpt(int64(s.MaxTokens))
		}
	}
	if s.TopK > 0 && !f.without[topK] { // no parameter of OpenAI's, but of most compatible servers
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
			call.Function.Name, call.Function.Arguments = c.Name, wireArguments(c.Arguments)
			wire.ToolCalls = append(wire.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: call})
		}
		return sdk.ChatCompletionMessageParamUnion{OfAssistant: &wire}, nil
	}
	return sdk.ChatCompletionMessageParamUnion{}, &provider.Error{
		Kind: provider.Rejected, Err: fmt.Errorf("unknown role %q", m.Role),
	}
}

// wireArguments undoes what arguments does to those that are no JSON, so that
// a model reads back what it wrote.
func wireArguments(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
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

// withInstruction returns the conversation with the schema asked for in
// words. It goes into the last user turn where that is the last one: some
// servers insist on alternating roles.
func withInstruction(messages []methods.Message, s *methods.Schema) []methods.Message {
	text := "Reply with exactly one JSON value and nothing else: no prose, no code fence. It must be valid against this JSON Schema:\n" + string(s.JSON)
	out := append([]methods.Message(nil), messages...)
	if n := len(out); n > 0 && out[n-1].Role == methods.User {
		out[n-1].Content += "\n\n" + text
		return out
	}
	return append(out, methods.Message{Role: methods.User, Content: text})
}
