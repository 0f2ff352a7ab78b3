package baseline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"noema/methods"
	"noema/methods/phases"
	"noema/methods/reply"
)

// Pairwise compares every two items of a list, in both orders, and ranks items
// by the comparisons that they win.
//
// Source: Qin et al. 2023, "Large Language Models are Effective Text Rankers with
// Pairwise Ranking Prompting", in the form PRP-Allpair: two orders that contradict
// each other, or a reply that names neither item, give each item half a point;
// ties keep the order of the list. It makes N(N-1) calls. Where no reply can be
// read at all, there is no ranking.
func Pairwise() Method {
	return Method{
		name: "pairwise", version: "3", summary: "compares every two items in both orders and counts the wins", ask: askPairwise,
		answers: []methods.AnswerKind{methods.Ranking},
	}
}

// atOnce bounds the comparisons under way in one trial.
const atOnce = 32

func askPairwise(ctx context.Context, t *solver, _ string) (reply.Reading, error) {
	list, err := t.items()
	if err != nil {
		return reply.Reading{}, err
	}
	n := t.Answer.N
	first := make([][]int, n+1) // first[a][b] is 1 if a, shown first, was preferred to b, -1 if b was, 0 if neither
	for a := range first {
		first[a] = make([]int, n+1)
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	errs := make([]error, n*n)
	for a := 1; a <= n; a++ {
		for b := 1; b <= n; b++ {
			if a == b {
				continue
			}
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				first[a][b], errs[(a-1)*n+b-1] = t.better(ctx, list, a, b)
			})
		}
	}
	all.Wait()
	lost := 0
	for _, err := range errs { // in the order of the list, so that the same one is told each time
		if errors.Is(err, reply.ErrInvalid) && ctx.Err() == nil {
			lost++
			err = nil
		}
		if err != nil {
			return reply.Reading{}, err
		}
	}
	if lost > 0 && lost == n*(n-1) {
		return reply.Reading{}, fmt.Errorf("%w: none of %d comparisons", phases.ErrNoAnswer, lost)
	}
	return reply.Reading{Answer: methods.RankingAnswer(byWins(first, n)[:t.Answer.K])}, nil
}

// byWins ranks items by points: 2 for a pair won in both orders, 1 for each of
// a pair without a winner.
func byWins(first [][]int, n int) []int {
	points := make([]int, n+1)
	for a := 1; a <= n; a++ {
		for b := a + 1; b <= n; b++ {
			switch sum := first[a][b] - first[b][a]; {
			case sum == 2:
				points[a] += 2
			case sum == -2:
				points[b] += 2
			default:
				points[a]++
				points[b]++
			}
		}
	}
	order := reply.InOrder(n)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(points[b], points[a]) })
	return order
}

// better asks which of two items fits better: 1 for the first shown, -1 for the
// second, 0 if the reply names neither.
func (t *solver) better(ctx context.Context, list items, a, b int) (int, error) {
	path := fmt.Sprintf("pair/%d-%d", a, b)
	spec := methods.AnswerSpec{Kind: methods.Ranking, N: 2, K: 1}
	said, err := t.ask(ctx, path, reply.Posed(t.Query, list.pick([]int{a, b}), list.data, spec), spec)
	if errors.Is(err, reply.ErrInvalid) && ctx.Err() == nil {
		t.Emit(path, methods.Dropped, 1, nil, "no preference: %v", err)
	}
	if err != nil {
		return 0, err
	}
	ranked, err := said.Answer.Ranking()
	if err != nil {
		return 0, err
	}
	return 3 - 2*ranked[0], nil
}
