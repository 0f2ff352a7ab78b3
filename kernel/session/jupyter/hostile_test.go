package jupyter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// TestHostileMessages sends what no client sends. The kernel notes it and lives.
func TestHostileMessages(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	h := newHeader("client", "execute_request")
	cellFrames := func(key string, content any) [][]byte {
		frames, err := newSigner(key).encode(nil, h, nil, content)
		if err != nil {
			t.Fatal(err)
		}
		return frames
	}
	good := cellFrames(testKey, cellOf("value 1"))
	c.shell.frames(good)
	c.ran(h.ID)
	notJSON := append([][]byte{}, good...)
	notJSON[2] = []byte("{")
	notJSON[1] = []byte(newSigner(testKey).sign(notJSON[2:]...))
	for name, x := range map[string]struct {
		frames [][]byte
		log    string
	}{
		"replayed":        {good, "repeated message"},
		"another key":     {cellFrames("another key", cellOf("value 2")), "wrong signature"},
		"no key":          {cellFrames("", cellOf("value 2")), "wrong signature"},
		"changed content": {append(append([][]byte{}, good[:5]...), []byte(`{"code":"value 3"}`)), "wrong signature"},
		"frames missing":  {good[:4], "too few frames"},
		"no delimiter":    {good[1:], "too few frames"},
		"no JSON":         {notJSON, "header"},
		"empty frame":     {[][]byte{{}}, "too few frames"},
	} {
		before := r.log.count(x.log)
		c.shell.frames(x.frames)
		until(t, name+" in the log", func() bool { return r.log.count(x.log) > before })
	}
	c.shell.send("nothing_request", map[string]any{})
	c.shell.send("execute_request", "no object")
	if reply, shown := c.run("value 4"); reply["execution_count"] != 3.0 || shown != "[execute_result 4]" {
		t.Errorf("afterwards a cell counts %v and shows %q", reply["execution_count"], shown)
	}
}

// TestHostileConnections opens connections that are no clients.
func TestHostileConnections(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	for _, port := range []int{r.c.Shell, r.c.Control, r.c.Stdin, r.c.IOPub, r.c.Heartbeat} {
		address := net.JoinHostPort(r.c.IP, strconv.Itoa(port))
		for _, junk := range []string{"", "GET / HTTP/1.1\r\n\r\n", strings.Repeat("\xff", 200)} {
			raw, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close() // it stays open until the kernel has ended
			if _, err := raw.Write([]byte(junk)); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A frame that says that more follows than there is memory ends its connection.
	for _, size := range []uint64{maxMessage + 1, 1 << 40, 1 << 62, 1 << 63, 1<<64 - 1} {
		bad := r.dial(r.c.Shell, zmq4.Dealer, "bad").listen()
		if _, err := bad.raw.Write(append([]byte{flagLong}, binary.BigEndian.AppendUint64(nil, size)...)); err != nil {
			t.Fatal(err)
		}
		select {
		case m, open := <-bad.got:
			if open {
				t.Errorf("a frame of %d bytes is answered with %v", size, m)
			}
		case <-time.After(2 * time.Minute):
			t.Errorf("a frame of %d bytes is waited for", size)
		}
	}
	if _, shown := c.run("value 4"); shown != "[execute_result 4]" {
		t.Errorf("afterwards a cell shows %q", shown)
	}
	begun := time.Now()
	c.control.send("shutdown_request", map[string]any{})
	r.end()
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("the kernel takes %v to end while others hold connections", took)
	}
}

// TestFramesPass checks that whole messages pass, however they are cut.
func TestFramesPass(t *testing.T) {
	r := start(t, "")
	c := r.dial(r.c.Heartbeat, zmq4.Req, "a")
	for _, size := range []int{0, 1, 255, 256, maxSmall / 2} {
		body := strings.Repeat("x", size)
		c.frames([][]byte{{}, []byte("more"), []byte(body)})
		m, err := c.conn.RecvMsg()
		if err != nil || len(m.Frames) != 3 || string(m.Frames[2]) != body {
			t.Fatalf("a message of %d bytes comes back as %d frames (%v)", size, len(m.Frames), err)
		}
	}
	for _, size := range []int{freeBytes - 1, freeBytes, freeBytes + 1, 10 * freeBytes} {
		text := strings.Repeat("x", size)
		if _, shown := r.client(fmt.Sprint(size)).run("value " + text); shown != "[execute_result "+text+"]" {
			t.Errorf("a cell of %d bytes shows %d", size, len(shown))
		}
	}
}

// TestEmptyFrames sends 16 MB of empty frames, as one message and as many, to
// every socket. The connection ends, and the kernel takes little memory.
func TestEmptyFrames(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	runtime.GC()
	for _, flags := range []byte{0, flagMore} {
		flood := bytes.Repeat([]byte{flags, 0}, 8<<20)
		for _, at := range r.peers() {
			if at.port == r.c.Heartbeat && flags == 0 {
				continue // to which they are heartbeats
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			bad := r.dial(at.port, at.kind, "bad")
			_, _ = bad.raw.Write(flood) // it fails when the connection is closed
			closed(t, bad.raw)
			runtime.ReadMemStats(&after)
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 16 {
				t.Errorf("16 MB of empty frames with flags %d to the %s allocate %d MB", flags, at.kind, took)
			}
		}
	}
	if r.log.count("more than 1024 frames") != 5 || r.log.count("last 1000 messages were rejected") != 4 {
		t.Errorf("the log says %d and %d times why", r.log.count("more than 1024 frames"), r.log.count("last 1000 messages were rejected"))
	}
	if _, shown := c.run("value 4"); shown != "[execute_result 4]" {
		t.Errorf("afterwards a cell shows %q", shown)
	}
}

// closed returns when the other side has closed a connection.
func closed(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the kernel does not close the connection")
	}
}

// peers are the sockets with the kind that connects to each.
func (r *rig) peers() []struct {
	port int
	kind zmq4.SocketType
} {
	return []struct {
		port int
		kind zmq4.SocketType
	}{{r.c.Shell, zmq4.Dealer}, {r.c.Control, zmq4.Dealer}, {r.c.Stdin, zmq4.Dealer}, {r.c.IOPub, zmq4.Sub}, {r.c.Heartbeat, zmq4.Req}}
}

// TestBytesBeforeTheSignature announces long frames and sends their beginning.
// Memory is taken for what has come, and over all connections it is bounded.
func TestBytesBeforeTheSignature(t *testing.T) {
	var all intake
	const size = 100 << 20
	begin := append([]byte{flagLong}, binary.BigEndian.AppendUint64(nil, size)...)
	read := func(sent int) (*receiver, error) {
		content := io.LimitReader(zeros{}, int64(sent))
		r := newReceiver(io.MultiReader(bytes.NewReader(begin), content), maxMessage, &all)
		_, _, err := r.message()
		return r, err
	}
	first, err := read(1 << 20)
	if !errors.Is(err, io.EOF) || first.taken > 4<<20 {
		t.Errorf("1 MB of a frame of 100 MB gives %v and takes %d bytes", err, first.taken)
	}
	var held []*receiver
	for range 2 {
		r, err := read(size)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, r)
	}
	third, err := read(size)
	if err == nil || !strings.Contains(err.Error(), "of all connections") {
		t.Errorf("300 MB in three messages give %v", err)
	}
	for _, r := range append(held, first, third) {
		r.release()
	}
	if n := all.held.Load(); n != 0 {
		t.Errorf("%d bytes are counted though nothing is read", n)
	}
}

// zeros is an endless stream of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestTooManyConnections opens more than a socket admits. Those that are open
// go on, and once some have gone others are admitted.
func TestTooManyConnections(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	address := net.JoinHostPort(r.c.IP, strconv.Itoa(r.c.Shell))
	var open []net.Conn
	for range 2 * maxConnections {
		raw, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, raw)
	}
	until(t, "a line in the log", func() bool { return r.log.count("refused: connections to the ROUTER socket: 100 are open") == 1 })
	closed(t, open[len(open)-1])
	if _, shown := c.run("value 1"); shown != "[execute_result 1]" {
		t.Errorf("beside them a cell shows %q", shown)
	}
	for _, raw := range open {
		raw.Close()
	}
	until(t, "room", func() bool {
		raw, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		defer raw.Close()
		_ = raw.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // the read below tells
		n, _ := raw.Read(make([]byte, 1))
		return n == 1 // of the greeting
	})
	r.client("b").run("value 2")
}

// TestSubscriptionsAreBounded subscribes to ever new topics and reads nothing.
func TestSubscriptionsAreBounded(t *testing.T) {
	p := &peer{topics: map[string]bool{}}
	for i := range 10 * maxTopics {
		_, begun := p.subscribe([][]byte{fmt.Append([]byte{1}, i)})
		if begun != (i < maxTopics) {
			t.Fatalf("subscription %d begins: %v", i, begun)
		}
	}
	if p.subscribe([][]byte{fmt.Append([]byte{0}, 1)}); len(p.topics) != maxTopics-1 {
		t.Errorf("after the end of one there are %d topics", len(p.topics))
	}
}

// TestEchoesAreBounded sends heartbeats and reads no answer.
func TestEchoesAreBounded(t *testing.T) {
	p := &peer{wake: make(chan struct{}, 1)}
	sent := 0
	for echo(p, [][]byte{{}}) {
		sent++
	}
	if sent != maxEcho/frameCost {
		t.Errorf("%d empty answers are queued", sent)
	}
}

// TestStalledSubscriber has one that reads nothing while another gets ten times
// what may wait for it. Once it reads, it learns how the last request ended.
func TestStalledSubscriber(t *testing.T) {
	r := startWith(t, Options{waiting: 4 << 20})
	c := r.client("a")
	stalled := r.dial(r.c.IOPub, zmq4.Sub, "stalled")
	stalled.frames([][]byte{{1}})
	var slowest time.Duration
	for range 40 {
		begun := time.Now()
		_, published := c.finish(c.shell.send("execute_request", cellOf("flood 1")))
		slowest = max(slowest, time.Since(begun))
		if n := lengthOf(published); n != 1<<20 {
			t.Fatalf("the other subscriber gets %d bytes of 1 MB", n)
		}
	}
	if slowest > 30*time.Second {
		t.Errorf("a cell takes %v beside a stalled subscriber", slowest)
	}
	t.Logf("the slowest of 40 cells of 1 MB takes %v", slowest)
	if n := r.log.count("do not read"); n != 1 {
		t.Errorf("the log says %d times that output was dropped, want once", n)
	}
	c.run("shows") // which fill the room that big messages have left
	last := c.shell.send("execute_request", cellOf("value 1"))
	c.ran(last)
	stalled.listen()
	for m := stalled.next(); m.parent != last || m.content["execution_state"] != "idle"; m = stalled.next() {
	}
	c.run("value 2")
	if r.log.count("after missing") != 1 {
		t.Error("the log does not say how much the stalled subscriber has missed")
	}
}

func lengthOf(published []received) (n int) {
	for _, m := range published {
		if m.kind == "stream" {
			n += len(m.content["text"].(string))
		}
	}
	return n
}

// TestManyPrints checks that small prints are few messages, and lose nothing.
func TestManyPrints(t *testing.T) {
	c := start(t, "").client("a")
	begun := time.Now()
	_, published := c.finish(c.shell.send("execute_request", cellOf("lines")))
	took := time.Since(begun)
	var text strings.Builder
	messages := 0
	for _, m := range published {
		if m.kind == "stream" {
			messages++
			text.WriteString(m.content["text"].(string))
		}
	}
	lines := strings.Fields(text.String())
	for i, line := range lines {
		if line != fmt.Sprint(i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	if len(lines) != 20000 || messages > 200 || took > 30*time.Second {
		t.Errorf("%d lines come in %d messages in %v", len(lines), messages, took)
	}
}

func TestReconnects(t *testing.T) {
	r := start(t, "")
	first := r.client("first")
	for i := range 20 {
		c := r.client(fmt.Sprint("again ", i))
		if _, shown := c.run("value 1"); shown != "[execute_result 1]" {
			t.Fatalf("connection %d shows %q", i, shown)
		}
		for _, ch := range []*channel{c.shell, c.control, c.stdin, c.iopub} {
			ch.conn.Close()
		}
	}
	if reply, _ := first.run("value 2"); reply["execution_count"] != 21.0 {
		t.Errorf("the first client's cell has the number %v", reply["execution_count"])
	}
}

// TestTopics subscribes to some of what is published.
func TestTopics(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	some := r.dial(r.c.IOPub, zmq4.Sub, "some").listen()
	some.frames([][]byte{append([]byte{1}, "stre"...)})
	if m := some.next(); m.kind != "iopub_welcome" || m.content["subscription"] != "stre" {
		t.Errorf("the subscriber is greeted with %v", m)
	}
	c.run("print a")
	if m := some.next(); m.kind != "stream" {
		t.Errorf("the subscriber gets %v", m)
	}
	some.frames([][]byte{append([]byte{0}, "stre"...)})
	some.frames([][]byte{append([]byte{1}, "err"...)}) // whose welcome says that the rest was read
	if m := some.next(); m.kind != "iopub_welcome" {
		t.Errorf("the subscriber gets %v", m)
	}
	c.run("print b\nfail")
	if m := some.next(); m.kind != "error" {
		t.Errorf("the subscriber gets %v", m)
	}
}

func TestReplayMemoryIsBounded(t *testing.T) {
	s := newSigner("k")
	for i := range 3 * maxSeen {
		if !s.fresh(fmt.Append(nil, i)) {
			t.Fatalf("signature %d is taken for an old one", i)
		}
	}
	if len(s.seen) != maxSeen || s.fresh(fmt.Append(nil, 3*maxSeen-1)) {
		t.Errorf("%d signatures are remembered, want the last %d", len(s.seen), maxSeen)
	}
}

func TestReadConnection(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{`{"transport":"tcp","ip":"127.0.0.1","shell_port":1,"key":"k","signature_scheme":"hmac-sha256"}`, ""},
		{`{"transport":"tcp","key":""}`, ""},
		{`{"transport":"ipc"}`, "use tcp"},
		{`{"transport":"tcp","key":"k","signature_scheme":"hmac-md5"}`, "use hmac-sha256"},
		{`{`, "unexpected end"},
	} {
		_, err := ReadConnection(write(t, "c.json", x.text))
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s is read with the error %v, want %q", x.text, err, x.want)
		}
	}
	if _, err := ReadConnection("nothere"); !os.IsNotExist(unwrapped(err)) {
		t.Errorf("a missing file gives %v", err)
	}
}

func unwrapped(err error) error {
	if w, ok := err.(interface{ Unwrap() error }); ok {
		return w.Unwrap()
	}
	return err
}

// TestHugeCell: a signed cell of 80 MB is refused with the limit, and neither echoed to
// the front ends nor kept in the history; the next one runs.
func TestHugeCell(t *testing.T) {
	r := start(t, "")
	c := r.client("a")
	reply, published := c.request("execute_request", cellOf(strings.Repeat("x++; ", 16<<20)))
	if text := fmt.Sprint(reply["evalue"]); reply["status"] != "error" || !strings.Contains(text, "the text has 80.0 MiB: a cell or script may have 2") {
		t.Errorf("the kernel replies %.300v", reply)
	}
	for _, m := range published {
		if size := len(fmt.Sprint(m.content)); size > 10_000 || m.kind == "execute_input" {
			t.Errorf("%s of %d bytes is published", m.kind, size)
		}
	}
	if _, shown := c.run("value 4"); shown != "[execute_result 4]" {
		t.Errorf("afterwards a cell shows %q", shown)
	}
}
