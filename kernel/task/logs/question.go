package logs

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"

	"noema/kernel/base/files"
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

// form is a way to ask for a type of query.
type form struct {
	Type  string
	Count bool // it asks for a number
	Text  string

	pattern *regexp.Regexp // of the text with its slots filled
}

//go:embed questions.yaml
var questionsFile []byte

// forms are what questions are said and read by. They are shared and read only.
var forms = sync.OnceValue(func() (all []form) {
	files.BuiltIn(questionsFile, &all)
	for i, f := range all {
		p := regexp.QuoteMeta(f.Text)
		for name, class := range map[string]string{"v": `\S+`, "e": `[a-z ]+`, "s": `[A-Z]+`, "a": `\S+`, "b": `\S+?`} {
			p = strings.ReplaceAll(p, `\{`+name+`\}`, "(?P<"+name+">"+class+")")
		}
		all[i].pattern = regexp.MustCompile("^" + p + "$")
	}
	return all
})

// say words a query; rng chooses among the ways to say it.
func say(q Question, rng *rand.Rand) (string, error) {
	var fit []string
	for _, f := range forms() {
		if f.Type == q.Type && f.Count == q.Count {
			fit = append(fit, f.Text)
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
		m := f.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		part := map[string]string{}
		for i, name := range f.pattern.SubexpNames() {
			part[name] = m[i]
		}
		return Question{Type: f.Type, Count: f.Count, Value: part["v"], Entity: part["e"], Severity: part["s"], Start: part["a"], End: part["b"]}, nil
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
