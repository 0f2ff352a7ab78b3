package sim

import (
	"encoding/json"
	"slices"
	"strings"

	"noema/kernel/task/multihop"
)

// pursuit is a question over articles that tools can find: how far the results of
// the tools lead.
type pursuit struct {
	q      multihop.Question
	at     string   // where the chain stands
	hop    int      // how many relations were followed
	listed []string // the sections of that article, once they were shown
	tried  []string // those of them that were read
	done   int      // how many results there are
	failed int      // how many of the last results in a row were empty
}

// pursue follows a question through what the tools said, if the prompt asks one
// and shows no articles.
func pursue(p prompt, results []string, n noise) (pursuit, bool) {
	q, ok := readHops(p.asked(multihop.FindQuestion), n)
	if _, shown := p.data("articles"); !ok || shown {
		return pursuit{}, false
	}
	w := pursuit{q: q, at: q.Start, done: len(results)}
	for _, seen := range results {
		if strings.HasPrefix(seen, "error") || strings.Contains(seen, `"results":[]`) {
			w.failed++
			continue
		}
		w.failed = 0
		if w.hop < len(q.Chain) && strings.Contains(seen, `"title":`+plainJSON(w.at)) {
			w.see(seen, n)
		}
	}
	return w, true
}

// see takes in the contents or a section of the article where the chain stands.
func (w *pursuit) see(seen string, n noise) {
	if _, list, ok := strings.Cut(seen, `"sections":`); ok {
		_ = json.NewDecoder(strings.NewReader(list)).Decode(&w.listed) // what was cut off lists nothing
		return
	}
	_, rest, ok := strings.Cut(seen, `"section":`)
	if !ok {
		return
	}
	var read string
	_ = json.NewDecoder(strings.NewReader(rest)).Decode(&read) // as above
	w.tried = append(w.tried, read)
	if object := leads(w.relation(), strings.ReplaceAll(seen, `\n`, "\n"), w.at, n, 0); object != "" {
		w.at, w.hop, w.listed, w.tried = object, w.hop+1, nil, nil
	}
}

func (w pursuit) relation() string { return w.q.Chain[w.hop] }

// reading is the call that shows the article's sections, or reads the one on the next
// relation; without a section that is left, the chain ends.
func (w pursuit) reading() (use toolUse, left bool) {
	if w.listed == nil {
		return toolUse{"What is in the article?", "inspect", map[string]any{"url": w.at}}, true
	}
	section := sectionOn(w.relation(), w.listed, w.tried)
	return toolUse{"The section on that.", "read_section", map[string]any{"url": w.at, "section": section}}, section != ""
}

// searching is the first call.
func (w pursuit) searching() toolUse {
	return toolUse{"Where to begin?", "search", map[string]any{"query": w.at + " " + w.relation()}}
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
	use, left := toolUse{}, false
	if w.hop < len(w.q.Chain) {
		use, left = w.reading()
	}
	switch {
	case !left || w.failed > 2 || demanded(p.after):
		return w.answer(), true
	case w.done == 0:
		use = w.searching()
	}
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
	if !ok || w.hop == len(w.q.Chain) {
		return nil, ok
	}
	use, left := w.reading()
	if !left {
		return nil, true
	}
	return []toolUse{use}, true
}

// joinReadings answers from what was read, or asks for another plan.
func joinReadings(p prompt, n noise) (string, bool) {
	w, ok := pursue(p, earlier(p), n)
	if !ok {
		return "", false
	}
	if w.hop < len(w.q.Chain) && p.wants(`{"replan":`) {
		if use, left := w.reading(); left {
			return plainJSON(map[string]any{"replan": "still to do: " + use.tool + " of " + w.at}), true
		}
	}
	return `{"answer": ` + w.answer().value + `}`, true
}
