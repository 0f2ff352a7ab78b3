package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"

	"noema/kernel/session/cell"
)

// logbook is a log that can be read while it is written.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

// rig is a kernel that runs, with what it was made of.
type rig struct {
	t       testing.TB
	c       Connection
	session *scripted
	log     *logbook
	stop    context.CancelFunc
	ended   chan error
}

const testKey = "a key"

// start runs a kernel until the test ends.
func start(t testing.TB, history string) *rig {
	t.Helper()
	return startWith(t, Options{History: history})
}

func startWith(t testing.TB, o Options) *rig {
	t.Helper()
	r := &rig{t: t, session: &scripted{}, log: &logbook{}, ended: make(chan error, 1)}
	r.c = Connection{Transport: "tcp", IP: "127.0.0.1", Scheme: "hmac-sha256", Key: testKey}
	var taken []net.Listener
	for _, port := range []*int{&r.c.Shell, &r.c.Control, &r.c.Stdin, &r.c.IOPub, &r.c.Heartbeat} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		*port = l.Addr().(*net.TCPAddr).Port
		taken = append(taken, l)
	}
	for _, l := range taken { // now that all five are known
		l.Close()
	}
	o.Log = r.log
	o.Commands = map[string]func(context.Context, string, cell.Output) error{
		"greet": func(_ context.Context, args string, out cell.Output) error {
			out.Stream("stdout", []byte("hello "+args))
			return nil
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	go func() {
		r.ended <- Run(ctx, r.c, r.session, o)
		close(r.ended)
	}()
	t.Cleanup(func() {
		cancel()
		r.end()
	})
	return r
}

// end waits for the kernel's end.
func (r *rig) end() error {
	r.t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(2 * time.Minute):
		r.t.Error("the kernel does not end")
		return nil
	}
}

// until waits for a condition.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); <-tick() {
		if time.Since(begun) > 2*time.Minute {
			t.Fatalf("%s does not come", what)
		}
	}
}

// channel is a client's end of a socket.
type channel struct {
	t    testing.TB
	raw  net.Conn
	conn *zmq4.Conn
	got  chan received
}

// received is a message of the kernel's.
type received struct {
	kind    string
	parent  string // the id of the message that it is about
	content map[string]any
}

func (r *rig) dial(port int, kind zmq4.SocketType, identity string) *channel {
	r.t.Helper()
	var raw net.Conn
	until(r.t, "the socket", func() (ok bool) {
		c, err := net.Dial("tcp", net.JoinHostPort(r.c.IP, strconv.Itoa(port)))
		raw = c
		return err == nil
	})
	conn, err := zmq4.Open(raw, null.Security(), kind, zmq4.SocketIdentity(identity), false, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	c := &channel{t: r.t, raw: raw, conn: conn, got: make(chan received, 1<<16)}
	r.t.Cleanup(func() { conn.Close() })
	return c
}

// listen reads messages into got until the connection ends.
func (c *channel) listen() *channel {
	go func() {
		defer close(c.got)
		for {
			m, err := c.conn.RecvMsg()
			if err != nil {
				return
			}
			decoded, err := newSigner(testKey).decode(m.Frames)
			if err != nil {
				c.t.Errorf("the kernel sent %q: %v", m.Frames, err)
				return
			}
			var parent header
			got := received{kind: decoded.header.Type}
			at := len(m.Frames) - 3
			if errors.Join(json.Unmarshal(m.Frames[at], &parent), json.Unmarshal(decoded.content, &got.content)) != nil {
				c.t.Errorf("the kernel sent %q", m.Frames)
				return
			}
			got.parent = parent.ID
			c.got <- got
		}
	}()
	return c
}

// next is the next message.
func (c *channel) next() received {
	c.t.Helper()
	select {
	case m, ok := <-c.got:
		if !ok {
			c.t.Fatal("the connection ended")
		}
		return m
	case <-time.After(2 * time.Minute):
		c.t.Fatal("no message comes")
	}
	return received{}
}

// send sends a request and returns its id.
func (c *channel) send(kind string, content any) string {
	c.t.Helper()
	h := newHeader("client", kind)
	frames, err := newSigner(testKey).encode(nil, h, nil, content)
	if err != nil {
		c.t.Fatal(err)
	}
	c.frames(frames)
	return h.ID
}

func (c *channel) frames(frames [][]byte) {
	c.t.Helper()
	if err := c.conn.SendMsg(zmq4.NewMsgFrom(frames...)); err != nil {
		c.t.Fatal(err)
	}
}

// client is a front end.
type client struct {
	shell, control, stdin, iopub *channel
}

func (r *rig) client(identity string) *client {
	r.t.Helper()
	c := &client{
		shell:   r.dial(r.c.Shell, zmq4.Dealer, identity).listen(),
		control: r.dial(r.c.Control, zmq4.Dealer, identity).listen(),
		stdin:   r.dial(r.c.Stdin, zmq4.Dealer, identity).listen(),
		iopub:   r.dial(r.c.IOPub, zmq4.Sub, identity).listen(),
	}
	c.iopub.frames([][]byte{{1}})
	for c.iopub.next().kind != "iopub_welcome" {
	}
	r.settle(c.stdin)
	return c
}

// settle returns when the kernel has read what was sent on a channel: it notes
// in its log the junk that is sent behind.
func (r *rig) settle(c *channel) {
	r.t.Helper()
	const noted = "too few frames"
	before := r.log.count(noted)
	c.frames([][]byte{[]byte("junk")})
	until(r.t, "a line in the log", func() bool { return r.log.count(noted) > before })
}

// request sends one and returns its reply, and what was published about it.
func (c *client) request(kind string, content any) (map[string]any, []received) {
	c.shell.t.Helper()
	return c.finish(c.shell.send(kind, content))
}

// finish waits for the end of a request.
func (c *client) finish(id string) (reply map[string]any, published []received) {
	c.shell.t.Helper()
	for m := c.iopub.next(); m.parent != id || m.content["execution_state"] != "idle"; m = c.iopub.next() {
		if m.parent == id && m.kind != "status" {
			published = append(published, m)
		}
	}
	return c.reply(id), published
}

// reply is that to a request of the shell's.
func (c *client) reply(id string) map[string]any {
	c.shell.t.Helper()
	for m := c.shell.next(); ; m = c.shell.next() {
		if m.parent == id {
			return m.content
		}
	}
}

// run runs a cell. What it published is one text: streams as they are, the rest
// as [kind text].
func (c *client) run(code string, more ...map[string]any) (map[string]any, string) {
	c.shell.t.Helper()
	return c.ran(c.shell.send("execute_request", cellOf(code, more...)))
}

func (c *client) ran(id string) (map[string]any, string) {
	c.shell.t.Helper()
	reply, published := c.finish(id)
	var b strings.Builder
	for _, m := range published {
		switch m.kind {
		case "stream":
			fmt.Fprint(&b, m.content["text"])
		case "execute_input":
		case "error":
			fmt.Fprintf(&b, "[error %v]", m.content["evalue"])
		default:
			data, _ := m.content["data"].(map[string]any)
			fmt.Fprintf(&b, "[%s %v]", m.kind, data["text/plain"])
		}
	}
	return reply, b.String()
}

// cellOf is the content of an execute request.
func cellOf(code string, more ...map[string]any) map[string]any {
	content := map[string]any{"code": code, "allow_stdin": false}
	for _, m := range more {
		for k, v := range m {
			content[k] = v
		}
	}
	return content
}

// write makes a file in a folder of the test's.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
