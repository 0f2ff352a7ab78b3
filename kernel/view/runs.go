package view

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/run/cluster"
	"noema/kernel/show/report"
)

// runRow is a run in the list.
type runRow struct {
	*record.Run
	To, When, Model, Methods, Parent string
	Trials                           int
}

// runs is the list of runs: ?q= filters by any word of a row, ?sort= orders.
func (p *Page) runs(r *http.Request) (string, content, error) {
	all, err := p.listed()
	if err != nil {
		return "", content{}, err
	}
	q, sort := strings.ToLower(strings.TrimSpace(r.URL.Query().Get("q"))), r.URL.Query().Get("sort")
	var rows []runRow
	for _, run := range all {
		row := p.rowOf(run)
		if text := strings.ToLower(strings.Join([]string{run.ID, run.Name, run.Question, row.Model, row.Methods, run.Config.Task.Name, string(run.Status)}, " ")); strings.Contains(text, q) {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b runRow) int {
		switch sort {
		case "task":
			return strings.Compare(a.Config.Task.Name, b.Config.Task.Name)
		case "model":
			return strings.Compare(a.Model, b.Model)
		case "status":
			return strings.Compare(string(a.Status), string(b.Status))
		case "trials":
			return cmp.Compare(b.Trials, a.Trials)
		}
		return 0 // newest first, as they come
	})
	body := map[string]any{"Rows": rows, "Q": r.URL.Query().Get("q"), "Sort": sort, "All": len(all), "Crew": p.crew()}
	if p.leaving != nil {
		body["Together"] = p.leaving.together
	}
	return "runs.html", content{Title: "runs", Body: body}, nil
}

// crew is what the workers do that take part in a run in this home; nil without any.
func (p *Page) crew() *cluster.State {
	if p.leaving != nil {
		return nil
	}
	if s, ok := p.lab.Crew(); ok {
		return &s
	}
	return nil
}

// listed are the runs of the page, newest first.
func (p *Page) listed() ([]*record.Run, error) {
	if p.leaving == nil {
		return p.lab.Runs()
	}
	var runs []*record.Run
	for _, id := range p.leaving.runs {
		l, err := p.cache.get(id)
		if err != nil {
			return nil, err
		}
		runs = append(runs, l.Run)
	}
	return runs, nil
}

func (p *Page) rowOf(run *record.Run) runRow {
	when := run.Created.Local().Format(time.DateTime)
	if p.leaving != nil { // a reader may be anywhere
		when = run.Created.UTC().Format(time.DateTime) + " UTC"
	}
	return runRow{
		Run: run, To: runLink(run.ID, ""), When: when, Model: report.ModelName(run.Config.Model),
		Methods: strings.Join(report.MethodNames(run), ", "), Trials: len(run.Trials()), Parent: run.Parent,
	}
}

// runPage is one run.
// state is the progress of an unfinished run, which the page polls.
func (p *Page) state(w http.ResponseWriter, r *http.Request) {
	l, err := p.cache.get(r.PathValue("run"))
	if err != nil {
		http.Error(w, "no such run", http.StatusNotFound)
		return
	}
	all, err := l.full()
	if err != nil {
		http.Error(w, "no such run", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "%s %d of %d", l.Run.Status, len(all.Result.Trials), len(l.Run.Trials()))
	if s := p.crew(); s != nil {
		fmt.Fprintf(w, ", %d workers, %d lost, %d in the queue", len(s.Workers), s.Lost, s.Queued)
	}
}

// together is the address of the comparison of a bundle's runs.
func together(runs []*record.Run) string {
	if len(runs) < 2 || len(runs) > maxCompared {
		return ""
	}
	q := url.Values{}
	for _, r := range runs {
		q.Add("run", r.ID)
	}
	return "/compare?" + q.Encode()
}

// maxCompared is how many runs are compared at most.
const maxCompared = 10

// compare shows the methods of several runs side by side. A single one has a page of its own.
func (p *Page) compare(r *http.Request) (string, content, error) {
	c, err := p.comparison(r)
	if err != nil {
		return "", content{}, err
	}
	crumb := []link{{"runs", "/"}}
	for _, id := range r.URL.Query()["run"] {
		crumb = append(crumb, link{"run " + id, runLink(id, "")})
	}
	of := report.NewsOf(c.Comparison, nil)
	page, err := of.HTML()
	if err != nil {
		return "", content{}, err
	}
	sheet := c.Sheet()
	return "compare.html", content{Title: "comparison", Crumb: crumb, OwnHead: true, Body: news{
		Proven: of.Proven, Open: of.Open, HTML: template.HTML(page), // its template escapes every text
		Basis: strings.ReplaceAll(sheet.Head, "\n", " · "), Tables: sheet.Tables, Notes: sheet.Notes(),
	}}, nil
}

// comparison is that of the runs which a request names.
func (p *Page) comparison(r *http.Request) (*lab.Comparison, error) {
	ids := r.URL.Query()["run"]
	if len(ids) == 0 || len(ids) > maxCompared {
		return nil, fmt.Errorf("compare: name one to ten runs, as in /compare?run=ID&run=ID")
	}
	var results []*lab.Result
	for _, id := range ids {
		l, err := p.cache.get(id)
		if err != nil {
			return nil, err
		}
		all, err := l.full()
		if err != nil {
			return nil, err
		}
		results = append(results, all)
	}
	return lab.Compare(lab.Comparing{By: "group", Force: r.URL.Query().Get("force") != ""}, results...)
}

// diff shows where two runs differ.
func (p *Page) diff(r *http.Request) (string, content, error) {
	a, err := p.cache.get(r.URL.Query().Get("a"))
	if err != nil {
		return "", content{}, err
	}
	b, err := p.cache.get(r.URL.Query().Get("b"))
	if err != nil {
		return "", content{}, err
	}
	before, err := a.full()
	if err != nil {
		return "", content{}, err
	}
	after, err := b.full()
	if err != nil {
		return "", content{}, err
	}
	d, err := before.Diff(after, r.URL.Query().Get("force") != "")
	if err != nil {
		return "", content{}, err
	}
	return "diff.html", content{
		Title: "difference", Crumb: []link{{"runs", "/"}, {"run " + d.A, runLink(d.A, "")}, {"run " + d.B, runLink(d.B, "")}},
		Body: string(d.Display()[display.PlainText]),
	}, nil
}
