// Package anthropic serves models through Anthropic's messages API. See package
// exchange for what it has in common with other providers.
//
// The API has no seed: draws differ by chance alone, and two calls at
// temperature 0 may differ. It demands a limit of output tokens: where a
// request has none, [DefaultMaxTokens] is sent, or the model's own limit where
// that is lower. System turns go to the one place that the API has for them,
// in their order.
//
// A schema is first asked for as the output format, which the server enforces.
// A server or model that cannot do so, or refuses this schema, is given the
// schema as a tool that the model must call; and where that cannot be, because
// the request has tools of its own or the schema is not an object's, it is
// asked for in words.
package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/methods"
	"noema/plugins/program/wires"
)

// Kind is the provider's name, as written before the slash of a model.
const Kind = "anthropic"

// DefaultMaxTokens is the limit of output tokens of requests that have none.
const DefaultMaxTokens = 8192

// Service describes the provider.
func Service() exchange.Service {
	return exchange.Service{
		Kind: Kind, Summary: "Anthropic", Example: "claude-haiku-4-5",
		BaseURL: "https://api.anthropic.com", URLVariable: "ANTHROPIC_BASE_URL", KeyVariable: []string{"ANTHROPIC_API_KEY"},
		Address:  exchange.WithoutV1,
		Probe:    "/v1/models",
		Features: []provider.Features{features()},
	}
}

func features() provider.Features {
	f := provider.AllNative("messages",
		"The API has no seed: draws differ by chance alone, and two calls at temperature 0 may differ.",
		"Where a model takes temperature or top_p but not both, top_p is not sent.",
		"The API has no log probabilities: a request for them is refused before it is sent.",
		"A schema that the server does not enforce becomes a tool that the model must call, or is asked for in words.",
		fmt.Sprintf("A request without a limit of output tokens gets %d, or the model's own where that is lower.", DefaultMaxTokens),
		"An effort is sent as output_config.effort with adaptive thinking; a number of tokens as a budget of thinking, beside those of a request without a limit. Models that think take no temperature, and no tool that must be called. Thoughts are not sent back, which a budget wants beside tool calls and a level does not: such a request is refused.")
	f.Seed, f.Draws, f.Logprobs = provider.Ignored, provider.BestEffort, provider.Unsupported
	return f
}

// New makes a client of a model.
func New(c exchange.Config, o exchange.Options) (*exchange.Client, error) {
	effort, err := o.ReadEffort(Kind, 1024)
	if err != nil {
		return nil, err
	}
	ways := 1 // as a tool that the model must call, which one that thinks cannot
	if effort.Tokens > 0 || effort.Level != "" && effort.Level != "none" {
		ways = 0
	}
	limit := &limit{}
	limit.n.Store(int64(DefaultMaxTokens + effort.Tokens))
	return exchange.New(Service(), exchange.Protocol{
		KeyHeader: "X-Api-Key", Header: map[string]string{"Anthropic-Version": "2023-06-01"}, Identity: effort.Identity(),
		Raw: map[wires.Wire]exchange.Spoken{
			wires.Messages:    {Path: "/v1" + wires.Messages.Path(), Decode: decode},
			wires.CountTokens: {Path: "/v1" + wires.CountTokens.Path(), Decode: decodeCount},
		},
		Amend: amend(effort),
		Rules: exchange.Rules{
			Temperature: "temperature", TopP: "top_p", TopK: "top_k", Stop: "stop_sequences",
			Schema:     []string{"output_config", "output_format", "json_schema", "tool_choice", "input_schema", "additionalProperties"},
			SchemaWays: ways,
		},
		Encode: func(d exchange.Draft) (string, any, error) {
			if d.Sampling.MaxTokens == 0 {
				d.Sampling.MaxTokens = int(limit.n.Load())
			}
			if effort.Tokens > 0 && slices.ContainsFunc(d.Messages, func(m methods.Message) bool { return len(m.ToolCalls) > 0 }) {
				return "", nil, errors.New("a budget of thinking cannot be kept over tool calls, since thoughts are not sent back: use a level, such as effort=low")
			}
			q, err := encode(c.Model, effort, d)
			return "/v1/messages", q, err
		},
		Decode: decode,
		Learn:  limit.learn,
	}, c)
}

// amend asks a program's request for the effort of the model, where it names none of its own.
func amend(e exchange.Effort) func(wires.Wire, map[string]json.RawMessage) {
	return func(w wires.Wire, body map[string]json.RawMessage) {
		if w != wires.Messages || body["thinking"] != nil || body["output_config"] != nil {
			return
		}
		raw, err := json.Marshal(effortOf(e))
		if err == nil {
			err = json.Unmarshal(raw, &body) // adds its fields
		}
		if err != nil { // plain structs always encode
			panic(err)
		}
	}
}

// limit is of output tokens, where a request has none.
type limit struct{ n atomic.Int64 }

var (
	// lowerLimit finds the model's own limit in "max_tokens: 8192 > 4096,
	// which is the maximum allowed number of output tokens for …".
	lowerLimit = regexp.MustCompile(`max_tokens: \d+ > (\d+)`)
	eitherOr   = regexp.MustCompile(`(?i)temperature\W+and\W+top_p\W+cannot both`)
)

func (l *limit) learn(refused *exchange.Refusal, r methods.Request) bool {
	if eitherOr.MatchString(refused.Text) { // temperature matters more than top_p
		refused.Param = "top_p"
	}
	m := lowerLimit.FindStringSubmatch(refused.Text)
	if m == nil || r.Sampling.MaxTokens != 0 {
		return false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || n <= 0 || n >= l.n.Load() {
		return false
	}
	l.n.Store(n)
	return true
}
