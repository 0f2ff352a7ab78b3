package sim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/task/multihop"
)

// follow reads a chain of relations in a text for each subject, as far as the
// texts go. A misread step takes another name of the same text for where the
// relation leads.
func follow(q multihop.Question, textOf func(title string) string, n noise) (reached []string, complete bool) {
	at := q.Start
	for i, name := range q.Chain {
		r, ok := multihop.FindRelation(name)
		if !ok {
			return reached, false
		}
		text := textOf(at)
		next := r.Read(text, at)
		if next == "" {
			return reached, false
		}
		if n.errs(read, i) {
			if other := otherName(text, at, next, n, i); other != "" {
				next = other
			}
		}
		reached = append(reached, next)
		at = next
	}
	return reached, true
}

var properName = regexp.MustCompile(`[A-Z][a-z]+(?: [A-Z][a-z]+)*`)

// otherName is a name in a text that is neither the subject nor the object.
func otherName(text, subject, object string, n noise, at int) string {
	var names []string
	for _, name := range properName.FindAllString(text, -1) {
		if name != subject && name != object && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return names[n.below(len(names), read, at)]
}

// solveArticles answers a question from the full articles that a prompt shows.
func solveArticles(p prompt, n noise) (solution, bool) {
	query, marked := p.question()
	if !marked {
		query = multihop.FindQuestion(query)
	}
	q, err := multihop.ReadQuestion(strings.TrimSpace(query))
	var articles []struct{ Title, Text string }
	_, shown := p.data("articles")
	if err != nil || !shown && !(marked && p.has("data")) || shown && !p.read("articles", &articles) {
		return solution{}, false // cut short, perhaps
	}
	reached, complete := follow(q, func(title string) string {
		for _, a := range articles {
			if a.Title == title {
				return a.Text
			}
		}
		return ""
	}, n)
	if !complete {
		return solution{steps: "The articles do not say.\n", value: `"unknown"`, plain: "unknown"}, true
	}
	last := reached[len(reached)-1]
	return solution{steps: "I follow the articles: " + strings.Join(reached, ", then ") + ".\n", value: plainJSON(last), plain: last, tight: true}, true
}

// act writes an action of Research Tree.
func act(thought, tool string, args map[string]any) (string, bool) {
	return plainJSON(map[string]any{"thought": thought, "tool": tool, "args": args}), true
}

// known is what the tree holds: how far the chain was followed, where it stands,
// and the nodes.
type known struct {
	at    string
	hop   int
	nodes []string
}

// readTree follows the question through the findings of the tree's view.
func readTree(view string, q multihop.Question) known {
	k := known{at: q.Start}
	for line := range strings.Lines(view) {
		id, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || k.hop >= len(q.Chain) || !strings.HasPrefix(id, "n") {
			continue
		}
		if topic, object, ok := strings.Cut(rest, ": "); ok && topic == q.Chain[k.hop]+" of "+k.at {
			k.at, k.hop = object, k.hop+1
			k.nodes = append(k.nodes, id)
		}
	}
	return k
}

// research is the next action of Research Tree: for each hop it finds the
// article, inspects it, reads the one section that will say, and keeps the
// finding.
func research(prompt string, n noise) (string, bool) {
	question, rest, ok1 := section(prompt, "question")
	q, err := multihop.ReadQuestion(strings.TrimSpace(question))
	view, rest, ok2 := section(rest, "tree")
	history, _, _ := section(rest, "history")
	if !ok1 || !ok2 || err != nil {
		return "", false
	}
	k := readTree(view, q)
	if k.hop == len(q.Chain) {
		return act("The findings suffice.", "answer", map[string]any{"answer": k.at, "evidence": k.nodes})
	}
	r, _ := multihop.FindRelation(q.Chain[k.hop])
	last := lastStep(history)
	switch {
	case strings.HasPrefix(last.tool, "read_section") && strings.HasPrefix(last.seen, k.at+", "):
		object := r.Read(last.seen, k.at)
		if n.errs(read, k.hop) {
			if other := otherName(last.seen, k.at, object, n, k.hop); other != "" {
				object = other
			}
		}
		if object == "" {
			return act("It does not say.", "answer", map[string]any{"answer": "unknown", "evidence": k.nodes})
		}
		parent := "root"
		if len(k.nodes) > 0 {
			parent = k.nodes[len(k.nodes)-1]
		}
		return act("Keep that.", "add_to_memory", map[string]any{
			"parent": parent, "topic": r.Name + " of " + k.at, "content": object, "source_url": "wiki/" + strings.ReplaceAll(k.at, " ", "_"),
		})
	case strings.HasPrefix(last.tool, "inspect") && strings.Contains(last.seen, k.at+" ("):
		return act("The section on that.", "read_section", map[string]any{"url": address(last.seen), "section": r.Section})
	case strings.HasPrefix(last.tool, "search"):
		return act("The article itself.", "inspect", map[string]any{"url": found(last.seen, k.at)})
	case k.hop > 0:
		return act("I know the next article's title.", "inspect", map[string]any{"url": k.at})
	}
	return act("Where to begin?", "search", map[string]any{"query": k.at + " " + r.Name})
}

// happened is the last step of the history.
type happened struct{ tool, seen string }

var stepLine = regexp.MustCompile(`(?m)^\d+\. (search|inspect|read_section|add_to_memory|manage_tasks|answer)\{`)

func lastStep(history string) happened {
	places := stepLine.FindAllStringIndex(history, -1)
	if len(places) == 0 {
		return happened{}
	}
	text := history[places[len(places)-1][0]:]
	head, seen, _ := strings.Cut(text, "\n")
	_, tool, _ := strings.Cut(head, ". ")
	return happened{tool, seen}
}

// address is that of an inspected article: it stands in parentheses behind the
// title.
func address(seen string) string {
	_, rest, _ := strings.Cut(seen, "(")
	a, _, _ := strings.Cut(rest, ")")
	return a
}

// found is the result of a search whose title is the wanted one, or else the
// first.
func found(seen, title string) string {
	for line := range strings.Lines(seen) {
		id, rest, _ := strings.Cut(line, " ")
		if strings.HasPrefix(rest, title+" (") {
			return id
		}
	}
	return "r1"
}

// answerNow is the best answer when no steps are left.
func answerNow(prompt string) (string, bool) {
	question, rest, ok1 := section(prompt, "question")
	q, err := multihop.ReadQuestion(strings.TrimSpace(question))
	view, _, ok2 := section(rest, "tree")
	if !ok1 || !ok2 || err != nil {
		return "", false
	}
	k := readTree(view, q)
	return fmt.Sprintf(`{"answer": %s, "evidence": %s}`, plainJSON(k.at), plainJSON(append([]string{}, k.nodes...))), true
}
