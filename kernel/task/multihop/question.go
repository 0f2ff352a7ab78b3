package multihop

import (
	"fmt"
	"regexp"
	"strings"
)

// Relation leads from one thing to another.
type Relation struct {
	Name    string // such as "director"
	Of      string // what it starts from: film, book, person, city, country
	Section string // where an article states it
	Stated  string // the sentence, with {s} for what it starts from and {o} for where it leads
}

// Relations lists all relations.
func Relations() []Relation {
	return []Relation{
		{"director", "film", "Production", "{s} was directed by {o}."},
		{"composer", "film", "Music", "The score of {s} was composed by {o}."},
		{"author", "book", "Writing", "{s} was written by {o}."},
		{"birthplace", "person", "Early life", "{s} was born in {o}."},
		{"spouse", "person", "Personal life", "{s} married {o}."},
		{"country", "city", "Geography", "{s} lies in {o}."},
		{"river", "city", "Setting", "{s} stands on the river {o}."},
		{"capital", "country", "Government", "The capital of {s} is {o}."},
		{"anthem author", "country", "Symbols", "The anthem of {s} was written by {o}."},
	}
}

// FindRelation returns the relation of a name.
func FindRelation(name string) (Relation, bool) {
	for _, r := range Relations() {
		if r.Name == name {
			return r, true
		}
	}
	return Relation{}, false
}

// State says that a relation holds.
func (r Relation) State(subject, object string) string {
	return strings.NewReplacer("{s}", subject, "{o}", object).Replace(r.Stated)
}

// Read finds in a text where a relation leads from a subject, or "".
func (r Relation) Read(text, subject string) string {
	p := regexp.QuoteMeta(r.Stated)
	p = strings.ReplaceAll(p, `\{s\}`, regexp.QuoteMeta(subject))
	p = strings.ReplaceAll(p, `\{o\}`, `([^\n]+?)`)
	m := regexp.MustCompile(p).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

// Question asks where a chain of relations leads from a start.
type Question struct {
	Start string
	Chain []string // names of relations, in the order in which they are followed
}

// String says the question, the last relation first.
func (q Question) String() string {
	text := q.Start
	for _, name := range q.Chain {
		text = "the " + name + " of " + text
	}
	return "What is " + text + "?"
}

var asked = regexp.MustCompile(`(?i)^(?:what|who|where) is (the .+)\?$`)

// ReadQuestion finds out what a question asks. Its start is what remains when no
// relation is left.
func ReadQuestion(text string) (Question, error) {
	m := asked.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Question{}, fmt.Errorf("read question %q: the question must read \"What is the … of …?\"", text)
	}
	rest := m[1]
	var q Question
	for {
		name, after := relationAt(rest)
		if name == "" {
			break
		}
		q.Chain = append([]string{name}, q.Chain...)
		rest = after
	}
	if len(q.Chain) == 0 || rest == "" {
		return q, fmt.Errorf("read question %q: no known relation in it", text)
	}
	q.Start = rest
	return q, nil
}

var inText = regexp.MustCompile(`(?i)(?:what|who|where) is the [^?\n]+\?`)

// FindQuestion is the last question of a longer text, such as a prompt, that
// ReadQuestion can read; "" if there is none.
func FindQuestion(text string) (found string) {
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "?") { // the expression is slow on a long text
			continue
		}
		for _, q := range inText.FindAllString(line, -1) {
			if _, err := ReadQuestion(q); err == nil {
				found = q
			}
		}
	}
	return found
}

// relationAt takes "the NAME of " off a text.
func relationAt(text string) (name, after string) {
	for _, r := range Relations() {
		if rest, ok := strings.CutPrefix(text, "the "+r.Name+" of "); ok {
			return r.Name, rest
		}
	}
	return "", ""
}
