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
	frames chan F
	closed chan struct{} // closed by Run when it ends
}

// NewOutbox returns an outbox; nothing is sent before Run.
func NewOutbox[F proto.Message]() *Outbox[F] {
	return &Outbox[F]{frames: make(chan F, batchFrames), closed: make(chan struct{})}
}

// Put queues a frame. It returns ctx's error when that ends first, and
// false without an error when the outbox is closed.
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
// send fails. Nobody may Put after closing done.
func (o *Outbox[F]) Run(done <-chan struct{}, send func([]F) error) error {
	defer close(o.closed)
	for {
		var first F
		select {
		case first = <-o.frames:
		default:
			select {
			case first = <-o.frames:
			case <-done:
				select {
				case first = <-o.frames:
				default:
					return nil
				}
			}
		}
		if err := send(o.collect(first)); err != nil {
			return err
		}
	}
}

// collect adds to first what is waiting, up to the size of a batch.
func (o *Outbox[F]) collect(first F) []F {
	batch, size := []F{first}, proto.Size(first)
	for len(batch) < batchFrames && size < batchBytes {
		select {
		case f := <-o.frames:
			batch, size = append(batch, f), size+proto.Size(f)
		default:
			return batch
		}
	}
	return batch
}
