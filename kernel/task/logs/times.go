package logs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// timeLayouts are the forms of times in logs, disjoint, so that their order has no
// meaning. Go reads fractions of a second after any of them, with a point or a comma.
// A time without a zone is in UTC.
func timeLayouts() []string {
	return []string{
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02",
		"2006-01-02T15:04:05-0700", "2006-01-02 15:04:05-0700", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05 -07:00",
		"2006-01-02 15:04:05Z", "2006-01-02 15:04:05 MST", "20060102T150405Z", "20060102 150405",
		"2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02", // Go's log, nginx's errors
		"02/Jan/2006:15:04:05 -0700", "02/Jan/2006:15:04:05", // Apache, nginx
		"Jan 2, 2006 @ 15:04:05", // Kibana
		time.RFC1123, time.RFC1123Z, time.ANSIC, time.UnixDate,
		time.Stamp, "Mon Jan _2 15:04:05", // syslog
	}
}

var errNoYear = errors.New("it has no year: add a line such as year: 2024 to " + ConfigName)

// clock reads the times of a log. Its zero value reads times with a year.
type clock struct {
	year    int    // of times without one; 0 refuses them
	layout  string // the last that fitted: a log keeps to one
	layouts []string
}

// read reads a time in any of the known forms.
func (c *clock) read(text string) (time.Time, error) {
	text = strings.Trim(text, "[] \t")
	if t, err := time.Parse(c.layout, text); err == nil && c.layout != "" {
		return c.dated(t)
	}
	if t, ok := epoch(text); ok {
		return t, nil
	}
	if c.layouts == nil {
		c.layouts = timeLayouts()
	}
	for _, layout := range c.layouts {
		if t, err := time.Parse(layout, text); err == nil {
			c.layout = layout
			return c.dated(t)
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is not a time in a known form, such as 2024-03-01T12:00:00Z, 2024-03-01 12:00, 01/Mar/2024:12:00:00 +0100 or 1709294400", text)
}

func (c *clock) dated(t time.Time) (time.Time, error) {
	switch {
	case t.Year() != 0:
		return t, nil
	case c.year == 0:
		return t, fmt.Errorf("%q: %w", t.Format(time.Stamp), errNoYear)
	}
	return t.AddDate(c.year, 0, 0), nil
}

// epoch reads seconds since 1970, also in milli-, micro- and nanoseconds, which
// their length tells: 10, 13, 16 and 19 digits from 2001 to 2286.
func epoch(text string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n < 0 {
		return time.Time{}, false
	}
	switch len(whole) {
	case 10:
		if len(fraction) > 9 {
			return time.Time{}, false
		}
		nanos, err := strconv.ParseUint((fraction + "000000000")[:9], 10, 64)
		return time.Unix(n, int64(nanos)).UTC(), err == nil
	case 13:
		return time.UnixMilli(n).UTC(), fraction == ""
	case 16:
		return time.UnixMicro(n).UTC(), fraction == ""
	case 19:
		return time.Unix(0, n).UTC(), fraction == ""
	}
	return time.Time{}, false
}
