package anthropic

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/methods"
)

// The parameters that a model may do without.
const (
	temperature = "temperature"
	topP        = "top_p"
	topK        = "top_k"
	stop        = "stop_sequences"
)

// The ways to ask for a schema, the best first.
const (
	schemaFormat = iota // as the output format
	schemaTool          // as a tool that must be called
	schemaWords         // in words
)

var (
	// lowerLimit finds the model's own limit in "max_tokens: 8192 > 4096,
	// which is the maximum allowed number of output tokens for …".
	lowerLimit = regexp.MustCompile(`max_tokens: \d+ > (\d+)`)
	eitherOr   = regexp.MustCompile(`(?i)temperature\W+and\W+top_p\W+cannot both`)
)

// rules are what models refuse.
func rules() *exchange.Rules {
	return &exchange.Rules{
		Sent: map[string]func(methods.Request) bool{
			temperature: func(methods.Request) bool { return true },
			topP:        func(r methods.Request) bool { return r.Sampling.TopP != 0 },
			topK:        func(r methods.Request) bool { return r.Sampling.TopK > 0 },
			stop:        func(r methods.Request) bool { return len(r.Sampling.Stop) > 0 },
		},
		Named: func(methods.Request) bool { return false },
		Mentions: regexp.MustCompile(`temperature|top_p|top_k|stop_sequences|output_config|output_format|` +
			`json_schema|tool_choice|input_schema|additionalProperties`),
		Schemas: []string{
			schemaFormat: "",
			schemaTool:   "output_config is not sent: the schema is given as a tool that the model must call",
			schemaWords:  "output_config is not sent: the schema is asked for in words and validated here",
		},
		SchemaNames: []string{"output_config", "output_format", "json_schema", "tool_choice", "input_schema", "additionalproperties"},
	}
}

// params writes r as the SDK's parameters. byTool says that the schema is
// given as a tool, whose arguments are then the reply.
func (p *Provider) params(r methods.Request, f exchange.Form) (params sdk.MessageNewParams, byTool bool, err error) {
	params = sdk.MessageNewParams{Model: p.info.ID.Model, MaxTokens: int64(r.Sampling.MaxTokens)}
	if params.MaxTokens == 0 {
		params.MaxTokens = p.limit.Load()
	}
	if r.Schema != nil {
		if byTool, err = askForSchema(&params, &r, f); err != nil {
			return params, byTool, err
		}
	}
	if err := conversation(&params, r.Messages); err != nil {
		return params, byTool, err
	}
	for _, t := range r.Tools {
		wire, err := tool(t.Name, t.Description, t.Parameters)
		if err != nil {
			return params, byTool, err
		}
		params.Tools = append(params.Tools, wire)
	}
	s := r.Sampling
	if !f.Without[temperature] {
		params.Temperature = param.NewOpt(s.Temperature)
	}
	if s.TopP != 0 && !f.Without[topP] {
		params.TopP = param.NewOpt(s.TopP)
	}
	if s.TopK > 0 && !f.Without[topK] {
		params.TopK = param.NewOpt(int64(s.TopK))
	}
	if len(s.Stop) > 0 && !f.Without[stop] {
		params.StopSequences = s.Stop
	}
	return params, byTool, nil
}

// askForSchema asks for r's schema in the given form, or in words where that
// form cannot be.
func askForSchema(params *sdk.MessageNewParams, r *methods.Request, f exchange.Form) (byTool bool, err error) {
	schema, err := exchange.Object(r.Schema.Name, r.Schema.JSON)
	if err != nil {
		return false, err
	}
	switch {
	case f.Schema == schemaFormat:
		params.OutputConfig.Format.Schema = schema
		return false, nil
	case f.Schema == schemaTool && len(r.Tools) == 0 && schema["type"] == "object":
		wire, err := tool(r.Schema.Name, "Gives the answer. Call it exactly once.", r.Schema.JSON)
		if err != nil {
			return false, err
		}
		params.Tools = append(params.Tools, wire)
		params.ToolChoice = sdk.ToolChoiceParamOfTool(r.Schema.Name)
		return true, nil
	}
	r.Messages = exchange.Instruct(r.Messages, r.Schema)
	return false, nil
}

// conversation writes the messages. Turns of one speaker in a row become one,
// which results of tools must be; empty texts are left out, which the API
// refuses.
func conversation(params *sdk.MessageNewParams, messages []methods.Message) error {
	for i, m := range messages {
		var role sdk.MessageParamRole
		var blocks []sdk.ContentBlockParamUnion
		switch m.Role {
		case methods.System:
			if m.Content != "" {
				params.System = append(params.System, sdk.TextBlockParam{Text: m.Content})
			}
			continue
		case methods.User:
			role = sdk.MessageParamRoleUser
		case methods.Tool:
			role = sdk.MessageParamRoleUser
			result := sdk.ToolResultBlockParam{ToolUseID: m.CallID}
			if m.Content != "" {
				result.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: m.Content}}}
			}
			blocks = append(blocks, sdk.ContentBlockParamUnion{OfToolResult: &result})
		case methods.Assistant:
			role = sdk.MessageParamRoleAssistant
		default:
			return &provider.Error{Kind: provider.Rejected, Err: fmt.Errorf("message %d: unknown role %q", i+1, m.Role)}
		}
		if m.Content != "" && m.Role != methods.Tool {
			blocks = append(blocks, sdk.NewTextBlock(m.Content))
		}
		for _, c := range m.ToolCalls {
			blocks = append(blocks, sdk.NewToolUseBlock(c.ID, exchange.ObjectArguments(c.Arguments), c.Name))
		}
		if len(blocks) == 0 {
			continue
		}
		if n := len(params.Messages); n > 0 && params.Messages[n-1].Role == role {
			params.Messages[n-1].Content = append(params.Messages[n-1].Content, blocks...)
		} else {
			params.Messages = append(params.Messages, sdk.MessageParam{Role: role, Content: blocks})
		}
	}
	return nil
}

// tool writes a tool with the JSON Schema of its arguments.
func tool(name, description string, schema json.RawMessage) (sdk.ToolUnionParam, error) {
	object, err := exchange.Object(name, schema)
	if err != nil {
		return sdk.ToolUnionParam{}, err
	}
	input := sdk.ToolInputSchemaParam{Properties: object["properties"], ExtraFields: map[string]any{}}
	if input.Properties == nil {
		input.Properties = map[string]any{}
	}
	if list, ok := object["required"].([]any); ok {
		for _, e := range list {
			if name, ok := e.(string); ok {
				input.Required = append(input.Required, name)
			}
		}
	}
	for key, value := range object {
		if !slices.Contains([]string{"type", "properties", "required"}, key) {
			input.ExtraFields[key] = value
		}
	}
	wire := sdk.ToolParam{Name: name, InputSchema: input}
	if description != "" {
		wire.Description = param.NewOpt(description)
	}
	return sdk.ToolUnionParam{OfTool: &wire}, nil
}

// Features says what becomes of the parts of a request.
func Features() provider.Features {
	return provider.Features{
		Provider: Kind, Protocol: "messages",
		Temperature: provider.Native, TopP: provider.Native, TopK: provider.Native,
		MaxTokens: provider.Native, Stop: provider.Native, Seed: provider.Ignored, Draws: provider.BestEffort,
		Schema: provider.Native, Tools: provider.Native, Logprobs: provider.Unsupported, Streaming: provider.Native,
		How: []string{
			"The API has no seed: draws differ by chance alone, and two calls at temperature 0 may differ.",
			"Where a model takes temperature or top_p but not both, top_p is not sent.",
			"The API has no log probabilities: a request for them is refused before it is sent.",
			"A schema that the server does not enforce becomes a tool that the model must call, or is asked for in words.",
			fmt.Sprintf("A request without a limit of output tokens gets %d, or the model's own where that is lower.", DefaultMaxTokens),
		},
	}
}
