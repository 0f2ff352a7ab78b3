package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"noema/kernel/base/verbatim"
	"noema/plugins/program/wires"
)

// conversations are what the endpoint has issued in a trial: a request that names it by an id is
// asked with it, since no provider knows that id.
type conversations struct {
	mu    sync.Mutex
	turns map[string]turn            // of the responses wire, by the reply's id
	items map[string]json.RawMessage // of their replies, by their ids
}

// turn is a request with its reply.
type turn struct {
	before        string // id of the turn that it goes on from
	input, output []json.RawMessage
}

// whole is a request without ids that the endpoint has issued, where they stand for something: what
// previous_response_id and item_reference name stands in its input instead. The turn is what
// [conversations.keep] keeps with its reply.
func (c *conversations) whole(w wires.Wire, body []byte) (turn, []byte, error) {
	var asked struct {
		Before string          `json:"previous_response_id"`
		Input  json.RawMessage `json:"input"`
	}
	if w != wires.Responses || json.Unmarshal(body, &asked) != nil { // what cannot be read is refused elsewhere
		return turn{}, body, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	said := turn{before: asked.Before, input: items(asked.Input)}
	changed := asked.Before != ""
	for i, item := range said.input {
		known, err := c.known(item)
		if err != nil {
			return said, nil, err
		}
		changed = changed || !bytes.Equal(known, item)
		said.input[i] = known
	}
	if !changed {
		return said, body, nil
	}
	all := said.input
	for id := asked.Before; id != ""; {
		earlier, ok := c.turns[id]
		if !ok {
			return said, nil, &wires.Refused{Status: http.StatusBadRequest, Code: "previous_response_not_found", Param: "previous_response_id", Message: fmt.Sprintf(
				"previous_response_id: %q is not a reply of this trial: send the earlier items as input", id)}
		}
		all, id = slices.Concat(earlier.input, earlier.output, all), earlier.before
	}
	list := []byte{'['}
	for i, item := range all {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, item...)
	}
	list = append(list, ']')
	body, err := verbatim.Rewrite(body, &verbatim.Node{In: map[string]*verbatim.Node{
		"previous_response_id": verbatim.Cut(), "input": {Do: func([]byte) []byte { return list }},
	}})
	return said, body, err
}

// known is an item of the input as the provider can know it.
func (c *conversations) known(item json.RawMessage) (json.RawMessage, error) {
	var named struct{ Type, ID string }
	if json.Unmarshal(item, &named) != nil || named.ID == "" {
		return item, nil
	}
	issued, ok := c.items[named.ID]
	switch {
	case named.Type == "item_reference" && ok:
		return issued, nil
	case named.Type == "item_reference":
		return nil, &wires.Refused{Status: http.StatusBadRequest, Code: "item_not_found", Param: "input", Message: fmt.Sprintf(
			"item_reference: %q is not an item of a reply of this trial: send the item itself", named.ID)}
	case ok:
		return withoutID(item), nil
	}
	return item, nil
}

// keep keeps a turn with its reply.
func (c *conversations) keep(w wires.Wire, said turn, reply []byte) {
	var issued struct {
		ID     string
		Output []json.RawMessage
	}
	if w != wires.Responses || json.Unmarshal(reply, &issued) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turns == nil {
		c.turns, c.items = map[string]turn{}, map[string]json.RawMessage{}
	}
	for _, item := range issued.Output {
		var named struct{ ID string }
		said.output = append(said.output, withoutID(item))
		if json.Unmarshal(item, &named) == nil && named.ID != "" {
			c.items[named.ID] = withoutID(item)
		}
	}
	c.turns[issued.ID] = said
}

func withoutID(item json.RawMessage) json.RawMessage {
	without, err := verbatim.Rewrite(item, &verbatim.Node{In: map[string]*verbatim.Node{"id": verbatim.Cut()}})
	if err != nil {
		return item
	}
	return without
}

// items are those of an input, of which a text is one.
func items(input json.RawMessage) (list []json.RawMessage) {
	if text := bytes.TrimSpace(input); len(text) > 0 && text[0] == '"' {
		return []json.RawMessage{slices.Concat([]byte(`{"role":"user","content":`), text, []byte("}"))}
	}
	_ = json.Unmarshal(input, &list) // anything else is refused by its reader
	return list
}
