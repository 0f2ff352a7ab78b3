package report

import (
	"errors"
	"fmt"

	"noema/kernel/display"
	"noema/kernel/runner"
)

// ScaleTable shows the headline measure and the tokens of a trial of each method
// at each size of a task.
func ScaleTable(sizes []int, at []*runner.Summary) (display.Table, error) {
	t := display.Table{Title: "by size of the task"}
	if len(at) == 0 || len(sizes) != len(at) {
		return t, errors.New("scale: there are no results to show")
	}
	metricName := columns(at[0])
	if len(metricName) == 0 {
		return t, errors.New("scale: the results have no measure")
	}
	t.Add("method")
	for _, n := range sizes {
		t.Add(fmt.Sprintf("n = %d", n))
	}
	for i, m := range at[0].Methods {
		quality, used := []string{m.Method + " " + metricName[0].Label}, []string{m.Method + " tokens"}
		for _, s := range at {
			quality = append(quality, metric(s.Methods[i].Metrics[metricName[0].Name], true))
			used = append(used, tokens(s.Methods[i].Usage, float64(max(s.Methods[i].Trials, 1))))
		}
		t.Row(quality...)
		t.Row(used...)
	}
	chance := []string{"chance"}
	for _, s := range at {
		if v, ok := s.Chance[metricName[0].Name]; ok {
			chance = append(chance, fmt.Sprintf("%.2f", v))
		}
	}
	if len(chance) == len(at)+1 {
		t.Row(chance...)
	}
	return t, nil
}
