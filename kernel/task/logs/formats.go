package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"noema/kernel/task/logs/internal/dfa"
	"noema/methods"
)

// format splits lines into fields.
type format interface {
	// header takes the first line if it is not a record.
	header(line []byte) (taken bool, err error)
	split(line []byte) (map[string]string, error)
	// check fails as split does, and is faster.
	check(line []byte) error
	columns() []string // nil if each record has its own
}

// csvFormat is comma-separated values with a header line. A record is one line:
// quoted line ends have no place in a log.
type csvFormat struct{ names []string }

func (f *csvFormat) header(line []byte) (bool, error) {
	names, err := splitCSV(line)
	if err != nil {
		return false, err
	}
	seen := map[string]bool{}
	for i, n := range names {
		names[i] = strings.TrimSpace(n)
		if names[i] == "" || seen[names[i]] {
			return false, fmt.Errorf("the header has an empty or a repeated column: %.200q", line)
		}
		seen[names[i]] = true
	}
	f.names = names
	return true, nil
}

func (f *csvFormat) columns() []string { return f.names }

func (f *csvFormat) check(line []byte) error {
	if bytes.IndexByte(line, '"') < 0 { // as most are
		return f.count(bytes.Count(line, []byte{','}) + 1)
	}
	n := 0
	if err := eachValue(line, func([]byte, bool) { n++ }); err != nil {
		return err
	}
	return f.count(n)
}

func (f *csvFormat) count(n int) error {
	if n != len(f.names) {
		return fmt.Errorf("%d columns, where the header has %d", n, len(f.names))
	}
	return nil
}

func (f *csvFormat) split(line []byte) (map[string]string, error) {
	values, err := splitCSV(line)
	if err == nil {
		err = f.count(len(values))
	}
	if err != nil {
		return nil, err
	}
	fields := make(map[string]string, len(values))
	for i, v := range values {
		fields[f.names[i]] = v
	}
	return fields, nil
}

// splitCSV splits one line into its values.
func splitCSV(line []byte) (values []string, err error) {
	err = eachValue(line, func(value []byte, quoted bool) {
		text := valid(value)
		if quoted {
			text = strings.ReplaceAll(text, `""`, `"`)
		}
		values = append(values, text)
	})
	return values, err
}

// eachValue calls each for what stands between the commas of a line. A quoted value
// comes without its quotes; it may hold commas and doubled quotes.
func eachValue(line []byte, each func(value []byte, quoted bool)) error {
	for {
		if len(line) == 0 || line[0] != '"' {
			value, rest, more := bytes.Cut(line, []byte{','})
			each(value, false)
			if !more {
				return nil
			}
			line = rest
			continue
		}
		end := 1
		for doubled := true; doubled; end++ { // to behind the closing quote
			quote := bytes.IndexByte(line[end:], '"')
			if quote < 0 {
				return errors.New("a quote is not closed")
			}
			end += quote
			if doubled = end+1 < len(line) && line[end+1] == '"'; doubled {
				end++
			}
		}
		each(line[1:end-1], true)
		switch line = line[end:]; {
		case len(line) == 0:
			return nil
		case line[0] != ',':
			return fmt.Errorf("something follows a closing quote: %.20q", valid(line))
		}
		line = line[1:]
	}
}

// jsonFormat is a JSON object a line, which text may stand before, as syslog writes it.
type jsonFormat struct{ before bool }

// object is a line without the text before its object.
func (f jsonFormat) object(line []byte) []byte {
	if !f.before {
		return line
	}
	at := bytes.Index(line, []byte(`{"`)) // braces may stand in the text, too
	return line[max(at, 0):]
}

func (jsonFormat) header([]byte) (bool, error) { return false, nil }
func (jsonFormat) columns() []string           { return nil }

// check is quick on whole objects; split says what is wrong with the others.
func (f jsonFormat) check(line []byte) error {
	if text := bytes.TrimLeft(f.object(line), " \t"); len(text) > 0 && text[0] == '{' && json.Valid(text) {
		return nil
	}
	_, err := f.split(line)
	return err
}

func (f jsonFormat) split(line []byte) (map[string]string, error) {
	var values map[string]any
	if err := methods.DecodeJSON(f.object(line), &values); err != nil {
		if after := (jsonFormat{true}).object(line); !f.before && json.Valid(after) {
			return nil, errors.New("text stands before the JSON object: write format: text+jsonl")
		}
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	fields := make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fields[name] = text(values[name])
	}
	return fields, nil
}

// text is a JSON value as the text of a field: nothing for null, and lists and
// objects as JSON.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any, []any:
		raw, err := json.Marshal(v)
		if err != nil {
			return "" // it came from JSON, and so cannot fail
		}
		return string(raw)
	}
	return fmt.Sprint(v)
}

// textFormat is lines that match a pattern, whose named groups are the columns.
type textFormat struct {
	pattern *regexp.Regexp
	quick   *dfa.Matcher
}

func newTextFormat(pattern *regexp.Regexp) textFormat {
	return textFormat{pattern, methods.Must(dfa.New(pattern.String()))}
}

func (textFormat) header([]byte) (bool, error) { return false, nil }

func (f textFormat) columns() []string {
	return slices.DeleteFunc(slices.Clone(f.pattern.SubexpNames()), func(name string) bool { return name == "" })
}

var errNoMatch = errors.New("the pattern does not match")

func (f textFormat) check(line []byte) error {
	if !f.quick.Match(line) {
		return errNoMatch
	}
	return nil
}

func (f textFormat) split(line []byte) (map[string]string, error) {
	if err := f.check(line); err != nil {
		return nil, err
	}
	m := f.pattern.FindSubmatch(line)
	fields := map[string]string{}
	for i, name := range f.pattern.SubexpNames() {
		if name != "" {
			fields[name] = valid(m[i])
		}
	}
	return fields, nil
}

// has refuses a column that is not one of the columns; nil stands for any. A path such as
// details.level needs the column details.
func has(columns []string, column string) error {
	base, _, _ := strings.Cut(column, ".")
	if columns == nil || slices.Contains(columns, column) || slices.Contains(columns, base) {
		return nil
	}
	const most = 30
	list := strings.Join(columns[:min(most, len(columns))], ", ")
	if len(columns) > most {
		list += fmt.Sprintf(" and %d more", len(columns)-most)
	}
	return fmt.Errorf("the log has no column %q%s: it has %s", column, methods.DidYouMean(column, columns), list)
}

// value is the field of a column, or what a path such as details.level leads to in
// the JSON document of the column details: keys of objects, which may have points
// themselves, and numbers of list entries, from 0.
func value(fields map[string]string, column string) string {
	if v, ok := fields[column]; ok {
		return v
	}
	base, path, ok := strings.Cut(column, ".")
	if !ok {
		return ""
	}
	d := json.NewDecoder(strings.NewReader(fields[base]))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return ""
	}
	key := ""
	for _, part := range strings.Split(path, ".") {
		key += part
		switch at := v.(type) {
		case map[string]any:
			if v, ok = at[key]; !ok {
				v, key = at, key+"."
				continue
			}
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return ""
			}
			v = at[i]
		default:
			return ""
		}
		key = ""
	}
	if key != "" {
		return ""
	}
	return text(v)
}

// valid is a line's text with a replacement for every invalid byte.
func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
