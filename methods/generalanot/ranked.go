package generalanot

import (
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// told sends the events about an item.
func (t *trial) told(one placed) {
	path := fmt.Sprintf("%s/i%d", phaseCompute, one.item)
	for _, name := range one.result.Missed {
		t.emit(path, methods.Fallback, 2, nil, "lookup %s takes its default: the table has no such key", name)
	}
	if len(one.result.Invalid) > 0 {
		t.emit(path, methods.Dropped, 1, map[string]any{"reviews": one.result.Invalid}, "%d extractions are not valid by the seed's review_validity", len(one.result.Invalid))
	}
	if one.lost != nil {
		t.emit(path, methods.StepError, 1, nil, "item %d has no score: %v", one.item, one.lost)
		return
	}
	t.emit(path, methods.StepResult, 2, map[string]any{"score": one.score}, "item %d: %s", one.item, one.text())
}

// text is what was computed for an item, the last step first.
func (one placed) text() string {
	parts := make([]string, len(one.result.Steps))
	for i, c := range one.result.Steps {
		parts[i] = c.Name + " = " + reply.OneLine(c.Text, 100)
		if c.Err != nil {
			parts[i] = c.Name + " is undefined"
		}
	}
	slices.Reverse(parts) // the score is among the last steps, and a long line is cut at its end
	return strings.Join(parts, ", ")
}

// ranked is the answer: items in order, with what the order rests on.
func (t *trial) ranked(p *Program, items []placed, found extracted, asked int) methods.Answer {
	order, undefined := make([]int, t.named()), 0
	for i, one := range items {
		if i < len(order) {
			order[i] = one.item
		}
		if one.lost != nil {
			undefined++
		}
	}
	a := methods.RankingAnswer(order)
	switch {
	case undefined == len(items):
		a = a.As(methods.Defaulted, reply.OneLine(fmt.Sprintf("no item has a score, so the order is drawn: item %d: %v", items[0].item, items[0].lost), maxReason))
		t.emit(phaseCompute, methods.Fallback, 1, nil, "the ranking is drawn at random: %s", a.Reason)
	case found.lost > t.opts.MaxFailed:
		a = a.As(found.outcome(), found.reason(asked))
	}
	ties := t.ties(items, len(order))
	a.Evidence = slices.Concat(p.itemEvidence(items[:len(order)], undefined), ties, t.agreed(p.Seed, found.list))
	t.emit(phaseCompute, methods.PhaseEnd, 1, map[string]int{"n_items": len(items), "n_undefined": undefined, "n_ties": len(ties)},
		"ranking %s, %d of %d items without a score (%s)", a.Value, undefined, len(items), a.Outcome)
	return a
}

// ties flags the items with a score whose order was drawn, where that touches
// the first k.
func (t *trial) ties(items []placed, k int) []methods.Evidence {
	var list []methods.Evidence
	for from := 0; from < k; {
		to := from + 1
		for to < len(items) && items[from].before(items[to]) == 0 {
			to++
		}
		if to-from > 1 && items[from].lost == nil {
			var numbers []int
			for _, one := range items[from:to] {
				numbers = append(numbers, one.item)
			}
			slices.Sort(numbers)
			text := fmt.Sprintf("the order of %d items with the score %v is drawn: %v", to-from, items[from].score, numbers)
			t.emit(phaseCompute, Tied, 1, map[string]any{"items": numbers, "score": items[from].score, "place": from + 1}, "%s", text)
			list = append(list, methods.Evidence{Source: phaseCompute + "/" + string(Tied), Text: reply.OneLine(text, maxReason)})
		}
		from = to
	}
	return list
}

// itemEvidence tells for each named item its values and what was extracted from
// its reviews, after the formulas that all items share.
func (p *Program) itemEvidence(items []placed, undefined int) []methods.Evidence {
	var list []methods.Evidence
	for _, s := range p.steps[:min(len(p.steps), maxNamed)] {
		list = append(list, methods.Evidence{Source: "formula/" + s.Name, Text: reply.OneLine(s.Formula, 300)})
	}
	if undefined > 0 {
		list = append(list, methods.Evidence{Source: phaseCompute + "/undefined", Text: fmt.Sprintf("%d items have no score and rank last", undefined)})
	}
	for _, one := range items {
		source := fmt.Sprintf("%s/i%d", phaseCompute, one.item)
		if one.lost != nil {
			list = append(list, methods.Evidence{Source: source, Text: reply.OneLine("no score: "+one.lost.Error(), maxReason)})
			continue
		}
		list = append(list, methods.Evidence{Source: source, Text: reply.OneLine(one.text(), maxReason)})
		for i, e := range one.found {
			if i == maxNamed {
				break
			}
			if text := e.text(p.Seed.ExtractionFields); text != "" {
				list = append(list, methods.Evidence{Source: fmt.Sprintf("%s/i%d/r%d", phaseExtract, one.item, e.Review), Text: reply.OneLine(text, 300)})
			}
		}
	}
	return list
}
