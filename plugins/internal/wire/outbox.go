package wire

import (
	"context"

	"google.golang.org/protobuf/proto"
)

// MaxMessage is the largest message that either side accepts, in bytes. It
// bounds what a misbehaving peer can make the other one hold.
const MaxMessage = 64 << 20

// A message is closed to further frames when it holds this many bytes or
// frames; what is larger goes in a message of its own.
const (
	batchBytes  = 256 << 10
	batchFrames = 64
)

// Outbox sends frames from many goroutines over one stream, which allows one
// sender at a time. Frames that wait while another message is on its way
// travel together, which is what makes many small calls cheap.
type Outbox[F proto.Message] struct {
	send   func([]F) error
	frames chan F
	closed chan struct{} // closed by Run when it ends
}

// NewOutbox returns an outbox that sends messages with send, one at a time.
func NewOutbox[F proto.Message](send func([]F) error) *Outbox[F] {
	return &Outbox[F]{send: send, frames: make(chan F, batchFrames), closed: make(chan struct{})}
}

// Put queues a frame, which Run sends. It returns ctx's error when that ends
// first, and false without an error when the outbox is closed.
func (o *Outbox[F]) Put(ctx context.Context, f F) (bool, error) {
	select {
	case o.frames <- f:
		return true, nil
	case <-o.closed:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Run sends what is put until done is closed and the queue is empty, or until
// a send fails. Nobody may Put after closing done.
func (o *Outbox[F]) Run(done <-chan struct{}) error {
	defer close(o.closed)
	for {
		select {
		case f := <-o.frames:
			if err := o.sendBatch(f); err != nil {
				return err
			}
		case <-done:
			for len(o.frames) > 0 {
				if err := o.sendBatch(<-o.frames); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// sendBatch sends a frame with what is queued behind it, up to the size of a batch.
func (o *Outbox[F]) sendBatch(first F) error {
	batch := []F{first}
	for size := 0; len(o.frames) > 0 && len(batch) < batchFrames; {
		if size += proto.Size(batch[len(batch)-1]); size >= batchBytes {
			break
		}
		batch = append(batch, <-o.frames)
	}
	return o.send(batch)
}
