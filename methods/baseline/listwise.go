package baseline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// Listwise ranks a list through a window that moves from its end to its start,
// so that the best items rise to the top. A list within one window takes one
// call.
//
// Source: Sun et al. 2023, "Is ChatGPT Good at Search?" (RankGPT), permutation
// generation with a sliding window. Differs: JSON replies; items that a reply
// leaves out keep their order behind those it names, with an event.
func Listwise() Method {
	return Method{
		name: "listwise", summary: "ranks windows of the list, from its end to its start", ask: askListwise,
		answers: []methods.AnswerKind{methods.Ranking},
		own:     []string{"window", "stride", "passes"},
	}
}

// items are the items of a ranking as prompts show them, and the other data.
type items struct {
	lines []string // without their numbers
	data  string
}

func (t *solver) items() (items, error) {
	text, data, err := reply.DataOf(t.Context, methods.Ranking)
	if err != nil {
		return items{}, err
	}
	var list items
	list.data = data
	for line := range strings.Lines(text) {
		_, item, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		list.lines = append(list.lines, item)
	}
	if len(list.lines) != t.Answer.N {
		return list, fmt.Errorf("the problem wants %d items ranked, its context has %d", t.Answer.N, len(list.lines))
	}
	return list, nil
}

// pick is the part of the list with these numbers, numbered anew from 1.
func (l items) pick(numbers []int) string {
	lines := make([]string, len(numbers))
	for i, n := range numbers {
		lines[i] = fmt.Sprintf("%d: %s", i+1, l.lines[n-1])
	}
	return strings.Join(lines, "\n")
}

func askListwise(ctx context.Context, t *solver, _ string) (reply.Reading, error) {
	list, err := t.items()
	if err != nil {
		return reply.Reading{}, err
	}
	order := reply.InOrder(t.Answer.N)
	for pass := range t.opts.Passes {
		for end, number := len(order), 1; ; number++ {
			start := max(0, end-t.opts.Window)
			path := fmt.Sprintf("pass/%d/w%d", pass+1, number)
			if err := t.rankWindow(ctx, list, order[start:end], path); err != nil {
				return reply.Reading{}, err
			}
			if start == 0 {
				break
			}
			end -= t.opts.Stride
		}
	}
	return reply.Reading{Answer: methods.RankingAnswer(order[:t.Answer.K])}, nil
}

// rankWindow orders a part of the list in its place.
func (t *solver) rankWindow(ctx context.Context, list items, window []int, path string) error {
	spec := methods.AnswerSpec{Kind: methods.Ranking, N: len(window), K: len(window)}
	said, err := t.ask(ctx, path, reply.Posed(t.Query, list.pick(window), list.data, spec), spec)
	if err != nil {
		return err
	}
	ranked, err := said.Answer.Ranking()
	if err != nil {
		return err
	}
	if missing := len(window) - len(ranked); missing > 0 {
		t.Emit(path, methods.Repair, 1, nil, "%d of %d items are not named: they keep their order behind the others", missing, len(window))
	}
	before := slices.Clone(window)
	order := append(ranked, reply.InOrder(len(window))...) // those named again change nothing
	named := map[int]bool{}
	for _, i := range order {
		if !named[i] {
			window[len(named)] = before[i-1]
			named[i] = true
		}
	}
	return nil
}
