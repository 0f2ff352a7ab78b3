package provider

// Support says how a provider's protocol does a thing that a request asks for.
type Support string

// The degrees of support.
const (
	// Native: the protocol has it, and the server is held to it.
	Native Support = "native"
	// BestEffort: the protocol has it, without a promise.
	BestEffort Support = "best effort"
	// Emulated: the protocol lacks it; the provider does it another way.
	Emulated Support = "emulated"
	// Ignored: it is not sent. The request succeeds without it.
	Ignored Support = "ignored"
	// Unsupported: the protocol lacks it. A request that asks for it is refused
	// before it is sent.
	Unsupported Support = "unsupported"
)

// Features is what a provider does with each part of a request, as in the table
// of FEATURES.md. A server or a model may support less: the provider learns what
// it refuses and does without, as How says.
type Features struct {
	Provider string // kind of provider, for example "openai"; set from exchange.Service.Kind
	Protocol string // what it speaks, for example "chat completions"

	Temperature Support
	TopP        Support
	TopK        Support
	MaxTokens   Support
	Stop        Support
	Seed        Support // same request and seed, same reply
	Draws       Support // draws of one request are answered independently
	Schema      Support // replies are valid against the request's schema
	Tools       Support
	Logprobs    Support
	Streaming   Support // replies are read as they are written, so a stall is noticed

	How []string // what degrades and how, one sentence each
}

// AllNative are the features of a protocol that has all that a request asks for; a
// provider then sets what its own has otherwise. how are the sentences of How.
func AllNative(protocol string, how ...string) Features {
	return Features{
		Protocol: protocol, How: how,
		Temperature: Native, TopP: Native, TopK: Native, MaxTokens: Native, Stop: Native, Seed: Native, Draws: Native,
		Schema: Native, Tools: Native, Logprobs: Native, Streaming: Native,
	}
}
