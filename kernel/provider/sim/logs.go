package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/task/logs/words"
	"noema/methods"
)

// asksLogs reports whether a prompt offers the tools for logs.
func asksLogs(prompt string) bool { return strings.Contains(prompt, `"name":"search_logs"`) }

// misreadQuery is what a careless reader takes a query for: another type, no
// value, another severity, or another kind of entity, evenly.
func misreadQuery(text string, entities []string, n noise) (words.Query, bool) {
	q, err := words.Read(strings.TrimSpace(text))
	if err != nil {
		return q, false
	}
	if !n.errs(read, 0) {
		return q, true
	}
	switch n.below(3, read, 0) {
	case 0:
		others := []string{words.CountAll, words.SearchLogs, words.FindRelationship, words.FilterAndShow, words.FilterEntities, words.Timeline}
		others = slices.DeleteFunc(others, func(k string) bool { return k == q.Type })
		q.Type = others[n.below(len(others), read, 1)]
	case 1:
		q.Value = ""
	case 2:
		if len(entities) > 0 {
			q.Entity = entities[n.below(len(entities), read, 2)]
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
		"query_type": q.Type, "search_value": q.Value, "entity_types": []string{}, "needs_count": q.Count, "needs_display": false,
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

// toolUse is one call of a tool; its selection is that of the call before.
type toolUse struct {
	tool string
	args map[string]any
}

// searches are the calls that answer a query.
func searches(q words.Query, aliases map[string]string) []toolUse {
	search := toolUse{"search_logs", map[string]any{}}
	if q.Value != "" && q.Type != words.CountAll {
		search.args["value"] = q.Value
	}
	calls := []toolUse{search}
	switch q.Type {
	case words.FilterAndShow, words.FilterEntities:
		if q.Severity != "" {
			calls = append(calls, toolUse{"filter_by_severity", map[string]any{"severities": []string{q.Severity}}})
		}
	case words.Timeline:
		if q.Start != "" {
			calls = append(calls, toolUse{"filter_by_time", map[string]any{"start": q.Start, "end": q.End}})
		}
	}
	if kind, ok := aliases[q.Entity]; ok && (q.Type == words.FindRelationship || q.Type == words.FilterEntities) {
		calls = append(calls, toolUse{"extract_entities", map[string]any{"entity_types": []string{kind}}})
	}
	return calls
}

// contextEntities finds the entities in the problem's data, as methods that
// plan by a model show it.
func contextEntities(prompt string) map[string]string {
	aliases := map[string]string{}
	data, _, _ := section(prompt, "data")
	for line := range strings.Lines(data) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "entities: ")
		if !ok {
			continue
		}
		var entities map[string]struct{ Aliases []string }
		if json.Unmarshal([]byte(value), &entities) != nil {
			continue
		}
		for name, e := range entities {
			aliases[name] = name
			for _, a := range e.Aliases {
				aliases[a] = name
			}
		}
	}
	return aliases
}

// plannedSearches reads the request of a prompt.
func plannedSearches(prompt string, n noise) ([]toolUse, words.Query, bool) {
	query, _, ok := section(prompt, "request")
	aliases := contextEntities(prompt)
	var names []string
	for _, name := range aliases {
		names = append(names, name)
	}
	slices.Sort(names)
	q, ok2 := misreadQuery(query, slices.Compact(names), n)
	return searches(q, aliases), q, ok && ok2
}

// searchInTurns is the next turn of a conversation over a log.
func searchInTurns(prompt string, after []methods.Message, n noise) (string, bool) {
	calls, q, ok := plannedSearches(prompt, n)
	if !ok {
		return "", false
	}
	var results []string
	for _, m := range after {
		if seen, is := strings.CutPrefix(m.Content, "Observation: "); is && m.Role == methods.User {
			results = append(results, seen)
		}
	}
	if len(results) >= len(calls) || failed(results) || demanded(after) {
		if len(results) == 0 {
			return CannotAnswer, true
		}
		answer, ok := conclusion(results[len(results)-1], q.Count)
		return fmt.Sprintf(`{"thought": "That is all.", "answer": %s}`, answer), ok
	}
	call := calls[len(results)]
	if len(results) > 0 {
		var before struct{ Selection json.RawMessage }
		if json.Unmarshal([]byte(results[len(results)-1]), &before) == nil && before.Selection != nil {
			call.args["selection"] = before.Selection
		}
	}
	return plainJSON(map[string]any{"thought": "Next.", "tool": call.tool, "args": call.args}), true
}

// planSearch lists the calls, each on the selection of the one before.
func planSearch(prompt string, n noise) (string, bool) {
	calls, _, ok := plannedSearches(prompt, n)
	if !ok {
		return "", false
	}
	var list []map[string]any
	for i, c := range calls {
		if i > 0 {
			c.args["selection"] = fmt.Sprintf("$%d", i)
		}
		list = append(list, map[string]any{"id": i + 1, "tool": c.tool, "args": c.args})
	}
	return plainJSON(map[string]any{"calls": list}), true
}

// joinSearch answers from the last result.
func joinSearch(prompt string) (string, bool) {
	results, rest, _ := section(prompt, "results")
	last := ""
	for line := range strings.Lines(results) {
		if _, value, ok := strings.Cut(strings.TrimSpace(line), "): "); ok && strings.HasPrefix(line, "$") {
			last = value
		}
	}
	answer, ok := conclusion(last, !strings.Contains(rest+prompt, "The answer is a set of texts."))
	return `{"answer": ` + answer + `}`, ok
}

// conclusion is what a result says: how many, or which.
func conclusion(result string, count bool) (string, bool) {
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
	case r.Entities != nil:
		return fmt.Sprint(len(members)), true
	}
	return fmt.Sprint(r.Count), true
}
