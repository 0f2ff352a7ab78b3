package gemini

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"

	"noema/kernel/model/provider/exchange"
	"noema/methods"
	"noema/plugins/program/wires"
)

// request is the body of a request.
//
// Source: Gemini API reference, models.generateContent.
type request struct {
	Contents []content `json:"contents,omitempty"`
	System   *content  `json:"systemInstruction,omitempty"`
	Tools    []tools   `json:"tools,omitempty"`
	Config   config    `json:"generationConfig"`
}

type config struct {
	Temperature      *float64        `json:"temperature,omitempty"`
	TopP             float64         `json:"topP,omitempty"`
	TopK             int             `json:"topK,omitempty"`
	Seed             *int64          `json:"seed,omitempty"`
	MaxOutputTokens  int             `json:"maxOutputTokens,omitempty"`
	StopSequences    []string        `json:"stopSequences,omitempty"`
	ResponseLogprobs bool            `json:"responseLogprobs,omitempty"`
	Logprobs         int             `json:"logprobs,omitempty"`
	MIMEType         string          `json:"responseMimeType,omitempty"`
	Schema           json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking         *thinking       `json:"thinkingConfig,omitempty"`
}

// thinking says how much to think: a level, or a budget of tokens.
type thinking struct {
	Level  string `json:"thinkingLevel,omitempty"`
	Budget *int   `json:"thinkingBudget,omitempty"`
}

func thinkingOf(e exchange.Effort) *thinking {
	switch {
	case e == exchange.Effort{}:
		return nil
	case e.Level == "" || e.Level == "none":
		return &thinking{Budget: &e.Tokens}
	}
	return &thinking{Level: e.Level}
}

type content struct {
	Role  string        `json:"role"`
	Parts []contentPart `json:"parts"`
}

// contentPart is a part of a turn or of a reply.
type contentPart struct {
	Text      string            `json:"text,omitempty"`
	Thought   bool              `json:"thought,omitempty"`
	Signature []byte            `json:"thoughtSignature,omitempty"`
	Call      *functionCall     `json:"functionCall,omitempty"`
	Response  *functionResponse `json:"functionResponse,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
}

type functionResponse struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name,omitempty"`
	Response json.RawMessage `json:"response"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

func encode(e exchange.Effort, d exchange.Draft) request {
	s := d.Sampling
	q := request{Config: config{
		Temperature: d.Temperature, TopP: s.TopP, TopK: s.TopK, Seed: d.Seed, MaxOutputTokens: min(s.MaxTokens, math.MaxInt32),
		StopSequences: s.Stop, ResponseLogprobs: s.Logprobs > 0, Logprobs: s.Logprobs, Thinking: thinkingOf(e),
	}}
	if d.Schema != nil {
		q.Config.MIMEType, q.Config.Schema = "application/json", d.Schema.JSON
	}
	for _, t := range d.Tools {
		if q.Tools == nil {
			q.Tools = []tools{{}}
		}
		q.Tools[0].Functions = append(q.Tools[0].Functions, function{t.Name, t.Description, t.Parameters})
	}
	names := map[string]string{} // of tools, by the id of the call
	for _, m := range d.Messages {
		q.add(m, names)
	}
	return q
}

// add writes a message. System turns go to the one place that the API has for
// them; turns of one speaker in a row become one, which results of tools must
// be.
func (q *request) add(m methods.Message, names map[string]string) {
	role := "user"
	var parts []contentPart
	switch m.Role {
	case methods.System:
		if q.System == nil {
			q.System = &content{Role: role}
		}
		q.System.Parts = append(q.System.Parts, contentPart{Text: m.Content})
		return
	case methods.Tool:
		id, _ := splitID(m.CallID)
		parts = []contentPart{{Response: &functionResponse{sentID(id), names[m.CallID], toolResponse(m.Content)}}}
	case methods.Assistant:
		role = "model"
	}
	if m.Role != methods.Tool && (m.Content != "" || len(m.ToolCalls) == 0) {
		parts = append(parts, contentPart{Text: m.Content})
	}
	for _, c := range m.ToolCalls {
		names[c.ID] = c.Name
		id, signature := splitID(c.ID)
		call := &functionCall{ID: sentID(id), Name: c.Name}
		if arguments := wires.ObjectArguments(c.Arguments); string(arguments) != "{}" {
			call.Args = arguments
		}
		parts = append(parts, contentPart{Call: call, Signature: signature})
	}
	if n := len(q.Contents); n > 0 && q.Contents[n-1].Role == role {
		q.Contents[n-1].Parts = append(q.Contents[n-1].Parts, parts...)
	} else {
		q.Contents = append(q.Contents, content{role, parts})
	}
}

// toolResponse is a tool's result as the object that the API wants.
func toolResponse(text string) json.RawMessage {
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) == nil && object != nil {
		return json.RawMessage(text)
	}
	return methods.Must(json.Marshal(map[string]string{"output": text})) // strings always encode
}

const (
	ownID     = "call_" // how ids begin that the API left to us
	signedSep = "~"     // between an id and the signature of the call
)

// joinID is the id of a call with the signature that the model gave it.
func joinID(id string, signature []byte) string {
	if len(signature) == 0 {
		return id
	}
	return id + signedSep + base64.RawURLEncoding.EncodeToString(signature)
}

func splitID(joined string) (id string, signature []byte) {
	id, text, signed := strings.Cut(joined, signedSep)
	if !signed {
		return joined, nil
	}
	signature, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return joined, nil // not one of ours
	}
	return id, signature
}

// sentID leaves out an id that the API did not give.
func sentID(id string) string {
	if strings.HasPrefix(id, ownID) {
		return ""
	}
	return id
}
