package view

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"time"

	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/methods"
)

// listRow is a run or a study in the list, with the reruns that came to the same root.
type listRow struct {
	runRow
	*figures // nil until they are known
	runner.Tags
	State string // running, stopped, or empty for a finished one
	Told  string // how far a run came that is not finished
	Age   string
	Size  int // trials
	Again []link
}

// Task is what the run is over.
func (r listRow) Task() string {
	if s := r.Config.Study; s != nil {
		return strings.Join(s.Tasks(), ", ")
	}
	return r.Config.Task.Name
}

// Kind says what the run is if it is more than methods on a task.
func (r listRow) Kind() string {
	switch {
	case r.Config.Study != nil:
		return "study"
	case r.Imported != nil:
		return "imported"
	case r.Parent != "" && r.Config.Varied():
		return "varies " + r.Parent
	case r.Parent != "":
		return "fork of " + r.Parent
	}
	return ""
}

// Has reports whether the figures of the run are known.
func (r listRow) Has() bool { return r.figures != nil }

func (r listRow) usd() float64 {
	if r.figures == nil {
		return 0
	}
	return r.Usage.Cost.USD()
}

func (r listRow) best() float64 {
	if r.figures == nil {
		return -1
	}
	return r.Best
}

// order is an order of the list.
type order struct {
	Name, Title string // as ?sort= says it, and as people read it
	less        func(a, b listRow) int
}

var orders = []order{
	{"", "newest first", func(listRow, listRow) int { return 0 }},
	{"score", "best first", func(a, b listRow) int { return cmp.Compare(b.best(), a.best()) }},
	{"cost", "dearest first", func(a, b listRow) int { return cmp.Compare(b.usd(), a.usd()) }},
	{"trials", "largest first", func(a, b listRow) int { return cmp.Compare(b.Size, a.Size) }},
	{"task", "by task", func(a, b listRow) int { return strings.Compare(a.Task(), b.Task()) }},
	{"model", "by model", func(a, b listRow) int { return strings.Compare(a.Model, b.Model) }},
	{"status", "unfinished first", func(a, b listRow) int { return strings.Compare(b.State, a.State) }},
}

// runs is the list of runs and studies: ?q= filters by the words of a row, ?sort= orders,
// ?fold=no has reruns of one root in rows of their own.
func (p *Page) runs(r *http.Request) (string, content, error) {
	all, err := p.listed()
	if err != nil {
		return "", content{}, err
	}
	q := r.URL.Query()
	words, fold := strings.Fields(strings.ToLower(q.Get("q"))), q.Get("fold") != "no"
	rows, folded := p.listRows(all, fold)
	rows = slices.DeleteFunc(rows, func(row listRow) bool {
		text := strings.ToLower(row.words())
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
	runs := make([]*record.Run, len(rows))
	for i, row := range rows {
		runs[i] = row.Run
	}
	figured, running, unknown, spent := p.figures(runs), 0, 0, methods.Usage{}
	for i := range rows {
		rows[i].figures = figured[rows[i].ID]
		rows[i].told()
		if rows[i].State == "running" {
			running++
		}
		if rows[i].Has() {
			spent = spent.Plus(rows[i].Usage)
		} else {
			unknown++
		}
	}
	if i := slices.IndexFunc(orders, func(o order) bool { return o.Name == q.Get("sort") }); i > 0 {
		slices.SortStableFunc(rows, orders[i].less)
	}
	body := map[string]any{
		"Rows": rows, "Q": q.Get("q"), "Sort": q.Get("sort"), "Sorts": orders, "Fold": fold, "News": headline(len(rows), len(all)-folded, folded, running), "Spent": report.Cost(spent), "Unknown": unknown,
		"Crew": p.crew(), "Starts": p.starter != nil,
	}
	c := content{Title: "runs", OwnHead: true, Keys: runsKeys, Body: body}
	if p.leaving != nil {
		body["Together"] = p.leaving.together
	} else {
		c.Live = "/state"
	}
	return "runs.html", c, nil
}

var runsKeys = []keys{{[]string{"j", "k"}, "move"}, {[]string{"x"}, "tick"}, {[]string{"c"}, "compare the ticked"}, {[]string{"/"}, "filter"}, {[]string{"Enter"}, "open"}}

// words are what a filter finds a row by.
func (r listRow) words() string {
	said := append([]string{r.ID, r.Name, r.Question, r.Model, r.Methods, r.Task(), r.Config.Task.Config, r.Root, string(r.Status), r.State, r.Kind(), r.Note}, r.Tags.Tags...)
	for _, again := range r.Again {
		said = append(said, again.Text)
	}
	return strings.Join(said, " ")
}

// listRows are rows without their figures, and how many runs are folded into another: those
// with a root that a newer one has.
func (p *Page) listRows(all []*record.Run, fold bool) (rows []listRow, folded int) {
	newest := map[string]int{}
	for _, run := range all {
		if i, again := newest[run.Root]; fold && again && run.Root != "" {
			rows[i].Again = append(rows[i].Again, link{run.ID, p.address(run)})
			folded++
			continue
		}
		newest[run.Root] = len(rows)
		row := listRow{runRow: p.rowOf(run), Size: run.Size()}
		row.To = p.address(run)
		if s := run.Config.Study; s != nil {
			row.Model = strings.Join(s.Models(), ", ")
		}
		if row.Age = row.When; p.leaving == nil {
			row.Age = age(time.Since(run.Created))
			if store, err := p.lab.Store(); err == nil {
				row.Tags, _ = runner.ReadTags(store, run.ID) // a damaged file is not worth the list
			}
			if run.Status != record.Finished {
				row.State = "stopped"
				if _, on := p.underWay(run); on {
					row.State = "running"
				}
			}
		}
		rows = append(rows, row)
	}
	return rows, folded
}

// address is the page of a run or a study.
func (p *Page) address(run *record.Run) string {
	if run.Config.Study != nil {
		return "/study/" + run.ID
	}
	return runLink(run.ID, "")
}

// told says how far a run came that is not finished.
func (r *listRow) told() {
	if r.figures == nil || r.State == "" {
		return
	}
	r.Told = fmt.Sprintf("%d of %d trials", r.Done, r.Size)
	if left := r.Pace.Left(r.Size - r.Done); r.State == "running" && left != "" {
		r.Told += " · " + left
	}
	if r.State == "stopped" && r.Stopped != "" {
		r.Told += ", at its limit of " + r.Stopped
	}
}

// age is how long ago something was.
func age(d time.Duration) string {
	if d < time.Minute {
		return "now"
	}
	return span(d)
}

// listState is what the list shows in short, which its page polls.
func (p *Page) listState(w http.ResponseWriter, _ *http.Request) {
	all, err := p.listed()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sum := fnv.New64a()
	for _, run := range all {
		doing, on := p.underWay(run)
		fmt.Fprintln(sum, run.ID, run.Status, on, len(doing))
	}
	p.figures(all)
	p.figured.mu.Lock()
	defer p.figured.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "%x %d", sum.Sum64(), p.figured.changes)
}

// tag keeps what a person says of a run.
func (p *Page) tag(r *http.Request) (string, error) {
	store, err := p.lab.Store()
	if err != nil {
		return "", err
	}
	run, err := runner.FindRun(r.Context(), store, r.PathValue("run"))
	if err != nil {
		return "", err
	}
	return "/", runner.WriteTags(store, run.ID, runner.Tags{Tags: []string{r.PostFormValue("tags")}, Note: r.PostFormValue("note")})
}

// headline is the list's heading in a sentence.
func headline(shown, all, folded, running int) string {
	text := report.Plural(shown, "run")
	if shown != all {
		text = fmt.Sprintf("%d of %s", shown, report.Plural(all, "run"))
	}
	if folded > 0 {
		text += fmt.Sprintf(", %s folded", report.Plural(folded, "rerun"))
	}
	if running > 0 {
		text += fmt.Sprintf("; %d under way", running)
	}
	return text
}
