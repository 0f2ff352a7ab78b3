// Package openai serves models through OpenAI's two protocols: chat
// completions, which every compatible server speaks too (vLLM, llama.cpp,
// routers; chosen by base URL), and responses, which OpenAI's newest models
// are made for. See package exchange for what both have in common with others.
package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/plugins/program/wires"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "openai"

// The protocols.
const (
	Chat      = "chat"      // chat completions
	Responses = "responses" // responses
)

// Options of a model.
type Options struct {
	API string `json:"api" default:"chat" choices:"chat,responses" doc:"chat completions or responses"`
	exchange.Options
}

// Service describes the provider.
func Service() exchange.Service {
	return exchange.Service{
		Kind: Kind, Summary: "OpenAI and compatible servers", Example: "gpt-5-nano",
		BaseURL: "https://api.openai.com/v1", URLVariable: "OPENAI_BASE_URL", KeyVariable: []string{"OPENAI_API_KEY"},
		Probe: "/models", NotFound: "; most servers want it to end in /v1",
		Features: []provider.Features{chatFeatures(), responsesFeatures()},
	}
}

// New makes a client of a model.
func New(c exchange.Config, o Options) (*exchange.Client, error) {
	if _, err := o.ReadEffort(Kind, 0); err != nil {
		return nil, err
	}
	if o.API == Responses {
		return exchange.New(Service(), responsesProtocol(c.Model, o), c)
	}
	return exchange.New(Service(), chatProtocol(c.Model, o), c)
}

// Compatible completes the service of a provider whose server speaks chat
// completions, and returns what makes clients of its models. The caller gives
// the kind, the summary, an example, the base URL and the variables.
func Compatible(s exchange.Service) (exchange.Service, func(exchange.Config, exchange.Options) (*exchange.Client, error)) {
	s.Features = []provider.Features{chatFeatures()}
	return s, func(c exchange.Config, o exchange.Options) (*exchange.Client, error) {
		if _, err := o.ReadEffort(s.Kind, 0); err != nil {
			return nil, err
		}
		p := chatProtocol(c.Model, Options{Options: o})
		p.Rules.OwnSecond = false // max_tokens is the name that compatible servers know
		return exchange.New(s, p, c)
	}
}

// spoken are the wires that OpenAI's server and compatible ones speak.
func spoken() map[wires.Wire]exchange.Spoken {
	return map[wires.Wire]exchange.Spoken{
		wires.Chat:        {Path: wires.Chat.Path(), Decode: decodeChat},
		wires.Responses:   {Path: wires.Responses.Path(), Decode: decodeResponse},
		wires.Completions: {Path: wires.Completions.Path(), Decode: decodeChat},
		wires.Embeddings:  {Path: wires.Embeddings.Path(), Decode: decodeEmbeddings},
	}
}

// amend asks a program's request for the effort of the model, where it names none of its own.
func amend(o Options) func(wires.Wire, map[string]json.RawMessage) {
	if o.Effort == "" {
		return nil
	}
	return func(w wires.Wire, body map[string]json.RawMessage) {
		name, value := "reasoning_effort", fmt.Sprintf("%q", o.Effort)
		if w == wires.Responses {
			name, value = "reasoning", fmt.Sprintf(`{"effort":%q}`, o.Effort)
		}
		if body[name] == nil && (w == wires.Chat || w == wires.Responses) {
			body[name] = json.RawMessage(value)
		}
	}
}

// identity is what besides the model's name changes its answers.
func identity(o Options) string {
	var parts []string
	if o.API == Responses {
		parts = append(parts, "api=responses")
	}
	if o.Effort != "" {
		parts = append(parts, "effort="+o.Effort)
	}
	return strings.Join(parts, "&")
}

// What both protocols do.
const (
	effortHow     = "An effort is sent as reasoning_effort, in responses as reasoning.effort; which levels there are depends on the model."
	parametersHow = "A parameter that the server refuses is not sent again; the refusal is in the record."
	schemaHow     = "A schema that the server cannot enforce is asked for in words and validated by whoever asked."
	logprobsHow   = "Log probabilities that the server refuses or leaves out are an error, never a reply without them."
)

func chatFeatures() provider.Features {
	f := provider.AllNative("chat completions",
		parametersHow, "A stop string that the server refuses is applied to the reply here.", schemaHow,
		"OpenAI's own server has no top_k; compatible ones do.", "Each draw sends a seed of its own.", logprobsHow, effortHow)
	f.TopK, f.Seed = provider.BestEffort, provider.BestEffort
	return f
}

func responsesFeatures() provider.Features {
	f := provider.AllNative("responses",
		parametersHow, "The protocol has no stop strings: they are applied to the reply here, after it was paid for.",
		"The protocol has no seed and no top_k: they are not sent.", schemaHow, logprobsHow, effortHow)
	f.TopK, f.Stop, f.Seed = provider.Ignored, provider.Emulated, provider.Ignored
	return f
}
