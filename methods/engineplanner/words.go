package engineplanner

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"noema/methods"
	"noema/methods/reply"
	"noema/methods/workflow"
)

// Bounds of an answer in words. Logs, entities and templates are others' word.
const (
	maxLogs     = 20     // records
	maxLog      = 500    // characters of a record
	maxMembers  = 50     // entities that are listed
	maxValue    = 200    // characters of any other value
	maxWorded   = 16_000 // characters in all
	unknown     = "unknown"
	topEntity   = "top_entity"  // the result that names the most frequent entity
	displayTool = "return_logs" // brings records where they are to be shown and a workflow brings none
	// unreadTemplate words the basic search where there is nothing to search for: what
	// a workflow's own template claims would be false.
	unreadTemplate = "The query was not understood, and it names nothing to search for. The log has {count} records:\n{logs}"
)

var (
	showsLogs  = regexp.MustCompile(`\{(logs|log_samples)\}`)
	showsCount = regexp.MustCompile(`\{(count|entity_count)\}`)
)

// worded is the answer in words, by the workflow's template. Records are shown if
// the query wants to see them and only then, and a count that is wanted is there
// whatever the template says.
//
// Source: seed 004 §"Answer Formatting Templates", with needs_display and needs_count
// of its evaluation, which it extracts and does not use.
func worded(w workflow.Workflow, e evaluation, have found, members []string) string {
	template := w.Template
	if !e.NeedsDisplay {
		template = withoutLogs(template)
	} else if len(have.Logs) > 0 && !showsLogs.MatchString(template) {
		template += "\n{logs}"
	}
	if e.NeedsCount && !showsCount.MatchString(template) {
		template += "\nCount: {" + counted(e, have) + "}"
	}
	text, _ := reply.Head(workflow.Fill(template, wording(e, have, members)), maxWorded)
	return text
}

// partial is the answer in words of a workflow with the steps that were done before one
// failed, "" if none failed. The template claims what all steps do, so that it
// is not filled: the words say what was found, and what failed.
func partial(w workflow.Workflow, e evaluation, have found, failure string) string {
	if failure == "" {
		return ""
	}
	head := "Nothing was found"
	if have.Count != nil {
		count := strconv.FormatInt(*have.Count, 10)
		switch {
		case len(w.Steps) > 1:
			head = count + " found after " + stepNames(w)
		case e.SearchValue != "" && *have.Count == 1:
			head = "1 record matches " + quoted(e.SearchValue)
		case e.SearchValue != "":
			head = count + " records match " + quoted(e.SearchValue)
		default:
			head = count + " found by " + stepNames(w)
		}
	}
	text, _ := reply.Head(head+"; then the workflow failed at "+failure, maxWorded)
	return text
}

func quoted(value string) string { return "'" + reply.OneLine(value, maxValue) + "'" }

// counted is the placeholder of what a query that wants a number wants counted.
func counted(e evaluation, have found) string {
	if have.Entities != nil && len(e.EntityTypes) > 0 {
		return "entity_count"
	}
	return "count"
}

// withoutLogs is a template without the place of its records.
func withoutLogs(template string) string {
	var kept []string
	for _, line := range strings.Split(template, "\n") {
		if rest := strings.TrimSpace(showsLogs.ReplaceAllString(line, "")); rest != "" || !showsLogs.MatchString(line) {
			kept = append(kept, rest)
		}
	}
	text := strings.TrimRight(strings.Join(kept, "\n"), " \n")
	if head, ends := strings.CutSuffix(text, ":"); ends {
		return head + "."
	}
	return text
}

// wording gives the values of a template's placeholders. What the query leaves open
// is said to be open, and what no step brought is unknown, not 0.
func wording(e evaluation, have found, members []string) map[string]string {
	count, entities, list := unknown, unknown, unknown
	if have.Count != nil {
		count = strconv.FormatInt(*have.Count, 10)
	}
	if have.Entities != nil {
		entities, list = strconv.Itoa(len(members)), listed(members)
	}
	kinds, severities := clipped(strings.Join(e.EntityTypes, ", "), "entities"), clipped(strings.Join(e.Filters.Severity, ", "), "any severity")
	logs := records(have)
	topName, topCount := unknown, unknown
	if tops, most := top(e, have); len(tops) > 0 {
		topName, topCount = listed(tops), strconv.FormatInt(most, 10)
	}
	return map[string]string{
		"count": count, "search_value": clipped(e.SearchValue, "anything"), "entity_type": kinds, "entity_types": kinds,
		"entity_list": list, "entity_count": entities, topEntity: topName, "top_count": topCount, "logs": logs, "log_samples": logs,
		"severities": severities, "filter_type": severities, "selection": clipped(string(have.Selection), "all records"),
		"start": clipped(e.Filters.Time.Start, "the beginning"), "end": clipped(e.Filters.Time.End, "the end"),
	}
}

func clipped(value, open string) string {
	if value == "" {
		return open
	}
	return reply.OneLine(value, maxValue)
}

// listed names entities.
func listed(members []string) string {
	if len(members) == 0 {
		return "none"
	}
	shown := make([]string, 0, maxMembers)
	for i, m := range members {
		if i == maxMembers {
			return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), len(members)-i)
		}
		shown = append(shown, reply.OneLine(m, maxValue))
	}
	return strings.Join(shown, ", ")
}

// records are the log lines that were brought, and how many there are beside them.
func records(have found) string {
	if len(have.Logs) == 0 {
		return "(no records)"
	}
	var lines []string
	for i, l := range have.Logs {
		if i == maxLogs {
			break
		}
		lines = append(lines, reply.OneLine(l, maxLog))
	}
	if have.Count != nil && *have.Count > int64(len(lines)) {
		lines = append(lines, fmt.Sprintf("… %d more", *have.Count-int64(len(lines))))
	}
	return strings.Join(lines, "\n")
}

// evidence is what an answer rests on: its own words, where they are not its value,
// and the steps.
func (t *solver) evidence(w workflow.Workflow, words string) []methods.Evidence {
	steps := methods.Evidence{Source: phaseEngine, Text: cmp.Or(stepNames(w), "no step was done")}
	if t.Answer.Kind == methods.Text && w.Value == "" {
		return []methods.Evidence{steps}
	}
	return []methods.Evidence{{Source: methods.Worded, Text: words}, steps}
}

func stepNames(w workflow.Workflow) string {
	names := make([]string, len(w.Steps))
	for i, s := range w.Steps {
		names[i] = s.Tool
	}
	return strings.Join(names, " → ")
}
