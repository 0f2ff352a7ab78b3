package baseline

import (
	"context"
	"encoding/json"
	"fmt"
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
func Listwise() methods.Method { return listwise() }

func listwise() Method {
	return Method{
		name: "listwise", summary: "ranks windows of the list, from its end to its start", ask: askListwise,
		answers: []methods.AnswerKind{methods.Ranking},
		options: []methods.Option{
			{Name: "window", Type: methods.IntOption, Default: "20", Doc: "items that one call ranks"},
			{Name: "stride", Type: methods.IntOption, Default: "10", Doc: "items by which the window moves"},
			{Name: "passes", Type: methods.IntOption, Default: "1", Doc: "how often the window passes over the list"},
		},
	}
}

// items are the items of a ranking as prompts show them, and the other data.
type items struct {
	lines []string // without their numbers
	data  string
}

func (t *trial) items() (items, error) {
	text, data, err := contextText(t.Context, methods.Ranking)
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

func askListwise(ctx context.Context, t *trial, _ string) (reading, error) {
	list, err := t.items()
	if err != nil {
		return reading{}, err
	}
	order := make([]int, t.Answer.N)
	for i := range order {
		order[i] = i + 1
	}
	for pass := range t.opts.Passes {
		for end, number := len(order), 1; ; number++ {
			start := max(0, end-t.opts.Window)
			path := fmt.Sprintf("pass/%d/w%d", pass+1, number)
			if err := t.rankWindow(ctx, list, order[start:end], path); err != nil {
				return reading{}, err
			}
			if start == 0 {
				break
			}
			end -= t.opts.Stride
		}
	}
	return reading{answer: methods.RankingAnswer(order[:t.Answer.K])}, nil
}

// rankWindow orders a part of the list in its place.
func (t *trial) rankWindow(ctx context.Context, list items, window []int, path string) error {
	spec := methods.AnswerSpec{Kind: methods.Ranking, N: len(window), K: len(window)}
	req := t.request(directPrompt(question(t.Query, list.pick(window), list.data, spec), spec))
	req.Path, req.Schema = path, schema(spec)
	var said reply.Ranked
	check := func(raw json.RawMessage) error {
		var body struct{ Answer json.RawMessage }
		if err := json.Unmarshal(raw, &body); err != nil {
			return err
		}
		if said = reply.Ranking(string(body.Answer), len(window)); len(said.Items) == 0 {
			return fmt.Errorf("it names no item within 1..%d", len(window))
		}
		return nil
	}
	if _, _, err := reply.JSON(ctx, t.host, req, check, reply.Options{Retries: t.opts.Retries}); err != nil {
		return err
	}
	if missing := len(window) - len(said.Items); missing > 0 {
		t.emitAt(path, methods.Repair, "%d of %d items are not named: they keep their order behind the others", missing, len(window))
	}
	before := append([]int(nil), window...)
	named := map[int]bool{}
	place := 0
	for _, i := range said.Items {
		window[place] = before[i-1]
		named[i] = true
		place++
	}
	for i, item := range before {
		if !named[i+1] {
			window[place] = item
			place++
		}
	}
	return nil
}
