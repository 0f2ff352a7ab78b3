package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/kernel/model/provider"
	"noema/kernel/task/logs"
)

// asksLogs reports whether a prompt offers the tools for logs.
func asksLogs(p prompt) bool { return slices.Contains(p.tools(), "search_logs") }

// misreadQuery is what a careless reader takes a query for: another type, no
// value, another severity, or another kind of entity, evenly.
func misreadQuery(text string, entities []string, n noise) (logs.Question, bool) {
	q, err := logs.ReadQuestion(strings.TrimSpace(text))
	if err != nil {
		return q, false
	}
	fact := fmt.Sprint(q)
	if !n.errs(request, fact) {
		return q, true
	}
	switch n.below(3, request, 0, fact) {
	case 0:
		others := []string{logs.CountAll, logs.SearchLogs, logs.FindRelationship, logs.FilterAndShow, logs.FilterEntities, logs.Timeline}
		others = slices.DeleteFunc(others, func(k string) bool { return k == q.Type })
		q.Type = others[n.below(len(others), request, 1, fact)]
	case 1:
		q.Value = ""
	case 2:
		if len(entities) > 0 {
			q.Entity = entities[n.below(len(entities), request, 2, fact)]
		}
	}
	return q, true
}

// evaluateQuery answers the one prompt of Engine Planner.
func evaluateQuery(prompt string, n noise) (string, bool) {
	list, rest, _ := section(prompt, "entities")
	query, _, ok := section(rest, "query")
	names, aliases := entityNames(list)
	q, ok2 := misreadQuery(query, names, n)
	if !ok || !ok2 {
		return "", false
	}
	e := map[string]any{
		"query_type": q.Type, "search_value": q.Value, "entity_types": []string{}, "needs_count": q.Count, "needs_display": q.Display(),
		"filters": map[string]any{"severity": []string{}, "time": map[string]string{"start": q.Start, "end": q.End}},
	}
	if name, ok := aliases[q.Entity]; ok {
		e["entity_types"] = []string{name}
	}
	if q.Severity != "" {
		e["filters"].(map[string]any)["severity"] = []string{q.Severity}
	}
	return plainJSON(e), true
}

// entityNames reads the list of entities with what people call them.
func entityNames(list string) (names []string, aliases map[string]string) {
	aliases = map[string]string{}
	for line := range strings.Lines(list) {
		name, also, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		names = append(names, name)
		aliases[name] = name
		for alias := range strings.SplitSeq(also, ", ") {
			aliases[alias] = name
		}
	}
	return names, aliases
}

// searches are the calls that answer a query.
func searches(q logs.Question, aliases map[string]string) []toolUse {
	search := toolUse{"Next.", "search_logs", map[string]any{}}
	if q.Value != "" && q.Type != logs.CountAll {
		search.args["value"] = q.Value
	}
	calls := []toolUse{search}
	switch q.Type {
	case logs.FilterAndShow, logs.FilterEntities:
		if q.Severity != "" {
			calls = append(calls, toolUse{"Next.", "filter_by_severity", map[string]any{"severities": []string{q.Severity}}})
		}
	case logs.Timeline:
		if q.Start != "" {
			calls = append(calls, toolUse{"Next.", "filter_by_time", map[string]any{"start": q.Start, "end": q.End}})
		}
	}
	if kind, ok := aliases[q.Entity]; ok && (q.Type == logs.FindRelationship || q.Type == logs.FilterEntities) {
		calls = append(calls, toolUse{"Next.", "extract_entities", map[string]any{"entity_types": []string{kind}}})
	}
	return calls
}

// plannedSearches reads the question of a prompt; the entities are in its data.
func plannedSearches(p prompt, n noise) ([]toolUse, logs.Question, bool) {
	var entities map[string]struct{ Aliases []string }
	p.read("entities", &entities)
	aliases := map[string]string{}
	for name, e := range entities {
		aliases[name] = name
		for _, a := range e.Aliases {
			aliases[a] = name
		}
	}
	q, ok := misreadQuery(p.asked(logs.FindQuestion), slices.Sorted(maps.Keys(entities)), n)
	return searches(q, aliases), q, ok && !q.Display() // only Engine Planner shows records
}

// search is the next call over a log, on the selection of the call before, or the
// answer.
func search(p prompt, n noise) (work, bool) {
	uses, q, ok := plannedSearches(p, n)
	if !ok {
		return work{}, false
	}
	results := p.results()
	if len(results) >= len(uses) || failed(results) || demanded(p.after) {
		if len(results) == 0 {
			return work{solution: solution{none: provider.NotUnderstood}}, true
		}
		answer, ok := conclusion(results[len(results)-1], q.Count, n)
		return work{after: "That is all.", solution: solution{value: answer}}, ok
	}
	use := uses[len(results)]
	if len(results) > 0 {
		var before struct{ Selection json.RawMessage }
		if json.Unmarshal([]byte(results[len(results)-1]), &before) == nil && before.Selection != nil {
			use.args["selection"] = before.Selection
		}
	}
	return work{next: &use}, true
}

// conclusion is what a result says: how many, or which.
func conclusion(result string, count bool, n noise) (string, bool) {
	var r struct {
		Count    int64
		Entities map[string][]string
	}
	if json.Unmarshal([]byte(result), &r) != nil {
		return "", false
	}
	members := []string{}
	for _, list := range r.Entities {
		members = append(members, list...)
	}
	slices.Sort(members)
	switch {
	case !count:
		return plainJSON(members), true
	case r.Entities != nil && n.errs(compute, result):
		return fmt.Sprint(len(members) + 1), true
	case r.Entities != nil:
		return fmt.Sprint(len(members)), true
	}
	return fmt.Sprint(r.Count), true
}
