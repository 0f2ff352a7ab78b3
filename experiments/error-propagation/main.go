// Error-propagation asks how mistakes of single steps travel through a method:
// it runs three methods at growing error rates of the simulated model.
package main

import (
	"fmt"
	"log"

	. "noema/kernel/lab"
	"noema/kernel/session/builtin"
)

func main() {
	lab := builtin.Open()
	defer lab.Close()

	methods := []string{"direct", "general-anot", "aot"}
	rates := []float64{0, 0.02, 0.05, 0.1, 0.2}

	table := Table{Title: "Hits@1 against the error rate of a step (simulated model)"}
	table.Add("error")
	table.Add(methods...)
	plot := Plot{
		Title: "How errors of steps reach the answer (simulated model)",
		X:     Axis{Label: "error rate of a step"},
		Y:     Axis{Label: "Hits@1", Min: 0, Max: 1},
	}
	for _, m := range methods {
		plot.Series = append(plot.Series, Series{Name: m})
	}

	for _, rate := range rates {
		result, err := lab.Run(Experiment{
			Task: "cafes?n=10", Methods: methods, Limit: "40",
			Model: fmt.Sprintf("sim?error=%g", rate),
		})
		if err != nil {
			log.Fatal(err)
		}
		row := []string{fmt.Sprintf("%g", rate)}
		for i, m := range methods {
			hits, err := result.Metric(m, "hits@1")
			if err != nil {
				log.Fatal(err)
			}
			row = append(row, fmt.Sprintf("%.2f [%.2f, %.2f]", hits.Value, hits.Low, hits.High))
			plot.Series[i].Points = append(plot.Series[i].Points, Point{X: rate, Y: hits.Value, Low: hits.Low, High: hits.High})
		}
		table.Rows = append(table.Rows, row)
	}
	lab.Show(table)
	lab.Show(plot)
}
