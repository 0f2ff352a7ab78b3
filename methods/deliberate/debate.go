package deliberate

import (
	"context"
	"fmt"
	"slices"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

type debateOptions struct {
	phases.Options
	Agents      int     `json:"agents" default:"3" min:"2" max:"50" doc:"how many take part"`
	Rounds      int     `json:"rounds" default:"2" min:"1" max:"50" doc:"how often they read each other's replies, after their first"`
	Temperature float64 `json:"temperature" default:"0.7" min:"0" max:"2" doc:"temperature of the replies"`
}

const (
	debatePrompt = "Your own solution so far is the first section above, those of others are the second. Weigh their reasons against yours, say where they differ, and give your solution anew."
)

// Debate has several agents reply, read what the others replied, and reply anew. What
// most of them end with is the answer.
//
// Source: Du et al. 2023, "Improving Factuality and Reasoning in Language Models through
// Multiagent Debate". Differs: a round is one message with the question and the last
// replies, not a conversation that grows; an agent whose reply has no answer keeps the
// one that it had; the majority is that of self-consistency.
func Debate() Method {
	return of("debate", "several agents read each other's replies and reply anew; the majority answers", debate)
}

func debate(ctx context.Context, t *phases.Trial, o *debateOptions) (reply.Reading, error) {
	stands, err := t.Drafts(ctx, chains(t, "answer", o.Agents, o.Temperature))
	if err != nil {
		return reply.Reading{}, err
	}
	g := phases.NewGraph("debate")
	ids := g.Drafts("agent", 0, stands)
	for round := 1; round <= o.Rounds && len(stands) > 1; round++ {
		next := slices.Clone(stands)
		err := phases.Each(len(stands), func(i int) error {
			path := fmt.Sprintf("round/%d/a%d", round, i+1)
			others := phases.Texts(slices.Concat(stands[:i], stands[i+1:]))
			d, err := t.Draft(ctx, t.Reconsider(path, i, o.Temperature, debatePrompt, t.Show(path, "solution", stands[i].Text), t.Show(path, "solutions", others...)))
			if t.Lost(ctx, path, err) {
				return nil
			}
			next[i] = d
			return err
		})
		if err != nil {
			return reply.Reading{}, err
		}
		stands = next
		ids = g.Drafts("agent", round, stands, ids...)
	}
	r, err := majority(t, stands)
	if err == nil {
		g.Add(methods.Node{Label: "majority", Kind: "final", Layer: o.Rounds + 1, Value: string(r.Answer.Value)}, ids...)
		g.Draw(t, "round")
	}
	return r, err
}
