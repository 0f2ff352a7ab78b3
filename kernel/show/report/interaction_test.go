package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"noema/kernel/result/compare"
)

// TestInteractionLines: a change that is shown has a line of its own, and what is not shown has
// one line for tasks and one for models, however many pairs there are.
func TestInteractionLines(t *testing.T) {
	for _, pairs := range []int{1, compare.FewPairs, compare.FewPairs + 1, 153} {
		s := &compare.Study{Level: 0.95, Whole: &compare.Comparison{Pairs: make([]compare.Pair, pairs)}}
		for i := range pairs {
			for _, of := range []string{"tasks", "models"} {
				part := compare.Departure{Part: "x", Against: "y", Detectable: compare.Number(0.1 + float64(i)/1000)}
				if i == 0 && of == "tasks" {
					part.Differs, part.Detectable = true, compare.Number(math.NaN())
				}
				s.Interactions = append(s.Interactions, compare.Interaction{A: fmt.Sprint("m", i), B: "n", Of: of, F: compare.Number(math.NaN()), Corrected: 0.5, Parts: []compare.Departure{part}})
			}
		}
		lines := interactionLines(s)
		text := strings.Join(lines, "\n")
		want, named := 3, strings.Contains(text, fmt.Sprintf("m%d − n (p", pairs-1))
		if pairs == 1 {
			want = 2
		}
		if len(lines) != want || named != (pairs <= compare.FewPairs+1) { // one of them is shown to change between tasks
			t.Errorf("%d pairs:\n%s", pairs, text)
		}
		if largest := fmt.Sprintf("under %.2f would", 0.1+float64(pairs-1)/1000); pairs > compare.FewPairs && !strings.Contains(text, largest) {
			t.Errorf("%d pairs: want the largest, %s:\n%s", pairs, largest, text)
		}
	}
}
