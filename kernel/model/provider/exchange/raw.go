package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"noema/kernel/base/verbatim"
	"noema/kernel/model/provider"
	"noema/methods"
	"noema/plugins/program/wires"
)

var _ provider.Speaker = (*Client)(nil)

// Speaks implements [provider.Speaker].
func (c *Client) Speaks(wire string) bool {
	_, ok := c.protocol.Raw[wires.Wire(wire)]
	return ok
}

// unserved reports whether a program's request failed because the server has not its wire, as
// many have chat completions alone, and can be asked for in another way. If it cannot, the
// error says why.
func unserved(r methods.Raw, err error) (other bool, failure error) {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Status != http.StatusNotFound && e.Status != http.StatusMethodNotAllowed {
		return false, err
	}
	if len(r.Unread) == 0 {
		return true, nil
	}
	told := *e
	told.Hint = fmt.Sprintf("if the server does not serve %s: this cannot be asked for in another way: %s; ", r.Wire, strings.Join(r.Unread, ", ")) + e.Hint
	return false, &told
}

// completeRaw sends a request as a program wrote it, with the name of this client's model,
// and returns the whole reply. Nothing is left out of it that a server refuses: the program
// would get another answer than it asked for.
func (c *Client) completeRaw(ctx context.Context, r methods.Request) (methods.Completion, error) {
	wire := wires.Wire(r.Raw.Wire)
	body, err := c.rawBody(wire, r.Raw.Body)
	if err != nil {
		return methods.Completion{}, &provider.Error{Kind: provider.Rejected, Err: fmt.Errorf("read the program's request: %w", err)}
	}
	room := &share{of: c.memory}
	defer room.release()
	spoken := c.protocol.Raw[wire]
	raw, err := c.post(ctx, spoken.Path, json.RawMessage(body), room, func(body []byte) bool {
		_, err := spoken.Decode(body, Draft{})
		return err == nil
	})
	if err != nil {
		return methods.Completion{}, c.failure(ctx, err)
	}
	done, err := c.complete(spoken.Decode, raw, Draft{}, methods.Request{})
	if _, ok := errors.AsType[*provider.Miscount](err); err != nil && !ok {
		return methods.Completion{}, c.failure(ctx, err)
	}
	recorded, bad := wires.Recorded(raw)
	if bad != nil {
		return methods.Completion{}, c.failure(ctx, Malformed(raw, "%w", bad))
	}
	done.Raw = recorded
	return done, err
}

// rawBody is a program's request with this client's model, and with what its settings add. Every
// other byte is the program's.
func (c *Client) rawBody(w wires.Wire, body []byte) ([]byte, error) {
	var was, is map[string]json.RawMessage
	if err := json.Unmarshal(body, &was); err != nil || was == nil {
		return nil, errors.New("it is not a JSON object")
	}
	is = maps.Clone(was)
	if _, named := is["model"]; !named { // one that is, is a model of another kind, such as of embeddings
		is["model"] = json.RawMessage(fmt.Sprintf("%q", c.config.Model))
	}
	if c.protocol.Amend != nil {
		c.protocol.Amend(w, is)
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if !bytes.Equal(was[name], is[name]) {
			var err error
			if body, err = verbatim.Set(body, name, is[name]); err != nil {
				return nil, err
			}
		}
	}
	return body, nil
}
