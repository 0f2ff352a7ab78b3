package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// test is one condition on one item, as the prompts write it.
type test struct {
	kind    string // "ATTR", "AMBIENCE", "MEAL", "HOURS", "REVIEW_TEXT", "SOCIAL"
	path    string // ATTR, AMBIENCE, MEAL
	op      string // "=", "!=", "<", "<=", ">", ">=", "contains"
	want    string // the value in the form in which prompts show data: True, free, 2
	quoted  bool   // want is a text
	day     string
	from    int // minutes after midnight
	to      int // minutes after midnight; at or below from it is on the next day
	pattern string
	friend  string
	hops    int
}

// String is the test as a strategy writes it, with its type.
func (t test) String() string {
	switch t.kind {
	case "HOURS":
		return fmt.Sprintf("[HOURS] hours.%s covers %s-%s", t.day, clock(t.from), clock(t.to))
	case "REVIEW_TEXT":
		return "[REVIEW_TEXT] reviews mention " + plainJSON(t.pattern)
	case "SOCIAL":
		s := fmt.Sprintf("[SOCIAL] reviews by friends(%s, %d)", quoteName(t.friend), t.hops)
		if t.pattern != "" {
			s += " mention " + plainJSON(t.pattern)
		}
		return s
	}
	want := t.want
	if t.quoted {
		want = plainJSON(want)
	}
	return fmt.Sprintf("[%s] %s %s %s", t.kind, t.path, t.op, want)
}

func clock(minutes int) string { return fmt.Sprintf("%d:%02d", minutes/60, minutes%60) }

func quoteName(name string) string {
	if strings.ContainsAny(name, `,()"'`) {
		return plainJSON(name)
	}
	return name
}

// unquote reads a text in JSON. What is not quoted stays as it is.
func unquote(s string) (text string, quoted bool) {
	if len(s) < 2 || s[0] != '"' || json.Unmarshal([]byte(s), &text) != nil {
		return s, false
	}
	return text, true
}

var (
	typed      = regexp.MustCompile(`^\[([A-Z_]+)\]\s+(.*)$`)
	covers     = regexp.MustCompile(`^hours\.(\w+)\s+covers\s+(\d+):(\d+)\s*-\s*(\d+):(\d+)$`)
	mentions   = regexp.MustCompile(`^reviews\s+mention\s+(".*")$`)
	social     = regexp.MustCompile(`^reviews\s+by\s+friends\(\s*(.+?)\s*,\s*([12])\s*\)(?:\s+mention\s+(".*"))?$`)
	comparison = regexp.MustCompile(`^(.+?)\s+(=|!=|<=|>=|<|>|contains)\s+(.*)$`)
)

// parseTest reads what String writes, and what other models would write in
// the form that the prompts ask for.
func parseTest(s string) (test, bool) {
	m := typed.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return test{}, false
	}
	t := test{kind: m[1]}
	switch t.kind {
	case "HOURS":
		m = covers.FindStringSubmatch(m[2])
		if m == nil {
			return t, false
		}
		t.day, t.from, t.to = m[1], minutes(m[2], m[3]), minutes(m[4], m[5])
	case "REVIEW_TEXT":
		if m = mentions.FindStringSubmatch(m[2]); m == nil {
			return t, false
		}
		t.pattern, _ = unquote(m[1])
	case "SOCIAL":
		if m = social.FindStringSubmatch(m[2]); m == nil {
			return t, false
		}
		t.friend, _ = unquote(m[1])
		t.pattern, _ = unquote(m[3])
		t.hops, _ = strconv.Atoi(m[2]) // the expression admits 1 and 2 only
	default:
		if m = comparison.FindStringSubmatch(m[2]); m == nil {
			return t, false
		}
		t.path, t.op = m[1], m[2]
		t.want, t.quoted = unquote(strings.TrimSpace(m[3]))
	}
	return t, true
}

func minutes(hour, minute string) int {
	h, _ := strconv.Atoi(hour) // digits only; too many of them count as 0
	m, _ := strconv.Atoi(minute)
	return h*60 + m
}
