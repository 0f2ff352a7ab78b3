// Package gemini serves models through Google's Gemini API (API key mode). See
// package exchange for what it has in common with other providers.
//
// Models that think sign their tool calls, and want the signature back with
// the next turn. It travels in the call's id, so that a conversation is whole
// without anything kept here.
package gemini

import (
	"strings"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/methods"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "gemini"

// Service describes the provider.
func Service() exchange.Service {
	return exchange.Service{
		Kind: Kind, Summary: "Google's Gemini", Example: "gemini-2.5-flash",
		BaseURL: "https://generativelanguage.googleapis.com", URLVariable: "GEMINI_BASE_URL",
		KeyVariable: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		Probe:       "/v1beta/models",
		NotFound:    ", which is without the version",
		Features:    []provider.Features{features()},
	}
}

func features() provider.Features {
	f := provider.AllNative("generateContent",
		"A parameter that the server refuses is not sent again; the refusal is in the record.",
		"A schema that the server refuses, or takes no schema beside tools, is asked for in words and validated by whoever asked.",
		"Not every model gives log probabilities; one that refuses them or leaves them out is an error. The protocol has no bytes of tokens: a part of a character is given as the server writes it.",
		"Thoughts are counted as output tokens and are not part of the reply.",
		"An effort is sent as thinkingLevel, a number of tokens as thinkingBudget, and none as a budget of 0; older models take budgets alone.",
		"Each draw sends a seed of its own.")
	f.Seed, f.Logprobs = provider.BestEffort, provider.BestEffort
	return f
}

// schema is the name of the parameter in refusals, after spellings.
const schema = "responseJsonSchema"

// spellings are the other names of parameters in refusals. No name is a part
// of another, so the order in which they are replaced does not matter.
func spellings() *strings.Replacer {
	return strings.NewReplacer("top_p", "topP", "top_k", "topK", "stop_sequences", "stopSequences",
		"response_json_schema", schema, "response_schema", schema, "responseSchema", schema,
		"response_mime_type", schema, "responseMimeType", schema, "response mime type", schema, "JSON mode", schema)
}

// New makes a client of a model.
func New(c exchange.Config, o exchange.Options) (*exchange.Client, error) {
	effort, err := o.ReadEffort(Kind, 1)
	if err != nil {
		return nil, err
	}
	c.Model = strings.TrimPrefix(strings.TrimSpace(c.Model), "models/")
	return exchange.New(Service(), exchange.Protocol{
		KeyHeader: "X-Goog-Api-Key", Identity: effort.Identity(),
		Rules: exchange.Rules{
			Temperature: "temperature", TopP: "topP", TopK: "topK", Seed: "seed", Stop: "stopSequences", Schema: []string{schema},
		},
		Encode: func(d exchange.Draft) (string, any, error) {
			name := c.Model
			if !strings.HasPrefix(name, "tunedModels/") {
				name = "models/" + name
			}
			return "/v1beta/" + name + ":streamGenerateContent?alt=sse", encode(effort, d), nil
		},
		Decode: decode,
		Learn: func(refused *exchange.Refusal, _ methods.Request) bool {
			refused.Text = spellings().Replace(refused.Text)
			return false
		},
	}, c)
}
