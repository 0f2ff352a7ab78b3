package openai

import (
	"regexp"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/methods"
)

// The parameters that a server may do without.
const (
	temperature   = "temperature"
	topP          = "top_p"
	topK          = "top_k"
	seed          = "seed"
	stop          = "stop"
	stream        = "stream"
	streamOptions = "stream_options"
)

func always(methods.Request) bool        { return true }
func limited(r methods.Request) bool     { return r.Sampling.MaxTokens > 0 }
func never(methods.Request) bool         { return false }
func samplesTopP(r methods.Request) bool { return r.Sampling.TopP != 0 }
func schemaWords(field string) string {
	return field + " is not sent: the schema is asked for in words and validated here"
}

// chatRules are what servers of chat completions refuse.
func chatRules() *exchange.Rules {
	return &exchange.Rules{
		Sent: map[string]func(methods.Request) bool{
			temperature: always, seed: always, stream: always, streamOptions: always,
			topP: samplesTopP,
			topK: func(r methods.Request) bool { return r.Sampling.TopK > 0 },
			stop: func(r methods.Request) bool { return len(r.Sampling.Stop) > 0 },
		},
		Names: [2]string{"max_tokens", "max_completion_tokens"},
		Named: limited,
		Mentions: regexp.MustCompile(`max_completion_tokens|max_tokens|temperature|top_p|top_k|stream_options|` +
			`\bstream\b|\bseed\b|\bstop\b|response[_ ]format|json_schema`),
		Schemas:     []string{"", schemaWords("response_format")},
		SchemaNames: []string{"response_format", "response format", "json_schema"},
	}
}

// responsesRules are what servers of responses refuse.
func responsesRules() *exchange.Rules {
	return &exchange.Rules{
		Sent:        map[string]func(methods.Request) bool{temperature: always, stream: always, topP: samplesTopP},
		Named:       never,
		Mentions:    regexp.MustCompile(`temperature|top_p|\bstream\b|text\.format|json_schema`),
		Schemas:     []string{"", schemaWords("text.format")},
		SchemaNames: []string{"text.format", "json_schema", "text.format.schema", "text"},
	}
}

const logprobsHow = "Log probabilities that the server refuses or leaves out are an error, never a reply without them."

// Features says what becomes of the parts of a request.
func Features(api API) provider.Features {
	f := provider.Features{
		Provider: Kind, Protocol: "chat completions",
		Temperature: provider.Native, TopP: provider.Native, TopK: provider.BestEffort,
		MaxTokens: provider.Native, Stop: provider.Native, Seed: provider.BestEffort, Draws: provider.Native,
		Schema: provider.Native, Tools: provider.Native, Logprobs: provider.Native, Streaming: provider.Native,
		How: []string{
			"A parameter that the server refuses is not sent again, and the list of them is kept.",
			"A stop string that the server refuses is applied to the reply here.",
			"A schema that the server cannot enforce is asked for in words and validated by whoever asked.",
			"top_k is no parameter of OpenAI's own server; compatible ones have it.",
			"Each draw sends a seed of its own.",
			logprobsHow,
		},
	}
	if api == Responses {
		f.Protocol = "responses"
		f.TopK, f.Seed, f.Stop = provider.Ignored, provider.Ignored, provider.Emulated
		f.How = []string{
			"A parameter that the server refuses is not sent again, and the list of them is kept.",
			"The protocol has no stop strings: they are applied to the reply here, after it was paid for.",
			"The protocol has no seed and no top_k: they are not sent.",
			"A schema that the server cannot enforce is asked for in words and validated by whoever asked.",
			logprobsHow,
		}
	}
	return f
}
