package table

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

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
	Separator string   `json:"separator" choices:"comma,tab,semicolon,pipe" doc:"what separates the cells of a CSV, if its name and its rows do not say"`
	Header    string   `json:"header" choices:"none" doc:"none where the first row of a CSV is data: the columns are called 1, 2 and so on"`
	Decimal   string   `json:"decimal" choices:"comma,point" doc:"comma where replies write 1.500,25 for 1500.25; numbers in the data are read as their column is written"`
	Percent   string   `json:"percent" choices:"fraction,points" doc:"fraction where 25 % is the number 0.25, points where it is 25"`

	// Whole says that the mapping leaves nothing out: no options and no target are
	// looked for by their usual names.
	Whole bool `json:"-"`
}

// Given reports whether the mapping names any column.
func (m Mapping) Given() bool {
	m.Separator, m.Header = "", ""
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
func (m Mapping) roles(seen map[string]bool, filled func([]string) string) (r roles, err error) {
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
		if *role.into, err = usual(role.name, seen, filled); err != nil {
			return r, err
		}
	}
	return r, nil
}

// usual is the column that has a usual name of a role; "" if none has. Of several it is the one
// that filled finds values in.
func usual(role string, seen map[string]bool, filled func([]string) string) (string, error) {
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
	if one := filled(found); one != "" {
		return one, nil
	}
	return "", fmt.Errorf("the columns %s may each be the %s: say which", quotedList(found), role)
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
