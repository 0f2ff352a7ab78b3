package jupyter

import (
	"context"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"noema/kernel/base/display"
	"noema/kernel/session/cell"
)

// Stream output is collected for this time or up to this many bytes, so that
// thousands of small prints make a few messages.
const (
	collectFor = 20 * time.Millisecond
	collectTo  = 256 << 10
)

// output publishes the output of the running cell.
type output struct {
	k *kernel

	mu     sync.Mutex
	parent *message
	silent bool
	stdin  bool
	name   string // of the stream in buffer
	buffer []byte
	timer  *time.Timer
	ids    map[string]bool // display ids that the cell has shown
	closed bool
}

var _ cell.Output = (*output)(nil)

func newOutput(k *kernel) *output { return &output{k: k, ids: map[string]bool{}} }

// begin makes m the parent of all following output. Display ids are per cell: when
// a cell runs again, its earlier outputs are gone and cannot be updated.
func (o *output) begin(m *message, silent, stdin bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
	o.parent, o.silent, o.stdin = m, silent, stdin
	clear(o.ids)
}

// Stream implements [cell.Output].
func (o *output) Stream(name string, text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.silent || o.closed {
		return
	}
	if name != o.name {
		o.flushLocked()
		o.name = name
	}
	o.buffer = append(o.buffer, text...)
	if len(o.buffer) >= collectTo {
		o.flushLocked()
		return
	}
	if o.timer == nil {
		o.timer = time.AfterFunc(collectFor, o.flush)
	}
}

// flush publishes the collected output.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
}

func (o *output) flushLocked() {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	if len(o.buffer) == 0 || o.closed {
		return
	}
	text := string(o.buffer)
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	o.buffer = o.buffer[:0]
	if cap(o.buffer) > 4*collectTo {
		o.buffer = nil
	}
	o.k.publish(o.parent, "stream", map[string]any{"name": o.name, "text": text})
}

// Show implements [display.Screen]. An id that is shown again is updated.
func (o *output) Show(id string, b display.Bundle) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.silent || o.closed {
		return
	}
	o.flushLocked()
	content := map[string]any{"data": dataOf(b), "metadata": map[string]any{}, "transient": map[string]any{}}
	kind := "display_data"
	if id != "" {
		content["transient"] = map[string]any{"display_id": id}
		if o.ids[id] {
			kind = "update_display_data"
		}
		o.ids[id] = true
	}
	o.k.publish(o.parent, kind, content)
}

// Clear implements [display.Screen].
func (o *output) Clear(wait bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.silent || o.closed {
		return
	}
	o.flushLocked()
	o.k.publish(o.parent, "clear_output", map[string]any{"wait": wait})
}

// Input implements [cell.Output]: it asks the client that sent the cell.
func (o *output) Input(ctx context.Context, prompt string, password bool) (string, error) {
	o.mu.Lock()
	o.flushLocked()
	parent, allowed := o.parent, o.stdin
	o.mu.Unlock()
	if !allowed || parent == nil {
		return "", errors.New("read input: the client does not allow input")
	}
	p := o.k.stdin.find(parent.from.identity)
	if p == nil {
		return "", errors.New("read input: the client has no stdin channel")
	}
	frames, err := o.k.signer.encode(nil, newHeader(o.k.id, "input_request"), parent.raw,
		map[string]any{"prompt": prompt, "password": password})
	if err != nil {
		return "", err
	}
	answers, done := o.k.asking.ask(p)
	defer done()
	p.send(frames, 0)
	select {
	case line := <-answers:
		return line, nil
	case <-p.gone:
		return "", errors.New("read input: the client has disconnected")
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// question is the pending input request, if any. Answers do not name their request;
// one that arrives after an interrupt must not answer the next request.
type question struct {
	mu      sync.Mutex
	of      *peer
	answers chan string
}

// ask waits for an answer of p until done is called.
func (q *question) ask(p *peer) (answers <-chan string, done func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := make(chan string, 1)
	q.of, q.answers = p, own
	return own, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.answers == own {
			q.of, q.answers = nil, nil
		}
	}
}

// answer passes on the answer of p and reports whether p was asked.
func (q *question) answer(p *peer, line string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of != p || p == nil {
		return false
	}
	q.answers <- line // it has room for the one
	q.of, q.answers = nil, nil
	return true
}

// close publishes the collected output and discards what follows.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
	o.closed = true
}
