package view

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/task"
	"noema/methods"
)

// perPage is how many samples a page lists of more than perFile: those that the first screen
// has room for. The others come as one scrolls. A file of a bundle has perFile.
const perPage, perFile = 30, 100

// sampleRow is a sample with what each method came to.
type sampleRow struct {
	ID, Group, Query, Target, To string
	Fits                         string // its facets
	Cells                        []tableCell
}

// tableCell is one trial in short.
type tableCell struct{ Answer, Class, Mark, Says string }

// table is the list of samples: a page of those that a query asks for.
type table struct {
	Rows        []sampleRow
	Heads       []head
	Count, All  int
	Pages       []link
	More        string // the address of the next rows; empty on the last page
	Groups      bool
	Waiting     bool // not all trials are read: the rows are the first ones
	Description string
}

// head is the head of a column, which sorts by it.
type head struct {
	Text, To, Sorted, Class string
}

// table lists the samples that q asks for; page by page.
func (l *loaded) table(c *cells, q url.Values, static bool) table {
	kept, perPage := c.kept(q), perPage
	if static || len(c.samples) <= perFile {
		perPage = perFile
	}
	at, _ := strconv.Atoi(q.Get("page")) // anything but a number is the first page
	pages := max(1, (len(kept)+perPage-1)/perPage)
	at = min(max(at, 1), pages)
	t := table{Count: len(kept), All: len(c.samples), Groups: c.grouped(), Heads: l.heads(c, q), Description: described(q)}
	f := l.facets()
	f.static = static
	for _, i := range kept[(at-1)*perPage : min(at*perPage, len(kept))] {
		t.Rows = append(t.Rows, l.row(c, f, i))
	}
	base := with(q, "s", "")
	t.Pages = pageLinks(runLink(l.Run.ID, ""), base, at, pages)
	if at < pages {
		t.More = runLink(l.Run.ID, "") + "?" + with(base, "page", strconv.Itoa(at+1)).Encode()
	}
	return t
}

// with is q with another value of a name, or without it where that is empty.
func with(q url.Values, name, value string) url.Values {
	out := url.Values{}
	for k, v := range q {
		out[k] = v
	}
	if out.Del(name); value != "" {
		out.Set(name, value)
	}
	return out
}

func (c *cells) grouped() bool {
	return slices.ContainsFunc(c.samples, func(s task.Sample) bool { return s.Group != "" })
}

// described says what a query keeps.
func described(q url.Values) string {
	var parts []string
	if q.Get("beats") != "" {
		parts = append(parts, q.Get("beats")+" beats "+q.Get("over"))
	}
	if q.Get("wrong") != "" {
		parts = append(parts, "wrong by "+q.Get("wrong"))
	}
	if q.Get("disagree") != "" {
		parts = append(parts, "methods differ")
	}
	for _, name := range []string{"outcome", "group"} {
		if q.Get(name) != "" {
			parts = append(parts, name+" "+q.Get(name))
		}
	}
	if q.Get("from") != "" {
		parts = append(parts, "brushed")
	}
	return strings.Join(parts, ", ")
}

// noneOf is the outcome that stands for every one without an answer.
const noneOf = "none"

// kept are the samples that a query asks for, in its order: ?beats=A&over=B, ?wrong=METHOD,
// ?disagree=, ?outcome=, ?group=, ?q= a part of the id, the question, the target or an
// answer, ?from= and ?to= places on the map; ?order= of the map, ?sort= a column.
func (c *cells) kept(q url.Values) []int {
	order := c.ordered(q.Get("order"))
	from, to := 0, len(order)
	if n, err := strconv.Atoi(q.Get("from")); err == nil {
		from = min(max(n, 0), to)
	}
	if n, err := strconv.Atoi(q.Get("to")); err == nil {
		to = min(max(n, from), to)
	}
	fits := c.filter(q)
	var kept []int
	for _, i := range order[from:to] {
		if fits(i) {
			kept = append(kept, i)
		}
	}
	c.sort(kept, q.Get("sort"))
	return kept
}

// filter is what a query asks of a sample.
func (c *cells) filter(q url.Values) func(i int) bool {
	text, group, disagree := strings.ToLower(q.Get("q")), q.Get("group"), q.Get("disagree") != ""
	outcome, failed := methods.Outcome(q.Get("outcome")), slices.Index(c.methods, q.Get("wrong"))
	beats, pair := q.Get("beats") != "", [2]int{slices.Index(c.methods, q.Get("beats")), slices.Index(c.methods, q.Get("over"))}
	won := c.beats[pair]
	return func(i int) bool {
		s := c.samples[i]
		yes, no := c.votes(i)
		switch {
		case beats && (won == nil || !won[i]), group != "" && s.Group != group, disagree && (yes == 0 || no == 0):
			return false
		case q.Get("wrong") != "" && (failed < 0 || !c.failed(failed, i)):
			return false
		case outcome != "" && !slices.ContainsFunc(c.outcome, func(of []methods.Outcome) bool {
			return of[i] == outcome || outcome == noneOf && of[i] != "" && of[i] != methods.Answered
		}):
			return false
		}
		return text == "" || c.says(i, text)
	}
}

// says reports whether a text is in the id, the question, the target or an answer.
func (c *cells) says(i int, text string) bool {
	s := c.samples[i]
	if containsFold(s.ID, text) || containsFold(s.Problem.Query, text) || containsFold(string(s.Target), text) {
		return true
	}
	return slices.ContainsFunc(c.words, func(of []string) bool { return containsFold(of[i], text) })
}

// ordered are all samples as the map shows them.
func (c *cells) ordered(by string) []int {
	if by == "" || by == "disagreement" {
		return c.dispute
	}
	order := make([]int, len(c.samples))
	for i := range order {
		order[i] = i
	}
	if by == "group" {
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(c.samples[a].Group, c.samples[b].Group) })
	}
	return order
}

// sort sorts by a column, downwards after a "-"; equal ones stay as they are.
func (c *cells) sort(list []int, by string) {
	column, down := strings.CutPrefix(by, "-")
	var of func(a, b int) int
	switch m, isMethod := strings.CutPrefix(column, "m:"); {
	case isMethod && slices.Contains(c.methods, m):
		at := slices.Index(c.methods, m)
		of = func(a, b int) int {
			return cmp.Or(cmp.Compare(c.came[at][a], c.came[at][b]), strings.Compare(c.words[at][a], c.words[at][b]))
		}
	case column == "id":
		of = cmp.Compare[int]
	default:
		text, known := map[string]func(s *task.Sample) string{
			"group": func(s *task.Sample) string { return s.Group }, "question": func(s *task.Sample) string { return s.Problem.Query },
			"target": func(s *task.Sample) string { return string(s.Target) },
		}[column]
		if !known {
			return
		}
		of = func(a, b int) int { return strings.Compare(text(&c.samples[a]), text(&c.samples[b])) }
	}
	slices.SortStableFunc(list, func(a, b int) int {
		if down {
			return of(b, a)
		}
		return of(a, b)
	})
}

// heads are those of the table; each leads to the table sorted by it.
func (l *loaded) heads(c *cells, q url.Values) []head {
	var heads []head
	add := func(text, column, class string) {
		h := head{Text: text, Class: class}
		sort := column
		switch q.Get("sort") {
		case column:
			h.Sorted, sort = "ascending", "-"+column
		case "-" + column:
			h.Sorted, sort = "descending", ""
		}
		h.To = runLink(l.Run.ID, "") + "?" + with(with(q, "page", ""), "sort", sort).Encode()
		heads = append(heads, h)
	}
	add("id", "id", "id")
	if c.grouped() {
		add("group", "group", "g")
	}
	add("question", "question", "q")
	add("target", "target", "tg")
	for _, m := range c.methods {
		add(m, "m:"+m, "a")
	}
	return heads
}

func (l *loaded) row(c *cells, f facets, i int) sampleRow {
	s := c.samples[i]
	row := sampleRow{ID: s.ID, Group: s.Group, Query: s.Problem.Query, To: runLink(l.Run.ID, "sample", "s", s.ID)}
	if s.Scored() {
		row.Target = l.label(s, 0, -1, string(s.Target))
	}
	if f.static {
		row.Fits = strings.Join(f.of(c, i), " ")
	}
	for m, name := range c.methods {
		one := tableCell{}
		var says string
		one.Class, one.Mark, says = c.came[m][i].looks()
		epochs := 0
		for _, n := range c.tally[m][i] {
			epochs += int(n)
		}
		one.Answer, one.Says = display.Line(l.label(s, c.seeds[m][i], m, c.words[m][i]), 40), name+": "+says
		switch {
		case c.came[m][i] == notRun:
			one.Answer = says
		case c.came[m][i] == noAnswer:
			one.Answer = strings.TrimSuffix(string(c.outcome[m][i])+": "+c.words[m][i], ": ")
		}
		if n := c.tally[m][i][right]; epochs > 1 && s.Scored() {
			one.Answer, one.Says = fmt.Sprintf("%d/%d %s", n, epochs, one.Answer), fmt.Sprintf("%s: right in %d of %d epochs", name, n, epochs)
		}
		row.Cells = append(row.Cells, one)
	}
	return row
}

// facets are what samples are filtered by, in the order of the choices on the page.
type facets struct {
	Group, Outcome, Wrong []string
	static                bool
}

func (l *loaded) facets() facets {
	f := facets{Group: []string{}, Outcome: []string{noneOf}}
	for _, m := range l.Run.Config.Methods {
		f.Wrong = append(f.Wrong, m.Label)
	}
	for _, o := range methods.Outcomes() {
		f.Outcome = append(f.Outcome, string(o))
	}
	for _, s := range l.Samples() {
		if s.Group != "" && !slices.Contains(f.Group, s.Group) {
			f.Group = append(f.Group, s.Group)
		}
	}
	slices.Sort(f.Group)
	return f
}

// of are the choices that a sample fits, such as "wrong1" for the second method. The script
// of a bundle builds the same names.
func (f facets) of(c *cells, i int) []string {
	has := []string{"group" + strconv.Itoa(slices.Index(f.Group, c.samples[i].Group))}
	none := false
	for m := range c.methods {
		if o := c.outcome[m][i]; o != "" {
			has = append(has, "outcome"+strconv.Itoa(slices.Index(f.Outcome, string(o))))
			none = none || o != methods.Answered
		}
		if c.failed(m, i) {
			has = append(has, "wrong"+strconv.Itoa(m))
		}
		for b := range c.methods {
			if won := c.beats[[2]int{m, b}]; won != nil && won[i] {
				has = append(has, "beats"+strconv.Itoa(m)+"-"+strconv.Itoa(b))
			}
		}
	}
	if none {
		has = append(has, "outcome0")
	}
	if yes, no := c.votes(i); yes > 0 && no > 0 {
		has = append(has, "disagree")
	}
	return has
}
