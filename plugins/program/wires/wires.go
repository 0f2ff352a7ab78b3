// Package wires reads and writes the protocols by which programs ask their models:
// OpenAI's chat completions, responses, completions and embeddings, and Anthropic's
// messages. It is the server's side of them, without a server: [Read] makes a
// [methods.Request] of a body, and [Whole] and [Frames] a reply that clients understand,
// whole or as a stream, of completions or of a provider's own reply as [Recorded] keeps it.
//
// A request is carried whole, as [methods.Raw]; what its reading leaves out is named in
// Unread, so that a provider of another kind can refuse it instead of answering
// something else.
package wires

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"noema/kernel/base/verbatim"
	"noema/methods"
)

// Wire is a protocol.
type Wire string

// The wires. Their names stand in keys of completions and never change.
const (
	Chat        Wire = "openai.chat"
	Responses   Wire = "openai.responses"
	Completions Wire = "openai.completions"
	Embeddings  Wire = "openai.embeddings"
	Messages    Wire = "anthropic.messages"
	CountTokens Wire = "anthropic.count_tokens"
)

// protocol is what differs between wires.
type protocol struct {
	path string
	read func(*reader) error
	// whole renders replies, and frames cuts a whole reply into events. Where they are nil,
	// only a provider that speaks the wire can answer, and there are no streams.
	whole  func(Asked, []methods.Completion, string) any
	frames func(*stream, object) error
}

func protocolOf(w Wire) protocol {
	switch w {
	case Chat:
		return protocol{"/chat/completions", readChat, wholeChat, framesChat}
	case Responses:
		return protocol{"/responses", readResponses, wholeResponses, framesResponses}
	case Completions:
		return protocol{"/completions", readCompletions, wholeCompletions, framesCompletions}
	case Embeddings:
		return protocol{path: "/embeddings", read: readNothing("input")}
	case Messages:
		return protocol{"/messages", readMessages, wholeMessages, framesMessages}
	case CountTokens:
		return protocol{path: "/messages/count_tokens", read: readNothing("messages")}
	}
	return protocol{}
}

// all are the wires; one whose path ends like another's comes before it.
func all() []Wire { return []Wire{Chat, Responses, Embeddings, CountTokens, Messages, Completions} }

// At returns the wire that is spoken at a path, whatever stands before it.
func At(path string) (Wire, bool) {
	for _, w := range all() {
		if strings.HasSuffix(path, w.Path()) {
			return w, true
		}
	}
	return "", false
}

// Path is where a provider speaks the wire, below a base URL that ends in /v1.
func (w Wire) Path() string { return protocolOf(w).path }

// Asked is a request of a program as it was read.
type Asked struct {
	methods.Request        // the reading, with Raw; Path and Draw are the caller's
	Choices         int    // how many replies it wants
	Stream          bool   // the reply is to come in events
	IncludeUsage    bool   // with one that tells the usage
	Model           string // as the program named it
}

// Refused is why a request is not answered, in a form that its client understands.
type Refused struct {
	Status  int    // HTTP status
	Code    string // for programs, such as "budget_exceeded"
	Message string // for people
	Param   string // the field that is to blame; empty if none is
}

// Error implements error.
func (r *Refused) Error() string { return r.Message }

// Refusal is the body of a refusal in the protocol's own form.
func Refusal(w Wire, r Refused) []byte {
	if strings.HasPrefix(string(w), "anthropic.") {
		kind := "invalid_request_error"
		switch r.Status {
		case http.StatusNotFound:
			kind = "not_found_error"
		case http.StatusRequestEntityTooLarge:
			kind = "request_too_large"
		}
		return encode(object{"type": "error", "error": object{"type": kind, "message": r.Message}})
	}
	return encode(object{"error": object{"message": r.Message, "type": "invalid_request_error", "param": orNull(r.Param), "code": orNull(r.Code)}})
}

// Read reads a request. Its errors are *[Refused] and name the field.
func Read(w Wire, body []byte) (Asked, error) {
	r, err := newReader(w, body)
	if err == nil {
		err = protocolOf(w).read(r)
	}
	if err != nil {
		return Asked{}, err
	}
	return r.finish(), nil
}

// Reading is r with what is read of its [methods.Raw], whoever has filled it in before: what a
// provider of another kind is asked is then what the key of r says.
func Reading(r methods.Request) (methods.Request, error) {
	a, err := Read(Wire(r.Raw.Wire), r.Raw.Body)
	if err != nil {
		return r, err
	}
	raw := *r.Raw
	raw.Unread = a.Raw.Unread
	r.Messages, r.Schema, r.Tools, r.Raw = a.Messages, a.Schema, a.Tools, &raw
	return r, nil
}

// Whole is the body of the reply to a request, of as many completions as it wants choices.
// id, some 24 digits, makes its ids. A provider's own reply stays as it is, but for its ids and
// the name of the model.
func Whole(w Wire, a Asked, replies []methods.Completion, id string) ([]byte, error) {
	if len(replies) > 0 && replies[0].Raw != nil {
		body, err := ownIDs(replies[0].Raw, id)
		if err != nil {
			return nil, fmt.Errorf("read the provider's reply: %w", err)
		}
		name := func([]byte) []byte { return encode(modelOf(replies, a)) }
		return verbatim.Rewrite(body, &verbatim.Node{In: map[string]*verbatim.Node{"model": {Do: name}}})
	}
	whole := protocolOf(w).whole
	if whole == nil {
		return nil, &Refused{Status: http.StatusBadRequest, Code: "not_served", Message: fmt.Sprintf("%s is answered only by a provider that serves it", w)}
	}
	return encode(whole(a, replies, id)), nil
}

// Frames are the server-sent events of a whole reply.
func Frames(w Wire, whole []byte, includeUsage bool) ([][]byte, error) {
	p := protocolOf(w)
	if p.frames == nil {
		return nil, &Refused{Status: http.StatusBadRequest, Code: "no_stream", Message: fmt.Sprintf("%s has no streams", w), Param: "stream"}
	}
	body := opened(json.RawMessage(whole))
	if body == nil {
		return nil, fmt.Errorf("cut a reply into events: %.40q is not an object", whole)
	}
	s := &stream{usage: includeUsage}
	err := p.frames(s, body)
	return s.frames, err
}

// object is a JSON object that is written.
type object = map[string]any

func encode(v any) []byte {
	return methods.Must(methods.EncodeJSON(v)) // made of texts, numbers and valid JSON
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Arguments makes sure that a tool call's arguments are JSON. Text that is not
// JSON becomes a JSON string, so that it stays readable and no validator takes
// it for an object.
func Arguments(text string) json.RawMessage {
	switch {
	case strings.TrimSpace(text) == "":
		return json.RawMessage("{}")
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return encode(text)
}

// ArgumentText undoes what Arguments does to text that is not JSON, so that a
// model reads back what it wrote.
func ArgumentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// ObjectArguments is a tool call's arguments for protocols that take nothing
// but an object: any other value is wrapped in one.
func ObjectArguments(raw json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case json.Unmarshal(raw, &object) == nil && object != nil:
		return raw
	}
	return encode(map[string]string{"invalid_arguments": ArgumentText(raw)})
}
