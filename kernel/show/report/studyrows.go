package report

import (
	"cmp"
	"fmt"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
)

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
				rows = append(rows, []string{cmp.Or(task, "mean"), cmp.Or(model, "all"), part.Metric, method.Method, fmt.Sprint(v.N),
					digits(v.Value, v.Defined), digits(v.Low, v.HasInterval()), digits(v.High, v.HasInterval()),
					fmt.Sprint(standsOut(s, part, m)), strings.Join(provenWorse(part.Pairs, method.Method), " ")})
			}
		}
	}
	return rows
}

// digits is a number for a table of data; empty if it is not known.
func digits(x float64, known bool) string {
	if !known {
		return ""
	}
	return fmt.Sprintf("%.6g", x)
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
