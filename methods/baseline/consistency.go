package baseline

import (
	"context"
	"fmt"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

// SelfConsistency asks for several chains of thought at a temperature above 0
// and takes what most of them conclude.
//
// Source: Wang et al. 2022, "Self-Consistency Improves Chain of Thought
// Reasoning in Language Models", with the unweighted majority. Differs: the
// prompt of [CoT]; of equally frequent answers the one drawn first wins; answers that
// are not a single value are joined part by part (rankings by Borda's count, sets
// by the members in more than half, fields each for itself). A chain without an
// answer is left out, with an event.
func SelfConsistency() Method {
	return Method{
		name: "self-consistency", prompts: "3", summary: "asks for several chains of thought and takes the majority", ask: askConsistently,
		own: []string{"prompt", "example", "draws", "temperature"}, prompt: phases.ReasonPrompt,
	}
}

func askConsistently(ctx context.Context, t *solver, _ string) (reply.Reading, error) {
	chains := make([]methods.Request, t.opts.Draws)
	for d := range chains {
		chains[d] = t.Request(fmt.Sprintf("%s/d%d", callPath, d+1), t.conversation(false)...)
		chains[d].Draw, chains[d].Sampling.Temperature = d, t.opts.Temperature
	}
	drafts, err := t.Drafts(ctx, chains)
	if err != nil {
		return reply.Reading{}, err
	}
	a, err := phases.Majority(phases.Answers(drafts), t.Answer)
	if err == nil && len(drafts) < t.opts.Draws {
		t.Emit(callPath, methods.Truncated, 1, nil, "%d of %d chains voted", len(drafts), t.opts.Draws)
	}
	return reply.Reading{Answer: a}, err
}
