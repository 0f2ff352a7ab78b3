package table

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/methods"
)

// Mapping says what the columns of a table are. The zero value takes the usual names.
// A name with points reaches into objects, as in answers.text.
type Mapping struct {
	Input     string   `json:"input" doc:"column of the question: a text, or a list of messages with role and content"`
	Target    string   `json:"target" doc:"column of the right answer; before it may stand number:, text:, aliases: (any one is right), set: (all, in any order), list: (all, in this order), fields:, letter:, index: (from 0) or position: (from 1); literal:TEXT is the same for all rows"`
	Choices   []string `json:"choices" doc:"column with the list of options to choose from, or a column for each"`
	Labels    []string `json:"labels" doc:"the answers to choose from, where all rows have the same; index: counts them from 0"`
	Context   []string `json:"context" doc:"columns that methods see beside the question"`
	ID        string   `json:"id" doc:"column of the samples' ids, or row to number them"`
	Metadata  []string `json:"metadata" doc:"columns for people, which no method sees"`
	Group     string   `json:"group" doc:"column to break results down by"`
	Cluster   string   `json:"cluster" doc:"column of what makes samples depend on each other, such as a shared passage"`
	Shuffle   bool     `json:"shuffle" doc:"put the options of each sample into an order drawn from its id, where the data have the right one always first"`
	Separator string   `json:"separator" choices:"comma,tab,semicolon,pipe" doc:"what separates the cells of a CSV, if its name does not say"`

	// Whole says that the mapping leaves nothing out: no options and no target are
	// looked for by their usual names.
	Whole bool `json:"-"`
}

// Given reports whether the mapping names any column.
func (m Mapping) Given() bool {
	m.Separator = ""
	return slices.ContainsFunc(methods.FieldsOf(&m), func(f methods.Field) bool { return !f.IsZero() })
}

// Over is m with what it leaves out taken from base.
func (m Mapping) Over(base Mapping) Mapping {
	from, into := reflect.ValueOf(m), reflect.ValueOf(&base).Elem()
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			into.Field(i).Set(from.Field(i))
		}
	}
	return base
}

// roles are the columns that a table is read by.
type roles struct{ input, target, choices, id, metadata string }

// usualNames are the names that are recognised for a role. The first are those of
// noema's own files, which Inspect has as well: they go before the others.
func usualNames(role string) []string {
	switch role {
	case "input":
		return []string{"input", "question", "prompt"}
	case "target":
		return []string{"target", "answer", "label", "completion", "expected"}
	case "choices":
		return []string{"choices", "options"}
	case "id":
		return []string{"id", "_id"}
	}
	return []string{"metadata"}
}

// targetKinds are what may stand before the column of a target.
var targetKinds = []string{"number", "text", "aliases", "set", "list", "fields", "letter", "index", "position", "literal"}

// target is the kind and the columns that the mapping has for the target.
func (m Mapping) target() (kind string, columns []string) {
	kind, rest, found := strings.Cut(m.Target, ":")
	if !found || !slices.Contains(targetKinds, kind) {
		kind, rest = "", m.Target
	}
	if kind == "aliases" {
		return kind, strings.Split(rest, ",")
	}
	return kind, []string{rest}
}

// columns are all columns that the mapping names.
func (m Mapping) columns() []string {
	kind, names := m.target()
	if kind == "literal" {
		names = nil
	}
	names = append(names, m.Input, m.Group, m.Cluster)
	if m.ID != rowID {
		names = append(names, m.ID)
	}
	names = slices.Concat(names, m.Choices, m.Context, m.Metadata)
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}

// rowID in place of a column numbers the samples.
const rowID = "row"

// roles chooses the columns of a table that has these columns, so far.
func (m Mapping) roles(seen map[string]bool) (r roles, err error) {
	for _, role := range []struct {
		name, given string
		into        *string
	}{{"input", m.Input, &r.input}, {"target", m.Target, &r.target}, {"id", m.ID, &r.id}, {"choices", strings.Join(m.Choices, ","), &r.choices}, {"metadata", "", &r.metadata}} {
		if *role.into = role.given; role.given != "" {
			continue
		}
		if role.name == "choices" && len(m.Labels) > 0 || m.Whole && role.name != "id" {
			continue
		}
		if *role.into, err = usual(role.name, seen); err != nil {
			return r, err
		}
	}
	return r, nil
}

// usual is the column that has a usual name of a role; "" if none has.
func usual(role string, seen map[string]bool) (string, error) {
	var found []string
	for i, name := range usualNames(role) {
		if seen[name] {
			found = append(found, name)
		}
		if i == 0 && len(found) == 1 {
			break
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("the columns %s may each be the %s: say which", quotedList(found), role)
}

// missing says why a table cannot be read: what it has, and the line to write, with what
// was right in the mapping.
func (t *Table) missing(m Mapping, names []string, why error) error {
	if len(names) == 0 {
		return fmt.Errorf("%s: %w", t.name, why)
	}
	mark := "?"
	if strings.Contains(t.Path, mark) {
		mark = "&"
	}
	target, input := m.Target, m.Input
	if _, columns := m.target(); target == "" || !slices.Contains(names, columns[0]) {
		target = likely(names)
	}
	asks := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == target || numbering.MatchString(name) })
	if !slices.Contains(names, input) {
		input = example("input", asks, "COLUMN")
	}
	if target == "" {
		target = example("target", slices.DeleteFunc(asks, func(name string) bool { return name == input }), "COLUMN")
	}
	return fmt.Errorf("%s: %w: its columns are %s\nwrite which column asks and which one answers, for example\n  --task %s",
		t.name, why, quotedList(names), files.Word(t.Path+mark+"input="+input+"&target="+target))
}

// likely is a column that has a usual name of the target, or seems to be it; "" if none.
func likely(names []string) string {
	if i := slices.IndexFunc(names, func(name string) bool { return slices.Contains(usualNames("target"), name) }); i >= 0 {
		return names[i]
	}
	if i := slices.IndexFunc(names, answers.MatchString); i >= 0 {
		return names[i]
	}
	return ""
}

// answers matches columns that seem to hold the right answer.
var answers = regexp.MustCompile(`(?i)^(gold|gold[ _-]?(answer|label|target)|(right|correct|true|expected|reference|final)[ _-]?(answer|label)|reference|solution|ground[ _-]?truth)$`)

// numbering matches columns that number the rows.
var numbering = regexp.MustCompile(`(?i)^(.*[_-])?(id|idx|index|no|nr|key|uid|qid|guid|uuid)$`)

// example is a column that may have a role: one with a usual name, or else for an input
// the first and for a target the last.
func example(role string, names []string, none string) string {
	for _, name := range usualNames(role) {
		if slices.Contains(names, name) {
			return name
		}
	}
	switch {
	case len(names) == 0:
		return none
	case role == "input":
		return names[0]
	}
	return names[len(names)-1]
}

var errNoInput = errors.New("no column is called input, question or prompt")

// maxNamed is how many columns a message names.
const maxNamed = 40

func quotedList(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i == maxNamed {
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.60q", name)
	}
	return b.String()
}
