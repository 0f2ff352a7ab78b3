package baseline

import (
	"context"

	"noema/methods/reply"
)

// PlanAndSolve asks for a plan and its solution in one call.
//
// Source: Wang et al. 2023, "Plan-and-Solve Prompting", in the form PS+, which
// also asks to extract the variables and to compute the intermediate results.
// Differs: the wording is our own, the answer is asked for in the same call, and
// one example shows the form.
func PlanAndSolve() Method {
	return Method{
		name: "plan-and-solve", prompts: "3", summary: "asks for a plan and its solution, in one call", ask: askPlanned,
		own: []string{"prompt", "example"}, prompt: plannedPrompt,
	}
}

func askPlanned(ctx context.Context, t *solver, _ string) (reply.Reading, error) {
	return t.reason(ctx, t.Request(callPath, t.conversation(true)...), t.opts.Retries)
}
