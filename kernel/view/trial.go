package view

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/result/record"
	"noema/methods"
)

// find returns the trial that a request names.
func (p *Page) find(r *http.Request) (*loaded, *record.Trial, error) {
	l, err := p.cache.get(r.PathValue("run"))
	if err != nil {
		return nil, nil, err
	}
	q := r.URL.Query()
	epoch, _ := strconv.Atoi(q.Get("e")) // without one it is the first
	id := record.TrialID{Method: q.Get("m"), Sample: q.Get("s"), Epoch: max(epoch, 1) - 1}
	t, err := l.whole(id)
	return l, t, err
}

func (p *Page) crumb(l *loaded, t *record.Trial) []link {
	return []link{
		{"runs", "/"}, {"run " + l.Run.ID, runLink(l.Run.ID, "")},
		{"sample " + t.ID.Sample, runLink(l.Run.ID, "sample", "s", t.ID.Sample)},
	}
}

func round(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond / 10).String()
	}
	return d.Round(time.Second / 10).String()
}

func callLink(run string, id record.TrialID, c record.Call) string {
	return runLink(run, "call", "m", id.Method, "s", id.Sample, "e", strconv.Itoa(id.Epoch+1), "path", c.Path, "draw", strconv.Itoa(c.Draw))
}

// maxShown is how much of a text is shown before one asks for all of it.
const maxShown = 64 << 10

// said is one message of a call.
type said struct {
	Role, Text string
	More       int // bytes that are not shown
}

// call shows one model call: its request and its reply.
func (p *Page) call(r *http.Request) (string, content, error) {
	l, t, err := p.find(r)
	if err != nil {
		return "", content{}, err
	}
	q := r.URL.Query()
	draw, _ := strconv.Atoi(q.Get("draw")) // without one it is the first
	for _, c := range slices.Concat(t.Calls, t.Grading) {
		if c.Path != q.Get("path") || c.Draw != draw || c.Kind != record.CompletionCall {
			continue
		}
		x, err := l.Read(t.ID, c)
		if err != nil {
			return "", content{}, err
		}
		all := q.Get("all") != ""
		var messages []said
		for _, m := range append(x.Request.Messages, methods.Message{Role: "reply", Content: x.Record.Completion.Text}) {
			messages = append(messages, show(string(m.Role), l.clean(m.Content), all))
		}
		miscount, failed := x.Record.Miscount()
		attempts := x.Record.Attempts[:failed]
		for i := range attempts {
			attempts[i].Message = l.clean(attempts[i].Message)
		}
		full := *r.URL
		values := full.Query()
		values.Set("all", "yes")
		full.RawQuery = values.Encode()
		return "call.html", content{
			Title: "call " + c.Path, Crumb: append(p.crumb(l, t), link{"trial " + t.ID.Method, trialLink(l.Run.ID, t.ID)}),
			Body: map[string]any{"Call": c, "Messages": messages, "All": full.RequestURI(), "Miscount": l.clean(miscount), "Attempts": attempts, "Time": round(c.Usage.Latency), "Sampling": x.Request.Sampling},
		}, nil
	}
	return "", content{}, fmt.Errorf("trial %s has no model call %q", t.ID, q.Get("path"))
}

func show(role, text string, all bool) said {
	if all || len(text) <= maxShown {
		return said{Role: role, Text: display.Visible(text)}
	}
	return said{Role: role, Text: display.Visible(strings.ToValidUTF8(text[:maxShown], "")), More: len(text) - maxShown}
}
