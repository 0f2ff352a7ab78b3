package sim

import (
	"encoding/json"
	"regexp"
	"strings"

	"noema/kernel/task/logs"
	"noema/kernel/task/multihop"
)

// planRanking plans for a request for a cafe: a list of items for each condition
// that the request sets, joined as the request does. Items are ranked by how many
// of its parts they fulfil; ties are left to the machine.
func planRanking(p prompt, n noise) (string, bool) {
	query, _ := p.question()
	wish, ok := understand(query)
	if !ok || !hasTools(p, "list_items", "filter_items", "open_items", "find_reviews") {
		return "", false
	}
	wish = wish.misread(step, n)
	r := ranker{draft: newDraft(), plan: wish}
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
	uses, q, ok := plannedSearches(p, n.planned())
	if !ok {
		return "", false
	}
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

// planHops plans for a question over articles: for each hop the section that
// states the relation, and what its sentence names. A misread hop is lost or
// takes another relation of the same kind of thing.
func planHops(p prompt, n noise) (string, bool) {
	query, _ := p.question()
	q, err := multihop.ReadQuestion(strings.TrimSpace(query))
	if err != nil || !hasTools(p, "read_section") {
		return "", false
	}
	d := newDraft()
	var at any = q.Start
	subject := regexp.QuoteMeta(q.Start)
	for i, name := range q.Chain {
		r, ok := multihop.FindRelation(name)
		if !ok {
			return "", false
		}
		if n.errs(step, i) {
			if len(q.Chain) > 1 && n.below(2, step, i) == 0 {
				continue
			}
			r = otherRelation(r)
		}
		section := d.tool("read_section", map[string]any{"url": at, "section": r.Section})
		text := d.decide("field", map[string]any{"of": section, "path": "text"})
		stated := strings.NewReplacer(`\{s\}`, subject, `\{o\}`, `([^\n]+?)`).Replace(regexp.QuoteMeta(r.Stated))
		object := d.decide("extract", map[string]any{"pattern": stated, "text": text})
		at, subject = object, string(object)
	}
	return d.plan(at), true
}

// otherRelation is another relation of the same kind of thing, or r if it is the
// only one.
func otherRelation(r multihop.Relation) multihop.Relation {
	for _, other := range multihop.Relations() {
		if other.Of == r.Of && other.Name != r.Name {
			return other
		}
	}
	return r
}
