package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// message is a turn of a conversation, in the form of OpenAI's and Inspect's. What
// else it may have says nothing to a model, such as the id that Inspect gives it.
type message struct {
	Role    string
	Content json.RawMessage
	Calls   json.RawMessage `json:"tool_calls"`
}

// conversation is the query that a list of messages makes. One message of the user
// is its text; of several, each begins with who says it, because a method has one
// query and no word for turns:
//
//	system: You are a clerk.
//
//	user: What is open?
//
// A list of one text, as LiveBench has it, is that text.
func conversation(raw json.RawMessage) (string, error) {
	var said []string
	if json.Unmarshal(raw, &said) == nil && len(said) > 0 {
		if len(said) > 1 {
			return "", fmt.Errorf("it is a list of %d turns, and methods answer one query: make a row of each", len(said))
		}
		return said[0], nil
	}
	var list []message
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", errors.New("want a text, or a list of messages with role and content")
	}
	var turns []string
	for i, m := range list {
		text, err := m.text()
		if err != nil {
			return "", fmt.Errorf("message %d: %w", i+1, err)
		}
		turns = append(turns, m.Role+": "+text)
		if len(list) == 1 {
			turns[0] = text
		}
	}
	if len(list) == 0 || list[len(list)-1].Role != "user" {
		return "", errors.New("the messages must end with one of the user, which the method answers")
	}
	return strings.Join(turns, "\n\n"), nil
}

func (m message) text() (string, error) {
	switch {
	case !slices.Contains([]string{"system", "developer", "user", "assistant"}, m.Role):
		return "", fmt.Errorf("the role is %.40q: only turns of system, user and assistant can be shown", m.Role)
	case value(m.Calls) != nil && string(value(m.Calls)) != "[]":
		return "", errors.New("it calls tools: only texts can be shown")
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil && value(m.Content) != nil {
		return text, nil
	}
	var parts []struct {
		Type string
		Text *string
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil || len(parts) == 0 {
		return "", errors.New("the content is neither a text nor a list of parts")
	}
	for _, p := range parts {
		if p.Type != "text" || p.Text == nil {
			return "", fmt.Errorf("it holds a part of type %.40q: methods read text alone, no images or sound", p.Type)
		}
		text += *p.Text
	}
	return text, nil
}
