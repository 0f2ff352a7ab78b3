package plugins

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	"noema/methods"
	"noema/methods/methodspb"
	"noema/plugins/internal/wire"
)

// guestHost is the Host that a method meets inside a plugin: each call
// becomes a frame to the kernel.
type guestHost struct {
	out  *wire.Outbox[*wire.PluginFrame]
	gone chan struct{} // closed when no more results can come

	mu      sync.Mutex
	last    uint64
	pending map[uint64]chan *wire.Result
}

var _ methods.Host = (*guestHost)(nil)

func newGuestHost(stream kernelSide) *guestHost {
	return &guestHost{
		out: wire.NewOutbox(func(batch []*wire.PluginFrame) error {
			return stream.Send(&wire.PluginMessage{Frames: batch})
		}),
		gone: make(chan struct{}), pending: map[uint64]chan *wire.Result{},
	}
}

// kernelSide is the kernel as a guest sees it: a stream of messages each way.
type kernelSide interface {
	Send(*wire.PluginMessage) error
	Recv() (*wire.HostMessage, error)
	Context() context.Context
}

// errClosed is what a call gets when the session ends under it.
var errClosed = errors.New("call host: the session is over")

// receive hands results to the calls that wait for them, until the stream
// ends or the kernel cancels the trial.
func (h *guestHost) receive(stream kernelSide, frames []*wire.HostFrame, cancel context.CancelFunc) {
	deepen()
	defer cancel()
	defer close(h.gone)
	for {
		for _, f := range frames {
			switch f := f.GetFrame().(type) {
			case *wire.HostFrame_Result:
				h.deliver(f.Result)
			case *wire.HostFrame_Cancel:
				cancel()
			}
		}
		m, err := stream.Recv()
		if err != nil {
			return
		}
		frames = m.GetFrames()
	}
}

func (h *guestHost) deliver(r *wire.Result) {
	h.mu.Lock()
	waiting := h.pending[r.GetId()]
	delete(h.pending, r.GetId())
	h.mu.Unlock()
	if waiting != nil {
		waiting <- r
	}
}

// put queues a frame and reports whether it will be sent.
func (h *guestHost) put(ctx context.Context, f *wire.PluginFrame) error {
	ok, err := h.out.Put(ctx, f)
	if err == nil && !ok {
		err = errClosed
	}
	return err
}

// frameRoom is what the frames around a call or an answer may take.
const frameRoom = 1 << 10

// fits refuses what the kernel would refuse, where the method can still say so.
func fits(what string, m proto.Message) error {
	if n := int64(proto.Size(m)); n > wire.MaxMessage-frameRoom {
		return fmt.Errorf("%s: the message has %s, but the limit is %s", what, size(n), size(wire.MaxMessage))
	}
	return nil
}

// scopeKey marks the context of a method seed's build with the id of the
// seed_get that ordered it.
type scopeKey struct{}

// call sends c and waits for its result.
func (h *guestHost) call(ctx context.Context, c *wire.Call) (*wire.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Scope == 0 {
		c.Scope, _ = ctx.Value(scopeKey{}).(uint64)
	}
	if err := fits("call host", c); err != nil {
		return nil, err
	}
	waiting := make(chan *wire.Result, 1)
	h.mu.Lock()
	h.last++
	c.Id = h.last
	h.pending[c.Id] = waiting
	h.mu.Unlock()

	err := h.put(ctx, &wire.PluginFrame{Frame: &wire.PluginFrame_Call{Call: c}})
	if err == nil {
		select {
		case r := <-waiting:
			return r, wire.ToError(r.GetError())
		case <-h.gone:
			err = errClosed
		case <-ctx.Done():
			err = ctx.Err()
			// The session's own end cancels ctx too; then nobody reads this.
			_ = h.put(context.WithoutCancel(ctx), &wire.PluginFrame{Frame: &wire.PluginFrame_Cancel{Cancel: &wire.Cancel{Id: c.Id}}})
		}
	}
	h.mu.Lock()
	delete(h.pending, c.Id)
	h.mu.Unlock()
	return nil, err
}

// Complete implements methods.Host.
func (h *guestHost) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	res, err := h.call(ctx, &wire.Call{What: &wire.Call_Complete{Complete: wire.To[wire.Request](r)}})
	if err != nil {
		return methods.Completion{}, err
	}
	return wire.From[methods.Completion](res.GetCompletion()), nil
}

// CallTool implements methods.Host.
func (h *guestHost) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	res, err := h.call(ctx, &wire.Call{What: &wire.Call_Tool{Tool: wire.To[methodspb.ToolCall](c)}})
	if err != nil {
		return methods.ToolResult{}, err
	}
	return wire.From[methods.ToolResult](res.GetTool()), nil
}

// Emit implements methods.Host. An event of a session that is over is lost
// with it.
func (h *guestHost) Emit(e methods.Event) {
	_ = h.put(context.Background(), &wire.PluginFrame{Frame: &wire.PluginFrame_Event{Event: wire.To[wire.Event](e)}})
}

// Seed implements methods.Host.
func (h *guestHost) Seed(ctx context.Context, key methods.SeedKey, build func(context.Context) ([]byte, error)) ([]byte, error) {
	get := &wire.Call{What: &wire.Call_SeedGet{SeedGet: &wire.SeedGet{Kind: key.Kind, Content: key.Content}}}
	res, err := h.call(ctx, get)
	if err != nil {
		return nil, err
	}
	if !res.GetSeed().GetBuild() {
		return res.GetSeed().GetData(), nil
	}
	data, buildErr := build(context.WithValue(ctx, scopeKey{}, get.Id))
	put := &wire.Call{Scope: get.Id, What: &wire.Call_SeedPut{SeedPut: &wire.SeedPut{Data: data, Error: wire.FromError(buildErr)}}}
	// Others wait for this build: its end is told even when ctx has ended.
	res, err = h.call(context.WithoutCancel(ctx), put)
	if buildErr != nil {
		return nil, fmt.Errorf("build seed %q: %w", key.Kind, buildErr)
	}
	if err != nil {
		return nil, err
	}
	return res.GetSeed().GetData(), nil
}
