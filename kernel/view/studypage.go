package view

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/show/report"
)

// studies keeps the last study that was looked at: a finished one does not change.
type studies struct {
	mu      sync.Mutex
	of, by  string // its id, and how it is compared
	at      time.Time
	study   *lab.Study
	numbers *lab.StudyNumbers
	err     error // why it has no numbers yet
}

// loadStudy returns a study with its numbers as a query asks for them, or why it has none.
func (p *Page) loadStudy(id string, q url.Values) (*lab.Study, *lab.StudyNumbers, error, error) {
	s, by := &p.studied, url.Values{"baseline": q["baseline"], "curve": q["curve"]}.Encode()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.study != nil && s.of == id && s.by == by && (s.study.Run.Status == record.Finished || time.Since(s.at) < 2*stale) {
		return s.study, s.numbers, s.err, nil
	}
	study, err := p.lab.LoadStudy(id)
	if err != nil {
		return nil, nil, nil, err
	}
	s.of, s.by, s.study, s.at = id, by, study, time.Now()
	o := lab.Comparing{Baseline: q.Get("baseline"), Curve: cmp.Or(q.Get("curve"), "tokens")}
	if s.numbers, s.err = study.Numbers(o); s.err != nil && !q.Has("curve") {
		o.Curve = "" // it may have none
		s.numbers, s.err = study.Numbers(o)
	}
	return s.study, s.numbers, s.err, nil
}

// studyCell is the run of one task with one model.
type studyCell struct {
	Task, Model, To string
	Status          string
	Done, Size      int
}

// study is the methods over all tasks and models: ?pair=A|B chooses whose difference is
// drawn, ?baseline= compares all others with one method, ?curve= names what budgets are of.
func (p *Page) study(r *http.Request) (string, content, error) {
	q := r.URL.Query()
	s, n, waiting, err := p.loadStudy(r.PathValue("run"), q)
	if err != nil {
		return "", content{}, err
	}
	cells, done := p.studyCells(s)
	body := map[string]any{"ID": s.Run.ID, "Name": s.Run.Name, "Question": s.Run.Question, "Cells": cells, "Status": s.Run.Status, "Done": done, "Size": s.Run.Size(), "Root": s.Run.Root}
	c := content{Title: "study " + s.Run.ID, OwnHead: true, Crumb: []link{{"runs", "/"}}, Body: body}
	if s.Run.Status != record.Finished {
		_, on := p.underWay(s.Run)
		body["Running"], body["Unfinished"] = on, true
		c.Live = "/study/" + url.PathEscape(s.Run.ID) + "/state?" + q.Encode()
	}
	if waiting != nil {
		if s.Run.Status == record.Finished {
			return "", content{}, waiting
		}
		return "study.html", c, nil
	}
	sheet := report.StudySheet(s.Run, n.Study, n.Simulated)
	to := map[[2]string]string{}
	for _, cell := range cells {
		to[[2]string{cell.Task, cell.Model}] = cell.To
	}
	shown, pairs := shownPair(n, q.Get("pair"))
	body["News"], body["Basis"], body["Tables"], body["Notes"] = report.StudyNews(n.Study), strings.ReplaceAll(sheet.Head, "\n", " · "), sheet.Tables, sheet.Notes()
	body["Simulated"], body["Pairs"], body["Baseline"], body["Methods"] = n.Simulated, pairs, q.Get("baseline"), n.Whole.Methods
	body["Heat"] = report.Heat(n.Study, n.Simulated, func(task, model string) string { return to[[2]string{task, model}] })
	var curves []display.Bundle
	for _, plot := range report.CurvePlots(n.Whole, n.Simulated) {
		curves = append(curves, plot.Display())
	}
	body["Curves"], body["Curve"] = curves, cmp.Or(q.Get("curve"), "tokens")
	if shown >= 0 {
		body["Pair"], body["Forest"] = pairs[shown], report.Forest(n.Study, n.Simulated, shown)
	}
	return "study.html", c, nil
}

// shownPair is the place of the pair of a name among those of a study, or else of the one of
// which there is most to say: with a winner, and the largest difference. It is below 0 without
// any.
func shownPair(n *lab.StudyNumbers, name string) (shown int, names []string) {
	shown = min(0, len(n.Whole.Pairs)-1)
	best := -1.0
	for i, pair := range n.Whole.Pairs {
		names = append(names, report.PairName(n.Study, i))
		d := pair.Metrics[n.Whole.Metric]
		size := max(d.Difference.Value, -d.Difference.Value)
		if d.Winner != "" {
			size++ // before all without
		}
		if size > best {
			shown, best = i, size
		}
	}
	if i := slices.Index(names, name); i >= 0 {
		shown = i
	}
	return shown, names
}

func (p *Page) studyCells(s *lab.Study) (cells []studyCell, done int) {
	for i, c := range s.Run.Config.Study.Cells {
		cell := studyCell{Task: c.Task, Model: c.Model, Status: "not begun"}
		if r := s.Cells[i]; r != nil {
			cell.To, cell.Status, cell.Done, cell.Size = runLink(r.Run.ID, ""), string(r.Run.Status), len(r.Trials), r.Run.Size()
			if _, on := p.underWay(r.Run); on {
				cell.Status = "running"
			}
			done += cell.Done
		}
		cells = append(cells, cell)
	}
	return cells, done
}

// studyState is how far a study is, which its page polls.
func (p *Page) studyState(w http.ResponseWriter, r *http.Request) {
	s, _, _, err := p.loadStudy(r.PathValue("run"), r.URL.Query())
	if err != nil {
		http.Error(w, "no such study", http.StatusNotFound)
		return
	}
	_, done := p.studyCells(s)
	_, on := p.underWay(s.Run)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "%s %v %d of %d", s.Run.Status, on, done, s.Run.Size())
}
