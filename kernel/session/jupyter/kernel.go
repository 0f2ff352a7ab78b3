// Package jupyter makes a session of cells a Jupyter kernel: it speaks the
// messaging protocol, version 5.4, on the five sockets of a connection file, and
// installs the kernel spec by which Jupyter finds it.
package jupyter

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"

	"noema/kernel/session/cell"
)

// Options configure a kernel.
type Options struct {
	History string    // the file of the history; "" for none
	Version string    // of noema
	Log     io.Writer // receives a line for each rejected message; may be nil
	// Journal has the cells of a kernel with this connection that died; may be nil.
	Journal *cell.Journal
	// Commands are further %name commands.
	Commands map[string]func(ctx context.Context, args string, out cell.Output) error

	waiting int // how many bytes may wait for a subscriber; 0: maxWaiting
}

// maxWaiting bounds the output queued for a subscriber that does not read. Status
// messages are small and may exceed it, so that a slow client does not miss the
// end of a request.
const maxWaiting = 128 << 20

// kernel serves one session.
type kernel struct {
	session Session
	o       Options
	signer  *signer
	id      string // of this kernel's session, in headers
	parent  int    // see function parent

	shell, control, stdin, iopub, heartbeat *socket
	intake                                  intake

	requests chan *message // of the shell
	asking   question      // of the running cell
	over     chan bool     // closed at the end
	overOnce sync.Once
	history  *cell.History
	output   *output
	numbers  numbers // used by the shell's goroutine alone
	places   places
	// collect receives what would be published, where there are no clients.
	collect func(kind string, content map[string]any)
	notice  string // for below the first cell

	mu        sync.Mutex // guards what follows
	interrupt context.CancelFunc
	count     int

	logging sync.Mutex
}

// Run serves a session until a client shuts it down, the parent process ends, a
// SIGTERM comes, or ctx ends, whose error it then returns. An interrupt, by SIGINT
// or message, only ends the running cell, so SIGINT must not end ctx.
func Run(ctx context.Context, c Connection, s Session, o Options) error {
	o.Log = cmp.Or(o.Log, io.Discard)
	o.waiting = cmp.Or(o.waiting, maxWaiting)
	k := &kernel{
		session: s, o: o, signer: newSigner(c.Key), id: newID(),
		requests: make(chan *message, 1024), over: make(chan bool), numbers: numbers{}, places: places{ran: map[string]span{}}, parent: parent(),
	}
	var err error
	if k.history, err = cell.OpenHistory(o.History, maxHistory); err != nil {
		k.logf("%v", err)
	}
	k.output = newOutput(k)
	// The numbers go on, so that no two cells of the notebook have the same.
	k.count, k.notice = o.Journal.Last(), o.Journal.Notice(":rerun lost")
	if err := k.open(c); err != nil {
		return err
	}
	defer k.close()
	s.Fallback(k.output) // which discards what comes once it is closed
	return k.serve(ctx)
}

// serve handles requests until the kernel ends.
func (k *kernel) serve(ctx context.Context) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	worker := make(chan struct{})
	go func() {
		defer close(worker)
		k.work(working)
	}()
	k.status("starting", nil)
	err := k.wait(ctx, signals)
	k.end()
	cancel() // which interrupts the running cell
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer done()
	select {
	case <-worker:
	case <-ending.Done():
	}
	k.output.close()
	for _, s := range []*socket{k.shell, k.control, k.iopub} {
		s.flush(ending)
	}
	return err
}

// wait returns when the kernel should end.
func (k *kernel) wait(ctx context.Context, signals <-chan os.Signal) error {
	poll := time.NewTicker(time.Second)
	defer poll.Stop()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				return nil
			}
			k.interruptCell()
		case <-poll.C:
			if k.parent != 0 && os.Getppid() != k.parent {
				k.logf("the parent process has ended")
				return nil
			}
		case <-k.over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// parent is the Jupyter process that started this one, with which the kernel ends;
// 0 if Jupyter did not start it.
func parent() int {
	if pid := os.Getppid(); os.Getenv("JPY_PARENT_PID") == strconv.Itoa(pid) {
		return pid
	}
	return 0
}

// end makes the kernel end.
func (k *kernel) end() { k.overOnce.Do(func() { close(k.over) }) }

// open opens the sockets.
func (k *kernel) open(c Connection) error {
	for _, s := range []struct {
		to       **socket
		port     int
		kind     zmq4.SocketType
		received func(*peer, [][]byte) bool
		limit    int64
	}{
		{&k.shell, c.Shell, zmq4.Router, k.fromShell, maxMessage},
		{&k.control, c.Control, zmq4.Router, k.fromControl, maxMessage},
		{&k.stdin, c.Stdin, zmq4.Router, k.fromStdin, maxMessage},
		{&k.iopub, c.IOPub, zmq4.XPub, nil, maxSmall},
		{&k.heartbeat, c.Heartbeat, zmq4.Rep, echo, maxSmall},
	} {
		opened, err := listen(c, s.port, s.kind)
		if err != nil {
			k.close()
			return err
		}
		opened.received, opened.limit, opened.intake, opened.logf = s.received, s.limit, &k.intake, k.logf
		*s.to = opened
	}
	k.iopub.joined = k.welcome
	for _, s := range k.sockets() {
		s.start()
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

func (k *kernel) logf(format string, args ...any) {
	k.logging.Lock()
	defer k.logging.Unlock()
	fmt.Fprintf(k.o.Log, format+"\n", args...)
}

// decode reads a message, or logs why it was dropped.
func (k *kernel) decode(p *peer, frames [][]byte) *message {
	m, err := k.signer.decode(frames)
	if err != nil {
		k.logf("dropped: %v", err)
		return nil
	}
	m.from = p
	return m
}

// echo answers a heartbeat.
func echo(p *peer, frames [][]byte) bool { return p.send(frames, maxEcho) }

func (k *kernel) fromShell(p *peer, frames [][]byte) bool {
	m := k.decode(p, frames)
	if m != nil {
		k.queue(m)
	}
	return m != nil
}

// queue adds a request for the shell's goroutine.
func (k *kernel) queue(m *message) {
	select {
	case k.requests <- m:
	case <-k.over:
	}
}

// fromControl serves at once the requests that must not wait for a cell, and
// queues the rest.
func (k *kernel) fromControl(p *peer, frames [][]byte) bool {
	m := k.decode(p, frames)
	if m == nil {
		return false
	}
	switch m.header.Type {
	case "kernel_info_request", "interrupt_request", "shutdown_request", "debug_request", "comm_info_request":
		k.handle(context.Background(), m)
	default:
		k.queue(m)
	}
	return true
}

// fromStdin receives answers to input requests.
func (k *kernel) fromStdin(p *peer, frames [][]byte) bool {
	m := k.decode(p, frames)
	if m == nil || m.header.Type != "input_reply" {
		return m != nil
	}
	c := content[struct {
		Value string `json:"value"`
	}](k, m)
	if !k.asking.answer(p, c.Value) {
		k.logf("dropped: an input_reply without an input_request")
	}
	return true
}

// work serves the shell's requests one after the other.
func (k *kernel) work(ctx context.Context) {
	for {
		select {
		case m := <-k.requests:
			if ctx.Err() == nil {
				k.handle(ctx, m)
			}
		case <-ctx.Done():
			return
		}
	}
}

// interruptCell interrupts the running cell.
func (k *kernel) interruptCell() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.interrupt != nil {
		k.interrupt()
	}
}

// reply answers a request.
func (k *kernel) reply(m *message, kind string, content any) {
	if k.collect != nil {
		return
	}
	frames, err := k.signer.encode(m.route, newHeader(k.id, kind), m.raw, content)
	if err != nil {
		k.logf("%v", err)
		return
	}
	m.from.send(frames, 0)
}

// publish sends a message to all subscribers, on behalf of a request.
func (k *kernel) publish(parent *message, kind string, content map[string]any) {
	if k.collect != nil {
		k.collect(kind, content)
		return
	}
	var raw json.RawMessage
	if parent != nil {
		raw = parent.raw
	}
	frames, err := k.signer.encode([][]byte{[]byte(kind)}, newHeader(k.id, kind), raw, content)
	if err != nil {
		k.logf("%v", err)
		return
	}
	limit := k.o.waiting
	switch kind {
	case "status", "execute_input", "error", "shutdown_reply":
		limit *= 2
	}
	if begun, over := k.iopub.publish(kind, frames, limit); begun > 0 {
		k.logf("dropped: output for %d clients that do not read", begun)
	} else if over > 0 {
		k.logf("a client reads again after missing %d messages", over)
	}
}

func (k *kernel) status(state string, parent *message) {
	k.publish(parent, "status", map[string]any{"execution_state": state})
}

// welcome tells a new subscriber that it will miss no message from now on. The
// topic is the subscription, so that the message matches it.
func (k *kernel) welcome(p *peer, topic string) {
	name := cmp.Or(topic, "iopub_welcome")
	frames, err := k.signer.encode([][]byte{[]byte(name)}, newHeader(k.id, "iopub_welcome"), nil,
		map[string]any{"subscription": topic})
	if err != nil {
		k.logf("%v", err)
		return
	}
	p.send(frames, maxEcho)
}
