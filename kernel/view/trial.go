package view

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/show/report"
	"noema/methods"
)

// callRow is a call in a trial's list: indented by its place, with a bar for its
// time.
type callRow struct {
	To, Path, Kind, Fault, Tokens, Time string
	Depth, Width                        int // levels; percent of the trial's longest call
}

// cell is one trial in short.
type cell struct {
	To, Answer, Outcome, Score string
	State                      string // good, bad, or missing, for its colour
}

func (l *loaded) cell(t *record.Trial) cell {
	answer := string(t.Answer.Value)
	if words, ok := t.Answer.InWords(); ok {
		answer = words
	}
	c := cell{To: trialLink(l.Run.ID, t.ID), Answer: answer, Outcome: string(t.Answer.Outcome), State: "bad"}
	name, v, ok := compare.Headline(t)
	switch {
	case ok:
		c.Score = fmt.Sprintf("%s %.3g", name, v)
	case t.Infra:
		c.Score, c.State = "left out", "missing"
	case !t.HasTarget():
		c.Score, c.State = "unscored", ""
	}
	if compare.Right(t) {
		c.State = "good"
	}
	return c
}

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

// maxEvents is how many events of a trial are shown.
const maxEvents = 2000

// trial shows one trial: the method's own graph, its calls, its events.
func (p *Page) trial(r *http.Request) (string, content, error) {
	l, t, err := p.find(r)
	if err != nil {
		return "", content{}, err
	}
	words, _ := t.Answer.InWords()
	shown := t.Events[:min(len(t.Events), maxEvents)]
	body := map[string]any{
		"Events": shown, "MoreEvents": len(t.Events) - len(shown),
		"Trial": t, "Cell": l.cell(t), "Answer": string(t.Answer.Value), "Words": words, "Calls": callRows(l.Run.ID, t),
		"Total": fmt.Sprintf("%s, %s, %s, model time %s", report.Plural(len(t.Calls), "call"), report.Plural(int(t.Usage.Tokens()), "token"), report.Cost(t.Usage), round(t.Usage.Latency)),
	}
	if t.HasTarget() {
		body["Target"], body["Shuffled"] = string(t.Target), report.Shuffled(l.Run, t)
	}
	if g, ok := report.GraphOf(t); ok {
		body["Graph"] = display.Draw(g)
	}
	if c := l.credit(); c != nil {
		body["Graph"] = display.Draw(report.CreditGraph(c.Credit, t))
	}
	return "trial.html", content{Title: "trial " + t.ID.String(), Crumb: p.crumb(l, t), Body: body}, nil
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

func callRows(run string, t *record.Trial) []callRow {
	longest, calls := time.Duration(1), slices.Concat(t.Calls, t.Grading)
	for _, c := range calls {
		longest = max(longest, c.Usage.Latency)
	}
	rows := make([]callRow, len(calls))
	for i, c := range calls {
		rows[i] = callRow{
			Path: c.Path, Kind: string(c.Kind), Fault: string(c.Fault), Time: round(c.Usage.Latency), Depth: strings.Count(c.Path, "/"),
			Width: int(100 * c.Usage.Latency / longest), Tokens: fmt.Sprintf("%d+%d", c.Usage.InputTokens, c.Usage.OutputTokens),
		}
		if c.Fault != "" {
			rows[i].Fault += ": " + c.Error
		}
		if c.Kind == record.CompletionCall && c.Fault == "" {
			rows[i].To = callLink(run, t.ID, c)
		}
	}
	return rows
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
