package baseline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"noema/methods"
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
		own: []string{"prompt", "example", "draws", "temperature"}, prompt: cotPrompt,
	}
}

func askConsistently(ctx context.Context, t *solver, question string) (reply.Reading, error) {
	drawn := make([]reply.Reading, t.opts.Draws)
	errs := make([]error, t.opts.Draws)
	var all sync.WaitGroup
	for d := range drawn {
		all.Go(func() { drawn[d], errs[d] = t.chain(ctx, question, d) })
	}
	all.Wait()
	var votes []methods.Answer
	for d, err := range errs {
		switch {
		case err == nil:
			votes = append(votes, drawn[d].Answer)
		case errors.Is(err, reply.ErrInvalid) && ctx.Err() == nil:
			t.Emit(drawPath(d), methods.Dropped, 1, nil, "the chain has no answer: %v", err)
		default:
			return reply.Reading{}, err
		}
	}
	if len(votes) == 0 {
		return reply.Reading{}, fmt.Errorf("%w: none of %d chains", errNoAnswer, t.opts.Draws)
	}
	a, err := majority(votes, t.Answer)
	if err == nil && len(votes) < t.opts.Draws {
		t.Emit(callPath, methods.Truncated, 1, nil, "%d of %d chains voted", len(votes), t.opts.Draws)
	}
	return reply.Reading{Answer: a}, err
}

func drawPath(d int) string { return fmt.Sprintf("%s/d%d", callPath, d+1) }

// chain asks for one chain of thought. It is not asked again: another draw
// makes up for a lost one.
func (t *solver) chain(ctx context.Context, question string, d int) (reply.Reading, error) {
	req := t.Request(drawPath(d), t.conversation(question, false)...)
	req.Draw, req.Sampling.Temperature = d, t.opts.Temperature
	return t.reason(ctx, req, 0)
}

// majority joins answers of one kind.
func majority(votes []methods.Answer, spec methods.AnswerSpec) (methods.Answer, error) {
	switch spec.Kind {
	case methods.Ranking:
		return borda(votes, spec)
	case methods.Set:
		return commonMembers(votes)
	case methods.Fields:
		return fieldwise(votes, spec)
	}
	values := make([]string, len(votes))
	for i, v := range votes {
		values[i] = string(v.Value)
	}
	return methods.Answer{Value: json.RawMessage(mostFrequent(values)), Outcome: methods.Answered}, nil
}

// mostFrequent is the most frequent value, of equally frequent ones the first.
func mostFrequent(values []string) string {
	count := map[string]int{}
	best := ""
	for _, v := range values {
		count[v]++
	}
	for _, v := range values {
		if best == "" || count[v] > count[best] {
			best = v
		}
	}
	return best
}

// borda ranks items by the sum of their places, where an item that a vote does
// not name stands behind those it does.
func borda(votes []methods.Answer, spec methods.AnswerSpec) (methods.Answer, error) {
	points := make([]int, spec.N+1)
	for _, v := range votes {
		order, err := v.Ranking()
		if err != nil {
			return methods.Answer{}, err
		}
		for place, item := range order {
			points[item] += spec.N - place
		}
	}
	items := reply.InOrder(spec.N)
	slices.SortStableFunc(items, func(a, b int) int { return cmp.Compare(points[b], points[a]) })
	return methods.RankingAnswer(items[:spec.K]), nil
}

func commonMembers(votes []methods.Answer) (methods.Answer, error) {
	count := map[string]int{}
	for _, v := range votes {
		members, err := v.Set()
		if err != nil {
			return methods.Answer{}, err
		}
		for _, m := range members {
			count[m]++
		}
	}
	members := []string{}
	for m, n := range count {
		if 2*n > len(votes) {
			members = append(members, m)
		}
	}
	return methods.SetAnswer(members), nil
}

func fieldwise(votes []methods.Answer, spec methods.AnswerSpec) (methods.Answer, error) {
	values := map[string][]string{}
	for _, v := range votes {
		fields, err := v.Fields()
		if err != nil {
			return methods.Answer{}, err
		}
		for _, name := range spec.Names {
			values[name] = append(values[name], string(fields[name]))
		}
	}
	joined := map[string]any{}
	for name, of := range values {
		joined[name] = json.RawMessage(mostFrequent(of))
	}
	return methods.FieldsAnswer(joined)
}
