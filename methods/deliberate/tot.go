package deliberate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

type treeOptions struct {
	phases.Options
	phases.Judged
	Search      string  `json:"search" default:"breadth" choices:"breadth,depth" doc:"which states are looked at next: the best of each depth, or the best below the last"`
	Judge       string  `json:"judge" default:"value" choices:"value,vote" doc:"how states are judged: each by itself, or one against the others; depth first needs value"`
	Breadth     int     `json:"breadth" default:"3" min:"1" max:"100" doc:"states that are kept at each depth"`
	Width       int     `json:"width" default:"3" min:"1" max:"100" doc:"steps that are proposed from a state, at most"`
	Depth       int     `json:"depth" default:"4" min:"1" max:"100" doc:"steps of a state, at most; one that has no answer then is continued in one call"`
	Votes       int     `json:"votes" default:"1" min:"1" max:"100" doc:"how often a state is judged, or how many votes are cast"`
	Visits      int     `json:"visits" default:"20" min:"1" max:"10000" doc:"states from which steps are proposed, depth first, at most"`
	Temperature float64 `json:"temperature" default:"0.7" min:"0" max:"2" doc:"temperature of proposals, and of judgements if there are several"`
}

// TreeOfThoughts searches a tree whose states are chains of steps: the model proposes
// steps and judges the states that they lead to, and the best are pursued.
//
// Source: Yao et al. 2023, "Tree of Thoughts: Deliberate Problem Solving with Large
// Language Models", with proposals, values (sure, likely, impossible; 20, 1, 0.001) and
// votes, breadth first as for the Game of 24 and depth first as for crosswords. Differs:
// one zero-shot prompt for every task, in which a step says what is then left; breadth 3,
// width 3 and one value a state, where the paper has 5, all and three at temperature
// 0.7; the model does not see its other proposals; depth first leaves out states that all
// judgements call impossible; the best state is continued if it has no answer.
func TreeOfThoughts() Method {
	return of("tot", "searches a tree of steps that the model proposes and judges, breadth or depth first", searchTree)
}

// state is a chain of steps.
type state struct {
	steps []string
	value float64
	done  *phases.Draft // if its last step is the answer
	id    string        // in the graph
}

func (s *state) text() string { return strings.Join(s.steps, "\n") }

// tree is one search.
type tree struct {
	*phases.Trial
	*treeOptions
	graph  *phases.Graph
	visits int
}

func searchTree(ctx context.Context, t *phases.Trial, o *treeOptions) (reply.Reading, error) {
	s := &tree{Trial: t, treeOptions: o, graph: phases.NewGraph("tree")}
	defer s.graph.Draw(t, "search")
	root := &state{}
	root.id = s.graph.Add(methods.Node{Label: "question", Kind: "root"})
	var best *state
	var err error
	switch {
	case s.Search == "breadth":
		best, err = s.breadthFirst(ctx, root)
	case s.Judge == "vote":
		err = fmt.Errorf("depth first compares no states: use judge=value, or search=breadth for votes")
	default:
		best, err = s.depthFirst(ctx, root)
	}
	if err != nil {
		return reply.Reading{}, err
	}
	s.graph.Mark(best.id, "chosen")
	if best.done != nil {
		best.done.Report(t.Host, best.done.Path)
		return best.done.Reading, nil
	}
	d, err := t.Draft(ctx, t.Continue("finish", 0, 0, best.steps))
	if err == nil {
		s.graph.Drafts("answer", len(best.steps)+1, []phases.Draft{d}, best.id)
	}
	return d.Reading, err
}

// breadthFirst keeps the best states of each depth, and returns the best of the last.
func (s *tree) breadthFirst(ctx context.Context, root *state) (*state, error) {
	kept := []*state{root}
	for depth := 1; depth <= s.Depth && slices.ContainsFunc(kept, func(k *state) bool { return k.done == nil }); depth++ {
		path := fmt.Sprintf("depth/%d", depth)
		below := make([][]*state, len(kept))
		err := phases.Each(len(kept), func(i int) (err error) {
			below[i], err = s.expand(ctx, fmt.Sprintf("%s/s%d", path, i+1), kept[i])
			return err
		})
		if err != nil {
			return nil, err
		}
		var fresh []*state
		for i, k := range kept {
			if len(below[i]) == 0 { // it has its answer, or nothing leads on
				fresh = append(fresh, k)
			}
			fresh = append(fresh, below[i]...)
		}
		if err := s.judge(ctx, path+"/judge", fresh); err != nil {
			return nil, err
		}
		s.draw(kept, below)
		kept = s.best(fresh)
	}
	return kept[0], nil
}

// best are the states that are kept, the best first.
func (s *tree) best(states []*state) (kept []*state) {
	values := make([]float64, len(states))
	for i, one := range states {
		values[i] = one.value
	}
	for _, i := range phases.Best(values, s.Breadth) {
		kept = append(kept, states[i])
	}
	return kept
}

// expand proposes steps from a state that has no answer yet. A proposal that cannot be
// read leads nowhere.
func (s *tree) expand(ctx context.Context, path string, from *state) (below []*state, err error) {
	if from.done != nil {
		return nil, nil
	}
	next, err := s.Next(ctx, path, from.steps, s.Width, s.Temperature)
	if s.Lost(ctx, path, err) {
		return nil, nil
	}
	for _, step := range next {
		one := &state{steps: append(slices.Clip(from.steps), step)}
		if d, ok := s.Concluded(path, one.steps); ok {
			one.done = &d
		}
		below = append(below, one)
	}
	return below, err
}

// judge sets the values of states; those of equal text are judged once, and those that
// were judged by themselves before keep their value.
func (s *tree) judge(ctx context.Context, path string, states []*state) error {
	var texts []string
	if s.Judge == "value" {
		states = slices.DeleteFunc(slices.Clone(states), func(one *state) bool { return one.id != "" })
	}
	for _, one := range states {
		if !slices.Contains(texts, one.text()) {
			texts = append(texts, one.text())
		}
	}
	values, err := make([]float64, len(texts)), error(nil)
	switch {
	case s.Judge == "value":
		values, err = s.Values(ctx, path, texts, s.Votes, s.Temperature)
	case len(texts) > 1:
		values, err = s.Vote(ctx, path, texts, s.Votes, s.Temperature)
	}
	for _, one := range states {
		one.value = values[slices.Index(texts, one.text())]
	}
	return err
}

// draw adds states below those that they come from.
func (s *tree) draw(from []*state, below [][]*state) {
	for i, list := range below {
		for _, one := range list {
			n := methods.Node{Label: one.steps[len(one.steps)-1], Kind: "thought", Layer: len(one.steps), Text: one.text(), State: fmt.Sprintf("value %.4g", one.value)}
			if one.done != nil {
				n.Value = string(one.done.Answer.Value)
			}
			one.id = s.graph.Add(n, from[i].id)
		}
	}
}

// depthFirst returns the first state with an answer that is not judged impossible, or
// else the most promising that it saw.
func (s *tree) depthFirst(ctx context.Context, root *state) (*state, error) {
	stack, best := []*state{root}, root
	for len(stack) > 0 && s.visits < s.Visits {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if at.done != nil || len(at.steps) >= s.Depth { // the latter is continued
			return at, nil
		}
		s.visits++
		path := fmt.Sprintf("visit/%d", s.visits)
		below, err := s.expand(ctx, path, at)
		if err == nil {
			err = s.judge(ctx, path+"/judge", below)
		}
		if err != nil {
			return nil, err
		}
		s.draw([]*state{at}, [][]*state{below})
		slices.SortStableFunc(below, func(a, b *state) int { return cmp.Compare(a.value, b.value) })
		for _, one := range below { // the best last, on top of the stack
			if one.value > 0.001*float64(s.Votes) {
				stack = append(stack, one)
			}
			if one.value >= best.value {
				best = one
			}
		}
	}
	return best, nil
}
