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
// travel together, which is what makes many small calls cheap; a frame that
// finds nothing on its way is sent at once by who brings it, which is what makes
// a single call quick.
type Outbox[F proto.Message] struct {
	send   func([]F) error
	frames chan F
	turn   chan struct{} // holds one token while somebody sends
	more   chan struct{} // tells Run that frames wait
	failed chan error    // the first failed send outside of Run
	closed chan struct{} // closed by Run when it ends
}

// NewOutbox returns an outbox that sends messages with send, one at a time.
func NewOutbox[F proto.Message](send func([]F) error) *Outbox[F] {
	return &Outbox[F]{
		send: send, frames: make(chan F, batchFrames), turn: make(chan struct{}, 1),
		more: make(chan struct{}, 1), failed: make(chan error, 1), closed: make(chan struct{}),
	}
}

// Put queues a frame, which Run sends. It returns ctx's error when that ends
// first, and false without an error when the outbox is closed.
func (o *Outbox[F]) Put(ctx context.Context, f F) (bool, error) {
	ok, err := o.queue(ctx, f)
	if ok {
		o.wake()
	}
	return ok, err
}

// Send is Put for a frame that the caller sends itself if nothing is on its way.
// It may last until the peer reads, whatever becomes of ctx.
func (o *Outbox[F]) Send(ctx context.Context, f F) (bool, error) {
	ok, err := o.queue(ctx, f)
	if !ok {
		return ok, err
	}
	select {
	case o.turn <- struct{}{}:
	default: // who has the turn looks again after it
		return true, nil
	}
	err = o.sendBatch()
	o.pass()
	if err != nil {
		select {
		case o.failed <- err:
		default:
		}
	}
	return true, nil
}

// pass gives the turn back. A frame that was queued meanwhile is Run's to send.
func (o *Outbox[F]) pass() {
	<-o.turn
	if len(o.frames) > 0 {
		o.wake()
	}
}

func (o *Outbox[F]) queue(ctx context.Context, f F) (bool, error) {
	select {
	case o.frames <- f:
		return true, nil
	case <-o.closed:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (o *Outbox[F]) wake() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// Run sends what is put until done is closed and the queue is empty, or until
// a send fails. Nobody may Put after closing done.
func (o *Outbox[F]) Run(done <-chan struct{}) error {
	defer close(o.closed)
	for {
		select {
		case <-o.more:
		case err := <-o.failed:
			return err
		case <-done:
			return o.drain()
		}
		if err := o.drain(); err != nil {
			return err
		}
	}
}

// drain sends all that is queued.
func (o *Outbox[F]) drain() error {
	o.turn <- struct{}{}
	defer o.pass()
	for len(o.frames) > 0 {
		if err := o.sendBatch(); err != nil {
			return err
		}
	}
	return nil
}

// sendBatch sends what is queued, up to the size of a batch. The caller has the
// turn.
func (o *Outbox[F]) sendBatch() error {
	var batch []F
	for size := 0; len(batch) < batchFrames && size < batchBytes; {
		select {
		case f := <-o.frames:
			batch = append(batch, f)
		default:
			if len(batch) == 0 {
				return nil
			}
			return o.send(batch)
		}
		if len(o.frames) > 0 {
			size += proto.Size(batch[len(batch)-1])
		}
	}
	return o.send(batch)
}
