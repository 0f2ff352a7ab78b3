package policy_test

import (
	"fmt"

	"noema/kernel/task/policy"
)

func ExampleNew() {
	t, err := policy.New(policy.Options{Policy: "noise", Restaurants: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := t.Samples[0]
	fmt.Println(s.ID, s.Problem.Answer.Labels)
	fmt.Println(string(s.Target))
	// Output:
	// noise-001 [Calm Busy Too Loud]
	// {"loud_share":1,"n_angry":1,"n_deafening":1,"n_lively":0,"n_quiet":0,"n_refused":1,"n_reports":1,"noise_index":10,"recent_noise":1,"verdict":"Busy"}
}
