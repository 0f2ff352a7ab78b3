package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
)

// cellRow is a slice's numbers of one method, for a table of data.
type cellRow struct {
	task, model, metric, method string
	value                       score.Metric
	best                        bool
	better                      string
}

// StudyRows is the table of a paper as data, a line a method on each part of the study, with
// a head.
func StudyRows(s *compare.Study) [][]string {
	rows := [][]string{{"task", "model", "metric", "method", "samples", "value", "low", "high", "best", "proven_better_than"}}
	for _, model := range blocksOf(s) {
		for _, task := range columnsOf(s) {
			part, ok := sliceOf(s, task, model)
			if !ok {
				continue
			}
			for m, method := range s.Whole.Methods {
				v := part.Methods[m]
				r := cellRow{cmp.Or(task, "mean"), cmp.Or(model, "all"), part.Metric, method.Method, v, standsOut(s, part, m), provenWorse(s, part, m)}
				rows = append(rows, r.text())
			}
		}
	}
	return rows
}

// provenWorse names the methods that are proven worse than a method.
func provenWorse(s *compare.Study, part compare.Slice, m int) string {
	name := s.Whole.Methods[m].Method
	var names []string
	for _, d := range part.Pairs {
		if d.Winner == name {
			names = append(names, strings.Join(slices.DeleteFunc([]string{d.A, d.B}, func(n string) bool { return n == name }), ""))
		}
	}
	return strings.Join(names, " ")
}

func (r cellRow) text() []string {
	number := func(x float64, ok bool) string {
		if !ok {
			return ""
		}
		return fmt.Sprintf("%.6g", x)
	}
	return []string{r.task, r.model, r.metric, r.method, fmt.Sprint(r.value.N), number(r.value.Value, r.value.Defined),
		number(r.value.Low, r.value.HasInterval()), number(r.value.High, r.value.HasInterval()), fmt.Sprint(r.best), r.better}
}

// CellEstimate is what one cell of a study would ask for.
type CellEstimate struct {
	Task, Model string
	*runner.Estimate
}

// StudyEstimate is what a study would ask for, a line a cell and method.
func StudyEstimate(cells []CellEstimate) Sheet {
	var t display.Table
	var calls, tokens, dollars float64
	known := true
	for _, c := range cells {
		one := EstimateTable(c.Estimate)
		if t.Columns == nil {
			t.AddWhole("task", "model")
			t.Columns = append(t.Columns, one.Columns...)
		}
		for _, row := range one.Rows {
			t.Row(append([]string{c.Task, c.Model}, row...)...)
		}
		for _, m := range c.Methods {
			if known = known && m.Calls != nil && m.Tokens != nil && m.Cost != nil; known {
				calls, tokens, dollars = calls+*m.Calls, tokens+*m.Tokens, dollars+*m.Cost
			}
		}
	}
	tail := "in all: unknown, since some lines are"
	if known {
		tail = fmt.Sprintf("in all about %s new calls, %s tokens, %s", rough(&calls), rough(&tokens), money(&dollars))
	}
	return Sheet{Head: Plural(len(cells), "cell"), Tables: []display.Table{t}, Tail: tail}
}

// StudyProvenance is a table of the cells of a study: each with its run.
func StudyProvenance(run *record.Run) display.Table {
	var t display.Table
	t.AddWhole("task", "model", "weight", "run")
	for i, c := range run.Config.Study.Cells {
		t.Row(c.Task, c.Model, fmt.Sprintf("%.3g", c.Weight), cmp.Or(run.Cells[i], "not begun"))
	}
	return t
}
