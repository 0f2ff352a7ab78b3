package compare_test

import (
	"fmt"

	"noema/kernel/result/compare"
)

// Two methods on the same ten samples: six wins to one loss look like a lot
// and prove nothing yet.
func ExamplePaired() {
	anot := []float64{1, 1, 1, 1, 1, 1, 0, 0, 1, 0}
	direct := []float64{0, 0, 0, 0, 0, 0, 0, 1, 1, 0}
	d, err := compare.Paired("accuracy", anot, direct, nil, compare.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Verdict())
	fmt.Println(d.Test)
	// Output:
	// not decided between A and B: accuracy +0.500 [-0.031, +0.797] (n = 10, p = 0.109); either may be the better one; this run finds differences from 0.624 on, and about half of that with four times the samples
	// unconditional exact test
}
