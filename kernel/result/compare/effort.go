package compare

import (
	"slices"
	"strings"
)

// dialOf is a method's label without its options and its model's effort: labels that have it
// in common are settings of one dial.
func dialOf(label string) string {
	method, model, has := strings.Cut(label, " @ ")
	if method, _, _ = strings.Cut(method, "?"); has {
		model, _ = effortOf(model)
		method += " @ " + model
	}
	return method
}

// effortOf takes the effort out of a model's options.
func effortOf(model string) (rest, effort string) {
	rest, query, _ := strings.Cut(model, "?")
	var others []string
	for option := range strings.SplitSeq(query, "&") {
		if value, is := strings.CutPrefix(option, "effort="); is {
			effort = value
		} else if option != "" {
			others = append(others, option)
		}
	}
	if len(others) > 0 {
		rest += "?" + strings.Join(others, "&")
	}
	return rest, effort
}

// withEffort is a method's label with an effort as an option.
func withEffort(label, effort string) string {
	if strings.Contains(label, "?") {
		return label + "&effort=" + effort
	}
	return label + "?effort=" + effort
}

// byEffort is the study with the efforts of its models as options of its methods; nil unless
// every model has the same several ones on every task.
func (s *study) byEffort() *study {
	out := &study{plan: s.plan, envelope: s.envelope}
	var efforts []string
	for _, c := range s.cells {
		if _, effort := effortOf(c.Model); effort == "" {
			return nil
		} else if !slices.Contains(efforts, effort) {
			efforts = append(efforts, effort)
		}
	}
	for _, effort := range efforts {
		for _, m := range s.methods {
			out.methods = append(out.methods, withEffort(m, effort))
		}
	}
	for _, c := range s.cells {
		model, effort := effortOf(c.Model)
		i := slices.IndexFunc(out.cells, func(o CellData) bool { return o.Task == c.Task && o.Model == model })
		if i < 0 {
			i, out.cells = len(out.cells), append(out.cells, CellData{Task: c.Task, Model: model, Weight: c.Weight, Data: Data{Methods: out.methods, Metrics: c.Data.Metrics}})
		}
		out.cells[i].Data.take(c.Data, slices.Index(efforts, effort)*len(s.methods))
	}
	if len(efforts) < 2 || len(out.cells)*len(efforts) != len(s.cells) {
		return nil
	}
	if s.Baseline != "" {
		out.Baseline = withEffort(s.Baseline, efforts[0])
		if s.Declared == s.Baseline {
			out.Declared = out.Baseline
		}
	}
	out.strata = out.of("")
	return out
}

// take adds the trials of other, whose methods stand from a place on among those of d.
func (d *Data) take(other Data, from int) {
	at := map[string]int{}
	for i, s := range d.Samples {
		at[s.ID] = i
	}
	for _, s := range other.Samples {
		i, known := at[s.ID]
		if !known {
			mine := s
			mine.Cells, mine.Absent = make([][]Cell, len(d.Methods)), make([]int, len(d.Methods))
			i, d.Samples = len(d.Samples), append(d.Samples, mine)
		}
		copy(d.Samples[i].Cells[from:], s.Cells)
		copy(d.Samples[i].Absent[from:], s.Absent)
	}
}
