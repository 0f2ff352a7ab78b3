package logs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Selection is which records a tool looks at: those that hold every value, have
// one of the severities, and fall between the times. It is all that tools hand on
// to each other, so that a tool's result depends on its arguments alone.
type Selection struct {
	Values     []string `json:"values,omitempty"`
	Severities []string `json:"severities,omitempty"`
	Start      string   `json:"start,omitempty"`
	End        string   `json:"end,omitempty"`
}

// UnmarshalJSON reads a selection, or the one inside a whole result, which models
// hand on as well.
func (s *Selection) UnmarshalJSON(raw []byte) error {
	type plain Selection
	var in struct {
		plain
		Inner *plain `json:"selection"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	*s = Selection(in.plain)
	if in.Inner != nil {
		*s = Selection(*in.Inner)
	}
	return nil
}

// record is a line that was understood.
type record struct {
	line   []byte
	fields map[string]string
}

// format splits lines into fields.
type format interface {
	// header takes the first line if it is none of the records.
	header(line []byte) (taken bool, err error)
	split(line []byte) (map[string]string, error)
	columns() []string
}

// each calls do for every record of the selection, in the order of the log, and
// returns what was skipped.
func (l *Log) each(ctx context.Context, sel Selection, do func(record) error) (Skips, error) {
	var skips Skips
	r, err := l.open()
	if err != nil {
		return skips, err
	}
	defer r.Close()
	text, err := plain(r)
	if err != nil {
		return skips, err
	}
	f := l.newFormat()
	text, first, err := begin(f, text)
	if err != nil {
		return skips, err
	}
	if err := l.check(sel, f); err != nil {
		return skips, err
	}
	var needle []byte
	if len(sel.Values) > 0 {
		needle = []byte(slices.MaxFunc(sel.Values, func(a, b string) int { return len(a) - len(b) }))
	}
	filter, err := newFilter(l.config, sel)
	if err != nil {
		return skips, err
	}
	err = lines(ctx, text, first+1, needle, &skips, func(number int, line []byte) error {
		for _, v := range sel.Values {
			if !bytes.Contains(line, []byte(v)) {
				return nil
			}
		}
		rec := record{line: line}
		if rec.fields, err = f.split(line); err != nil {
			skips.add(number, "%v", err)
			return nil
		}
		if !filter.keeps(rec.fields) {
			return nil
		}
		return do(rec)
	})
	return skips, err
}

// begin gives the first line to the format, and returns the rest with the number
// of lines that are gone.
func begin(f format, r io.Reader) (rest io.Reader, taken int, err error) {
	head := make([]byte, 0, 4096)
	one := make([]byte, 1)
	for len(head) < maxLine {
		n, err := r.Read(one)
		if n > 0 {
			head = append(head, one[0])
			if one[0] == '\n' {
				break
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read log: line 1: %w", err)
		}
	}
	isHeader, err := f.header(bytes.TrimRight(head, "\r\n"))
	if err != nil {
		return nil, 0, fmt.Errorf("read log: line 1: %w", err)
	}
	if isHeader {
		return r, 1, nil
	}
	return io.MultiReader(bytes.NewReader(head), r), 0, nil
}

// check refuses filters on columns that the log lacks.
func (l *Log) check(sel Selection, f format) error {
	columns := f.columns()
	for _, need := range []struct {
		wanted bool
		column string
		what   string
	}{{len(sel.Severities) > 0, l.config.Severity, "severity"}, {sel.Start != "" || sel.End != "", l.config.Time, "time"}} {
		if need.wanted && columns != nil && !slices.Contains(columns, need.column) {
			return fmt.Errorf("the log has no column %q for the %s; it has %s", need.column, need.what, strings.Join(columns, ", "))
		}
	}
	return nil
}

// filter judges records by their fields.
type filter struct {
	severity, time string // columns
	severities     []string
	start, end     time.Time
}

func newFilter(c Config, sel Selection) (filter, error) {
	f := filter{severity: c.Severity, time: c.Time, severities: sel.Severities}
	for _, bound := range []struct {
		text string
		into *time.Time
	}{{sel.Start, &f.start}, {sel.End, &f.end}} {
		if bound.text == "" {
			continue
		}
		t, ok := parseTime(bound.text)
		if !ok {
			return f, fmt.Errorf("%q is no time: use a form such as 2024-03-01T12:00:00Z or 2024-03-01 12:00", bound.text)
		}
		*bound.into = t
	}
	return f, nil
}

func (f filter) keeps(fields map[string]string) bool {
	if len(f.severities) > 0 && !slices.ContainsFunc(f.severities, func(s string) bool { return strings.EqualFold(s, fields[f.severity]) }) {
		return false
	}
	if f.start.IsZero() && f.end.IsZero() {
		return true
	}
	t, ok := parseTime(fields[f.time])
	return ok && !t.Before(f.start) && (f.end.IsZero() || !t.After(f.end))
}

func parseTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
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
			return false, fmt.Errorf("the header has an empty or a double column: %q", line)
		}
		seen[names[i]] = true
	}
	f.names = names
	return true, nil
}

func (f *csvFormat) columns() []string { return f.names }

func (f *csvFormat) split(line []byte) (map[string]string, error) {
	values, err := splitCSV(line)
	if err != nil {
		return nil, err
	}
	if len(values) != len(f.names) {
		return nil, fmt.Errorf("%d columns, where the header has %d", len(values), len(f.names))
	}
	fields := make(map[string]string, len(values))
	for i, v := range values {
		fields[f.names[i]] = v
	}
	return fields, nil
}

// splitCSV splits one line at its commas; quoted values may hold commas and
// doubled quotes.
func splitCSV(line []byte) ([]string, error) {
	text := valid(line)
	if !strings.Contains(text, `"`) {
		return strings.Split(text, ","), nil
	}
	var values []string
	for {
		if !strings.HasPrefix(text, `"`) {
			value, rest, more := strings.Cut(text, ",")
			values = append(values, value)
			if !more {
				return values, nil
			}
			text = rest
			continue
		}
		value, rest, err := quotedValue(text[1:])
		if err != nil {
			return nil, err
		}
		values = append(values, value)
		if rest == "" {
			return values, nil
		}
		if rest[0] != ',' {
			return nil, fmt.Errorf("something follows a closing quote: %.20q", rest)
		}
		text = rest[1:]
	}
}

func quotedValue(text string) (value, rest string, err error) {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(text, `"`)
		if !ok {
			return "", "", fmt.Errorf("a quote is not closed")
		}
		b.WriteString(before)
		if !strings.HasPrefix(after, `"`) {
			return b.String(), after, nil
		}
		b.WriteByte('"')
		text = after[1:]
	}
}

// jsonFormat is a JSON object a line.
type jsonFormat struct{}

func (jsonFormat) header([]byte) (bool, error) { return false, nil }
func (jsonFormat) columns() []string           { return nil }

func (jsonFormat) split(line []byte) (map[string]string, error) {
	var values map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&values); err != nil {
		return nil, fmt.Errorf("no JSON object: %w", err)
	}
	fields := make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch v := values[name].(type) {
		case nil:
		case string:
			fields[name] = v
		default:
			fields[name] = fmt.Sprint(v)
		}
	}
	return fields, nil
}

// textFormat is lines that match a pattern, whose named groups are the columns.
type textFormat struct{ pattern *regexp.Regexp }

func (textFormat) header([]byte) (bool, error) { return false, nil }

func (f textFormat) columns() []string {
	return slices.DeleteFunc(slices.Clone(f.pattern.SubexpNames()), func(name string) bool { return name == "" })
}

func (f textFormat) split(line []byte) (map[string]string, error) {
	m := f.pattern.FindSubmatch(line)
	if m == nil {
		return nil, fmt.Errorf("the pattern does not match")
	}
	fields := map[string]string{}
	for i, name := range f.pattern.SubexpNames() {
		if name != "" {
			fields[name] = valid(m[i])
		}
	}
	return fields, nil
}

// valid is a line's text with a replacement for every byte that is none.
func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
