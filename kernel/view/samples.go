package view

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
	"noema/kernel/task"
	"noema/methods"
)

// perPage is how many samples a page lists.
const perPage = 100

// sampleRow is a sample with what each method came to.
type sampleRow struct {
	ID, Group, Query, To string
	Fits                 string // its facets
	Cells                []cell
}

// cell is one trial in short.
type cell struct {
	To, Answer, Outcome, Score string
	State                      string // good, bad, or missing, for its colour
}

// samples lists the samples of a run side by side: ?wrong=METHOD keeps those that
// the method got wrong, ?disagree= those on which methods differ, ?outcome= those
// with such an outcome, ?group= those of a group, ?q= those whose query says so.
func (p *Page) samples(r *http.Request) (string, content, error) {
	l, err := p.cache.get(r.PathValue("run"))
	if err != nil {
		return "", content{}, err
	}
	q := r.URL.Query()
	f := l.facets()
	var kept []task.Sample
	for _, s := range l.Samples() {
		if l.fits(f, s, q) {
			kept = append(kept, s)
		}
	}
	at, _ := strconv.Atoi(q.Get("page")) // anything but a number is the first page
	pages := max(1, (len(kept)+perPage-1)/perPage)
	at = min(max(at, 1), pages)
	address := runLink(l.Run.ID, "samples")
	var rows []sampleRow
	for _, s := range kept[(at-1)*perPage : min(at*perPage, len(kept))] {
		rows = append(rows, l.row(f, s))
	}
	return "samples.html", content{
		Title: "samples", Crumb: []link{{"runs", "/"}, {"run " + l.Run.ID, runLink(l.Run.ID, "")}}, Rows: pages,
		Body: map[string]any{
			"Rows": rows, "Methods": f.wrong, "Groups": f.group, "Outcomes": f.outcome,
			"Count": len(kept), "Pages": pageLinks(address, q, at, pages), "Query": q, "Action": address,
		},
	}, nil
}

// facets are what samples are filtered by, in the order of the choices on the page.
type facets struct{ group, outcome, wrong []string }

func (l *loaded) facets() facets {
	f := facets{group: []string{}, wrong: runner.Labels(l.Run)}
	for _, o := range methods.Outcomes() {
		f.outcome = append(f.outcome, string(o))
	}
	seen := map[string]bool{"": true}
	for _, s := range l.Samples() {
		if !seen[s.Group] {
			seen[s.Group] = true
			f.group = append(f.group, s.Group)
		}
	}
	return f
}

// facet is one choice, such as "wrong1" for the second method: what a filter asks for and
// what a sample has. The script of a bundle builds the same names.
func facet(name string, choices []string, choice string) string {
	return name + strconv.Itoa(slices.Index(choices, choice))
}

// of are the choices that a sample fits.
func (f facets) of(s task.Sample, trials []*record.Trial) []string {
	has := []string{facet("group", f.group, s.Group)}
	yes, no := false, false
	for i, t := range trials {
		if t == nil {
			continue
		}
		has = append(has, facet("outcome", f.outcome, string(t.Answer.Outcome)))
		if compare.Wrong(t) {
			has = append(has, facet("wrong", f.wrong, f.wrong[i]))
		}
		yes, no = yes || compare.Right(t), no || compare.Wrong(t)
	}
	if yes && no {
		has = append(has, "disagree")
	}
	return has
}

// of returns the trials of a sample, by method, of the first epoch.
func (l *loaded) of(sample string) []*record.Trial {
	var list []*record.Trial
	for _, m := range runner.Labels(l.Run) {
		list = append(list, l.trial(record.TrialID{Method: m, Sample: sample}))
	}
	return list
}

// fits reports whether a sample is what a query asks for.
func (l *loaded) fits(f facets, s task.Sample, q url.Values) bool {
	if text := q.Get("q"); text != "" && !containsFold(s.ID+" "+s.Problem.Query, text) {
		return false
	}
	has := f.of(s, l.of(s.ID))
	for name, choices := range map[string][]string{"group": f.group, "outcome": f.outcome, "wrong": f.wrong} {
		if choice := q.Get(name); choice != "" && (!slices.Contains(choices, choice) || !slices.Contains(has, facet(name, choices, choice))) {
			return false
		}
	}
	return q.Get("disagree") == "" || slices.Contains(has, "disagree")
}

func (l *loaded) row(f facets, s task.Sample) sampleRow {
	trials := l.of(s.ID)
	row := sampleRow{ID: s.ID, Group: s.Group, Query: s.Problem.Query, To: runLink(l.Run.ID, "sample", "s", s.ID), Fits: strings.Join(f.of(s, trials), " ")}
	for _, t := range trials {
		row.Cells = append(row.Cells, l.cell(t))
	}
	return row
}

func (l *loaded) cell(t *record.Trial) cell {
	if t == nil {
		return cell{State: "missing", Outcome: "not run"}
	}
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

func trialLink(run string, id record.TrialID) string {
	return runLink(run, "trial", "m", id.Method, "s", id.Sample, "e", strconv.Itoa(id.Epoch+1))
}

// sampleSide is one method's trials of a sample.
type sampleSide struct {
	Method string
	Trials []trialSide
}

type trialSide struct {
	cell
	Epoch                        int
	Reason, Failure, Calls, Cost string
	Target                       string // as the trial met it: items may have been shuffled; empty if there is none
	Value                        string // the answer as it is scored
	Evidence                     []methods.Evidence
}

// sample shows one sample across the methods.
func (p *Page) sample(r *http.Request) (string, content, error) {
	l, err := p.cache.get(r.PathValue("run"))
	if err != nil {
		return "", content{}, err
	}
	id := r.URL.Query().Get("s")
	all := l.Samples()
	for i, s := range all {
		if s.ID != id {
			continue
		}
		body := map[string]any{"Sample": s, "Context": string(s.Problem.Context), "Sides": l.sides(s.ID)}
		if i > 0 {
			body["Before"] = runLink(l.Run.ID, "sample", "s", all[i-1].ID)
		}
		if i+1 < len(all) {
			body["After"] = runLink(l.Run.ID, "sample", "s", all[i+1].ID)
		}
		return "sample.html", content{
			Title: "sample " + id, Body: body,
			Crumb: []link{{"runs", "/"}, {"run " + l.Run.ID, runLink(l.Run.ID, "")}, {"samples", runLink(l.Run.ID, "samples")}},
		}, nil
	}
	return "", content{}, fmt.Errorf("run %s has no sample %q", l.Run.ID, id)
}

func (l *loaded) sides(sample string) []sampleSide {
	var sides []sampleSide
	for _, m := range runner.Labels(l.Run) {
		side := sampleSide{Method: m}
		for e := range l.Run.Config.Epochs {
			t := l.trial(record.TrialID{Method: m, Sample: sample, Epoch: e})
			one := trialSide{cell: l.cell(t), Epoch: e + 1}
			if t != nil {
				one.Value = string(t.Answer.Value)
				if t.HasTarget() {
					one.Target = string(t.Target)
				}
				one.Reason, one.Failure, one.Evidence = t.Answer.Reason, t.Failure, t.Answer.Evidence
				one.Calls, one.Cost = report.Plural(t.Facts().Calls, "call")+", "+report.Plural(int(t.Usage.Tokens()), "token"), report.Cost(t.Usage)
			}
			side.Trials = append(side.Trials, one)
		}
		sides = append(sides, side)
	}
	return sides
}
