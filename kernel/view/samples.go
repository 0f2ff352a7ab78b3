package view

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"noema/kernel/compare"
	"noema/kernel/record"
	"noema/kernel/report"
	"noema/kernel/runner"
	"noema/kernel/task"
	"noema/methods"
)

// perPage is how many samples a page lists.
const perPage = 100

// sampleRow is a sample with what each method came to.
type sampleRow struct {
	ID, Group, Query, To string
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
	var rows []sampleRow
	groups := []string{}
	seen := map[string]bool{}
	for _, s := range l.Samples() {
		if s.Group != "" && !seen[s.Group] {
			seen[s.Group] = true
			groups = append(groups, s.Group)
		}
		if l.fits(s, q) {
			rows = append(rows, l.row(s))
		}
	}
	at, _ := strconv.Atoi(q.Get("page")) // anything but a number is the first page
	pages := max(1, (len(rows)+perPage-1)/perPage)
	at = min(max(at, 1), pages)
	return "samples.html", content{
		Title: "samples", Crumb: []link{{"runs", "/"}, {"run " + l.Run.ID, runLink(l.Run.ID, "")}},
		Body: map[string]any{
			"Rows": rows[(at-1)*perPage : min(at*perPage, len(rows))], "Methods": runner.Labels(l.Run), "Groups": groups, "Outcomes": methods.Outcomes(),
			"Count": len(rows), "Pages": pageLinks(q, at, pages), "Query": q, "Action": runLink(l.Run.ID, "samples"),
		},
	}, nil
}

// of returns the trials of a sample, by method, of the first epoch.
func (l *loaded) of(sample string) []*record.Trial {
	var list []*record.Trial
	for _, m := range runner.Labels(l.Run) {
		list = append(list, l.trials[record.TrialID{Method: m, Sample: sample}])
	}
	return list
}

func (l *loaded) fits(s task.Sample, q url.Values) bool {
	if g := q.Get("group"); g != "" && s.Group != g {
		return false
	}
	if text := q.Get("q"); text != "" && !containsFold(s.ID+" "+s.Problem.Query, text) {
		return false
	}
	trials := l.of(s.ID)
	if m := q.Get("wrong"); m != "" {
		t := l.trials[record.TrialID{Method: m, Sample: s.ID}]
		if t == nil || !compare.Wrong(t) {
			return false
		}
	}
	if o := q.Get("outcome"); o != "" {
		found := false
		for _, t := range trials {
			found = found || t != nil && string(t.Answer.Outcome) == o
		}
		if !found {
			return false
		}
	}
	return q.Get("disagree") == "" || disagree(trials)
}

func disagree(trials []*record.Trial) bool {
	yes, no := false, false
	for _, t := range trials {
		if t != nil {
			yes, no = yes || compare.Right(t), no || compare.Wrong(t)
		}
	}
	return yes && no
}

func (l *loaded) row(s task.Sample) sampleRow {
	row := sampleRow{ID: s.ID, Group: s.Group, Query: s.Problem.Query, To: runLink(l.Run.ID, "sample", "s", s.ID)}
	for _, t := range l.of(s.ID) {
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
			t := l.trials[record.TrialID{Method: m, Sample: sample, Epoch: e}]
			one := trialSide{cell: l.cell(t), Epoch: e + 1}
			if t != nil {
				one.Value = string(t.Answer.Value)
				if t.HasTarget() {
					one.Target = string(t.Target)
				}
				one.Reason, one.Failure, one.Evidence = t.Answer.Reason, t.Failure, t.Answer.Evidence
				one.Calls, one.Cost = report.Plural(len(t.Calls), "call")+", "+report.Plural(int(t.Usage.Tokens()), "token"), report.Cost(t.Usage)
			}
			side.Trials = append(side.Trials, one)
		}
		sides = append(sides, side)
	}
	return sides
}
