package sim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task/multihop"
)

// known is what the tree holds: how far the chain was followed, where it stands
// and stood before the last finding, and the nodes.
type known struct {
	at, before string
	hop        int
	nodes      []string
}

// readTree follows the question through the findings of the tree's view.
func readTree(view string, q multihop.Question) known {
	k := known{at: q.Start}
	for line := range strings.Lines(view) {
		id, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || k.hop >= len(q.Chain) || !strings.HasPrefix(id, "n") {
			continue
		}
		topic, object, ok := strings.Cut(rest, ": ")
		object, _, _ = strings.Cut(object, " [struck out: ")
		if ok && object != "" && topic == q.Chain[k.hop]+" of "+k.at {
			k.before, k.at, k.hop = k.at, object, k.hop+1
			k.nodes = append(k.nodes, id)
		}
	}
	return k
}

// researcher chooses the next action of Research Tree.
type researcher struct {
	q multihop.Question
	known
	steps   []happened
	offered []string
	noise   noise
}

// research is the next action of Research Tree: for each hop it finds the
// article, inspects it, reads the one section that will say, and keeps the
// finding. A finding that leads nowhere is read again and corrected.
func research(prompt string, n noise) (string, bool) {
	r, ok := readResearch(prompt, n)
	if !ok {
		return "", false
	}
	thought, tool, args := r.next()
	switch {
	case slices.Contains(r.offered, tool):
	case slices.Contains(r.offered, "search"):
		thought, tool, args = r.search()
	default:
		thought, tool, args = r.giveUp()
	}
	return plainJSON(map[string]any{"thought": thought, "tool": tool, "args": args}), true
}

// readResearch reads the question, the tree and the history of a prompt, and the
// tools that it offers.
func readResearch(prompt string, n noise) (researcher, bool) {
	question, rest, ok1 := section(prompt, "question")
	q, ok3 := readHops(question, n)
	view, rest, ok2 := section(rest, "tree")
	history, _, _ := section(rest, "history")
	r := researcher{q, readTree(view, q), steps(history), nil, n}
	for _, m := range toolLine.FindAllStringSubmatch(frame(prompt), -1) {
		r.offered = append(r.offered, m[1])
	}
	return r, ok1 && ok2 && ok3
}

var toolLine = regexp.MustCompile(`(?m)^([a-z_]+) \{"`)

func (r researcher) next() (thought, tool string, args map[string]any) {
	if r.hop == len(r.q.Chain) {
		return "The findings suffice.", "answer", map[string]any{"answer": r.at, "evidence": r.nodes}
	}
	relation, _ := multihop.FindRelation(r.q.Chain[r.hop])
	last := happened{}
	if k := len(r.steps); k > 0 {
		last = r.steps[k-1]
	}
	switch failed := last.failed(); {
	case failed && last.tool == "search" || last.seen == "nothing found":
		return r.giveUp()
	case failed && (last.tool == "inspect" || last.tool == "read_section"):
		return r.reconsider()
	case last.tool == "read_section" && strings.HasPrefix(last.seen, r.at+", "):
		return r.keep(relation, last.seen)
	}
	if seen := r.saw("read_section", r.at+", "+relation.Section); relation.Read(seen, r.at) != "" {
		return r.keep(relation, seen)
	}
	if seen := r.saw("inspect", r.at+" ("); seen != "" {
		if _, listed, _ := strings.Cut(seen, "\nsections: "); !strings.Contains(listed, relation.Section) {
			return r.giveUp()
		}
		return "The section on that.", "read_section", map[string]any{"url": address(seen), "section": relation.Section}
	}
	switch {
	case last.tool == "search":
		return "The article itself.", "inspect", map[string]any{"url": found(last.seen, r.at)}
	case r.hop > 0:
		return "I know the next article's title.", "inspect", map[string]any{"url": r.at}
	}
	return r.search()
}

// saw is what the latest action of a kind that the history shows gave, if it
// begins so.
func (r researcher) saw(tool, begin string) string {
	for _, s := range slices.Backward(r.steps) {
		if s.tool == tool && strings.HasPrefix(s.seen, begin) {
			return s.seen
		}
	}
	return ""
}

// times is how often the history shows a section, by how what it gave begins.
func (r researcher) times(begin string) (n int) {
	for _, s := range r.steps {
		if s.tool == "read_section" && strings.HasPrefix(s.seen, begin) {
			n++
		}
	}
	return n
}

func (r researcher) search() (thought, tool string, args map[string]any) {
	name := ""
	if r.hop < len(r.q.Chain) {
		name = r.q.Chain[r.hop]
	}
	return "Where to begin?", "search", map[string]any{"query": r.at + " " + name}
}

func (r researcher) giveUp() (thought, tool string, args map[string]any) {
	return "It does not say.", "answer", map[string]any{"answer": "unknown", "evidence": append([]string{}, r.nodes...)}
}

// keep adds what a section says to the tree, or goes on where it does not say.
func (r researcher) keep(relation multihop.Relation, seen string) (thought, tool string, args map[string]any) {
	object := leads(relation.Name, seen, r.at, r.noise, r.times(r.at+", "+relation.Section)-1)
	if object == "" {
		if m := pageOf.FindStringSubmatch(seen); m != nil && m[2] != m[3] {
			page, _ := strconv.Atoi(m[2]) // digits
			return "It goes on.", "read_section", map[string]any{"url": wikiURL(r.at), "section": m[1], "page": page + 1}
		}
		return r.reconsider()
	}
	parent := "root"
	if len(r.nodes) > 0 {
		parent = r.nodes[len(r.nodes)-1]
	}
	return "Keep that.", "add_to_memory", map[string]any{
		"parent": parent, "topic": relation.Name + " of " + r.at, "content": object, "source_url": wikiURL(r.at),
	}
}

// reconsider goes back to the last finding, which led nowhere: it reads its
// section again, where the history still shows it, and corrects what it kept.
func (r researcher) reconsider() (thought, tool string, args map[string]any) {
	if r.hop == 0 {
		return r.giveUp()
	}
	relation, _ := multihop.FindRelation(r.q.Chain[r.hop-1])
	place := r.before + ", " + relation.Section
	switch object := leads(relation.Name, r.saw("read_section", place), r.before, r.noise, r.times(place)-1); object {
	case "":
	case r.at:
		return r.search()
	default:
		return "I misread that.", "correct_memory", map[string]any{"id": r.nodes[len(r.nodes)-1], "content": object, "source_url": wikiURL(r.before)}
	}
	return "I should read that again.", "read_section", map[string]any{"url": wikiURL(r.before), "section": relation.Section}
}

func wikiURL(title string) string { return "wiki/" + strings.ReplaceAll(title, " ", "_") }

// happened is a step of the history.
type happened struct{ tool, seen string }

func (h happened) failed() bool {
	return strings.HasPrefix(h.seen, "refused: ") || strings.HasPrefix(h.seen, "error: ")
}

var (
	stepLine = regexp.MustCompile(`(?m)^\d+\. (search|inspect|read_section|add_to_memory|correct_memory|manage_tasks|answer)\{`)
	pageOf   = regexp.MustCompile(`^[^\n]*, ([^,\n]+), page (\d+) of (\d+):\n`)
)

func steps(history string) []happened {
	var list []happened
	places := stepLine.FindAllStringSubmatchIndex(history, -1)
	for i, at := range places {
		end := len(history)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		_, seen, _ := strings.Cut(history[at[0]:end], "\n")
		list = append(list, happened{history[at[2]:at[3]], strings.TrimSuffix(seen, "\n")})
	}
	return list
}

// address is that of an inspected article: it stands in parentheses at the end of
// the first line.
func address(seen string) string {
	line, _, _ := strings.Cut(seen, "\n")
	return strings.TrimSuffix(line[strings.LastIndex(line, "(")+1:], ")")
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
func answerNow(prompt string, n noise) (string, bool) {
	r, ok := readResearch(prompt, n)
	return fmt.Sprintf(`{"answer": %s, "evidence": %s}`, plainJSON(r.at), plainJSON(append([]string{}, r.nodes...))), ok
}
