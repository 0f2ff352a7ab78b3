package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A task is tried on so many records when it is opened, or on so many bytes.
const (
	previewed    = 1000
	previewBytes = 4 << 20
)

var errEnough = errors.New("enough records were seen")

// preview tries a configuration on the first records of its log. A column that the
// header lacks is an error. What no record has is only a note, because later records may have it.
func (e Environment) preview() (notes []string, err error) {
	c := e.log.config
	head, err := e.log.head()
	if err != nil {
		return nil, err
	}
	seen := 0
	with := map[string]int{} // by entity, and by column
	clock := &clock{year: c.Year}
	var unread error
	skips, err := head.each(context.Background(), Selection{}, true, func(rec record) error {
		if seen == 0 {
			if err := e.columnsOf(rec); err != nil {
				return err
			}
		}
		seen++
		for name := range c.Entities {
			if len(e.find(name, rec)) > 0 {
				with[name]++
			}
		}
		if value(rec.fields, c.Severity) != "" {
			with[severityField]++
		}
		if text := value(rec.fields, c.Time); text != "" {
			with[timeField]++
			if _, err := clock.read(text); err != nil && unread == nil {
				unread = err
			}
		}
		if seen == previewed {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if skips.Rows > 0 {
		first := skips.Examples[0]
		notes = append(notes, fmt.Sprintf("lines skipped: %d of the first %d; the first is line %d: %s", skips.Rows, seen+skips.Rows, first.Line, first.Reason))
	}
	if unread != nil {
		notes = append(notes, fmt.Sprintf("filter_by_time skips records with an unreadable time: %v", unread))
	}
	return append(notes, e.absent(seen, with)...), nil
}

// The columns that every task over a log has, as [Environment.preview] counts them.
const (
	severityField = "severity\x00"
	timeField     = "time\x00"
)

// columnsOf refuses a configuration that names a column which the log's header
// lacks. The columns of severity and time have defaults, which a log may lack.
func (e Environment) columnsOf(rec record) error {
	c := e.log.config
	if strings.HasSuffix(c.format(), "jsonl") {
		return nil
	}
	columns := slices.Sorted(maps.Keys(rec.fields))
	for _, name := range slices.Sorted(maps.Keys(c.Entities)) {
		if column := c.Entities[name].Column; column != "" {
			if err := has(columns, column); err != nil {
				return fmt.Errorf("entity %s: %w", name, err)
			}
		}
	}
	if err := has(columns, c.Severity); err != nil && c.Severity != defaultSeverity {
		return fmt.Errorf("severity: %w", err)
	}
	if err := has(columns, c.Time); err != nil && c.Time != defaultTime {
		return fmt.Errorf("time: %w", err)
	}
	return nil
}

// absent tells what none of the seen records has.
func (e Environment) absent(seen int, with map[string]int) (notes []string) {
	c := e.log.config
	if seen == 0 {
		return []string{"the log has no records"}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Entities)) {
		if with[name] == 0 {
			notes = append(notes, fmt.Sprintf("none of the first %d records has the entity %q: check its column and pattern", seen, name))
		}
	}
	if with[severityField] == 0 {
		notes = append(notes, fmt.Sprintf("none of the first %d records has the severity column %q: filter_by_severity will find nothing", seen, c.Severity))
	}
	if with[timeField] == 0 {
		notes = append(notes, fmt.Sprintf("none of the first %d records has the time column %q: filter_by_time will find nothing", seen, c.Time))
	}
	return notes
}

// head is the first part of a log, in memory.
func (l *Log) head() (*Log, error) {
	r, err := l.open()
	if err != nil {
		return nil, err
	}
	text, err := plain(r)
	defer func() { text.Close() }() // nothing is kept of what is read here
	if err != nil {
		return nil, err
	}
	raw := make([]byte, previewBytes)
	n, err := fill(text, raw)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read log: %w", err)
	}
	raw = raw[:n]
	if end := bytes.LastIndexByte(raw, '\n'); err == nil && end >= 0 {
		raw = raw[:end+1]
	}
	return &Log{config: l.config, pattern: l.pattern, open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }}, nil
}
