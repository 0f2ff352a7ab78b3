package view

import (
	"net/http"
	"net/url"
	"slices"

	"noema/kernel/base/display"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

// runPage is a run on one screen. Parts that take time come later: their templates ask for
// them.
type runPage struct {
	Row    runRow
	Query  url.Values
	Base   string
	News   *news
	Map    *heat
	Table  *table
	Drawer *drawer
	Parent link
	Live   *live // nil of a finished run
	Facets facets
	Alone  bool // the table without what is on its first page
}

// news is what a run came to, and the tables behind it.
type news struct {
	Proven, Open, Basis, Notes, Tree string
	Board                            *report.News
	Tables                           []display.Table
	Asked                            []runner.Asked // the first questions without a target
	Causes                           []cause
	Run                              *record.Run
}

// cause is why a method gave no answer.
type cause struct {
	Method, Outcome, Text, To string
	Trials                    int
}

// askedInFull is how many questions a run's page shows with their answers; its
// samples have all.
const askedInFull = 10

// smallRun is up to how many trials a run's page is made at once.
const smallRun = 3000

// run is one run: who is proven better, at what cost, and on which samples. It follows a run
// that is under way, in whichever process.
func (p *Page) run(r *http.Request) (string, content, error) {
	l, err := p.cache.get(r.PathValue("run"))
	if err != nil {
		return "", content{}, err
	}
	q := r.URL.Query()
	body := runPage{Row: p.rowOf(l.Run), Query: q, Base: runLink(l.Run.ID, ""), Facets: l.facets(), Alone: q.Get("page") != ""}
	if l.Run.Parent != "" {
		body.Parent = link{l.Run.Parent, runLink(l.Run.Parent, "")}
	}
	if p.leaving == nil && q.Get("whole") == "" && !l.ready() && l.Run.Size() > smallRun {
		err = p.begun(l, &body)
	} else {
		err = p.complete(l, &body)
	}
	if err != nil {
		return "", content{}, err
	}
	c := content{Title: "run " + l.Run.ID, Crumb: []link{{"runs", "/"}}, Body: body, OwnHead: true, Keys: runKeys(), Rows: (len(l.Samples()) + perFile - 1) / perFile}
	if body.Live, err = p.live(l); err != nil {
		return "", content{}, err
	}
	if body.Live != nil {
		c.Body, c.Live = body, runLink(l.Run.ID, "state")
	}
	return "run.html", c, nil
}

func runKeys() []keys {
	return []keys{{[]string{"j", "k"}, "sample"}, {[]string{"a", "b"}, "methods"}, {[]string{"w", "l"}, "won, lost"}, {[]string{"x"}, "no answer"}, {[]string{"/"}, "filter"}, {[]string{"c"}, "clear"}, {[]string{"?"}, "all keys"}}
}

// ready reports whether the numbers are there.
func (l *loaded) ready() bool {
	select {
	case <-l.calculated:
		return true
	default:
		return false
	}
}

// begun is the page before its numbers are made, with its first samples: the page asks for
// the rest.
func (p *Page) begun(l *loaded, body *runPage) error {
	c := &cells{methods: runner.Labels(l.Run), samples: l.Samples()[:min(perPage, len(l.Samples()))]}
	c.room()
	for _, s := range c.samples {
		for _, method := range c.methods {
			if t, err := l.whole(record.TrialID{Method: method, Sample: s.ID}); err == nil { // else the run is unfinished
				c.add(t)
			}
		}
	}
	c.order()
	t := l.table(c, url.Values{"order": {"id"}}, false)
	t.Waiting, t.All, t.Pages = true, len(l.Samples()), nil
	body.Table = &t
	return nil
}

// complete is the page with all of its parts.
func (p *Page) complete(l *loaded, body *runPage) error {
	c, err := l.cells()
	if err != nil {
		return err
	}
	t := l.table(c, body.Query, p.leaving != nil)
	body.Table = &t
	if body.Alone {
		return nil
	}
	h := l.heat(c, body.Query)
	body.Map = &h
	if body.News, err = p.newsOf(l); err != nil {
		return err
	}
	sample := body.Query.Get("s")
	if sample == "" && len(t.Rows) > 0 {
		sample = t.Rows[0].ID
	}
	if sample != "" && p.leaving == nil {
		q := body.Query
		if board := body.News.Board; board != nil && len(board.Forest) > 0 && !q.Has("m") && !q.Has("beats") {
			q = with(q, "m", board.Forest[0].A) // the pair of which there is most to say
			q.Add("m", board.Forest[0].B)
		}
		body.Drawer, err = l.drawer("", sample, q)
	}
	return err
}

// newsOf is what a run came to.
func (p *Page) newsOf(l *loaded) (*news, error) {
	numbers, err := l.numbers()
	if err != nil {
		return nil, err
	}
	c, err := l.cells()
	if err != nil {
		return nil, err
	}
	n := &news{Basis: report.Basis(numbers.summary), Tree: c.tree, Run: l.Run}
	sheet := report.RunSheet(numbers.summary, "")
	n.Tables, n.Notes, n.Proven = sheet.Tables, sheet.Notes(), sheet.Verdict
	n.Asked = numbers.summary.Answers[:min(len(numbers.summary.Answers), askedInFull)]
	if numbers.comparison != nil {
		compared := numbers.comparison
		if p.leaving == nil {
			compared = compared.Look()
		}
		full := compared.Sheet()
		n.Tables, n.Notes = append(slices.Clone(n.Tables), full.Tables...), full.Notes()+"\n\n"+n.Notes
		n.Board = report.NewsOf(compared.Comparison, func(a, b string) string { return runLink(l.Run.ID, "", "beats", a, "over", b, "m", a, "m", b) })
		if n.Proven == "" || n.Proven == compared.Verdict { // and not that nothing was understood
			n.Proven, n.Open = n.Board.Proven, n.Board.Open
		}
	}
	if credit := l.credit(); credit != nil {
		n.Tables = append(credit.Sheet().Tables, n.Tables...)
	}
	for _, m := range numbers.summary.Methods {
		for _, x := range m.Causes {
			n.Causes = append(n.Causes, cause{m.Method, string(x.Outcome), x.Text, runLink(l.Run.ID, "", "outcome", string(x.Outcome)), x.Trials})
		}
	}
	return n, nil
}
