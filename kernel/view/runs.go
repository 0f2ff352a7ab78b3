package view

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/run/cluster"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

// runRow is a run in the list.
type runRow struct {
	*record.Run
	To, When, Model, Methods, Parent string
	Trials                           int
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
func (p *Page) listed() (lab.RunList, error) {
	if p.leaving == nil {
		return p.recent.get(p.lab.Declared)
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
type runPage struct {
	Row        runRow
	Verdict    string
	Basis      string // samples, seed, level of the intervals
	Root, Tree string
	Tables     []display.Table
	Notes      string
	Samples    string
	Compare    string
	Plots      []link
	Wrong      []link // the methods' trials without a full score
	Parent     link
	Live       *live          // nil of a finished run
	Asked      []runner.Asked // the first questions without a target
}

// askedInFull is how many questions a run's page shows with their answers; its
// samples have all.
const askedInFull = 10

// run is one run: how good its methods are, at what cost. It follows a run that
// is under way, in whichever process.
func (p *Page) run(r *http.Request) (string, content, error) {
	l, err := p.cache.get(r.PathValue("run"))
	if err != nil {
		return "", content{}, err
	}
	summary, err := l.summary()
	if err != nil {
		return "", content{}, err
	}
	sheet := report.RunSheet(summary, "")
	if c := l.credit(); c != nil {
		sheet.Tables = append(c.Sheet().Tables, sheet.Tables...)
	}
	body := runPage{
		Row: p.rowOf(l.Run), Verdict: sheet.Verdict, Basis: report.Basis(summary), Root: l.Run.Root, Tree: l.tree, Tables: sheet.Tables, Notes: sheet.Notes(),
		Samples: runLink(l.Run.ID, "samples"), Compare: "/compare?run=" + url.QueryEscape(l.Run.ID), Live: p.live(l, summary),
	}
	body.Asked = summary.Answers[:min(len(summary.Answers), askedInFull)]
	if l.Run.Parent != "" {
		body.Parent = link{l.Run.Parent, runLink(l.Run.Parent, "")}
	}
	for _, m := range runner.Labels(l.Run) {
		if summary.Unscored == summary.Samples {
			break // nobody knows what is wrong
		}
		body.Wrong = append(body.Wrong, link{m, runLink(l.Run.ID, "samples", "wrong", m)})
	}
	c := content{Title: "run " + l.Run.ID, Crumb: []link{{"runs", "/"}}, Body: body}
	if body.Live != nil {
		c.Live = runLink(l.Run.ID, "state")
	}
	return "run.html", c, nil
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

// compare shows the methods of one run or of several side by side.
func (p *Page) compare(r *http.Request) (string, content, error) {
	c, ids, err := p.comparison(r)
	if err != nil {
		return p.choice(r, err, func(forced *http.Request) (int, error) {
			c, _, err := p.comparison(forced)
			if err != nil {
				return 0, err
			}
			return c.Samples, nil
		})
	}
	plots := []link{{"quality against cost", "/plot/cost?" + r.URL.RawQuery}}
	if len(c.Groups) > 1 {
		plots = append(plots, link{"by group", "/plot/groups?" + r.URL.RawQuery})
	}
	var crumb []link
	crumb = append(crumb, link{"runs", "/"})
	for _, id := range ids {
		crumb = append(crumb, link{"run " + id, runLink(id, "")})
	}
	var flipped string
	if len(ids) == 1 {
		flipped = runLink(ids[0], "samples", "disagree", "yes")
	}
	sheet := c.Sheet()
	basis := strings.ReplaceAll(sheet.Head, "\n", " · ")
	return "compare.html", content{Title: "comparison", Crumb: crumb, Body: map[string]any{
		"Verdict": c.Verdict, "Basis": basis, "Tables": sheet.Tables, "Notes": sheet.Notes(),
		"Plots": plots, "Flipped": flipped,
	}}, nil
}

// comparison is that of the runs which a request names.
func (p *Page) comparison(r *http.Request) (*lab.Comparison, []string, error) {
	ids := r.URL.Query()["run"]
	if len(ids) == 0 || len(ids) > maxCompared {
		return nil, nil, fmt.Errorf("compare: name one to ten runs, as in /compare?run=ID&run=ID")
	}
	var results []*lab.Result
	for _, id := range ids {
		l, err := p.cache.get(id)
		if err != nil {
			return nil, nil, err
		}
		if len(ids) == 1 {
			c, err := l.compared()
			if err != nil {
				return nil, nil, err
			}
			if p.leaving == nil {
				c = c.Look()
			}
			return c, ids, nil
		}
		results = append(results, l.Result)
	}
	c, err := lab.Compare(lab.Comparing{By: "group", Force: r.URL.Query().Get("force") != ""}, results...)
	return c, ids, err
}

// plot is a picture of a comparison.
func (p *Page) plot(w http.ResponseWriter, r *http.Request) {
	c, _, err := p.comparison(r)
	if err != nil {
		http.Error(w, display.Visible(err.Error()), http.StatusNotFound)
		return
	}
	plot := c.Plot()
	if r.PathValue("kind") == "groups" {
		plot = c.GroupPlot()
	}
	w.Header().Set("Content-Type", display.PNG)
	w.Write(plot.Display()[display.PNG]) //nolint:errcheck // the client is gone
}

// diff shows where two runs differ.
func (p *Page) diff(r *http.Request) (string, content, error) {
	q := r.URL.Query()
	ids := append([]string{q.Get("a"), q.Get("b")}, q["run"]...) // two that are ticked are given as runs
	if ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" }); len(ids) != 2 {
		return "", content{}, errors.New("diff: name two runs, as in /diff?a=ID&b=ID")
	}
	slices.Sort(ids[len(q["a"])+len(q["b"]):]) // the older of the ticked first
	a, err := p.cache.get(ids[0])
	if err != nil {
		return "", content{}, err
	}
	b, err := p.cache.get(ids[1])
	if err != nil {
		return "", content{}, err
	}
	d, err := a.Result.Diff(b.Result, q.Get("force") != "")
	if err != nil {
		return p.choice(r, err, func(*http.Request) (int, error) {
			_, err := a.Result.Diff(b.Result, true)
			return 0, err
		})
	}
	return "diff.html", content{
		Title: "difference", Crumb: []link{{"runs", "/"}, {"run " + d.A, runLink(d.A, "")}, {"run " + d.B, runLink(d.B, "")}},
		Body: string(d.Display()[display.PlainText]),
	}, nil
}

// choice is why runs cannot be taken together and, where their samples can be paired by id
// all the same, the offer to do so.
func (p *Page) choice(r *http.Request, why error, forced func(*http.Request) (samples int, err error)) (string, content, error) {
	q := r.URL.Query()
	if q.Get("force") != "" {
		return "", content{}, why
	}
	q.Set("force", "yes")
	again := r.Clone(r.Context())
	again.URL.RawQuery = q.Encode()
	samples, err := forced(again)
	if err != nil {
		return "", content{}, why
	}
	return "choice.html", content{Title: "the data differ", Crumb: []link{{"runs", "/"}}, Body: map[string]any{
		"Why": why.Error(), "Samples": samples, "To": again.URL.RequestURI(),
	}}, nil
}
