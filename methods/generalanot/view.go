package generalanot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods"
	work "noema/methods/internal/trial"
)

// view is what compiling sees of the data. It does not depend on the order of
// the items, so that one seed serves every order.
type view struct {
	schema   []string // a line for each path
	examples []string // two items on a line of JSON each, cut short
}

// The size of a view.
const (
	exampleChars  = 80  // bytes shown of a text in an example
	maxPaths      = 200 // lines of the schema
	maxPathDepth  = 6
	maxKeys       = 40 // of one dict
	maxValues     = 8  // that are listed
	maxValueChars = 40 // bytes of a value that is listed
)

// view describes the items of a ranking with their values, or the context of a
// choice by its paths alone, so that one seed serves all of the same form.
func (t *trial) view() view {
	var v view
	if t.Answer.Kind == methods.Choice {
		v.schema = describe(contextInput, []any{t.contexts[0].data[contextInput]}, false)
		return v
	}
	items := make([]any, len(t.contexts))
	for i, c := range t.contexts {
		items[i] = c.data[itemInput]
	}
	items = sortedByText(items)
	v.schema = describe(itemInput, items, true)
	if rest, _ := t.contexts[0].data[contextInput].(map[string]any); len(rest) > 0 {
		v.schema = append(v.schema, describe(contextInput, []any{rest}, true)...)
	}
	short := &work.Shortener{Limit: exampleChars}
	for _, i := range work.Examples(items) {
		v.examples = append(v.examples, short.Line(items[i]))
	}
	return v
}

// sortedByText are the items in the order of their JSON.
func sortedByText(items []any) []any {
	byText := map[string][]any{}
	for _, item := range items {
		text := string(plainJSON(item))
		byText[text] = append(byText[text], item)
	}
	sorted := make([]any, 0, len(items))
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		sorted = append(sorted, byText[text]...)
	}
	return sorted
}

// describe lists the paths below values of the same place, with what is there.
func describe(path string, values []any, listed bool) []string {
	d := &describer{listed: listed}
	d.place(path, values, 0)
	if len(d.lines) > maxPaths {
		left := len(d.lines) - maxPaths
		d.lines = append(d.lines[:maxPaths], fmt.Sprintf("(%d more paths)", left))
	}
	return d.lines
}

type describer struct {
	listed bool // with values
	lines  []string
}

// place describes the values that one path has in several items.
func (d *describer) place(path string, values []any, depth int) {
	if depth > maxPathDepth || len(d.lines) > maxPaths {
		return
	}
	kinds, entries, elements := map[string]bool{}, map[string][]any{}, []any{}
	for _, v := range values {
		switch v := v.(type) {
		case map[string]any:
			for key, e := range v {
				entries[key] = append(entries[key], e)
			}
			kinds["dict"] = true
		case []any:
			kinds["list"] = true
			elements = append(elements, v...)
		default:
			kinds[kindOf(v)] = true
		}
	}
	if depth > 0 || len(entries) == 0 {
		d.lines = append(d.lines, path+": "+d.kinds(kinds, values))
	}
	if len(elements) > 0 {
		d.place(path+"[i]", elements, depth+1)
	}
	keys := slices.Sorted(maps.Keys(entries))
	if d.table(path, keys, entries, depth) {
		return
	}
	for i, key := range keys {
		if i == maxKeys {
			d.lines = append(d.lines, fmt.Sprintf("%s: %d more keys", path, len(keys)-maxKeys))
			break
		}
		d.place(fmt.Sprintf("%s[%s]", path, pythonText(key)), entries[key], depth+1)
	}
}

// table describes a dict whose keys are data themselves, such as names of
// people: one with many keys and nothing but lists.
func (d *describer) table(path string, keys []string, entries map[string][]any, depth int) bool {
	if len(keys) <= maxValues {
		return false
	}
	var all []any
	for _, key := range keys {
		for _, v := range entries[key] {
			if _, isList := v.([]any); !isList {
				return false
			}
			all = append(all, v)
		}
	}
	if d.listed {
		d.lines = append(d.lines, fmt.Sprintf("%s: %d keys, such as %s %s", path, len(keys), pythonText(keys[0]), pythonText(keys[1])))
	}
	d.place(path+"[key]", all, depth+1)
	return true
}

// pythonEscapes are those of a Python string on one line. Making a replacer takes longer
// than using it.
var pythonEscapes = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`)

// pythonText is s as a Python string on one line.
func pythonText(s string) string {
	return "'" + pythonEscapes.Replace(strings.ToValidUTF8(s, "\ufffd")) + "'"
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case string:
		return "str"
	}
	return "number"
}

// kinds says of what types values are, and which there are, if they are few.
func (d *describer) kinds(kinds map[string]bool, values []any) string {
	text := strings.Join(slices.Sorted(maps.Keys(kinds)), " or ")
	if !d.listed || !kinds["str"] && !kinds["number"] {
		return text
	}
	var seen []string
	for _, v := range values {
		switch v := v.(type) {
		case string:
			seen = append(seen, pythonText(v))
		case json.Number, int64, float64:
			seen = append(seen, string(plainJSON(v)))
		}
	}
	slices.Sort(seen)
	seen = slices.Compact(seen)
	few := len(seen) <= maxValues && !slices.ContainsFunc(seen, func(s string) bool { return len(s) > maxValueChars })
	if few {
		return text + ", " + strings.Join(seen, " ")
	}
	if short := slices.DeleteFunc(seen, func(s string) bool { return len(s) > maxValueChars }); len(short) > 0 {
		return text + ", such as " + strings.Join(short[:min(2, len(short))], " ")
	}
	return text
}
