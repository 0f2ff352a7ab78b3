package plugins

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"noema/methods"
	"noema/plugins/internal/wire"
)

// Function is a method that is a function of another program, such as a notebook in Python.
// That program runs it, and hears of each trial over a Unix socket of its own.
//
// A connection begins with one message from this side: empty, to which the answer is the JSON
// list of the functions, or the name of one, of which it is then a trial, as by [SolveAt]. A
// message is its length, as four bytes with the highest first, and its content.
type Function struct {
	Description methods.Description
	Code        string // digest of the source and of what it closes over, in hex
	address     string
}

var _ methods.Method = (*Function)(nil)

// hello is how long the program may take to tell its functions.
const hello = 10 * time.Second

// leaving is how long a trial whose program is gone waits for the command's own end, so that
// it is not recorded as failed: the command notices the end of such a program by itself.
const leaving = time.Second

// Functions asks the program at a socket which functions it has.
func Functions(ctx context.Context, address string) ([]*Function, error) {
	fail := func(err error) ([]*Function, error) {
		return nil, fmt.Errorf("ask the program at %q for its functions: %w: start this command from that program", address, err)
	}
	conn, err := dialFunction(ctx, address, "")
	if err != nil {
		return fail(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(hello)); err != nil {
		return fail(err)
	}
	raw, err := conn.Recv()
	if err != nil {
		return fail(err)
	}
	var all []*Function
	if err := json.Unmarshal(raw, &all); err != nil {
		return fail(err)
	}
	for _, f := range all {
		if f == nil || len(f.Code) != 64 {
			return fail(errors.New("one of them has no digest of its code"))
		}
		f.address = address
	}
	return all, nil
}

// Solve implements [methods.Method].
func (f *Function) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	conn, err := dialFunction(ctx, f.address, f.Description.Name)
	if err == nil {
		defer conn.Close()
		a, failed := SolveAt(ctx, conn, p, h)
		if !errors.Is(failed, ErrLost) {
			return a, failed
		}
		err = failed
	}
	late := time.NewTimer(leaving)
	defer late.Stop()
	select {
	case <-ctx.Done():
		return methods.Answer{}, context.Cause(ctx)
	case <-late.C: // what follows must not look like a lost worker, whose trials run elsewhere
		return methods.Answer{}, fmt.Errorf("method %q: the program whose function it is does not answer: %v", f.Description.Name, err)
	}
}

// socket carries messages over a connection.
type socket struct{ net.Conn }

var _ Conn = socket{}

func dialFunction(ctx context.Context, address, name string) (socket, error) {
	conn, err := (&net.Dialer{Timeout: hello}).DialContext(ctx, "unix", address)
	if err != nil {
		return socket{}, err
	}
	s := socket{conn}
	if err := s.Send([]byte(name)); err != nil {
		return socket{}, errors.Join(err, conn.Close())
	}
	return s, nil
}

// Send implements [Conn].
func (s socket) Send(message []byte) error {
	_, err := s.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
	return err
}

// Recv implements [Conn]. A message has at most what one of a plugin may have.
func (s socket) Recv() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(s, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > wire.MaxMessage {
		return nil, fmt.Errorf("%w: a message of %d bytes: the limit is %s", errProtocol, n, size(wire.MaxMessage))
	}
	message := make([]byte, n)
	_, err := io.ReadFull(s, message)
	return message, err
}
