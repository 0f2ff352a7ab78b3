// Package jupyter lets a session of cells be the kernel of a Jupyter notebook:
// it speaks the messaging protocol, version 5.4, on the five sockets that a
// connection file names, and installs the kernel spec by which Jupyter finds
// it.
package jupyter

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"

	"noema/kernel/cell"
)

// Options are what a kernel works with besides its session.
type Options struct {
	History string    // a file that keeps the history across sessions; "" keeps none
	Version string    // of noema
	Log     io.Writer // told of what was refused; nil: nobody
	// Commands are those of %name in cells, beside the kernel's own.
	Commands map[string]func(ctx context.Context, args string, out cell.Output) error
}

// maxWaiting bounds what waits for a subscriber that does not read.
const maxWaiting = 128 << 20

// Kernel serves one session.
type kernel struct {
	session *cell.Session
	o       Options
	signer  signer
	id      string // of this kernel's session, in headers

	shell, control, stdin, iopub, heartbeat *socket

	requests chan *message // of the shell
	answers  chan string   // to input requests
	over     chan bool     // closed at a shutdown
	overOnce sync.Once
	history  *history
	output   *output

	mu        sync.Mutex // guards what follows
	interrupt context.CancelFunc
	count     int
}

// tick is the grain of what waits for queues to empty.
func tick() <-chan time.Time { return time.After(2 * time.Millisecond) }

// Run serves a session until a client shuts it down, or ctx ends. An interrupt
// by signal or message ends the cell that runs.
func Run(ctx context.Context, c Connection, s *cell.Session, o Options) error {
	if o.Log == nil {
		o.Log = io.Discard
	}
	k := &kernel{
		session: s, o: o, signer: signer{[]byte(c.Key)}, id: newID(),
		requests: make(chan *message, 1024), answers: make(chan string), over: make(chan bool),
		history: openHistory(o.History),
	}
	k.output = newOutput(k)
	defer k.output.close()
	if err := k.open(c); err != nil {
		return err
	}
	defer k.close()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGINT)
	defer signal.Stop(interrupts)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	worker := make(chan struct{})
	go func() {
		defer close(worker)
		k.work(ctx)
	}()
	k.status("starting", nil)
	for {
		select {
		case <-interrupts:
			k.interruptCell()
		case <-k.over:
			cancel()
			k.interruptCell()
			wait, done := context.WithTimeout(context.Background(), time.Second)
			defer done()
			select {
			case <-worker:
			case <-wait.Done():
			}
			k.output.flush()
			k.flush(wait)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// open opens the sockets.
func (k *kernel) open(c Connection) error {
	for _, s := range []struct {
		to       **socket
		port     int
		kind     zmq4.SocketType
		received func(*peer, [][]byte)
	}{
		{&k.shell, c.Shell, zmq4.Router, k.fromShell},
		{&k.control, c.Control, zmq4.Router, k.fromControl},
		{&k.stdin, c.Stdin, zmq4.Router, k.fromStdin},
		{&k.iopub, c.IOPub, zmq4.XPub, nil},
		{&k.heartbeat, c.Heartbeat, zmq4.Rep, func(p *peer, frames [][]byte) { p.send(frames, 0) }},
	} {
		opened, err := listen(c, s.port, s.kind)
		if err != nil {
			k.close()
			return err
		}
		opened.received = s.received
		*s.to = opened
	}
	k.iopub.limit = maxWaiting
	k.iopub.joined = k.welcome
	for _, s := range k.sockets() {
		go s.serve()
	}
	return nil
}

func (k *kernel) sockets() (all []*socket) {
	for _, s := range []*socket{k.shell, k.control, k.stdin, k.iopub, k.heartbeat} {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

func (k *kernel) close() {
	for _, s := range k.sockets() {
		s.close()
	}
}

func (k *kernel) flush(ctx context.Context) {
	k.shell.flush(ctx)
	k.control.flush(ctx)
	k.iopub.flush(ctx)
}

func (k *kernel) logf(format string, args ...any) { fmt.Fprintf(k.o.Log, format+"\n", args...) }

// decode reads a message, or says in the log why it was dropped.
func (k *kernel) decode(p *peer, frames [][]byte) *message {
	m, err := k.signer.decode(frames)
	if err != nil {
		k.logf("dropped: %v", err)
		return nil
	}
	m.from = p
	return m
}

func (k *kernel) fromShell(p *peer, frames [][]byte) {
	if m := k.decode(p, frames); m != nil {
		select {
		case k.requests <- m:
		case <-k.over:
		}
	}
}

// fromControl serves requests that must not wait for a cell.
func (k *kernel) fromControl(p *peer, frames [][]byte) {
	if m := k.decode(p, frames); m != nil {
		k.handle(context.Background(), m)
	}
}

// fromStdin takes answers to input requests.
func (k *kernel) fromStdin(p *peer, frames [][]byte) {
	m := k.decode(p, frames)
	if m == nil || m.header.Type != "input_reply" {
		return
	}
	var c struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(m.content, &c) != nil {
		return
	}
	select {
	case k.answers <- c.Value:
	case <-time.After(time.Second): // nobody asked
	}
}

// work serves the shell's requests one after the other.
func (k *kernel) work(ctx context.Context) {
	for {
		select {
		case m := <-k.requests:
			k.handle(ctx, m)
		case <-ctx.Done():
			return
		}
	}
}

// interruptCell ends the cell that runs.
func (k *kernel) interruptCell() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.interrupt != nil {
		k.interrupt()
	}
}

// reply answers a request.
func (k *kernel) reply(m *message, kind string, content any) {
	frames, err := k.signer.encode(m.route, newHeader(k.id, kind), m.raw, nil, content)
	if err != nil {
		k.logf("%v", err)
		return
	}
	m.from.send(frames, 0)
}

// publish sends a message to all who listen, on behalf of a request.
func (k *kernel) publish(parent *message, kind string, content any) {
	var raw json.RawMessage
	if parent != nil {
		raw = parent.raw
	}
	frames, err := k.signer.encode([][]byte{[]byte(kind)}, newHeader(k.id, kind), raw, nil, content)
	if err != nil {
		k.logf("%v", err)
		return
	}
	k.iopub.publish(frames)
}

func (k *kernel) status(state string, parent *message) {
	k.publish(parent, "status", map[string]any{"execution_state": state})
}

// welcome greets a new subscriber, so that it knows that nothing of what
// follows is lost.
func (k *kernel) welcome(p *peer, topic string) {
	frames, err := k.signer.encode([][]byte{[]byte("iopub_welcome")}, newHeader(k.id, "iopub_welcome"), nil, nil,
		map[string]any{"subscription": topic})
	if err != nil {
		k.logf("%v", err)
		return
	}
	p.send(frames, 0)
}
