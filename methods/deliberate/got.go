package deliberate

import (
	"context"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

type graphOptions struct {
	phases.Options
	phases.Judged
	Parts       int     `json:"parts" default:"3" min:"2" max:"50" doc:"parts of the question, at most"`
	Branch      int     `json:"branch" default:"2" min:"1" max:"50" doc:"thoughts for each part and for the merged answer, of which the best is kept"`
	Rounds      int     `json:"rounds" default:"1" min:"0" max:"100" doc:"how often the merged answer is checked and refined, at most"`
	Temperature float64 `json:"temperature" default:"0.7" min:"0" max:"2" doc:"temperature of thoughts, if there are several"`
}

const (
	splitPrompt = "Do not answer yet. Divide this question into parts that can be solved one by one, without the results of the others as far as possible, and that together lead to the answer. If it cannot be divided, the list is empty.\n" +
		"Reply with one JSON object only: {\"parts\": [\"what to find\", \"what else to find\"]}\n"
	partPrompt  = "Do not answer the whole question. Solve only the part above, and give its result with the steps that lead to it.\n"
	mergePrompt = "The question was divided, and the results of its parts are above. Some may be wrong. Join them, and work out what is still missing."
)

// GraphOfThoughts divides the question into parts, keeps the best of several thoughts on
// each, merges them, keeps the best of several answers and refines it.
//
// Source: Besta et al. 2023, "Graph of Thoughts: Solving Elaborate Problems with Large
// Language Models", with generation, scoring, keeping the best, aggregation and
// refinement. Differs: the paper writes a graph of operations for each task, and scores
// by a program; here the model divides any question itself and judges thoughts as by Yao
// et al. 2023. A question that it does not divide is answered in one chain of thought.
func GraphOfThoughts() Method {
	return of("got", "divides the question, keeps the best thought on each part, merges and refines them", growGraph)
}

func growGraph(ctx context.Context, t *phases.Trial, o *graphOptions) (reply.Reading, error) {
	if o.Branch == 1 {
		o.Temperature = 0
	}
	parts, err := t.List(ctx, "split", "parts", o.Parts, splitPrompt)
	if err != nil && !t.Lost(ctx, "split", err) {
		return reply.Reading{}, err
	}
	g := phases.NewGraph("thoughts")
	defer g.Draw(t, "split")
	root := g.Add(methods.Node{Label: "question", Kind: "root", Path: "split"})
	results := make([]string, len(parts))
	err = phases.Each(len(parts), func(i int) (err error) {
		results[i], err = o.solvePart(ctx, t, fmt.Sprintf("part/%d", i+1), parts[i])
		return err
	})
	if err != nil {
		return reply.Reading{}, err
	}
	from := []string{root}
	var said []string
	for i, result := range results {
		if result != "" {
			said = append(said, parts[i]+"\n"+result)
			from = append(from, g.Add(methods.Node{Label: parts[i], Kind: "part", Layer: 1, Text: result, State: "done", Path: fmt.Sprintf("part/%d", i+1)}, root))
		}
	}
	requests := make([]methods.Request, o.Branch)
	for b := range requests {
		path := fmt.Sprintf("merge/b%d", b+1)
		if requests[b] = t.Reason(path, b, o.Temperature); len(said) > 0 {
			requests[b] = t.Reconsider(path, b, o.Temperature, mergePrompt, t.Show(path, "parts", said...))
		}
	}
	drafts, err := t.Drafts(ctx, requests)
	if err != nil {
		return reply.Reading{}, err
	}
	ids := g.Drafts("merged", 2, drafts, from...)
	best, err := keep(ctx, t, "merge/judge", phases.Texts(drafts))
	if err != nil {
		return reply.Reading{}, err
	}
	return improve(ctx, t, g, drafts[best], ids[best:best+1], o.Rounds, 0)
}

// solvePart is the best of several thoughts on a part; empty if no reply says anything.
func (o *graphOptions) solvePart(ctx context.Context, t *phases.Trial, path, part string) (string, error) {
	thoughts := make([]string, o.Branch)
	err := phases.Each(o.Branch, func(b int) error {
		r := t.Request(fmt.Sprintf("%s/b%d", path, b+1), methods.Ask(t.Prompt(partPrompt, t.Show(path, "part", part)))...)
		r.Draw, r.Sampling.Temperature = b, o.Temperature
		c, err := t.Host.Complete(ctx, r)
		if err != nil {
			return fmt.Errorf("ask %s: %w", r.Path, err)
		}
		thoughts[b] = strings.TrimSpace(c.Text)
		return nil
	})
	if err != nil {
		return "", err
	}
	best, err := keep(ctx, t, path+"/judge", thoughts)
	return thoughts[best], err
}

// keep is the place of the text that the model judges best; the first without a call if
// there is but one.
func keep(ctx context.Context, t *phases.Trial, path string, texts []string) (int, error) {
	if len(texts) == 1 {
		return 0, nil
	}
	values, err := t.Values(ctx, path, texts, 1, 0)
	return phases.Best(values, 1)[0], err
}
