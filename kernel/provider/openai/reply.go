package openai

import (
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/openai/openai-go/v3"

	"noema/kernel/provider"
	"noema/methods"
)

// decode turns the body of a reply into a completion.
func (p *Provider) decode(raw []byte) (methods.Completion, error) {
	var chat sdk.ChatCompletion
	if err := json.Unmarshal(raw, &chat); err != nil {
		return methods.Completion{}, p.malformed(raw, fmt.Errorf("decode reply: %w", err))
	}
	if len(chat.Choices) == 0 {
		return methods.Completion{}, p.malformed(raw, errors.New("decode reply: it has no choices"))
	}
	choice := chat.Choices[0]
	c := methods.Completion{
		Text:   choice.Message.Content,
		Finish: finish(choice.FinishReason),
		Model:  chat.Model,
		Usage:  p.usage(chat),
	}
	if c.Text == "" && choice.Message.Refusal != "" {
		c.Text, c.Finish = choice.Message.Refusal, methods.FinishFilter
	}
	for _, call := range choice.Message.ToolCalls {
		c.ToolCalls = append(c.ToolCalls, methods.ToolCall{
			ID: call.ID, Name: call.Function.Name, Arguments: arguments(call.Function.Arguments),
		})
	}
	return c, nil
}

// malformed is the error for a reply that is no completion. Routers send
// errors of the servers behind them with status 200; those keep their kind.
func (p *Provider) malformed(raw []byte, cause error) error {
	if f := parseFault(raw); f.isError {
		if f.status == 0 { // it does not say which
			return &provider.Error{Kind: provider.Malformed, Err: errors.New(p.clean(f.text))}
		}
		return p.faultError(f)
	}
	if looksLikeHTML(raw) {
		cause = errors.New("decode reply: it is an HTML page")
		return &provider.Error{Kind: provider.Malformed, Err: cause, Hint: "check OPENAI_BASE_URL; most servers want it to end in /v1"}
	}
	return &provider.Error{Kind: provider.Malformed, Err: cause}
}

func finish(reason string) methods.FinishReason {
	switch reason {
	case "stop", "":
		return methods.FinishStop
	case "length":
		return methods.FinishLength
	case "tool_calls", "function_call":
		return methods.FinishTools
	case "content_filter":
		return methods.FinishFilter
	}
	return methods.FinishOther
}

// arguments makes sure that a tool call's arguments are JSON. What a model
// wrote that is none becomes a JSON string of it, so that it stays readable
// and no validator takes it for an object.
func arguments(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil { // strings always encode
		panic(err)
	}
	return quoted
}

// usage counts what the server reported. Reasoning tokens are within the
// completion tokens. Cached input is charged in full: the cost is an upper
// bound where a server gives a discount for it.
func (p *Provider) usage(chat sdk.ChatCompletion) methods.Usage {
	u := methods.Usage{Calls: 1}
	if !chat.JSON.Usage.Valid() || chat.Usage.PromptTokens <= 0 {
		u.Unmetered, u.Unpriced = 1, 1
		return u
	}
	u.InputTokens, u.OutputTokens = chat.Usage.PromptTokens, max(0, chat.Usage.CompletionTokens)
	cost, known := p.price.Cost(u.InputTokens, u.OutputTokens)
	if u.Cost = cost; !known {
		u.Unpriced = 1
	}
	return u
}
