package plugins

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
)

// How much of a plugin's output is kept for errors.
const (
	tailBytes = 8 << 10
	tailLines = 12
)

// output keeps the end of what a plugin writes to stdout and stderr, and counts
// how much it writes in one trial.
type output struct {
	limit int64               // bytes of one trial; 0 means any
	flood func(stream string) // called with each write beyond the limit

	mu    sync.Mutex
	buf   []byte
	count int64
	may   int64 // bytes of the trials so far
	told  map[int]func(text []byte, shared bool)
	next  int // key of told
}

// printedKey marks the context of a trial that wants its plugin's output.
type printedKey struct{}

// WithOutput returns a context with which [Plugin.Solve] calls f with what the
// plugin's process prints to stdout and stderr meanwhile, as it comes. It is shared
// if other trials run in the process, one of which may have printed it. f must not
// block or keep text.
func WithOutput(ctx context.Context, f func(text []byte, shared bool)) context.Context {
	return context.WithValue(ctx, printedKey{}, f)
}

// OutputOf is what a context has of [WithOutput], or nil.
func OutputOf(ctx context.Context) func(text []byte, shared bool) {
	f, _ := ctx.Value(printedKey{}).(func([]byte, bool)) // nil without
	return f
}

// follow tells the output to what ctx has of [WithOutput], until end is called.
func (o *output) follow(ctx context.Context) (end func()) {
	f := OutputOf(ctx)
	if f == nil {
		return func() {}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told == nil {
		o.told = map[int]func([]byte, bool){}
	}
	o.next++
	key := o.next
	o.told[key] = f
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.told, key)
	}
}

// stream returns the writer for one of the two streams.
func (o *output) stream(name string) io.Writer { return &stream{o, name} }

type stream struct {
	all  *output
	name string
}

// Write implements io.Writer and never fails.
func (s *stream) Write(p []byte) (int, error) {
	if s.all.add(p) {
		s.all.flood(s.name)
	}
	return len(p), nil
}

// add keeps the end of p, and reports whether it is too much.
func (o *output) add(p []byte) (tooMuch bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = append(o.buf, p[max(0, len(p)-tailBytes):]...)
	if over := len(o.buf) - tailBytes; over > 0 {
		o.buf = append(o.buf[:0], o.buf[over:]...)
	}
	for _, f := range o.told {
		f(p, len(o.told) > 1)
	}
	o.count += int64(len(p))
	return o.limit > 0 && o.count > max(o.limit, o.may)
}

// begin lets a further trial write as much as one may. With idle set it first
// forgets everything.
func (o *output) begin(idle bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if idle {
		o.buf, o.count, o.may = o.buf[:0], 0, 0
	}
	o.may += o.limit
}

// String returns the last lines, as valid UTF-8.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(o.buf), []byte("\n"))
	lines = lines[max(0, len(lines)-tailLines):]
	return strings.ToValidUTF8(string(bytes.Join(lines, []byte("\n"))), "\uFFFD")
}
