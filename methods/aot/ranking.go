package aot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// TiesDrawn is the kind of the event that names the items whose order the plan
// left open: those of equal rank, and those that it did not rank.
const TiesDrawn methods.EventKind = "ties_drawn"

// tieStream separates the order of ties from other random numbers of the trial.
const tieStream = 0x616f742f746965

// ranking orders the groups of a ranking, best first, and puts the items that it
// does not name last. Within a group, and among those not named, the order is
// drawn from the trial's seed. A plan that ranks nothing is answered by default.
func (t *solver) ranking(v any) methods.Answer {
	groups, err := t.groups(v)
	if err != nil {
		return trial.Without(methods.Unparsed, err)
	}
	ranked := len(slices.Concat(groups...))
	if rest := t.unranked(groups); len(rest) > 0 {
		groups = append(groups, rest)
	}
	rng := rand.New(rand.NewPCG(t.Seed, tieStream))
	var order []int
	var open []string
	for i, group := range groups {
		last := i == len(groups)-1 && ranked < t.Answer.N
		if place := len(order) + 1; place <= t.Answer.K && (len(group) > 1 || last) {
			what := "items %s share place %d"
			if last {
				what = "items %s, which the plan does not rank, follow from place %d"
			}
			open = append(open, fmt.Sprintf(what, itemList(group), place))
		}
		rng.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		order = append(order, group...)
	}
	a := methods.RankingAnswer(order[:min(max(t.Answer.K, 1), len(order))])
	if len(open) > 0 {
		text := strings.Join(open, "; ") + ": their order is drawn from the trial's seed"
		t.Emit(runPhase, TiesDrawn, 1, nil, "%s", text)
		a.Evidence = append(a.Evidence, methods.Evidence{Source: "ties", Text: reply.OneLine(text, 300)})
	}
	if ranked == 0 {
		t.Emit(runPhase, methods.Fallback, 1, nil, "the plan ranks no item: all are in an order drawn from the trial's seed")
		return a.As(methods.Defaulted, "the plan ranks no item")
	}
	return a
}

// groups reads a ranking: item numbers, and lists of those of equal rank. An item
// counts at its first place.
func (t *solver) groups(v any) (groups [][]int, err error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("the final atom gives %.100q, which is not a ranking", textOf(v))
	}
	seen := map[int]bool{}
	var dropped []string
	for _, v := range list {
		members, isGroup := v.([]any)
		if !isGroup {
			members = []any{v}
		}
		var group []int
		for _, m := range members {
			item, err := itemNumber(m)
			if err != nil {
				return nil, fmt.Errorf("the ranking: %w", err)
			}
			if seen[item] || item < 1 || item > t.Answer.N {
				dropped = append(dropped, fmt.Sprint(item))
				continue
			}
			seen[item] = true
			group = append(group, item)
		}
		if len(group) > 0 {
			slices.Sort(group) // so that the draw depends on the group alone
			groups = append(groups, group)
		}
	}
	if len(dropped) > 0 {
		t.Emit(runPhase, methods.Dropped, 1, nil, "item numbers that are repeated or not within 1..%d: %s", t.Answer.N, strings.Join(dropped, ", "))
	}
	return groups, nil
}

// unranked are the items that no group has.
func (t *solver) unranked(groups [][]int) []int {
	named := slices.Concat(groups...)
	return slices.DeleteFunc(reply.InOrder(t.Answer.N), func(item int) bool { return slices.Contains(named, item) })
}

func itemList(items []int) string { return strings.Trim(fmt.Sprint(items), "[]") }
