package sim

import (
	"encoding/json"

	"noema/kernel/task/logs"
	"noema/kernel/task/multihop"
)

// planRanking plans for a request for a cafe: a list of items for each condition
// that the request sets, joined as the request does. Items are ranked by how many
// of its parts they fulfil; ties are left to the machine.
func planRanking(p prompt, n noise) (string, bool) {
	query, _ := p.question()
	wish, ok := understand(query, n)
	if !ok || !hasTools(p, "list_items", "filter_items", "open_items", "find_reviews") {
		return "", false
	}
	r := ranker{draft: newDraft(), plan: wish.written(n)}
	parts := []logic{wish.logic}
	if wish.logic.op == "AND" {
		parts = wish.logic.args
	}
	var lists []ref
	for _, part := range parts {
		lists = append(lists, r.items(part))
	}
	if len(lists) == 1 {
		return r.draft.plan(r.decide("rank", map[string]any{"lists": lists})), true
	}
	all := r.decide("intersect", map[string]any{"lists": lists})
	weights := make([]int, len(lists)+1)
	for i := range weights {
		weights[i] = 1
	}
	weights[0] = len(lists) + 1 // what fulfils all parts comes first
	best := r.decide("rank", map[string]any{"lists": append([]ref{all}, lists...), "weights": weights})
	return r.draft.plan(best), true
}

type ranker struct {
	*draft
	plan
}

// items is the list of the items that fulfil a tree.
func (r ranker) items(l logic) ref {
	if l.op == "" {
		return r.condition(r.tests[l.leaf-1])
	}
	lists := make([]ref, len(l.args))
	for i, a := range l.args {
		lists[i] = r.items(a)
	}
	switch l.op {
	case "NOT":
		all := r.decide("field", map[string]any{"of": r.tool("list_items", nil), "path": "item"})
		return r.decide("difference", map[string]any{"a": all, "b": lists[0]})
	case "OR":
		return r.decide("union", map[string]any{"lists": lists})
	}
	return r.decide("intersect", map[string]any{"lists": lists})
}

// condition is the list of the items that satisfy a test.
func (r ranker) condition(t test) ref {
	switch t.kind {
	case "HOURS":
		return r.tool("open_items", map[string]any{"day": t.day, "from": clock(t.from), "to": clock(t.to)})
	case "REVIEW_TEXT", "SOCIAL":
		input := map[string]any{"words": []string{t.pattern}}
		if t.kind == "SOCIAL" {
			input["person"], input["hops"] = t.friend, t.hops
		}
		return r.decide("field", map[string]any{"of": r.tool("find_reviews", input), "path": "item"})
	}
	return r.tool("filter_items", map[string]any{"path": t.path, "op": t.op, "value": t.value()})
}

// value is what a test wants as JSON.
func (t test) value() any {
	switch {
	case t.quoted:
		return t.want
	case t.want == "True", t.want == "False":
		return t.want == "True"
	case json.Valid([]byte(t.want)):
		return json.RawMessage(t.want)
	}
	return t.want
}

// planLogs plans for a question about logs: the searches one after the other,
// each on the selection of the one before.
func planLogs(p prompt, n noise) (string, bool) {
	uses, q, ok := plannedSearches(p, n)
	if !ok {
		return "", false
	}
	uses = writtenCalls(uses, n)
	d := newDraft()
	var last ref
	for i, u := range uses {
		if i > 0 {
			u.args["selection"] = d.decide("field", map[string]any{"of": last, "path": "selection"})
		}
		last = d.tool(u.tool, u.args)
	}
	kinds, extracted := uses[len(uses)-1].args["entity_types"].([]string)
	switch {
	case extracted:
		members := d.decide("field", map[string]any{"of": last, "path": "entities." + kinds[0]})
		if q.Count {
			return d.plan(d.decide("count", map[string]any{"list": members})), true
		}
		return d.plan(members), true
	case !q.Count: // entities of a kind that it does not know
		return d.plan([]string{}), true
	}
	return d.plan(d.decide("field", map[string]any{"of": last, "path": "count"})), q.Type != logs.FindRelationship
}

// writtenCalls are planned calls with the errors of writing: one that narrows the
// selection of the one before is left out.
func writtenCalls(uses []toolUse, n noise) []toolUse {
	var written []toolUse
	for i, u := range uses {
		if i == 0 || !n.errs(write, i) {
			written = append(written, u)
		}
	}
	return written
}

// planHops plans for a question over articles. For each hop it looks at an article's
// contents, has a model choose the section, reads it, and has a model read where the
// relation leads: no plan can name what it was not shown.
func planHops(p prompt, n noise) (string, bool) {
	query, _ := p.question()
	q, ok := readHops(query, n)
	if !ok || !hasTools(p, "inspect", "read_section") {
		return "", false
	}
	d := newDraft()
	at := q.Start
	for _, name := range q.Chain {
		contents := d.tool("inspect", map[string]any{"url": at})
		section := d.decide("read", map[string]any{"text": contents, "question": "Which section tells the " + name + " of " + at + "?"})
		text := d.tool("read_section", map[string]any{"url": at, "section": section})
		at = string(d.decide("read", map[string]any{"text": text, "question": multihop.Question{Start: at, Chain: []string{name}}.String()}))
	}
	return d.plan(at), true
}
