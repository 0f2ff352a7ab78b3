package view

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/kernel/task"
	"noema/methods"
)

// beside is how many methods' transcripts stand beside each other at most.
const beside = 4

// drawer is a sample with the transcripts of some methods in columns.
type drawer struct {
	Sample        task.Sample
	Target        string
	Context       string
	Chips         []chip
	Epochs        []link // to the same of another epoch; nil of a run with one
	Columns       []column
	Rows          []alignedRow
	Reference     string // the method that the others are held against
	Before, After string
	Page          string // of its own
	More          int    // steps that are not shown
}

// chip chooses a method.
type chip struct {
	Method, To, Class, Mark string
	Chosen                  bool
}

// column is a method's trial of the sample.
type column struct {
	Method, Class, Mark, Says, To, Answer, Use, Score, Target, Reason string
	Value                                                             string // the answer as it is scored
	Evidence                                                          []methods.Evidence
	Epochs                                                            []link
	trial                                                             *record.Trial
}

// chosen are the methods that a query names, or the first ones.
func (l *loaded) chosen(q url.Values) []string {
	labels := runner.Labels(l.Run)
	chosen := slices.DeleteFunc(slices.Clone(q["m"]), func(m string) bool { return !slices.Contains(labels, m) })
	if len(chosen) == 0 && q.Get("beats") != "" {
		return l.chosen(url.Values{"m": {q.Get("beats"), q.Get("over")}})
	}
	if len(chosen) == 0 {
		chosen = labels[:min(2, len(labels))]
	}
	return chosen[:min(len(chosen), beside)]
}

// drawer shows a sample with the methods, and in the epoch, that a query chooses. Its choices
// lead to a page of the run.
func (l *loaded) drawer(page, sample string, q url.Values) (*drawer, error) {
	all := l.Samples()
	at := slices.IndexFunc(all, func(s task.Sample) bool { return s.ID == sample })
	if at < 0 {
		return nil, fmt.Errorf("run %s has no sample %q", l.Run.ID, sample)
	}
	d := &drawer{Sample: all[at], Context: string(all[at].Problem.Context), Page: runLink(l.Run.ID, "sample", "s", sample)}
	if d.Sample.Scored() {
		d.Target = l.label(d.Sample, 0, -1, string(d.Sample.Target))
	}
	if at > 0 {
		d.Before = runLink(l.Run.ID, "sample", "s", all[at-1].ID)
	}
	if at+1 < len(all) {
		d.After = runLink(l.Run.ID, "sample", "s", all[at+1].ID)
	}
	epoch, _ := strconv.Atoi(q.Get("e")) // without one it is the first
	epoch = min(max(epoch, 1), max(l.Run.Config.Epochs, 1))
	chosen := l.chosen(q)
	for m, label := range runner.Labels(l.Run) {
		one := l.column(d.Sample, m, record.TrialID{Method: label, Sample: sample, Epoch: epoch - 1})
		if slices.Contains(chosen, label) {
			d.Columns = append(d.Columns, one)
		}
		d.Chips = append(d.Chips, chip{label, l.with(page, q, sample, label, chosen), one.Class, one.Mark, slices.Contains(chosen, label)})
	}
	for e := range l.Run.Config.Epochs {
		if l.Run.Config.Epochs > 1 {
			d.Epochs = append(d.Epochs, link{strconv.Itoa(e + 1), l.address(page, with(q, "e", strconv.Itoa(e+1)), sample, chosen)})
		}
	}
	if d.Epochs != nil {
		d.Epochs[epoch-1].To = ""
	}
	slices.SortStableFunc(d.Columns, func(a, b column) int { return slices.Index(chosen, a.Method) - slices.Index(chosen, b.Method) })
	d.align(l)
	return d, nil
}

// with is the address of the sample with a method more, or without it.
func (l *loaded) with(page string, q url.Values, sample, method string, chosen []string) string {
	if slices.Contains(chosen, method) {
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(m string) bool { return m == method })
	} else {
		chosen = append(slices.Clone(chosen[max(0, len(chosen)-beside+1):]), method)
	}
	return l.address(page, q, sample, chosen)
}

// address is that of the sample with methods.
func (l *loaded) address(page string, q url.Values, sample string, chosen []string) string {
	q = with(q, "s", sample)
	q["m"] = chosen
	return runLink(l.Run.ID, page) + "?" + q.Encode()
}

func (l *loaded) column(s task.Sample, m int, id record.TrialID) column {
	t, err := l.whole(id)
	if err != nil {
		class, mark, says := notRun.looks()
		return column{Method: id.Method, Class: class, Mark: mark, Says: says}
	}
	one := column{
		Method: id.Method, To: trialLink(l.Run.ID, id), Reason: cmp.Or(t.Failure, t.Answer.Reason), Evidence: t.Answer.Evidence, trial: t,
		Use: fmt.Sprintf("%s · %s · %s", report.Plural(int(t.Usage.Tokens()), "token"), round(t.Usage.Latency), report.Cost(t.Usage)),
	}
	one.Class, one.Mark, one.Says = cameOf(t).looks()
	if cameOf(t) == noAnswer {
		one.Says = string(t.Answer.Outcome)
	}
	if name, v, ok := t.Score.Headline(); ok && v > 0 && v < 1 {
		one.Score = fmt.Sprintf("%s %.3g", name, v)
	}
	if l.Run.Config.Epochs > 1 {
		one.Says += fmt.Sprintf(" in epoch %d", id.Epoch+1)
	}
	one.Value = string(t.Answer.Value)
	if one.Answer = l.label(s, t.Seed, m, one.Value); t.Answer.Value != nil {
		if words, ok := t.Answer.InWords(); ok {
			one.Answer = words
		}
	}
	if t.HasTarget() {
		one.Target = string(t.Target)
	}
	for e := range l.Run.Config.Epochs {
		if l.Run.Config.Epochs > 1 {
			id.Epoch = e
			one.Epochs = append(one.Epochs, link{"epoch " + strconv.Itoa(e+1), trialLink(l.Run.ID, id)})
		}
	}
	return one
}

// drawerPart is the drawer alone; it waits for no numbers.
func (p *Page) drawerPart(r *http.Request) (string, content, error) {
	l, err := p.cache.get(r.PathValue("run"))
	if err != nil {
		return "", content{}, err
	}
	d, err := l.drawer("", r.URL.Query().Get("s"), r.URL.Query())
	return "drawer", content{Body: d}, err
}

// sample is the drawer as a page of its own.
func (p *Page) sample(r *http.Request) (string, content, error) {
	l, err := p.cache.get(r.PathValue("run"))
	if err != nil {
		return "", content{}, err
	}
	q := r.URL.Query()
	if len(q["m"]) == 0 {
		q["m"] = runner.Labels(l.Run)
	}
	d, err := l.drawer("sample", q.Get("s"), q)
	return "sample.html", content{
		Title: "sample " + q.Get("s"), Body: d, OwnHead: true,
		Crumb: []link{{"runs", "/"}, {"run " + l.Run.ID, runLink(l.Run.ID, "")}},
	}, err
}

func trialLink(run string, id record.TrialID) string {
	return runLink(run, "trial", "m", id.Method, "s", id.Sample, "e", strconv.Itoa(id.Epoch+1))
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}
