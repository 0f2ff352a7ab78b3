package logs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
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

// record is a line that was understood. Its fields are there if they were asked
// for, or a filter needed them.
type record struct {
	line   []byte
	fields map[string]string
}

// each calls do for every record of the selection, in the order of the log, and
// returns what was skipped. Without fields, lines are only checked, which is much
// faster.
func (l *Log) each(ctx context.Context, sel Selection, fields bool, do func(record) error) (skips Skips, err error) {
	r, err := l.open()
	if err != nil {
		return skips, err
	}
	text, err := plain(r)
	defer func() {
		if closed := text.Close(); errors.Is(closed, errChanged) {
			err = closed // whatever was found
		}
	}()
	if err != nil {
		return skips, err
	}
	f := l.newFormat()
	rest, first, err := begin(f, text)
	if err != nil {
		return skips, err
	}
	filter, err := newFilter(l.config, sel)
	if err != nil {
		return skips, err
	}
	if err := filter.check(f); err != nil {
		return skips, err
	}
	return skips, lines(ctx, rest, first+1, filter.needle(), &skips, func(number int, line []byte) error {
		if !filter.holds(line) {
			return nil
		}
		rec := record{line: line}
		var fault error
		if fields || filter.byField() {
			rec.fields, fault = f.split(line)
		} else {
			fault = f.check(line)
		}
		kept := fault == nil
		if kept {
			kept, fault = filter.keeps(rec.fields)
		}
		if fault != nil {
			skips.add(number, "%v", fault)
		}
		if !kept {
			return nil
		}
		return do(rec)
	})
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

// filter judges records by their text and their fields.
type filter struct {
	values         []string
	severity, time string // columns
	severities     []string
	start, end     time.Time
	clock          *clock
}

func newFilter(c Config, sel Selection) (filter, error) {
	f := filter{values: sel.Values, severity: c.Severity, time: c.Time, severities: sel.Severities, clock: &clock{year: c.Year}}
	for _, bound := range []struct {
		text string
		into *time.Time
	}{{sel.Start, &f.start}, {sel.End, &f.end}} {
		if bound.text == "" {
			continue
		}
		t, err := f.clock.read(bound.text)
		if err != nil {
			return f, fmt.Errorf("filter by time: %w", err)
		}
		*bound.into = t
	}
	return f, nil
}

func (f filter) byTime() bool  { return !f.start.IsZero() || !f.end.IsZero() }
func (f filter) byField() bool { return f.byTime() || len(f.severities) > 0 }

// check refuses filters on columns that the log lacks.
func (f filter) check(of format) error {
	if len(f.severities) > 0 {
		if err := has(of.columns(), f.severity); err != nil {
			return fmt.Errorf("filter by severity: %w", err)
		}
	}
	if f.byTime() {
		if err := has(of.columns(), f.time); err != nil {
			return fmt.Errorf("filter by time: %w", err)
		}
	}
	return nil
}

// needle is a text that every record of the selection holds.
func (f filter) needle() []byte {
	if len(f.values) == 0 {
		return nil
	}
	return []byte(slices.MaxFunc(f.values, func(a, b string) int { return len(a) - len(b) }))
}

func (f filter) holds(line []byte) bool {
	for _, v := range f.values {
		if !bytes.Contains(line, []byte(v)) {
			return false
		}
	}
	return true
}

// keeps reports whether a record with these fields is in the selection. A record
// whose time cannot be read is a fault: whether it is, nobody knows.
func (f filter) keeps(fields map[string]string) (bool, error) {
	if len(f.severities) > 0 {
		severity := value(fields, f.severity)
		if !slices.ContainsFunc(f.severities, func(s string) bool { return strings.EqualFold(s, severity) }) {
			return false, nil
		}
	}
	if !f.byTime() {
		return true, nil
	}
	t, err := f.clock.read(value(fields, f.time))
	if err != nil {
		return false, err
	}
	return !t.Before(f.start) && (f.end.IsZero() || !t.After(f.end)), nil
}
