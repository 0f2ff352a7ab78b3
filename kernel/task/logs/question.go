package logs

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
)

// The types of query, named as in the workflows.
const (
	CountAll         = "count_all"
	SearchLogs       = "search_logs"
	FindRelationship = "find_relationship"
	FilterAndShow    = "filter_and_show"
	FilterEntities   = "filter_entities"
	Timeline         = "timeline"
	MostFrequent     = "most_frequent"
)

// Question is what a query asks for.
type Question struct {
	Type       string
	Value      string // what to search for
	Entity     string // the kind of entity asked for, as said: a name or an alias
	Severity   string
	Start, End string
	Count      bool // a number is asked for
}

// Display reports whether records are to be shown.
func (q Question) Display() bool { return !q.Count && q.Entity == "" }

// forms are the ways to say each type; the first group of forms asks for a
// number, the second for entities. {v}, {e}, {s}, {a} and {b} stand for value,
// entity, severity, start and end.
type form struct {
	kind  string
	count bool
	text  string
}

func forms() []form {
	return []form{
		{CountAll, true, "count all logs"},
		{CountAll, true, "How many log records are there in all?"},
		{CountAll, true, "Give me the total number of records."},
		{SearchLogs, true, "How many logs mention {v}?"},
		{SearchLogs, true, "Count the records for {v}."},
		{SearchLogs, true, "How often does {v} show up in the logs?"},
		{SearchLogs, false, "Show me logs for {v}"},
		{SearchLogs, false, "Show me logs for modem {v}"},
		{FindRelationship, false, "find all {e} connected to rpd {v}"},
		{FindRelationship, false, "find {e} connected to {v}"},
		{FindRelationship, false, "Which {e} are linked to {v}?"},
		{FindRelationship, false, "List every one of the {e} seen together with {v}."},
		{FindRelationship, true, "How many different {e} are connected to {v}?"},
		{FilterAndShow, true, "How many {s} logs are there for {v}?"},
		{FilterAndShow, true, "Count the {s} records that mention {v}."},
		{FilterAndShow, false, "Show me {s} logs for {v}"},
		{FilterEntities, false, "Which {e} had {s} logs at {v}?"},
		{FilterEntities, false, "List the {e} with {s} records at {v}."},
		{MostFrequent, false, "Which of the {e} is in the most {s} records?"},
		{MostFrequent, false, "Which of the {e} is in the most records?"},
		{Timeline, true, "How many logs of {v} are there between {a} and {b}?"},
		{Timeline, true, "Count the records for {v} from {a} to {b}."},
	}
}

// say words a query; rng chooses among the ways to say it.
func say(q Question, rng *rand.Rand) (string, error) {
	var fit []string
	for _, f := range forms() {
		if f.kind == q.Type && f.count == q.Count {
			fit = append(fit, f.text)
		}
	}
	if len(fit) == 0 {
		return "", fmt.Errorf("say query: no way to ask %s with count %v", q.Type, q.Count)
	}
	text := fit[rng.IntN(len(fit))]
	return strings.NewReplacer("{v}", q.Value, "{e}", q.Entity, "{s}", q.Severity, "{a}", q.Start, "{b}", q.End).Replace(text), nil
}

// ReadQuestion finds out what a query asks for, from its text alone.
func ReadQuestion(text string) (Question, error) {
	for _, f := range forms() {
		p := patterns()[f.text]
		m := p.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		q := Question{Type: f.kind, Count: f.count}
		for i, name := range p.SubexpNames() {
			switch name {
			case "v":
				q.Value = m[i]
			case "e":
				q.Entity = m[i]
			case "s":
				q.Severity = m[i]
			case "a":
				q.Start = m[i]
			case "b":
				q.End = m[i]
			}
		}
		return q, nil
	}
	return Question{}, fmt.Errorf("read query %q: not one of the known forms", text)
}

// FindQuestion is the line of a longer text, such as a prompt, that is a query, or what
// follows its label; "" if there is none.
func FindQuestion(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, query := range []string{line, strings.Trim(line[strings.Index(line, ": ")+1:], ` "`)} {
			if _, err := ReadQuestion(query); err == nil {
				return query
			}
		}
	}
	return ""
}

// patterns are the regular expressions of the forms, by their texts.
var patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for _, f := range forms() {
		all[f.text] = pattern(f.text)
	}
	return all
})

// pattern is the regular expression of a form.
func pattern(text string) *regexp.Regexp {
	p := regexp.QuoteMeta(text)
	for name, class := range map[string]string{"v": `\S+`, "e": `[a-z ]+`, "s": `[A-Z]+`, "a": `\S+`, "b": `\S+?`} {
		p = strings.ReplaceAll(p, `\{`+name+`\}`, "(?P<"+name+">"+class+")")
	}
	return regexp.MustCompile("^" + p + "$")
}
