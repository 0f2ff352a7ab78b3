package deliberate

import (
	"context"
	"fmt"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

type bestOptions struct {
	phases.Options
	phases.Judged
	Draws       int     `json:"draws" default:"5" min:"1" max:"1000" doc:"how many chains of thought"`
	Temperature float64 `json:"temperature" default:"0.7" min:"0" max:"2" doc:"temperature of the chains, and of judgements if there are several"`
	Judge       string  `json:"judge" default:"value" choices:"value,pairs" doc:"who wins: the chain that is judged best by itself, or the one that wins most comparisons with another"`
	Votes       int     `json:"votes" default:"1" min:"1" max:"100" doc:"how often each chain is judged, with judge=value"`
}

// BestOfN draws several chains of thought and takes the one that a verifier holds for
// the best.
//
// Source: Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems", and for
// pairs Jiang et al. 2023, "LLM-Blender". Differs: the verifier is not trained, but a
// model, asked for sure, likely or impossible as by Yao et al. 2023; pairs are
// compared in both orders. Of equally good chains the one drawn first wins.
func BestOfN() Method {
	return of("best-of-n", "draws several chains of thought and takes the one that the model judges best", takeBest)
}

func takeBest(ctx context.Context, t *phases.Trial, o *bestOptions) (reply.Reading, error) {
	drafts, err := t.Drafts(ctx, chains(t, "answer", o.Draws, o.Temperature))
	if err != nil {
		return reply.Reading{}, err
	}
	var values []float64
	if o.Judge == "pairs" {
		values, err = t.Wins(ctx, "pair", phases.Texts(drafts))
	} else {
		values, err = t.Values(ctx, "judge", phases.Texts(drafts), o.Votes, o.Temperature)
	}
	if err != nil {
		return reply.Reading{}, err
	}
	best := phases.Best(values, 1)[0]
	g := phases.NewGraph("drafts")
	ids := g.Drafts("chain", 0, drafts)
	for i, id := range ids {
		g.Mark(id, fmt.Sprintf("value %.4g", values[i]))
	}
	g.Add(methods.Node{Label: "best", Kind: "final", Layer: 1, Value: string(drafts[best].Answer.Value)}, ids[best])
	g.Draw(t, "judge")
	return drafts[best].Reading, nil
}

// chains are requests for n chains of thought, with the paths of those of
// self-consistency.
func chains(t *phases.Trial, path string, n int, temperature float64) []methods.Request {
	all := make([]methods.Request, n)
	for d := range all {
		all[d] = t.Reason(fmt.Sprintf("%s/d%d", path, d+1), d, temperature)
	}
	return all
}
