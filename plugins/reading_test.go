package plugins

import (
	"context"
	"io"
	"math"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/methodspb"
	"noema/plugins/internal/wire"
)

// pipes are a plugin that the test plays.
type pipes struct {
	to   chan *wire.HostMessage
	from chan *wire.PluginMessage
}

func (p pipes) Send(m *wire.HostMessage) error { p.to <- m; return nil }

func (p pipes) Recv() (*wire.PluginMessage, error) {
	m, ok := <-p.from
	if !ok {
		return nil, io.EOF
	}
	return m, nil
}

func (p pipes) call(c *wire.Call) {
	p.from <- &wire.PluginMessage{Frames: []*wire.PluginFrame{{Frame: &wire.PluginFrame_Call{Call: c}}}}
}

// busy is a host whose calls last until they are released. It offers nothing else.
type busy struct {
	methods.Host
	release chan struct{}
	calls   chan struct{}
}

func (b busy) Complete(context.Context, methods.Request) (methods.Completion, error) {
	b.calls <- struct{}{}
	<-b.release
	return methods.Completion{}, nil
}

// TestReadsOfAPlugin attacks the call "read": with specifications that no task has, while all
// the room of calls is taken, and with a call that this kernel does not know. None of it
// reaches the trial's host, which records.
func TestReadsOfAPlugin(t *testing.T) {
	t.Parallel()
	plugin := pipes{make(chan *wire.HostMessage, 1000), make(chan *wire.PluginMessage)}
	host := busy{release: make(chan struct{}), calls: make(chan struct{}, 2*maxCalls)}
	done := make(chan error)
	go func() {
		_, err := newSession(t.Context(), host, false).run(plugin, methods.Problem{}, nil)
		done <- err
	}()
	result := func() *wire.Result {
		for m := range plugin.to {
			for _, f := range m.GetFrames() {
				if r := f.GetResult(); r != nil && r.GetCompletion() == nil {
					return r
				}
			}
		}
		return nil
	}
	for i := range maxCalls {
		plugin.call(&wire.Call{Id: uint64(i + 1), What: &wire.Call_Complete{Complete: &wire.Request{Messages: []*methodspb.Message{{Role: "user"}}}}})
	}
	texts := []string{"", "The answer is A.", "Answer: [3, 1]", `{"answer": ["A", 2]}`, "\\boxed{", strings.Repeat("[", 1<<8), strings.Repeat("Answer: (A) pears\n", 1<<6), "<think>", "Answer: 1\u202f234 × 10⁷"}
	id := uint64(1000)
	for _, kind := range []string{"ranking", "choice", "number", "text", "set", "fields", "", "x\x00"} {
		for _, n := range []int64{0, 3, -1, math.MinInt64, math.MaxInt64} {
			for i, some := range [][]string{nil, {"A"}, {"A", "", "A", "\u2028"}} {
				spec := &wire.AnswerSpec{Kind: kind, N: n, K: -n, Labels: some, Texts: [][]string{{"pears"}, nil, {"", "A"}}[i], Names: some, Decimal: kind, Percent: kind}
				for _, text := range texts {
					id++
					plugin.call(&wire.Call{Id: id, What: &wire.Call_Read{Read: &wire.Read{Text: text, Spec: spec, Cut: i == 1}}})
					r := result()
					if r.GetId() != id || (r.GetAnswer() == nil) == (r.GetError() == nil) {
						t.Fatalf("%v of %.30q: %v", spec, text, r)
					}
				}
			}
		}
	}
	plugin.call(&wire.Call{Id: id + 1, What: &wire.Call_Read{}})
	if r := result(); r.GetError() == nil {
		t.Errorf("a reading of nothing: %v", r)
	}
	close(host.release)
	plugin.call(&wire.Call{Id: id + 2})
	// By these words the Python package knows a kernel that is older than a call.
	if r := result(); r.GetError().GetMessage() != "call host: unknown kind of call" {
		t.Errorf("an unknown call: %v", r)
	}
	plugin.from <- &wire.PluginMessage{Frames: []*wire.PluginFrame{{Frame: &wire.PluginFrame_Finish{Finish: &wire.Finish{}}}}}
	if err := <-done; err != nil || len(host.calls) != maxCalls {
		t.Errorf("%d calls, %v", len(host.calls), err)
	}
}
