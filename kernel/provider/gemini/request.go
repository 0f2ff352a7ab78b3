package gemini

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"google.golang.org/genai"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/methods"
)

// The parameters that a model may do without, as refusals are made to name
// them by spellings.
const (
	temperature = "temperature"
	topP        = "topP"
	topK        = "topK"
	seed        = "seed"
	stop        = "stopSequences"
	schema      = "responseJsonSchema"
)

// spellings are the other names of parameters in refusals. No name is a part
// of another, so the order in which they are replaced does not matter.
var spellings = map[string]string{
	"top_p": topP, "top_k": topK, "stop_sequences": stop,
	"response_json_schema": schema, "response_schema": schema, "responseSchema": schema,
	"response_mime_type": schema, "responseMimeType": schema, "response mime type": schema, "JSON mode": schema,
}

// rules are what models refuse.
func rules() *exchange.Rules {
	return &exchange.Rules{
		Sent: map[string]func(methods.Request) bool{
			temperature: func(methods.Request) bool { return true },
			seed:        func(methods.Request) bool { return true },
			topP:        func(r methods.Request) bool { return r.Sampling.TopP != 0 },
			topK:        func(r methods.Request) bool { return r.Sampling.TopK > 0 },
			stop:        func(r methods.Request) bool { return len(r.Sampling.Stop) > 0 },
		},
		Named:       func(methods.Request) bool { return false },
		Mentions:    regexp.MustCompile(`temperature|topP|topK|\bseed\b|stopSequences|responseJsonSchema`),
		Schemas:     []string{"", schema + " is not sent: the schema is asked for in words and validated here"},
		SchemaNames: []string{strings.ToLower(schema)},
	}
}

// request writes r as the SDK's parameters.
func (p *Provider) request(r methods.Request, f exchange.Form) ([]*genai.Content, *genai.GenerateContentConfig, error) {
	s, once := r.Sampling, false
	config := &genai.GenerateContentConfig{AutomaticContinuation: &once}
	if r.Schema != nil {
		if p.rules.InWords(f) {
			r.Messages = exchange.Instruct(r.Messages, r.Schema)
		} else {
			config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", r.Schema.JSON
		}
	}
	if !f.Without[temperature] {
		config.Temperature = genai.Ptr(float32(s.Temperature))
	}
	if !f.Without[seed] {
		config.Seed = genai.Ptr(int32(exchange.WireSeed(s.Seed, r.Draw)))
	}
	if s.TopP != 0 && !f.Without[topP] {
		config.TopP = genai.Ptr(float32(s.TopP))
	}
	if s.TopK > 0 && !f.Without[topK] {
		config.TopK = genai.Ptr(float32(s.TopK))
	}
	if len(s.Stop) > 0 && !f.Without[stop] {
		config.StopSequences = s.Stop
	}
	if s.Logprobs > 0 {
		config.ResponseLogprobs, config.Logprobs = true, genai.Ptr(int32(s.Logprobs))
	}
	config.MaxOutputTokens = int32(min(s.MaxTokens, math.MaxInt32))
	for _, t := range r.Tools {
		declaration := &genai.FunctionDeclaration{Name: t.Name, Description: t.Description}
		if len(t.Parameters) > 0 {
			declaration.ParametersJsonSchema = t.Parameters
		}
		if len(config.Tools) == 0 {
			config.Tools = []*genai.Tool{{}}
		}
		config.Tools[0].FunctionDeclarations = append(config.Tools[0].FunctionDeclarations, declaration)
	}
	contents, err := conversation(config, r.Messages)
	return contents, config, err
}

// conversation writes the messages. System turns go to the one place that the
// API has for them; turns of one speaker in a row become one, which results of
// tools must be.
func conversation(config *genai.GenerateContentConfig, messages []methods.Message) ([]*genai.Content, error) {
	var contents []*genai.Content
	names := map[string]string{} // of tools, by the id of the call
	for i, m := range messages {
		role := genai.RoleUser
		var parts []*genai.Part
		switch m.Role {
		case methods.System:
			if config.SystemInstruction == nil {
				config.SystemInstruction = &genai.Content{}
			}
			config.SystemInstruction.Parts = append(config.SystemInstruction.Parts, &genai.Part{Text: m.Content})
			continue
		case methods.Tool:
			id, _ := splitID(m.CallID)
			parts = []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
				ID: sentID(id), Name: names[m.CallID], Response: toolResponse(m.Content),
			}}}
		case methods.User, methods.Assistant:
			if m.Role == methods.Assistant {
				role = genai.RoleModel
			}
			if m.Content != "" || len(m.ToolCalls) == 0 {
				parts = append(parts, &genai.Part{Text: m.Content})
			}
		default:
			return nil, &provider.Error{Kind: provider.Rejected, Err: fmt.Errorf("message %d: unknown role %q", i+1, m.Role)}
		}
		for _, c := range m.ToolCalls {
			names[c.ID] = c.Name
			id, signature := splitID(c.ID)
			parts = append(parts, &genai.Part{
				FunctionCall:     &genai.FunctionCall{ID: sentID(id), Name: c.Name, Args: exchange.ObjectArguments(c.Arguments)},
				ThoughtSignature: signature,
			})
		}
		if n := len(contents); n > 0 && contents[n-1].Role == string(role) {
			contents[n-1].Parts = append(contents[n-1].Parts, parts...)
		} else {
			contents = append(contents, &genai.Content{Role: string(role), Parts: parts})
		}
	}
	return contents, nil
}

// toolResponse is a tool's result as the object that the API wants.
func toolResponse(content string) map[string]any {
	var object map[string]any
	if json.Unmarshal([]byte(content), &object) == nil && object != nil {
		return object
	}
	return map[string]any{"output": content}
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

// sentID is what the API is to see of an id: nothing of those that it did not
// give.
func sentID(id string) string {
	if strings.HasPrefix(id, ownID) {
		return ""
	}
	return id
}

// Features says what becomes of the parts of a request.
func Features() provider.Features {
	return provider.Features{
		Provider: Kind, Protocol: "generateContent",
		Temperature: provider.Native, TopP: provider.Native, TopK: provider.Native,
		MaxTokens: provider.Native, Stop: provider.Native, Seed: provider.BestEffort, Draws: provider.Native,
		Schema: provider.Native, Tools: provider.Native, Logprobs: provider.BestEffort, Streaming: provider.Native,
		How: []string{
			"A parameter that the server refuses is not sent again, and the list of them is kept.",
			"A schema that the server refuses, or takes no schema beside tools, is asked for in words and validated by whoever asked.",
			"Not every model gives log probabilities; one that refuses them or leaves them out is an error. The protocol has no bytes of tokens: a part of a character is told as the server writes it.",
			"Thoughts are counted as output tokens and are no part of the reply.",
			"Each draw sends a seed of its own.",
		},
	}
}
