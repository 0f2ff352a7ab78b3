package methods

import (
	"encoding/json"
	"reflect"
	"time"
)

// Request is one model call. The model itself is not in it: a trial has one
// model, chosen by the experiment.
type Request struct {
	Messages []Message
	Sampling Sampling
	Schema   *Schema    // if set, the reply must be one JSON value of this schema
	Tools    []ToolSpec // tools that the model may ask for in its reply
	Draw     int        // which repeat of an otherwise identical request, from 0
	Path     string     // call path, the logical place of this call in the trial, such as "P3/c2"

	// By is which of the experiment's models answers: empty for its first, or the name of a
	// further one, as in "openai/gpt-5-nano?with.strong=openai/gpt-5". It is part of a key.
	By string `json:",omitempty"`
	// Raw is the request in the words of a protocol, where a program sent it so; the
	// fields above are then what could be read of it. See [Raw].
	Raw *Raw `json:",omitempty"`
	// Unordered says that an equal request was under way at the same time, and that
	// nothing but chance decided which of them came first. It is told, and not hashed.
	Unordered bool `json:",omitempty"`
}

// Raw is a request as a program sent it to its model, so that nothing of it is lost:
// choices of tools, content parts, thinking budgets, embeddings, and whatever the
// protocol will have next year. A provider that speaks Wire sends Body as it is, and
// gives its whole reply as [Completion.Raw]. Any other answers the fields of the
// Request, if Unread is empty. A completion's key has Body by its Rules and Noise, and the
// kernel reads the fields of the Request from it again.
type Raw struct {
	Wire   string          // the protocol, such as "openai.chat"; see package program/wires for all
	Body   json.RawMessage // a JSON object, byte for byte, without the model's name and without how the reply is to come
	Unread []string        // names of Body that the fields of the Request do not carry; sorted
	// Rules is the version of the rules by which requests are known again that differ in
	// what is drawn anew in each execution; 0 knows none. Noise are patterns of what else
	// differs, as the program's manifest declares them.
	Rules int      `json:",omitempty"`
	Noise []string `json:",omitempty"`
}

// Role says who speaks in a Message.
type Role string

// The roles, as providers know them.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool" // the result of a tool call, named by CallID
)

// Message is one turn of a conversation.
type Message struct {
	Role      Role
	Content   string
	ToolCalls []ToolCall // of an assistant turn
	CallID    string     // of a tool turn: the ToolCall.ID that it answers
}

// Ask is the conversation that most calls are: one user message.
func Ask(prompt string) []Message {
	return []Message{{Role: User, Content: prompt}}
}

// Sampling holds the decoding parameters. The zero value is greedy decoding
// with the provider's own limits.
type Sampling struct {
	Temperature float64
	TopP        float64 // 0 means unset
	TopK        int     // 0 means unset
	MaxTokens   int     // 0 means the provider's default
	Stop        []string
	Seed        uint64 // usually Problem.Seed
	// Logprobs asks for the log probability of every token of the reply's
	// text and of the Logprobs likeliest tokens at its place: 1 to
	// MaxLogprobs, or 0 for none. It is part of a completion's key when it is
	// set. A provider that has none to give refuses the request.
	Logprobs int `json:",omitempty"`
}

// MaxLogprobs is the most that Sampling.Logprobs may ask for: what providers
// have in common.
const MaxLogprobs = 20

// Schema asks for structured output.
type Schema struct {
	Name string          // letters, digits, '_' and '-', as providers demand
	JSON json.RawMessage // a JSON Schema, draft 2020-12
}

// Completion is a model's reply.
type Completion struct {
	Text      string
	ToolCalls []ToolCall
	Finish    FinishReason
	Model     string // the model as the provider reports it, for example with its date
	Usage     Usage
	// Logprobs are the tokens of Text in order, if Sampling.Logprobs asked for
	// them. Tokens of tool calls and thoughts are not among them, nor are
	// marks such as the end of the turn. Together they are Text, which may
	// end within the last of them where a stop string cut it.
	Logprobs []TokenLogprob `json:",omitempty"`
	// Raw is the provider's whole reply, a JSON object, if the request had a Raw of
	// which the provider speaks the protocol; else it is nil.
	Raw json.RawMessage `json:",omitempty"`
}

// TokenLogprob is one token and how likely the model held it.
type TokenLogprob struct {
	Token   string         // its text; invalid UTF-8 is replaced by U+FFFD
	Bytes   []byte         `json:",omitempty"` // what it stands for, where that is not Token: a part of a character
	Logprob float64        // natural logarithm of its probability: finite, and at most 0
	Top     []TokenLogprob `json:",omitempty"` // the likeliest tokens at this place, likeliest first, without a Top of their own
}

// Raw is what the token stands for.
func (t TokenLogprob) Raw() []byte {
	if t.Bytes != nil {
		return t.Bytes
	}
	return []byte(t.Token)
}

// FinishReason says why the model stopped.
type FinishReason string

// The finish reasons. A provider's own others are mapped to FinishOther.
const (
	FinishStop   FinishReason = "stop"
	FinishLength FinishReason = "length"
	FinishTools  FinishReason = "tool_calls"
	FinishFilter FinishReason = "content_filter"
	FinishOther  FinishReason = "other"
)

// Usage is what calls consumed. All fields are integers, so a sum does not
// depend on the order of its terms. What is unknown is counted, not taken for
// zero: if Unpriced > 0 the true cost is above Cost by an unknown amount, and
// if Unmetered > 0 so are the tokens.
type Usage struct {
	Calls        int           // model calls
	ToolCalls    int           // tool calls
	InputTokens  int64         // as the provider counted them
	OutputTokens int64         // including reasoning tokens
	Cost         NanoUSD       // by the price at the time of the call
	Latency      time.Duration // summed over the calls, as measured when they were made
	Unpriced     int           // model calls whose price is not known
	Unmetered    int           // model calls whose provider reported no tokens

	// Details, where the provider tells: parts of the two sums above, and 0
	// where it does not.

	CachedTokens     int64 `json:",omitempty"` // of InputTokens: read from the provider's own cache
	CacheWriteTokens int64 `json:",omitempty"` // of InputTokens: written to that cache, where the provider counts it apart
	ReasoningTokens  int64 `json:",omitempty"` // of OutputTokens: thoughts
}

// NanoUSD is an amount of money in 1e-9 US dollars.
type NanoUSD int64

// USD is the amount in dollars.
func (n NanoUSD) USD() float64 { return float64(n) / 1e9 }

// Tokens is the sum of input and output tokens.
func (u Usage) Tokens() int64 { return u.InputTokens + u.OutputTokens }

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage { return u.with(v, 1) }

// Minus returns u without v, which was counted in it.
func (u Usage) Minus(v Usage) Usage { return u.with(v, -1) }

// with adds each field of v, times a sign.
func (u Usage) with(v Usage, sign int64) Usage {
	sum, more := reflect.ValueOf(&u).Elem(), reflect.ValueOf(v)
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + sign*more.Field(i).Int())
	}
	return u
}

// ToolSpec describes a tool.
type ToolSpec struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of the arguments object
	Result      json.RawMessage // JSON Schema of the result; empty if unstated
	Pure        bool            // same arguments, same result, no effect: may be repeated freely
}

// ToolCall asks for one run of a tool.
type ToolCall struct {
	ID        string          // the model's id for the call; empty for a method's own calls
	Name      string          // of a ToolSpec
	Arguments json.RawMessage // a JSON object
	Path      string          // call path; not sent to models
}

// ToolResult is what a tool returned. A tool that failed in a way that a
// model can read about returns IsError rather than a Go error.
type ToolResult struct {
	Content string
	IsError bool
}

// ModelID identifies who answers requests. All of it enters the key of a
// completion, so it holds nothing secret and nothing that may vary between
// two servers of the same answers.
type ModelID struct {
	Provider string // kind of provider, for example "openai"
	Endpoint string // normalised base URL without credentials; empty for the provider's own
	Model    string // the name that the provider knows, for example "gpt-5-nano"
	Weights  string // digest of the weights, for models in the process; empty otherwise
	Config   string // what else changes answers, as sorted "key=value&…"; for example "error=0.05"
}

// String is the identity as a user writes it: provider/name?config.
func (m ModelID) String() string {
	s := m.Provider
	if m.Model != "" {
		s += "/" + m.Model
	}
	if m.Config != "" {
		s += "?" + m.Config
	}
	return s
}
