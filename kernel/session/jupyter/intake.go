package jupyter

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync/atomic"
)

// Anyone who reaches a port can send to it. These limits hold before a signature
// is checked.
const (
	maxMessage     = 256 << 20 // bytes of a message to the shell, control or stdin
	maxSmall       = 64 << 10  // bytes of a subscription or heartbeat
	maxFrames      = 1024      // of a message
	maxTopics      = 64        // of a subscriber
	maxConnections = 100       // of a socket
	maxRejected    = 1000      // messages of a connection, one after the other
	maxEcho        = 1 << 20   // bytes that wait for a peer which proved nothing

	frameCost = 64       // bytes of memory that a frame takes beside its content
	freeBytes = 64 << 10 // of a message that is not counted in the intake
	handshake = 4 << 10  // bytes of a handshake
)

// intake is how many bytes of long messages are being read, over all connections.
// Together they stay below maxMessage.
type intake struct{ held atomic.Int64 }

func (i *intake) take(n int64) bool {
	if i.held.Add(n) <= maxMessage {
		return true
	}
	i.held.Add(-n)
	return false
}

// receiver reads the messages of a connection. Unlike zmq4's it allocates what
// has come, not what a frame's header announces.
type receiver struct {
	from   *bufio.Reader
	limit  int64 // bytes of a message with its frames' cost
	intake *intake
	sum    int64 // of the present message
	taken  int64 // of it from the intake
}

func newReceiver(from io.Reader, limit int64, i *intake) *receiver {
	return &receiver{from: bufio.NewReader(from), limit: limit, intake: i}
}

// Flags of a frame's first byte.
const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

// message reads a message or a command. The caller releases it when it was used.
func (r *receiver) message() (frames [][]byte, command bool, err error) {
	for {
		flags, size, err := r.header()
		if err != nil {
			return nil, false, err
		}
		if len(frames) == maxFrames {
			return nil, false, fmt.Errorf("read message: more than %d frames", maxFrames)
		}
		if size > uint64(r.limit) || r.sum+int64(size)+frameCost > r.limit {
			return nil, false, fmt.Errorf("read message: longer than %d bytes", r.limit)
		}
		r.sum += frameCost
		body, err := r.body(int(size))
		if err != nil {
			return nil, false, err
		}
		if frames = append(frames, body); flags&flagMore == 0 {
			return frames, flags&flagCommand != 0, nil
		}
	}
}

// release says that nothing refers to the present message any more.
func (r *receiver) release() {
	r.intake.held.Add(-r.taken)
	r.sum, r.taken = 0, 0
}

func (r *receiver) header() (flags byte, size uint64, err error) {
	if flags, err = r.from.ReadByte(); err != nil {
		return 0, 0, err
	}
	if flags&flagLong == 0 {
		short, err := r.from.ReadByte()
		return flags, uint64(short), err
	}
	var long [8]byte
	_, err = io.ReadFull(r.from, long[:])
	return flags, binary.BigEndian.Uint64(long[:]), err
}

// body reads a frame. Its memory doubles as the content comes.
func (r *receiver) body(size int) ([]byte, error) {
	body := make([]byte, 0, min(size, freeBytes))
	for len(body) < size {
		if len(body) == cap(body) {
			body = append(make([]byte, 0, min(size, 2*len(body))), body...)
		}
		part := body[len(body):cap(body)]
		if err := r.count(int64(len(part))); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(r.from, part); err != nil {
			return nil, err
		}
		body = body[:cap(body)]
	}
	return body, nil
}

// count adds bytes to the present message.
func (r *receiver) count(n int64) error {
	r.sum += n
	if r.sum <= freeBytes {
		return nil
	}
	if !r.intake.take(n) {
		return fmt.Errorf("read message: the messages of all connections are longer than %d bytes", maxMessage)
	}
	r.taken += n
	return nil
}

// greeter is a connection during its handshake, of which it reads only so much.
// It embeds *net.TCPConn, not net.Conn: a message goes out in one system call.
type greeter struct {
	*net.TCPConn
	left int
}

// Read implements [io.Reader].
func (g *greeter) Read(p []byte) (int, error) {
	if len(p) > g.left {
		return 0, fmt.Errorf("read handshake: longer than %d bytes", handshake)
	}
	n, err := g.TCPConn.Read(p)
	g.left -= n
	return n, err
}
