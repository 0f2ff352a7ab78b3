package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"noema/kernel/model/provider"
)

// contactLimit is how long a server may take to answer [Client.Contact].
const contactLimit = 10 * time.Second

// Contact asks the server for what its service names as Probe, which costs nothing and
// needs the key. A failure is as one of [Client.Complete].
func (c *Client) Contact(ctx context.Context) error {
	limited, cancel := context.WithTimeoutCause(ctx, contactLimit,
		&provider.Error{Kind: provider.Network, Err: fmt.Errorf("no reply for %v", contactLimit)})
	defer cancel()
	room := &share{of: c.memory}
	defer room.release()
	raw, err := c.post(limited, c.service.Probe, nil, room, json.Valid)
	if err == nil && !json.Valid(raw) {
		err = Malformed(raw, "not JSON")
	}
	if err != nil {
		return c.failure(ctx, err)
	}
	return nil
}
