package view

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/kernel/task"
	"noema/methods"
)

// maxEvents is how many events of a trial are shown.
const maxEvents = 2000

// trialPage is what the page of a trial shows.
type trialPage struct {
	*record.Trial
	Came                                                    column
	Run, Question, TargetLabel, Shuffled, Total, Model, Raw string
	News, Rest                                              string // the heading: in bold, and behind it
	Graph                                                   display.Graph
	Turns                                                   []turn
	Caches                                                  string // how many calls were new
	Others                                                  []other
	With                                                    other  // what the trial is held against
	Parted                                                  string // the first step that differs from it
	PartedAt                                                int    // its place among Turns, from 1; 0 if it has no call
	Folded                                                  int    // events that are not shown
	Before, After                                           string
}

// other is a trial of the same sample by another method.
type other struct{ Method, Mark, Class, To, Beside, Command string }

// trial shows one trial: what was asked and came of it, the method's own graph, the
// conversation in the order in which it was held, its events.
func (p *Page) trial(r *http.Request) (string, content, error) {
	l, t, err := p.find(r)
	if err != nil {
		return "", content{}, err
	}
	all := l.Samples()
	at := slices.IndexFunc(all, func(s task.Sample) bool { return s.ID == t.ID.Sample })
	if at < 0 {
		return "", content{}, fmt.Errorf("run %s has no sample %q", l.Run.ID, t.ID.Sample)
	}
	s, m := all[at], slices.Index(runner.Labels(l.Run), t.ID.Method)
	x := &trialPage{
		Trial: t, Came: l.column(s, m, t.ID), Run: l.Run.ID, Question: s.Problem.Query, Shuffled: report.Shuffled(l.Run, t),
		Model: report.ModelName(l.Run.Config.Model), Raw: strings.Replace(trialLink(l.Run.ID, t.ID), "/trial?", "/trial.json?", 1),
		Total:  fmt.Sprintf("%s · %s+%s tokens · %s · %s", report.Plural(len(t.Calls), "call"), display.Count(int(t.Usage.InputTokens)), display.Count(int(t.Usage.OutputTokens)), round(t.Usage.Latency), report.Cost(t.Usage)),
		Folded: max(0, len(t.Events)-maxEvents),
	}
	if t.HasTarget() {
		x.TargetLabel = l.label(s, t.Seed, m, string(t.Target))
	}
	near := func(i int) string {
		id := t.ID
		if i < 0 || i >= len(all) {
			return ""
		}
		id.Sample = all[i].ID
		return trialLink(l.Run.ID, id)
	}
	x.Before, x.After = near(at-1), near(at+1)
	x.head()
	x.converse(l)
	x.compared(l, r.URL.Query().Get("with"))
	x.draw(l)
	keys := []keys{{[]string{"n", "p"}, "next, previous sample"}, {[]string{"d"}, "first difference"}, {[]string{"r"}, "replace the open reply"}, {[]string{"u"}, "up"}}
	return "trial.html", content{Title: "trial " + t.ID.String(), Crumb: p.crumb(l, t), Body: x, OwnHead: true, Keys: keys}, nil
}

// head says the news of the trial in a sentence.
func (x *trialPage) head() {
	answer, _, _ := strings.Cut(strings.TrimSpace(x.Came.Answer), "\n")
	x.News = x.ID.Method + " answers " + answer + "."
	switch came := cameOf(x.Trial); {
	case came == noAnswer || came == leftOut || answer == "":
		x.News, x.Rest = x.ID.Method+" gave no answer.", x.Failure
		if x.Rest == "" {
			x.Rest = x.Trial.Answer.Reason
		}
	case came == right:
		x.Rest = "That is right."
	case x.TargetLabel == "":
		x.Rest = "Whether that is right is not known."
	case x.ranked() != "":
		x.Rest = "The target, " + x.TargetLabel + ", " + x.ranked() + "."
	default:
		x.Rest = "The target is " + x.TargetLabel + "."
	}
}

// ranked says where a ranking has its target; nothing of other answers.
func (x *trialPage) ranked() string {
	order, err := x.Trial.Answer.Ranking()
	var gold []int
	if err != nil || json.Unmarshal(x.Target, &gold) != nil || len(gold) != 1 {
		return ""
	}
	if at := slices.Index(order, gold[0]); at >= 0 {
		return fmt.Sprintf("stands at place %d", at+1)
	}
	return fmt.Sprintf("is not among its %d", len(order))
}

// compared holds the trial against another of its sample: the one that is named, else, if it
// is not right itself, the first that is.
func (x *trialPage) compared(l *loaded, name string) {
	var against *record.Trial
	for _, label := range runner.Labels(l.Run) {
		id := x.ID
		if id.Method = label; label == x.ID.Method {
			continue
		}
		t, err := l.whole(id)
		if err != nil {
			continue
		}
		o := other{Method: label, To: trialLink(l.Run.ID, x.ID) + "&with=" + url.QueryEscape(label), Beside: runLink(l.Run.ID, "sample", "s", id.Sample)}
		o.Class, o.Mark, _ = cameOf(t).looks()
		o.Beside += "&m=" + url.QueryEscape(x.ID.Method) + "&m=" + url.QueryEscape(label)
		o.Command = command("noema", "diff", l.Run.ID+"/"+x.ID.Method, l.Run.ID+"/"+label)
		x.Others = append(x.Others, o)
		if label == name || name == "" && against == nil && o.Class == "good" && cameOf(x.Trial) != right {
			x.With, against = o, t
		}
	}
	if against != nil {
		x.part(l, against)
	}
}

// part marks the steps that came to another value than the same steps of another trial.
func (x *trialPage) part(l *loaded, against *record.Trial) {
	values := func(t *record.Trial) map[string]string {
		g, _ := report.GraphOf(t)
		byKey := map[string]string{}
		for _, n := range g.Nodes {
			byKey[record.StepOf(n).Key] = n.Value
		}
		return byKey
	}
	theirs := values(against)
	g, _ := report.GraphOf(x.Trial)
	for i, n := range g.Nodes {
		key := record.StepOf(n).Key
		ref, shared := theirs[key]
		part := stepPart{value: n.Value, made: true, Pieces: []piece{{Text: display.Line(n.Value, maxText)}}}
		if key == "" || !shared || n.Value == "" || ref == "" || !part.against(stepPart{value: ref, made: true}) {
			continue
		}
		g.Nodes[i].State = display.Differs
		at := slices.IndexFunc(x.Turns, func(c turn) bool { return c.Path == n.Path })
		if at >= 0 {
			x.Turns[at].Differs, x.Turns[at].Theirs = part.Pieces, display.Line(ref, maxText)
		}
		if x.Parted == "" {
			x.Parted, x.PartedAt = display.About(n), at+1
		}
	}
	x.Graph.Graph = g
}

// draw draws the trial's graph; a click on a node leads to its call.
func (x *trialPage) draw(l *loaded) {
	if g, ok := report.GraphOf(x.Trial); ok && len(x.Graph.Nodes) == 0 {
		x.Graph.Graph = g
	}
	if c := l.credit(); c != nil {
		x.Graph.Graph = report.CreditGraph(c.Credit, x.Trial)
	}
	places := map[string]int{}
	for _, c := range x.Turns {
		for path := c.Path; path != ""; path, _ = cutLast(path) {
			if _, known := places[path]; !known {
				places[path] = c.Place
			}
		}
	}
	x.Graph = display.Draw(x.Graph.Graph)
	if len(x.Graph.Nodes) == 0 { // a method that draws nothing made its calls one after another
		return
	}
	x.Graph.Link = func(n methods.Node) string {
		if at := places[n.Path]; at > 0 {
			return "#call-" + strconv.Itoa(at)
		}
		return ""
	}
}

// cutLast is a path without its last segment.
func cutLast(path string) (string, bool) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], i >= 0
}

// rawTrial is the record of a trial as JSON.
func (p *Page) rawTrial(w http.ResponseWriter, r *http.Request) {
	_, t, err := p.find(r)
	var raw []byte
	if err == nil {
		raw, err = json.MarshalIndent(t, "", "  ") // with < and > escaped
	}
	if err != nil {
		http.Error(w, display.Visible(err.Error()), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Write(raw) //nolint:errcheck // the client is gone
}
