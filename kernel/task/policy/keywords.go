package policy

import (
	"maps"
	"slices"
	"strings"
)

// Keywords are lower-case words by which a filter finds every review that
// says anything: each such review has at least one of them as a whole word.
// Reviews that say nothing may have one too.
func (p Policy) Keywords() []string {
	lang, ok := languages()[p.Name]
	if !ok {
		return nil
	}
	common := map[string]bool{}
	for _, lists := range [][]string{lang.chatter, lang.frames[0], lang.frames[1], lang.frames[2]} {
		for _, text := range lists {
			for _, w := range tokens(text) {
				common[w] = true
			}
		}
	}
	var items [][]string
	for _, lists := range append(slices.Clone(lang.lex.Replies), lang.lex.Events[:]...) {
		for _, text := range lists {
			items = append(items, candidates(text, common))
		}
	}
	return cover(items)
}

// candidates are the words of text that can serve as keywords: the long ones
// that do not occur in every other review, or all if there are none.
func candidates(text string, common map[string]bool) []string {
	all := tokens(text)
	all = slices.DeleteFunc(all, func(w string) bool { return strings.HasPrefix(w, "{") })
	good := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return len(w) < 4 || common[w] })
	if len(good) == 0 {
		return all
	}
	return good
}

// cover picks words until every item has one, the most frequent first.
func cover(items [][]string) []string {
	var picked []string
	items = slices.DeleteFunc(items, func(item []string) bool { return len(item) == 0 }) // no word can find them
	for len(items) > 0 {
		count := map[string]int{}
		for _, item := range items {
			for _, w := range slices.Compact(slices.Sorted(slices.Values(item))) {
				count[w]++
			}
		}
		best := ""
		for _, w := range slices.Sorted(maps.Keys(count)) {
			if best == "" || count[w] > count[best] {
				best = w
			}
		}
		picked = append(picked, best)
		items = slices.DeleteFunc(items, func(item []string) bool { return slices.Contains(item, best) })
	}
	slices.Sort(picked)
	return picked
}
