package methodtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"noema/methods"
)

// Transcript is what a method did in one trial, in an order that does not
// depend on when things happened: calls by path and draw, tool calls and
// events by path. Events of one path keep the order in which they came, which
// a method must therefore not leave to chance.
type Transcript struct {
	Calls  []Call
	Tools  []ToolUse
	Events []methods.Event
}

// Call is one model call with its reply.
type Call struct {
	Request    methods.Request
	Completion methods.Completion
	Err        error  // nil if the call succeeded
	Building   string // kind of the method seed that the call helped to build; empty for the trial's own
}

// ToolUse is one tool call with its result.
type ToolUse struct {
	Call     methods.ToolCall
	Result   methods.ToolResult
	Err      error
	Building string // as in Call
}

// calls counts the calls of models and tools.
func (t Transcript) calls() int { return len(t.Calls) + len(t.Tools) }

// failed counts the calls that failed with cause.
func (t Transcript) failed(cause error) (n int) {
	for _, c := range t.Calls {
		if class(c.Err) == cause.Error() {
			n++
		}
	}
	for _, u := range t.Tools {
		if class(u.Err) == cause.Error() {
			n++
		}
	}
	return n
}

// sort brings t into its order.
func (t *Transcript) sort() {
	slices.SortStableFunc(t.Calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Building, b.Building),
			cmp.Compare(a.Request.Path, b.Request.Path), cmp.Compare(a.Request.Draw, b.Request.Draw))
	})
	slices.SortStableFunc(t.Tools, func(a, b ToolUse) int {
		return cmp.Or(cmp.Compare(a.Building, b.Building), cmp.Compare(a.Call.Path, b.Call.Path))
	})
	slices.SortStableFunc(t.Events, func(a, b methods.Event) int { return cmp.Compare(a.Path, b.Path) })
}

// Diff describes the first difference between t and u; it is empty if they
// are the same. Empty and absent lists count as the same, as they do on the
// wire.
func (t Transcript) Diff(u Transcript) string {
	a, b := t.lines(), u.lines()
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return differ(a[i], b[i])
		}
	}
	switch {
	case len(a) > len(b):
		return fmt.Sprintf("only the first has %.300s", a[len(b)])
	case len(b) > len(a):
		return fmt.Sprintf("only the second has %.300s", b[len(a)])
	}
	return ""
}

// differ shows two texts around the place where they part.
func differ(a, b string) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	from := max(0, at-60)
	return fmt.Sprintf("%.40s… differs at byte %d: %.160q against %.160q", a, at, a[from:], b[from:])
}

// lines renders each entry as one line.
func (t Transcript) lines() []string {
	var lines []string
	for _, c := range t.Calls {
		tidyRequest(&c.Request)
		c.Completion.ToolCalls = tidyCalls(c.Completion.ToolCalls)
		lines = append(lines, render("call "+c.Request.Path, c.Request, c.Completion, errText(c.Err), c.Building))
	}
	for _, u := range t.Tools {
		u.Call.Arguments = tidyJSON(u.Call.Arguments)
		lines = append(lines, render("tool "+u.Call.Path, u.Call, u.Result, errText(u.Err), u.Building))
	}
	for _, e := range t.Events {
		e.Data = tidyJSON(e.Data)
		lines = append(lines, render("event "+e.Path, e))
	}
	return lines
}

// render writes JSON where it can. What is not JSON (a method may put anything
// into a raw message) is written as Go writes it.
func render(head string, parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		return fmt.Sprintf("%s %+v", head, parts)
	}
	return head + " " + string(text)
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// tidyRequest makes empty lists nil in a copy of r's lists.
func tidyRequest(r *methods.Request) {
	r.Messages = tidyList(r.Messages)
	for i := range r.Messages {
		r.Messages[i].ToolCalls = tidyCalls(r.Messages[i].ToolCalls)
	}
	r.Sampling.Stop = tidyList(r.Sampling.Stop)
	r.Tools = tidyList(r.Tools)
	for i := range r.Tools {
		r.Tools[i].Parameters = tidyJSON(r.Tools[i].Parameters)
		r.Tools[i].Result = tidyJSON(r.Tools[i].Result)
	}
	if r.Schema != nil {
		r.Schema = &methods.Schema{Name: r.Schema.Name, JSON: tidyJSON(r.Schema.JSON)}
	}
}

func tidyCalls(calls []methods.ToolCall) []methods.ToolCall {
	calls = tidyList(calls)
	for i := range calls {
		calls[i].Arguments = tidyJSON(calls[i].Arguments)
	}
	return calls
}

// tidyList is a copy of list, nil if it is empty.
func tidyList[T any](list []T) []T { return append([]T(nil), list...) }

// tidyJSON is a copy of raw, nil if it is empty.
func tidyJSON(raw json.RawMessage) json.RawMessage { return tidyList(bytes.TrimSpace(raw)) }
