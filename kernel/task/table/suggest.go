package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/files"
	"noema/methods"
)

// missing says why a table cannot be read: what it has, and a line to write that reads it, with
// what was right in the mapping. Each line was tried; none is better than a wrong one.
func (t *Table) missing(m Mapping, names []string, why error) error {
	if len(names) == 0 || t.trying {
		return fmt.Errorf("%s: %w", t.name, why)
	}
	says := fmt.Sprintf("its columns are %s", quotedList(names))
	bare := t.format == csvFormat && !t.noHeader && looksLikeData(names)
	if bare {
		says = fmt.Sprintf("its first row, %s, looks like data: header=none keeps it, and calls the columns 1 to %d", quotedList(names), len(names))
	}
	trial := *t
	trial.trying = true
	for _, one := range trial.candidates(m, names, bare) {
		if line, ok := trial.tried(one); ok {
			return fmt.Errorf("%s: %w: %s\nwrite which column asks and which one answers, for example\n  --task %s", t.name, why, says, files.Word(line))
		}
	}
	return fmt.Errorf("%s: %w: %s\nwrite which column asks and which one answers behind its name: input= and target=", t.name, why, says)
}

// candidates are the mappings that may be meant.
func (t *Table) candidates(m Mapping, names []string, bare bool) (all []Mapping) {
	if bare {
		m = Mapping{Separator: m.Separator, Decimal: m.Decimal, Percent: m.Percent, Shuffle: m.Shuffle, Header: "none"}
		m.Input, m.Target = "1", strconv.Itoa(len(names))
		if len(names) > 3 { // letters say that there are options between
			m.Target = "letter:" + m.Target
			for i := 2; i < len(names); i++ {
				m.Choices = append(m.Choices, strconv.Itoa(i))
			}
		} else if len(names) != 2 {
			return nil
		}
		return []Mapping{m}
	}
	known := func(name string) bool {
		column, _, _ := strings.Cut(name, ".")
		return slices.Contains(names, name) || slices.Contains(names, column)
	}
	unknown := func(name string) bool { return !known(name) }
	for _, list := range []*[]string{&m.Choices, &m.Context, &m.Metadata} {
		*list = slices.DeleteFunc(slices.Clone(*list), unknown)
	}
	for _, one := range []*string{&m.Group, &m.Cluster, &m.ID, &m.Input} {
		if unknown(*one) && *one != rowID {
			*one = ""
		}
	}
	if kind, columns := m.target(); kind != "literal" && slices.ContainsFunc(columns, unknown) {
		m.Target = ""
	}
	rest := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return numbering.MatchString(name) && !answers.MatchString(name) || slices.Contains(m.columns(), name)
	})
	if m.Target == "" {
		m.Target = only(rest, "target", answers)
	}
	rest = slices.DeleteFunc(rest, func(name string) bool { return name == m.Target })
	if m.Input == "" {
		m.Input = only(rest, "input", asking)
	}
	rest = slices.DeleteFunc(rest, func(name string) bool { return name == m.Input })
	if len(rest) == 1 && m.Input == "" {
		m.Input = rest[0]
	} else if len(rest) == 1 && m.Target == "" {
		m.Target = rest[0]
	}
	if m.Input == "" || m.Target == "" {
		return nil
	}
	first, err := t.First()
	if err != nil {
		return nil
	}
	return []Mapping{within(m, first)}
}

// within is a mapping whose question is an object as the object's parts: its stem, and the
// options in it.
func within(m Mapping, first Row) Mapping {
	raw, err := first.Cell(m.Input)
	var parts map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &parts) != nil {
		return m
	}
	for _, name := range append([]string{"stem"}, usualNames("input")...) {
		if stem := value(parts[name]); stem == nil || stem[0] != '"' {
			continue
		}
		for _, options := range usualNames("choices") {
			if value(parts[options]) != nil && len(m.Choices)+len(m.Labels) == 0 {
				m.Choices = []string{m.Input + "." + options}
			}
		}
		m.Input += "." + name
		return m
	}
	return m
}

// tried is the name of a task with a mapping, if it reads as that mapping and all rows, of which
// most have a target.
func (t *Table) tried(m Mapping) (line string, ok bool) {
	path, mark := t.Path, "?"
	if strings.Contains(path, mark) {
		if mark = "&"; t.parts == nil {
			return "", false // the name would end at the mark
		}
	}
	line = path + mark + query(m)
	_, written, _ := strings.Cut(line, "?")
	values, err := url.ParseQuery(written)
	if err != nil {
		return "", false
	}
	given := map[string]string{}
	for _, f := range methods.FieldsOf(&m) {
		if values.Has(f.Name) {
			given[f.Name] = values.Get(f.Name)
		}
	}
	var read Mapping
	if methods.ParseOptions(given, &read) != nil {
		return "", false
	}
	made, err := load(t, read)
	if err != nil {
		return "", false
	}
	scored := 0
	for _, s := range made.Samples {
		if s.Scored() {
			scored++
		}
	}
	return line, 2*scored > len(made.Samples)
}

// escapes are the characters that options behind a name write otherwise.
var escapes = strings.NewReplacer("%", "%25", "&", "%26", "+", "%2B", ";", "%3B", "\n", "%0A", "\r", "%0D", "#", "%23")

// query writes a mapping as the options behind a name, input and target last.
func query(m Mapping) string {
	var pairs []string
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		name, text := v.Type().Field(i).Tag.Get("json"), ""
		switch field := v.Field(i).Interface().(type) {
		case string:
			text = field
		case []string:
			text = joined(field)
		case bool:
			if field {
				text = "true"
			}
		}
		if text != "" && name != "-" && name != "input" && name != "target" {
			pairs = append(pairs, name+"="+escapes.Replace(text))
		}
	}
	return strings.Join(append(pairs, "input="+escapes.Replace(m.Input), "target="+escapes.Replace(m.Target)), "&")
}

// joined writes a list as options have it.
func joined(list []string) string {
	if len(list) == 0 {
		return ""
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(list) // a buffer takes everything
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// likely is a column that has a usual name of the target, in whichever letters, or seems to be it;
// "" if none.
func likely(names []string) string {
	i := slices.IndexFunc(names, func(name string) bool {
		return slices.Contains(usualNames("target"), strings.ToLower(name)) || answers.MatchString(name)
	})
	if i < 0 {
		return ""
	}
	return names[i]
}

// only is the one column that has a usual name of a role, in whichever letters, or else the one
// that seems to have it; "" if none or several do.
func only(names []string, role string, seems *regexp.Regexp) string {
	for _, fits := range []func(string) bool{
		func(name string) bool { return slices.Contains(usualNames(role), name) },
		func(name string) bool { return slices.Contains(usualNames(role), strings.ToLower(name)) },
		seems.MatchString,
	} {
		if i := slices.IndexFunc(names, fits); i >= 0 {
			if slices.ContainsFunc(names[i+1:], fits) {
				return ""
			}
			return names[i]
		}
	}
	return ""
}

var (
	// answers matches columns that seem to hold the right answer.
	answers = regexp.MustCompile(`(?i)^(gold|gold[ _-]?(answer|label|target)|(right|correct|true|expected|reference|final)[ _-]?(answer|label)|answer[ _-]?key|reference|solution|ground[ _-]?truth)$`)
	// asking matches columns that seem to hold the question.
	asking = regexp.MustCompile(`(?i)^(problem|query|instruction|turns|stem|text|(the |s|full[ _-]?|my[ _-]?)?(question|problem|prompt)([ _-]?(text|content|body|statement|stem))?|(text|body) of the (question|problem|prompt))$`)
	// numbering matches columns that number the rows.
	numbering = regexp.MustCompile(`(?i)^(.*[_-])?(id|idx|index|no|nr|key|uid|qid|guid|uuid)$`)
	// figures matches a cell that is a number and nothing else.
	figures = regexp.MustCompile(`^[-+]?\d[\d.,]*\s*%?$`)
)

// looksLikeData reports whether a first row does not name columns: a cell of it is a number, a
// question or a sentence, and none has a usual name. Names may count the columns: 0, 1, 2.
func looksLikeData(names []string) bool {
	counted, data := true, false
	for i, name := range names {
		low := strings.ToLower(strings.TrimSpace(name))
		for _, role := range []string{"input", "target", "choices", "id"} {
			if slices.Contains(usualNames(role), low) {
				return false
			}
		}
		counted = counted && (name == strconv.Itoa(i) || name == strconv.Itoa(i+1))
		data = data || figures.MatchString(low) || strings.HasSuffix(low, "?") || strings.HasSuffix(low, ".") && strings.Contains(low, " ") || len(strings.Fields(low)) > 7 || len(low) > 100
	}
	return data && !counted
}
