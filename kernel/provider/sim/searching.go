package sim

import (
	"slices"
	"strings"

	"noema/kernel/task/multihop"
)

// pursuit is a question over articles that tools can find: how far the results of
// the tools lead.
type pursuit struct {
	q      multihop.Question
	at     string // where the chain stands
	hop    int    // how many relations were followed
	done   int    // how many results there are
	failed int    // how many of the last results in a row gave nothing
}

// pursue follows a question through what the tools said, if the prompt asks one
// and shows no articles.
func pursue(p prompt, results []string, n noise) (pursuit, bool) {
	q, err := multihop.ReadQuestion(p.asked(multihop.FindQuestion))
	if _, shown := p.data("articles"); err != nil || shown {
		return pursuit{}, false
	}
	w := pursuit{q: q, at: q.Start, done: len(results)}
	for _, seen := range results {
		if strings.HasPrefix(seen, "error") || strings.Contains(seen, `"results":[]`) {
			w.failed++
			continue
		}
		w.failed = 0
		if w.hop == len(q.Chain) || !strings.Contains(seen, `"title":`+plainJSON(w.at)) || !strings.Contains(seen, `"section":`) {
			continue
		}
		if object := leads(w.relation(), strings.ReplaceAll(seen, `\n`, "\n"), w.at, n, w.hop); object != "" {
			w.at, w.hop = object, w.hop+1
		}
	}
	return w, true
}

func (w pursuit) relation() multihop.Relation {
	r, _ := multihop.FindRelation(w.q.Chain[w.hop])
	return r
}

// reading is the call that reads the section on the next relation.
func (w pursuit) reading() toolUse {
	return toolUse{"The section on that.", "read_section", map[string]any{"url": w.at, "section": w.relation().Section}}
}

// searching is the first call.
func (w pursuit) searching() toolUse {
	return toolUse{"Where to begin?", "search", map[string]any{"query": w.at + " " + w.relation().Name}}
}

// answer is where the chain ends, or that the tools do not say.
func (w pursuit) answer() work {
	if w.hop < len(w.q.Chain) {
		return work{after: "The articles do not say.", solution: solution{value: `"unknown"`, plain: "unknown"}}
	}
	return work{after: "That answers it.", solution: solution{value: plainJSON(w.at), plain: w.at}}
}

// findArticles is the next call of a tool that finds articles, or the answer.
func findArticles(p prompt, n noise) (work, bool) {
	if !slices.Contains(p.tools(), "read_section") {
		return work{}, false
	}
	w, ok := pursue(p, p.results(), n)
	if !ok {
		return work{}, false
	}
	next := w.reading
	switch {
	case w.hop == len(w.q.Chain) || w.failed > 2 || demanded(p.after):
		return w.answer(), true
	case w.done == 0:
		next = w.searching
	}
	use := next()
	return work{next: &use}, true
}

// earlier are the results of calls that a prompt lists, a line each, as in
// "$2 = read_section(…): {…}".
func earlier(p prompt) (list []string) {
	text, _, _ := section(p.text, "results")
	for line := range strings.Lines(text) {
		if _, value, ok := strings.Cut(strings.TrimSpace(line), "): "); ok && strings.HasPrefix(line, "$") {
			list = append(list, value)
		}
	}
	return list
}

// plannedReadings are the calls that can be planned at once: the title of the next
// article is known only when the one before was read.
func plannedReadings(p prompt, n noise) ([]toolUse, bool) {
	if !slices.Contains(p.tools(), "read_section") {
		return nil, false
	}
	w, ok := pursue(p, earlier(p), n)
	switch {
	case !ok:
		return nil, false
	case w.hop == len(w.q.Chain):
		return nil, true
	case w.done == 0:
		return []toolUse{w.searching(), w.reading()}, true
	}
	return []toolUse{w.reading()}, true
}

// joinReadings answers from what was read, or asks for another plan.
func joinReadings(p prompt, n noise) (string, bool) {
	w, ok := pursue(p, earlier(p), n)
	if !ok {
		return "", false
	}
	if w.hop < len(w.q.Chain) && p.wants(`{"replan":`) {
		return plainJSON(map[string]any{"replan": "the section on the " + w.relation().Name + " of " + w.at}), true
	}
	return `{"answer": ` + w.answer().value + `}`, true
}
