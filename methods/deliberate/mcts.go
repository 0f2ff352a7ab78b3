package deliberate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

type monteOptions struct {
	phases.Options
	phases.Judged
	Simulations int     `json:"simulations" default:"4" min:"1" max:"10000" doc:"how often a leaf is chosen, expanded and played to the end"`
	Width       int     `json:"width" default:"2" min:"1" max:"100" doc:"steps that are proposed from a leaf, at most"`
	Depth       int     `json:"depth" default:"5" min:"1" max:"100" doc:"steps in the tree, at most; beyond them it is played to the end in one call"`
	Explore     float64 `json:"explore" default:"1.4" min:"0" max:"100" doc:"weight of what was seldom visited, against what was rewarded"`
	Trust       float64 `json:"trust" default:"0.5" min:"0" max:"1" doc:"weight of the model's judgement in a reward; the rest is the share of endings with the same answer"`
	Temperature float64 `json:"temperature" default:"0.7" min:"0" max:"2" doc:"temperature of proposals and endings"`
}

// MonteCarlo searches a tree of steps by Monte Carlo: it goes down to a leaf by upper
// confidence bounds, has steps proposed there, plays each to the end in one reply, and
// adds the rewards of these endings along the way.
//
// Source: Zhou et al. 2023, "Language Agent Tree Search" (LATS), whose reward joins the
// model's judgement and self-consistency, and Qi et al. 2024, "Mutual Reasoning Makes
// Smaller LLMs Stronger Problem-Solvers" (rStar), whose reward is how many endings agree.
// Differs: one kind of step, not rStar's five; no second model; no reflection and no
// tools; all steps of a leaf are played at once; the answer is the one with the largest
// sum of rewards over all endings.
func MonteCarlo() Method {
	return of("mcts", "searches a tree of steps by Monte Carlo; endings are rewarded by judgement and agreement", playTree)
}

// leaf is a node of the tree with the statistics of the endings below it.
type leaf struct {
	steps  []string
	up     *leaf
	below  []*leaf
	closed bool // it holds an answer, or nothing leads on
	visits float64
	reward float64
	id     string
}

// ending is a game that was played to the end.
type ending struct {
	phases.Draft
	trust float64 // how the model judged it, 0 to 1
	from  *leaf
}

// play is one search.
type play struct {
	*phases.Trial
	*monteOptions
	graph   *phases.Graph
	root    *leaf
	endings []ending
	agree   map[string]int // endings by their answer
}

func playTree(ctx context.Context, t *phases.Trial, o *monteOptions) (reply.Reading, error) {
	p := &play{Trial: t, monteOptions: o, graph: phases.NewGraph("tree"), root: &leaf{}, agree: map[string]int{}}
	p.root.id = p.graph.Add(methods.Node{Label: "question", Kind: "root"})
	defer p.graph.Draw(t, "search")
	for n := 1; n <= p.Simulations && !p.root.closed; n++ {
		path := fmt.Sprintf("simulation/%d", n)
		at := p.choose()
		if err := p.expand(ctx, path, at); err != nil {
			return reply.Reading{}, err
		}
		games := at.below
		if len(games) == 0 {
			games, at.closed = []*leaf{at}, true
		}
		first := len(p.endings)
		if err := p.simulate(ctx, path, games); err != nil {
			return reply.Reading{}, err
		}
		for _, e := range p.endings[first:] {
			for l := e.from; l != nil; l = l.up {
				l.visits++
				l.reward += p.rewarded(e)
			}
		}
	}
	if len(p.endings) == 0 {
		return reply.Reading{}, fmt.Errorf("%w: none of the endings", phases.ErrNoAnswer)
	}
	sums, values := map[string]float64{}, make([]float64, len(p.endings))
	for _, e := range p.endings {
		sums[string(e.Answer.Value)] += p.rewarded(e)
	}
	for i, e := range p.endings {
		values[i] = sums[string(e.Answer.Value)]
	}
	best := p.endings[phases.Best(values, 1)[0]]
	p.graph.Add(methods.Node{Label: "best", Kind: "final", Layer: len(best.from.steps) + 2, Value: string(best.Answer.Value)}, best.from.id)
	return best.Reading, nil
}

// choose goes down from the root, to the child with the largest upper confidence bound
// each time; of equal ones to the first.
func (p *play) choose() *leaf {
	at := p.root
	for len(at.below) > 0 {
		bounds := make([]float64, len(at.below))
		for i, l := range at.below {
			switch {
			case l.closed:
				bounds[i] = math.Inf(-1)
			case l.visits == 0:
				bounds[i] = math.Inf(1)
			default:
				bounds[i] = l.reward/l.visits + p.Explore*math.Sqrt(math.Log(max(1, at.visits))/l.visits)
			}
		}
		at = at.below[phases.Best(bounds, 1)[0]]
	}
	return at
}

// expand has steps proposed from a leaf.
func (p *play) expand(ctx context.Context, path string, at *leaf) error {
	if len(at.steps) >= p.Depth {
		return nil
	}
	next, err := p.Next(ctx, path+"/expand", at.steps, p.Width, p.Temperature)
	if p.Lost(ctx, path+"/expand", err) {
		return nil
	}
	for _, step := range next {
		l := &leaf{steps: append(slices.Clip(at.steps), step), up: at}
		_, l.closed = p.Concluded("", l.steps)
		l.id = p.graph.Add(methods.Node{Label: step, Kind: "thought", Layer: len(l.steps), Text: step, Path: path + "/expand"}, at.id)
		at.below = append(at.below, l)
	}
	return err
}

// simulate plays each game to the end and has the endings judged. One without an answer
// counts as a visit alone.
func (p *play) simulate(ctx context.Context, path string, games []*leaf) error {
	played := make([]*ending, len(games))
	err := phases.Each(len(games), func(i int) error {
		at := fmt.Sprintf("%s/g%d", path, i+1)
		d, ok := p.Concluded(at, games[i].steps)
		if ok {
			d.Report(p.Host, at)
		} else {
			var err error
			d, err = p.Draft(ctx, p.Continue(at, i, p.Temperature, games[i].steps))
			if p.Lost(ctx, at, err) {
				return nil
			}
			if err != nil {
				return err
			}
			d.Text = p.Show(at, "", d.Text).Text
		}
		e := ending{Draft: d, from: games[i]}
		if p.Trust > 0 {
			text := d.Text
			if !ok {
				text = strings.Join(append(slices.Clip(games[i].steps), text), "\n")
			}
			v, err := p.Value(ctx, at+"/judge", text, 1, 0)
			if err != nil {
				return err
			}
			e.trust = v.Share()
		}
		played[i] = &e
		return nil
	})
	for i, e := range played {
		if e == nil {
			games[i].visits++
			continue
		}
		p.endings = append(p.endings, *e)
		p.agree[string(e.Answer.Value)]++
		p.graph.Drafts("ending", len(games[i].steps)+1, []phases.Draft{e.Draft}, games[i].id)
	}
	p.close(games[0].up)
	return err
}

// close marks nodes below which all is closed.
func (p *play) close(l *leaf) {
	for ; l != nil && !slices.ContainsFunc(l.below, func(b *leaf) bool { return !b.closed }); l = l.up {
		l.closed = true
	}
}

// rewarded is the reward of an ending, 0 to 1, by all that were played so far.
func (p *play) rewarded(e ending) float64 {
	return p.Trust*e.trust + (1-p.Trust)*float64(p.agree[string(e.Answer.Value)])/float64(len(p.endings))
}
