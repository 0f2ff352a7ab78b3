package report

import (
	"fmt"
	"strconv"

	"noema/kernel/base/display"
	"noema/kernel/result/compare"
)

// ScaleTable shows the headline measure and the tokens of a trial of each method
// at each size of a task.
func ScaleTable(sizes []int, at []*compare.Comparison) display.Table {
	t := display.Table{Title: "by size of the task"}
	t.Add("method")
	for _, n := range sizes {
		t.Add("n = " + strconv.Itoa(n))
	}
	headline := at[0].Metric
	for i, m := range at[0].Methods {
		quality, used := []string{m.Method + " " + headline}, []string{m.Method + " tokens"}
		for _, c := range at {
			quality = append(quality, metric(c.Methods[i].Metrics[headline].Value, true))
			used = append(used, tokens(c.Methods[i]))
		}
		t.Row(quality...)
		t.Row(used...)
	}
	chance := []string{"chance"}
	for _, c := range at {
		if v, ok := c.Chance[headline]; ok {
			chance = append(chance, fmt.Sprintf("%.2f", v))
		}
	}
	if len(chance) == len(at)+1 {
		t.Row(chance...)
	}
	return t
}
