package anot

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/methods/anot/internal/lwt"
	"noema/methods/reply"
)

// parseStrategy reads the text form of a strategy for a list of n items, which may
// be labels. The error names the first fault in words that help a model to mend it.
//
// Text before the first mark is ignored, and so are lines of backquotes.
func parseStrategy(text string, n int, labels bool) (*Strategy, error) {
	s, faults := readStrategy(text, n, labels)
	if len(faults) > 0 {
		return nil, faults[0].err
	}
	return s, nil
}

// strategyFault is a fault in the text form of a strategy.
type strategyFault struct {
	line int // from 1; 0 for the whole
	err  error
}

// readStrategy reads a strategy and lists its faults. With n = 0 the number of
// items is not known and not checked.
func readStrategy(text string, n int, labels bool) (*Strategy, []strategyFault) {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
	body, message, err := split(text)
	if err != nil {
		return nil, []strategyFault{{0, err}}
	}
	before, _, _ := strings.Cut(text, body)
	first := strings.Count(before, "\n") + 1
	s := &Strategy{Message: strings.TrimSpace(message)}
	var faults []strategyFault
	at := 0
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimSpace(line)
		var err error
		switch key, rest, _ := strings.Cut(line, ":"); {
		case line == "" || strings.Trim(line, "`") == "" || line == "CONDITIONS:":
		case key == "LOGIC":
			s.Logic, err = ParseLogic(rest)
		case key == "TOTAL_ITEMS":
			if strings.TrimSpace(rest) != strconv.Itoa(n) && n > 0 {
				err = fmt.Errorf("TOTAL_ITEMS is %.40q, but the list has %d items", strings.TrimSpace(rest), n)
			}
		default:
			var c Condition
			if c, err = parseCondition(line, labels); err == nil {
				s.Conditions = append(s.Conditions, c)
			}
		}
		if err != nil {
			faults = append(faults, strategyFault{first + at, err})
		}
		at++
	}
	if len(faults) == 0 {
		if err := s.check(); err != nil {
			faults = append(faults, strategyFault{first, err})
		}
	}
	return s, faults
}

// split finds the two parts by their marks, each on a line of its own.
func split(text string) (body, message string, err error) {
	_, rest, ok := cutLine(text, strategyMark)
	if !ok {
		return "", "", fmt.Errorf("there is no line %s", strategyMark)
	}
	body, message, _ = cutLine(rest, messageMark)
	return body, strings.TrimSuffix(strings.TrimSpace(message), "\n```"), nil
}

// cutLine cuts text around the first line that is mark.
func cutLine(text, mark string) (before, after string, found bool) {
	for pos := 0; pos < len(text); {
		line, _, _ := strings.Cut(text[pos:], "\n")
		next := min(len(text), pos+len(line)+1)
		if strings.TrimSpace(line) == mark {
			return text[:pos], text[next:], true
		}
		pos = next
	}
	return text, "", false
}

func (s *Strategy) check() error {
	if len(s.Conditions) == 0 {
		return fmt.Errorf("there is no condition: write at least one, as: 1. [ATTR] attributes.WiFi = \"free\"")
	}
	var have []int
	for _, c := range s.Conditions {
		if slices.Contains(have, c.Number) {
			return fmt.Errorf("two conditions have the number %d", c.Number)
		}
		have = append(have, c.Number)
	}
	if s.Logic == nil {
		return fmt.Errorf("the line that begins with LOGIC is missing")
	}
	used := s.Logic.Numbers()
	for _, n := range used {
		if !slices.Contains(have, n) {
			return fmt.Errorf("LOGIC names condition %d, which is not in the list", n)
		}
	}
	for _, n := range have {
		if !slices.Contains(used, n) {
			return fmt.Errorf("LOGIC leaves out condition %d", n)
		}
	}
	return nil
}

var conditionLine = regexp.MustCompile(`^(\d+)[.)]\s*\[\s*(\w+)\s*\]\s*(.+)$`)

func parseCondition(line string, labels bool) (Condition, error) {
	m := conditionLine.FindStringSubmatch(line)
	if m == nil {
		return Condition{}, fmt.Errorf("cannot read the line %.80q: want a condition such as 1. [ATTR] attributes.WiFi = \"free\", or a line LOGIC: or TOTAL_ITEMS: with its value", line)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 1 {
		return Condition{}, fmt.Errorf("the condition number %.20q is out of range", m[1])
	}
	c := Condition{Number: n, Type: Type(m[2])}
	switch {
	case labels && c.Type == Label:
		err = c.parseStatement(m[3])
		if err != nil {
			err = fmt.Errorf("condition %d: %w", n, err)
		}
		return c, err
	case labels:
		return c, fmt.Errorf("condition %d: unknown type [%.20s]: the items are labels, so the only type is [LABEL]", n, c.Type)
	}
	switch c.Type {
	case Attr, Ambience, Meal, Hours:
		err = c.parseTest(m[3])
	case ReviewText:
		err = c.parseMention(m[3])
	case Social:
		err = c.parseSocial(m[3])
	default:
		err = fmt.Errorf("unknown type [%.20s]: known are [ATTR] [AMBIENCE] [MEAL] [HOURS] [REVIEW_TEXT] [SOCIAL]", c.Type)
	}
	if err != nil {
		return Condition{}, fmt.Errorf("condition %d: %w", n, err)
	}
	return c, nil
}

// testForm is a path, an operator and a value. The path may hold quoted keys,
// in which operators are text.
var testForm = regexp.MustCompile(`^((?:\["(?:[^"\\]|\\.)*"\]|\['(?:[^'\\]|\\.)*'\]|[^=!<>"'])+?)\s*(==|!=|<=|>=|=|<|>|\scontains\s|\scovers\s)\s*(.+)$`)

func (c *Condition) parseTest(text string) error {
	m := testForm.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("want PATH = VALUE or hours.DAY covers FROM-TO, have %.80q", text)
	}
	var err error
	if c.Path, err = parsePath(m[1]); err != nil {
		return err
	}
	if c.Op = Op(strings.TrimSpace(m[2])); c.Op == "==" {
		c.Op = Equal
	}
	if c.Op == Covers {
		return c.parseSpan(m[3])
	}
	c.Value, err = parseValue(m[3])
	return err
}

// parsePath reads dotted keys. The first key may be quoted, which a path of
// its own does not allow, so the item stands in front of it.
func parsePath(text string) ([]string, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "[") {
		text = "." + text
	}
	ref, err := lwt.ParsePath("items" + text)
	if err != nil {
		return nil, fmt.Errorf("cannot read the path %.80q", strings.TrimPrefix(text, "."))
	}
	keys := make([]string, len(ref.Path))
	for i, a := range ref.Path {
		if a.Slice {
			return nil, fmt.Errorf("the path %.80q takes a part of a list, want a value", text)
		}
		keys[i] = a.Key
	}
	return keys, nil
}

var span = regexp.MustCompile(`^(\d{1,2}:\d{1,2})\s*(?:-|–|to)\s*(\d{1,2}:\d{1,2})$`)

func (c *Condition) parseSpan(text string) error {
	m := span.FindStringSubmatch(strings.Trim(strings.TrimSpace(text), `"'`))
	if m == nil {
		return fmt.Errorf("covers wants a span such as 7:00-9:30, have %.40q", text)
	}
	c.Value = m[1] + "-" + m[2]
	return nil
}

// parseValue reads a literal; a bare word is a text.
func parseValue(text string) (any, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "null":
		return nil, nil
	}
	v, err := reply.PythonLiteral(text)
	if err != nil {
		if strings.ContainsAny(text[:1], `"'[({`) {
			return nil, fmt.Errorf("cannot read the value %.80q", text)
		}
		return text, nil
	}
	switch v := v.(type) {
	case json.Number: // beyond the range of int64
		f, err := v.Float64()
		if err != nil {
			return nil, fmt.Errorf("the value %.40q is too large", text)
		}
		return f, nil
	case []any, map[string]any:
		return nil, fmt.Errorf("the value %.80q is a list: write one condition per value", text)
	}
	return v, nil
}

// parseStatement reads a test in words.
func (c *Condition) parseStatement(text string) (err error) {
	c.Op = Fits
	c.Value, err = parseWords(text, "[LABEL] wants a statement about the label")
	return err
}

// parseWords reads a value as a text, such as 24 or True; lacking is the error of an empty one.
func parseWords(text, lacking string) (string, error) {
	v, err := parseValue(text)
	if err != nil {
		return "", err
	}
	words, ok := v.(string)
	if !ok {
		words = strings.TrimSpace(text)
	}
	if strings.TrimSpace(words) == "" {
		return "", errors.New(lacking)
	}
	return words, nil
}

var mentionForm = regexp.MustCompile(`^reviews\s+mentions?\s+(.+)$`)

func (c *Condition) parseMention(text string) error {
	m := mentionForm.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("want reviews mention \"WORDS\", have %.80q", text)
	}
	return c.setPattern(m[1])
}

func (c *Condition) setPattern(text string) (err error) {
	c.Op = Mention
	c.Value, err = parseWords(text, "mention wants words")
	return err
}

var (
	socialForm = regexp.MustCompile(`^reviews\s+by\s+friends\(\s*("(?:[^"\\]|\\.)*"|[^",()]+?)\s*,\s*(\d+)\s*\)\s*(.*)$`)
	socialTail = regexp.MustCompile(`^mentions?\s+(.+)$`)
)

func (c *Condition) parseSocial(text string) error {
	m := socialForm.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("want reviews by friends(NAME, HOPS) mention \"WORDS\", have %.80q", text)
	}
	c.Op, c.Person = Mention, m[1]
	if strings.HasPrefix(m[1], `"`) {
		v, err := reply.PythonLiteral(m[1])
		if err != nil {
			return fmt.Errorf("cannot read the name %.80q", m[1])
		}
		c.Person, _ = v.(string)
	}
	hops, err := strconv.Atoi(m[2])
	if err != nil || hops < 1 || hops > 2 {
		return fmt.Errorf("HOPS is 1 or 2, have %.20s", m[2])
	}
	c.Hops = hops
	if m[3] == "" {
		return nil
	}
	tail := socialTail.FindStringSubmatch(m[3])
	if tail == nil {
		return fmt.Errorf("want mention \"WORDS\" after the friends, have %.80q", m[3])
	}
	return c.setPattern(tail[1])
}
