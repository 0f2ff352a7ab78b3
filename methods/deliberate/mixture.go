package deliberate

import (
	"context"
	"fmt"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

type mixtureOptions struct {
	phases.Options
	Agents      int     `json:"agents" default:"3" min:"1" max:"50" doc:"how many reply in a layer"`
	Layers      int     `json:"layers" default:"2" min:"1" max:"20" doc:"layers of replies, before the last one that joins them"`
	Temperature float64 `json:"temperature" default:"0.7" min:"0" max:"2" doc:"temperature of the layers; the last reply has 0"`
}

// MixtureOfAgents has a layer of agents reply, each next layer reply from all of the
// layer before, and one reply join the last layer.
//
// Source: Wang et al. 2024, "Mixture-of-Agents Enhances Large Language Model
// Capabilities". Differs: the agents are draws of one model, as in the
// paper's single-proposer setting and Li et al. 2025, "Rethinking Mixture-of-Agents".
func MixtureOfAgents() Method {
	return of("mixture-of-agents", "layers of replies, each from all of the layer before; a last reply joins them", mix)
}

const mixPrompt = "The solutions above are of others, and some may be wrong. Judge them, take what is right of each, and give one solution that is better than any of them."

func mix(ctx context.Context, t *phases.Trial, o *mixtureOptions) (reply.Reading, error) {
	g := phases.NewGraph("layers")
	layer, err := t.Drafts(ctx, chains(t, "answer", o.Agents, o.Temperature))
	var ids []string
	for depth := 1; err == nil && depth < o.Layers; depth++ {
		ids = g.Drafts("agent", depth-1, layer, ids...)
		requests := make([]methods.Request, o.Agents)
		for a := range requests {
			path := fmt.Sprintf("layer/%d/a%d", depth+1, a+1)
			requests[a] = t.Reconsider(path, a, o.Temperature, mixPrompt, t.Show(path, "solutions", phases.Texts(layer)...))
		}
		layer, err = t.Drafts(ctx, requests)
	}
	if err != nil {
		return reply.Reading{}, err
	}
	ids = g.Drafts("agent", o.Layers-1, layer, ids...)
	d, err := t.Draft(ctx, t.Reconsider("join", 0, 0, mixPrompt, t.Show("join", "solutions", phases.Texts(layer)...)))
	if err == nil {
		g.Drafts("joined", o.Layers, []phases.Draft{d}, ids...)
		g.Draw(t, "join")
	}
	return d.Reading, err
}
