package baseline

import (
	"context"

	"noema/methods"
	"noema/methods/reply"
)

// PlanAndSolve asks for a plan and its solution in one call.
//
// Source: Wang et al. 2023, "Plan-and-Solve Prompting", in the form PS+, which
// also asks to extract the variables and to compute the intermediate results.
// Differs: the wording is our own, and the answer is asked for in the same call.
func PlanAndSolve() methods.Method { return planAndSolve() }

func planAndSolve() Method {
	return Method{name: "plan-and-solve", summary: "asks for a plan and its solution, in one call", ask: askPlanned}
}

func askPlanned(ctx context.Context, t *trial, question string) (r reading, err error) {
	parse := func(text string) (err error) {
		r, err = fromText(text, t.Answer)
		return err
	}
	_, _, err = reply.Text(ctx, t.host, t.request(plannedPrompt(question, t.Answer)), parse, reply.Options{Retries: t.opts.Retries})
	return r, err
}
