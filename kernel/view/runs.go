package view

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
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
		Methods: strings.Join(report.MethodNames(run), ", "), Parent: run.Parent,
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
		return p.choice(r, err, func(forced *http.Request) (int, error) {
			c, err := p.comparison(forced)
			if err != nil {
				return 0, err
			}
			return c.Samples, nil
		})
	}
	crumb := []link{{"runs", "/"}}
	for _, id := range r.URL.Query()["run"] {
		crumb = append(crumb, link{"run " + id, runLink(id, "")})
	}
	of := report.NewsOf(c.Comparison, nil)
	sheet := c.Sheet()
	return "compare.html", content{Title: "comparison", Crumb: crumb, OwnHead: true, Body: news{
		Proven: of.Proven, Open: of.Open, Board: of,
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
	before, err := a.full()
	if err != nil {
		return "", content{}, err
	}
	after, err := b.full()
	if err != nil {
		return "", content{}, err
	}
	d, err := before.Diff(after, q.Get("force") != "")
	if err != nil {
		return p.choice(r, err, func(*http.Request) (int, error) {
			_, err := before.Diff(after, true)
			return 0, err
		})
	}
	return "diff.html", content{
		Title: "difference", Crumb: []link{{"runs", "/"}, {"run " + d.A, runLink(d.A, "")}, {"run " + d.B, runLink(d.B, "")}},
		Body: changes(d),
	}, nil
}

// coloured is a word that is gone or new, in red or green as a terminal shows it. No other part of
// a diff has these characters: in the texts of others they are made visible.
var coloured = regexp.MustCompile("(?s)\x1b\\[3([12])m..(.*?)..\x1b\\[0m")

// changes is a diff with its words marked.
func changes(d *lab.Diff) (pieces []piece) {
	var text strings.Builder
	view := d.View()
	view.Colour = true
	report.Diff(&text, d.Diff, view)
	all, told := text.String(), 0
	for _, at := range coloured.FindAllStringSubmatchIndex(all, -1) {
		class := map[byte]string{'1': "less", '2': "more"}[all[at[2]]]
		pieces = append(pieces, piece{Text: display.Visible(all[told:at[0]])}, piece{all[at[4]:at[5]], class})
		told = at[1]
	}
	return append(pieces, piece{Text: display.Visible(all[told:])})
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
